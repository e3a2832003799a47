//! Reads files and standard input, with limits.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;

/// The most bytes of one file or of standard input: 16 MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// One file or standard input.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path as given, or `stdin`.
    pub(crate) name: String,
    /// The text, without a byte order mark.
    pub(crate) text: String,
    /// Whether the file starts with a byte order mark.
    pub(crate) has_mark: bool,
    /// The syntax of the text.
    pub(crate) syntax: Syntax,
}

/// The syntax of a text, by the extension of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `.json` and all other extensions.
    Json,
    /// `.jsonl` and `.ndjson`: one JSON value per line.
    JsonLines,
    /// `.yaml` and `.yml`.
    Yaml,
    /// Standard input: JSON, or else a YAML mapping or sequence.
    Guess,
}

/// One value of a [`Source`].
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// The name of the source.
    pub(crate) source: String,
    /// Whether the source is a file.
    pub(crate) is_file: bool,
    /// The same, with the line number if the source has one value per line.
    pub(crate) name: String,
    /// The line of the source where `text` starts, counted from 1.
    pub(crate) line: usize,
    /// The text, if it is JSON.
    pub(crate) text: Option<&'a str>,
    /// The value.
    pub(crate) value: Value,
    /// The value when a live server was asked once more.
    pub(crate) second: Option<Value>,
    /// The results of calls of a live server, each with the tool.
    pub(crate) results: Vec<(String, Value)>,
}

impl Source {
    /// Reads `path`, or standard input if it is `-`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            let name = "stdin".to_owned();
            let text = to_text(io::stdin().lock(), &name)?;
            return Self::from_text(text, name, Syntax::Guess);
        }
        let name = path.display().to_string();
        Self::from_text(read_text(path)?, name, Syntax::from_extension(path))
    }

    fn from_text(mut text: String, name: String, syntax: Syntax) -> anyhow::Result<Self> {
        let has_mark = text.starts_with('\u{feff}');
        if has_mark {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.trim().is_empty() {
            bail!("{name}: is empty, expected {}", syntax.name());
        }
        Ok(Self { name, text, has_mark, syntax })
    }

    /// Parses the source as one value.
    pub(crate) fn document(&self) -> anyhow::Result<Document<'_>> {
        match self.syntax {
            Syntax::Json => self.json(&self.text, 1),
            Syntax::Yaml => self.yaml(),
            Syntax::Guess => self.json(&self.text, 1).or_else(|error| {
                self.yaml()
                    .ok()
                    .filter(|document| document.value.is_object() || document.value.is_array())
                    .ok_or(error)
            }),
            Syntax::JsonLines => {
                bail!("{}: has one value per line, expected a single value", self.name)
            }
        }
    }

    /// Parses every value of the source.
    pub(crate) fn documents(&self) -> Box<dyn Iterator<Item = anyhow::Result<Document<'_>>> + '_> {
        if self.syntax != Syntax::JsonLines {
            return Box::new(std::iter::once(self.document()));
        }
        let lines = self.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        Box::new(lines.map(|(index, line)| {
            let document = self.json(line, index + 1)?;
            Ok(Document { name: format!("{}:{}", self.name, index + 1), ..document })
        }))
    }

    fn json<'a>(&self, text: &'a str, line: usize) -> anyhow::Result<Document<'a>> {
        let value = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (line + error.line() - 1, error.column());
            let message = error.to_string();
            if message.starts_with("recursion limit") {
                return anyhow!(
                    "{}:{line}:{column}: exceeds the limit of 127 nested levels",
                    self.name
                );
            }
            anyhow!("{}:{line}:{column}: invalid JSON: {}", self.name, first_line(&message))
        })?;
        Ok(self.to_document(value, Some(text), line))
    }

    fn yaml(&self) -> anyhow::Result<Document<'_>> {
        let value = serde_saphyr::from_str(&self.text).map_err(|error| {
            let error = error.without_snippet();
            let place = error
                .location()
                .map_or_else(String::new, |place| format!(":{}:{}", place.line(), place.column()));
            let message = error.to_string();
            let message = match error {
                serde_saphyr::Error::MultipleDocuments { .. } => "more than one document",
                serde_saphyr::Error::DuplicateMappingKey { .. } => "duplicate key",
                // An alias that exceeds the budget has a wrapped error.
                _ if message.starts_with("budget") => {
                    "exceeds the limits on levels, nodes or aliases"
                }
                _ => first_line(&message),
            };
            anyhow!("{}{place}: invalid YAML: {message}", self.name)
        })?;
        Ok(self.to_document(value, None, 1))
    }

    fn to_document<'a>(&self, value: Value, text: Option<&'a str>, line: usize) -> Document<'a> {
        let is_file = self.syntax != Syntax::Guess;
        let source = self.name.clone();
        Document {
            name: source.clone(),
            source,
            is_file,
            line,
            text,
            value,
            second: None,
            results: Vec::new(),
        }
    }
}

impl Syntax {
    fn from_extension(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Self::Yaml,
            Some("jsonl" | "ndjson") => Self::JsonLines,
            _ => Self::Json,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Json | Self::JsonLines => "JSON",
            Self::Yaml => "YAML",
            Self::Guess => "JSON or YAML",
        }
    }
}

/// Reads `path`, or standard input if it is `-`, as one value, for verbs that need no positions.
pub(crate) fn read_value(path: &Path) -> anyhow::Result<Value> {
    Ok(Source::read(path)?.document()?.value)
}

/// Reads one line of at most [`MAX_BYTES`] from standard input. Returns `None` at its end.
pub(crate) fn read_line(reader: &mut impl BufRead) -> anyhow::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_until(b'\n', &mut bytes).context("stdin")?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 > MAX_BYTES {
        bail!("stdin: a line exceeds the limit of {MAX_BYTES} bytes");
    }
    String::from_utf8(bytes).map(Some).map_err(|_| anyhow!("stdin: invalid UTF-8"))
}

/// Reads the file at `path`, of at most [`MAX_BYTES`], with its byte order mark.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        bail!("{name}: is a directory, expected a file");
    }
    to_text(file, &name)
}

fn to_text(reader: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{name}: exceeds the limit of {MAX_BYTES} bytes");
    }
    String::from_utf8(bytes).map_err(|error| {
        anyhow!("{name}: invalid UTF-8 at byte {}", error.utf8_error().valid_up_to())
    })
}

fn unreadable(name: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{name}: no such file"),
        io::ErrorKind::PermissionDenied => anyhow!("{name}: permission denied"),
        io::ErrorKind::IsADirectory => anyhow!("{name}: is a directory, expected a file"),
        _ => anyhow!("{name}: {error}"),
    }
}

/// Returns the first line of `message`, without the position at its end.
fn first_line(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line)
}
