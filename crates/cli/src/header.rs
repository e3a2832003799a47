//! Headers on the command line, whose values may be in environment variables.

use hyper::header::{HeaderName, HeaderValue};

/// A header whose value may name environment variables.
#[derive(Clone, Debug)]
pub(crate) struct HeaderTemplate {
    name: HeaderName,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The value of the environment variable of this name.
    Variable(String),
}

impl HeaderTemplate {
    /// Parses `NAME: VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`, found no colon")?;
        let name = name.trim();
        let header = name.parse().map_err(|_| format!("`{name}` is not a valid header name"))?;
        Ok(Self { name: header, parts: parts(value.trim())? })
    }

    /// The header, with the values of variables. No error repeats a value.
    pub(crate) fn fill(&self) -> anyhow::Result<(HeaderName, HeaderValue)> {
        let name = &self.name;
        let mut value = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => value.push_str(text),
                Part::Variable(variable) => {
                    let found = std::env::var(variable).map_err(|_| {
                        anyhow::anyhow!(
                            "--header {name}: the environment variable {variable} is not set \
                             (`$$` is a dollar sign)"
                        )
                    })?;
                    value.push_str(found.trim());
                }
            }
        }
        let value: Result<HeaderValue, _> = value.parse();
        let mut value = value
            .map_err(|_| anyhow::anyhow!("--header {name}: its value has invalid characters"))?;
        value.set_sensitive(true);
        Ok((name.clone(), value))
    }
}

/// The parts of a value: text, and variables as `$NAME` or `${NAME}`. `$$` is a dollar sign, and so is one before anything
/// that is no name.
fn parts(value: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            rest = after;
            continue;
        }
        let (name, after) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').ok_or("expected `}` after `${`")?,
            None => after.split_at(name_length(after)),
        };
        if name.is_empty() || name_length(name) < name.len() {
            return Err(format!("expected the name of a variable after `$`, found `{name}`"));
        }
        parts.push(Part::Text(std::mem::take(&mut text)));
        parts.push(Part::Variable(name.to_owned()));
        rest = after;
    }
    text.push_str(rest);
    parts.push(Part::Text(text));
    parts.retain(|part| *part != Part::Text(String::new()));
    Ok(parts)
}

/// The bytes of the name of a variable at the start of `text`.
fn name_length(text: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{HeaderTemplate, Part, parts};

    #[test]
    fn a_value_names_variables() {
        let text = |text: &str| Part::Text(text.to_owned());
        let variable = |name: &str| Part::Variable(name.to_owned());
        for (value, expected) in [
            ("", vec![]),
            ("a b", vec![text("a b")]),
            ("Bearer $TOKEN", vec![text("Bearer "), variable("TOKEN")]),
            ("${A}${B_2}x", vec![variable("A"), variable("B_2"), text("x")]),
            ("$A-$$1", vec![variable("A"), text("-$1")]),
        ] {
            assert_eq!(parts(value), Ok(expected), "{value}");
        }
        for value in ["a$", "$ b", "${A", "${}", "${A b}"] {
            assert!(parts(value).is_err(), "{value}");
        }
        for wrong in ["name", "a b: c", ": c"] {
            assert!(HeaderTemplate::parse(wrong).is_err(), "{wrong}");
        }
        assert!(
            HeaderTemplate::parse("x-key: $TOOLBOND_NO_SUCH_VARIABLE").unwrap().fill().is_err()
        );
        let (name, value) = HeaderTemplate::parse("X-Key: a:b").unwrap().fill().unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-key", "a:b"));
        assert!(value.is_sensitive());
    }
}
