//! Reading files and standard input, within bounds.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;

/// The most bytes that are read from one file or from standard input: 16 MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The text of one file or of standard input.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path as given, or `stdin`.
    pub(crate) name: String,
    /// The text, without a byte order mark.
    pub(crate) text: String,
    /// How the text is to be read.
    pub(crate) syntax: Syntax,
}

/// How a text is read, by the extension of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `.json` and whatever is not one of the others.
    Json,
    /// `.jsonl` and `.ndjson`: one JSON value a line.
    JsonLines,
    /// `.yaml` and `.yml`.
    Yaml,
    /// Standard input: JSON, else a YAML mapping or sequence.
    Guess,
}

/// One value of a [`Source`].
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// The name of the source.
    pub(crate) source: String,
    /// The same; with its line where the source has one value a line.
    pub(crate) name: String,
    /// The line of the source that `text` starts at, from 1.
    pub(crate) line: usize,
    /// The JSON text, where it is JSON.
    pub(crate) text: Option<&'a str>,
    /// The value.
    pub(crate) value: Value,
}

impl Source {
    /// Reads `path`, or standard input where it is `-`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Self::take(io::stdin().lock(), "stdin".to_owned(), Syntax::Guess);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            bail!("{name}: is a directory, expected a file");
        }
        Self::take(file, name, Syntax::of(path))
    }

    fn take(reader: impl Read, name: String, syntax: Syntax) -> anyhow::Result<Self> {
        let mut bytes = Vec::new();
        reader
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&name, &error))?;
        if bytes.len() as u64 > MAX_BYTES {
            bail!("{name}: more than {MAX_BYTES} bytes, the most that is read");
        }
        let mut text = String::from_utf8(bytes).map_err(|error| {
            anyhow!(
                "{name}: expected UTF-8, found other bytes at {}",
                error.utf8_error().valid_up_to()
            )
        })?;
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.trim().is_empty() {
            bail!("{name}: empty, expected {}", syntax.name());
        }
        Ok(Self { name, text, syntax })
    }

    /// The one value of this source.
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
            Syntax::JsonLines => bail!("{}: one value a line, expected a single one", self.name),
        }
    }

    /// Every value of this source, each with what is wrong with it.
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
                    "{}:{line}:{column}: more than 127 nested levels, the most that is read",
                    self.name
                );
            }
            anyhow!("{}:{line}:{column}: invalid JSON: {}", self.name, bare(&message))
        })?;
        Ok(self.holds(value, Some(text), line))
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
                serde_saphyr::Error::DuplicateMappingKey { .. } => "a key that is there already",
                // Where an alias breaks the budget its error is wrapped.
                _ if message.starts_with("budget") => "more levels, nodes or aliases than are read",
                _ => bare(&message),
            };
            anyhow!("{}{place}: invalid YAML: {message}", self.name)
        })?;
        Ok(self.holds(value, None, 1))
    }

    fn holds<'a>(&self, value: Value, text: Option<&'a str>, line: usize) -> Document<'a> {
        Document { source: self.name.clone(), name: self.name.clone(), line, text, value }
    }
}

impl Syntax {
    fn of(path: &Path) -> Self {
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

/// Reads the one value of `path` (`-` is standard input): what a verb that needs no positions wants.
pub(crate) fn value(path: &Path) -> anyhow::Result<Value> {
    Ok(Source::read(path)?.document()?.value)
}

/// Reads the values that a line each of a stream holds, within [`MAX_BYTES`] a line.
pub(crate) fn line(reader: &mut impl BufRead) -> anyhow::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_until(b'\n', &mut bytes).context("stdin")?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 > MAX_BYTES {
        bail!("stdin: a line of more than {MAX_BYTES} bytes, the most that is read");
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| anyhow!("stdin: expected UTF-8, found other bytes"))
}

fn unreadable(name: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{name}: no such file"),
        io::ErrorKind::PermissionDenied => anyhow!("{name}: permission denied"),
        io::ErrorKind::IsADirectory => anyhow!("{name}: is a directory, expected a file"),
        _ => anyhow!("{name}: {error}"),
    }
}

/// `message` in one line, without the place that it ends with.
fn bare(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line)
}
