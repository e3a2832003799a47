//! `toolbond bundle`: embeds the documents that schemas refer to.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::Value;
use toolbond_fetch::tls::check_certificates;
use toolbond_fetch::{Attempt, FetchLimits, Fetcher, Policy};
use url::Url;

use crate::bundler::Bundler;
use crate::exit::Exit;
use crate::input::{Source, Syntax};
use crate::patch::patch;
use crate::progress;
use crate::terminal::{printable, printable_json};

const EXAMPLES: &str = "\
Examples:
  toolbond bundle --allow https://schemas.example.com/ tools.json > bundled.json
  toolbond bundle --documents https://schemas.example.com/=./schemas tools.json
  toolbond bundle --flat --allow https://schemas.example.com/ tools.json
  toolbond bundle --allow file:///home/me/schemas/ /home/me/schemas/order.json
  toolbond bundle --allow https://schemas.example.com/ --lock toolbond.lock tools.json
  toolbond bundle --lock toolbond.lock --offline tools.json

Exit code 0: nothing refers to another document any more; 1: a tool or schema could not be bundled and is left as it is; 2: wrong usage, unreadable input or an unusable lock file.";

/// Embed the documents that schemas refer to, so that they refer to nothing outside themselves.
///
/// The input is a tool, a list of tools, a `tools/list` result, a JSON-RPC response with one, or a
/// schema. It goes to standard output with the documents under `$defs` of the schemas that refer to them;
/// the rest stays byte for byte. A YAML file in which something changes becomes JSON.
///
/// Only URLs under an `--allow` prefix are fetched. A host name with an address that is not public
/// (loopback, private, link-local, cloud metadata) is refused unless the address is allowed, too. Each
/// request is one line on standard error: URI, address, status, bytes, SHA-256, time.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Bundle {
    /// Fetch what is below this URL, for example `https://schemas.example.com/v2/`; may be repeated. Also
    /// an address or network that is not public, such as `10.1.0.0/16`
    #[arg(long, value_name = "PREFIX", value_parser = parse_prefix)]
    allow: Vec<String>,

    /// Take documents from this folder: those below URL, or those whose `$id` or path
    /// (`DIR/example.com/a.json`) is the URL; may be repeated
    #[arg(long, value_name = "[URL=]DIR", value_parser = parse_documents)]
    documents: Vec<String>,

    /// Base URI for relative references in a schema without `$id` (default: the `file:` URL of FILE)
    #[arg(long, value_name = "URI", value_parser = parse_base)]
    base: Option<Url>,

    /// Write references as pointers, such as `#/$defs/address`, and documents without `$id`: the form that
    /// model APIs and hosts read. What has no such form keeps its `$id`s, with a warning
    #[arg(long)]
    flat: bool,

    /// Set a limit for each schema, for example `--limit documents=10`; may be repeated. Names: documents,
    /// document-bytes, total-bytes, redirects, depth, document-seconds, total-seconds, connections
    #[arg(long = "limit", value_name = "NAME=N", value_parser = parse_limit)]
    limits: Vec<(String, u64)>,

    /// Record the digest of each document in this file, and refuse documents that have changed since
    #[arg(long, value_name = "FILE", help_heading = "Lock")]
    lock: Option<PathBuf>,

    /// Take the documents of the lock file from the cache, and open no connection
    #[arg(long, requires = "lock", help_heading = "Lock")]
    offline: bool,

    /// Refuse documents that are not in the lock file, for CI
    #[arg(long, requires = "lock", help_heading = "Lock")]
    locked: bool,

    /// Keep the documents of the lock file in this folder (default: the cache folder of the user)
    #[arg(long, value_name = "DIR", requires = "lock", help_heading = "Lock")]
    cache: Option<PathBuf>,

    /// Use the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. The proxy resolves host names, so
    /// their addresses are not checked
    #[arg(long, conflicts_with = "offline", help_heading = "Network")]
    proxy_from_environment: bool,

    /// Also trust the certificates in this PEM file, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE", conflicts_with = "offline", help_heading = "Network")]
    ca_file: Option<PathBuf>,

    /// The input: a JSON or YAML file, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Bundle {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let source = Source::read(&self.document)?;
        let (before, is_json) = parse(&source)?;
        let fetcher = Fetcher::observed(self.policy()?, log)?;
        let base = self.base()?;
        let mut after = before.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let bundler = Bundler {
            fetcher: &fetcher,
            base: base.as_deref(),
            name: &source.name,
            is_flat: self.flat,
        };
        let exit = runtime.block_on(bundler.bundle(&mut after));
        // A look-up of a host name cannot be stopped.
        runtime.shutdown_background();
        let exit = exit?;
        fetcher.save_lock()?;
        let mark = if source.has_mark { "\u{feff}" } else { "" };
        let text = match (before == after, is_json) {
            (true, _) => format!("{mark}{}", source.text),
            (false, true) => format!("{mark}{}", rewrite(&source, &before, &after)?),
            (false, false) => format!("{after:#}\n"),
        };
        let mut out = io::stdout().lock();
        let text = if out.is_terminal() { printable_json(&text) } else { Cow::Borrowed(&*text) };
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(exit)
    }

    fn policy(&self) -> anyhow::Result<Policy> {
        let mut limits = FetchLimits::default();
        for (name, limit) in &self.limits {
            limits.set(name, *limit)?;
        }
        let mut policy = Policy::default()
            .limits(limits)
            .offline(self.offline)
            .locked(self.locked)
            .proxy_from_environment(self.proxy_from_environment);
        for prefix in &self.allow {
            policy = policy.allow(prefix)?;
        }
        for folder in &self.documents {
            policy = policy.documents(folder)?;
        }
        if let Some(file) = &self.lock {
            policy = policy.lock(file);
        }
        if let Some(folder) = &self.cache {
            policy = policy.cache(folder);
        }
        if let Some(file) = &self.ca_file {
            check_certificates(file)?;
            policy = policy.ca_file(file);
        }
        Ok(policy)
    }

    fn base(&self) -> anyhow::Result<Option<String>> {
        if let Some(base) = &self.base {
            return Ok(Some(base.to_string()));
        }
        if self.document == Path::new("-") {
            return Ok(None);
        }
        let path = std::path::absolute(&self.document)?;
        Ok(Url::from_file_path(path).ok().map(Into::into))
    }
}

/// Reports a request.
fn log(attempt: &Attempt) {
    progress::clear();
    let _ = writeln!(anstream::stderr().lock(), "{}", printable(&attempt.to_string()));
}

/// Parses `source`, and says whether it is JSON. Numbers that are out of range are `null`.
fn parse(source: &Source) -> anyhow::Result<(Value, bool)> {
    let may_be_json = matches!(source.syntax, Syntax::Json | Syntax::Guess);
    if let Cow::Owned(text) = without_huge_numbers(&source.text)
        && may_be_json
        && let Ok(value) = serde_json::from_str(&text)
    {
        return Ok((value, true));
    }
    let document = source.document()?;
    Ok((document.value, document.text.is_some()))
}

/// The text of `source` with `after` instead of `before`.
fn rewrite(source: &Source, before: &Value, after: &Value) -> anyhow::Result<String> {
    let is_right = |text: &String| {
        serde_json::from_str::<Value>(&without_huge_numbers(text)).is_ok_and(|it| it == *after)
    };
    patch(&source.text, before, after)
        .filter(is_right)
        .with_context(|| format!("{}: could not be rewritten", source.name))
}

/// `text` with `null` for numbers that no `f64` holds. They stay in the text that is written.
fn without_huge_numbers(text: &str) -> Cow<'_, str> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    let mut new = String::new();
    let (mut done, mut at, mut in_string) = (0, 0, false);
    while let Some(c) = text[at..].chars().next() {
        let mut length = c.len_utf8();
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => length += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '-' | '0'..='9' if !in_string => {
                let rest = &text[at..];
                length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                if rest[..length].parse().is_ok_and(f64::is_infinite) {
                    new.push_str(&text[done..at]);
                    new.push_str("null");
                    done = at + length;
                }
            }
            _ => {}
        }
        at += length;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    new.push_str(&text[done..]);
    Cow::Owned(new)
}

fn parse_prefix(text: &str) -> anyhow::Result<String> {
    Policy::default().allow(text)?;
    Ok(text.to_owned())
}

fn parse_documents(text: &str) -> anyhow::Result<String> {
    Policy::default().documents(text)?;
    Ok(text.to_owned())
}

fn parse_base(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).ok().filter(|url| !url.cannot_be_a_base());
    url.ok_or_else(|| anyhow!("expected a URI such as `https://schemas.example.com/`"))
}

fn parse_limit(text: &str) -> anyhow::Result<(String, u64)> {
    let (name, limit) = text.split_once('=').context("expected `NAME=N`")?;
    FetchLimits::default().set(name, 0)?;
    let limit = limit.parse().with_context(|| format!("expected a number, found `{limit}`"))?;
    Ok((name.to_owned(), limit))
}

#[cfg(test)]
mod tests {
    use super::without_huge_numbers;

    #[test]
    fn numbers_out_of_range_are_null() {
        for (text, expected) in [
            (r#"{"1e999":[1e400,-1E400 ,1.0,1e2]}"#, r#"{"1e999":[null,null ,1.0,1e2]}"#),
            (r#"["\"1e400", "\\", 1e400]"#, r#"["\"1e400", "\\", null]"#),
            ("1e400", "null"),
            ("[12345678901234567890123, ü]", "[12345678901234567890123, ü]"),
            ("\"\\", "\"\\"),
        ] {
            assert_eq!(without_huge_numbers(text), expected);
        }
    }
}
