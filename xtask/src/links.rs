//! Links in Markdown files: the file and the heading that a relative link names exist.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::workspace;

/// A Markdown file.
struct Document {
    /// Names of its headings, as GitHub derives them.
    anchors: Vec<String>,
    links: Vec<Link>,
}

/// A link or an image.
struct Link {
    line: usize,
    target: String,
}

/// Checks the relative links of every Markdown file. Links to other sites are not followed.
///
/// # Errors
///
/// Where a link names a file or a heading that does not exist; the message lists all of them.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = workspace::root();
    let mut documents = BTreeMap::new();
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|it| it == "md");
    for path in workspace::files(&root)?.into_iter().filter(is_markdown) {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        documents.insert(path, parse(&text));
    }
    let mut broken = Vec::new();
    for (path, document) in &documents {
        for link in &document.links {
            if let Err(problem) = resolve(path, &link.target, &documents) {
                let name = path.strip_prefix(&root).unwrap_or(path).display();
                broken.push(format!("{name}:{}: {}: {problem}", link.line, link.target));
            }
        }
    }
    eprintln!("$ links of {} Markdown files", documents.len());
    if !broken.is_empty() {
        bail!("broken links:\n{}", broken.join("\n"));
    }
    Ok(())
}

fn parse(text: &str) -> Document {
    let mut document = Document { anchors: Vec::new(), links: Vec::new() };
    let mut heading: Option<String> = None;
    let mut seen = HashMap::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let repeated: &mut usize = seen.entry(name.clone()).or_default();
                document.anchors.push(match *repeated {
                    0 => name,
                    count => format!("{name}-{count}"),
                });
                *repeated += 1;
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = text[..range.start].matches('\n').count() + 1;
                document.links.push(Link { line, target: dest_url.into_string() });
            }
            _ => {}
        }
    }
    document
}

/// The anchor that GitHub gives a heading: lower case, spaces as dashes, without punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    });
    kept.collect::<String>().to_lowercase()
}

fn resolve(
    from: &Path,
    target: &str,
    documents: &BTreeMap<PathBuf, Document>,
) -> Result<(), &'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, fragment) = match target.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (target, None),
    };
    let path = match path {
        "" => from.to_owned(),
        _ => normalize(&from.parent().unwrap_or(from).join(path)),
    };
    if !path.exists() {
        return Err("no such file");
    }
    match (fragment, documents.get(&path)) {
        (Some(fragment), Some(document)) if !document.anchors.iter().any(|a| a == fragment) => {
            Err("no such heading")
        }
        _ => Ok(()),
    }
}

/// `path` without `.` and `..`.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::{anchor, parse, resolve};

    #[test]
    fn headings_are_named_as_on_github() {
        let document = parse("# The `toolbond.toml` file\n\n## What's new?\n\n## What's new?\n");
        assert_eq!(document.anchors, ["the-toolbondtoml-file", "whats-new", "whats-new-1"]);
        assert_eq!(anchor("Links — and more"), "links--and-more");
    }

    #[test]
    fn links_name_files_and_headings_that_exist() {
        let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let documents = BTreeMap::from([(here.clone(), parse("# One\n\n[a](#one)\n"))]);
        assert_eq!(documents[&here].links[0].line, 3);
        for (target, expected) in [
            ("src/main.rs", Ok(())),
            ("../README.md", Ok(())),
            ("https://example.org/#x", Ok(())),
            ("#one", Ok(())),
            ("#two", Err("no such heading")),
            ("src/none.rs", Err("no such file")),
        ] {
            assert_eq!(resolve(&here, target, &documents), expected, "{target}");
        }
    }
}
