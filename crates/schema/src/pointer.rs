//! Places in a JSON document.

use std::fmt;

use serde::{Serialize, Serializer};

/// A JSON Pointer, shown as a URI fragment: the root is `#`, a member `#/name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// This pointer, one member or element further down.
    #[must_use]
    pub fn join(&self, token: impl fmt::Display) -> Self {
        let mut next = self.clone();
        next.push(token);
        next
    }

    /// Moves one member or element further down.
    pub fn push(&mut self, token: impl fmt::Display) {
        self.0.push('/');
        for c in token.to_string().chars() {
            match c {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                c => self.0.push(c),
            }
        }
    }

    /// Goes back to the first `length` bytes of the pointer.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// This pointer followed by `rest`.
    #[must_use]
    pub fn concat(&self, rest: &Pointer) -> Self {
        Self(format!("{}{}", self.0, rest.0))
    }

    /// The pointer without the leading `#`, as `serde_json::Value::pointer` takes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the whole document.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The unescaped tokens, outermost first.
    pub fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }
}

/// Reads RFC 6901 text (`/a/b`), with or without the leading `#`.
impl From<&str> for Pointer {
    fn from(text: &str) -> Self {
        Self(text.strip_prefix('#').unwrap_or(text).to_owned())
    }
}

/// In one line: control characters are escaped, and what is longer than a line is cut in the middle.
impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HALF: usize = 120;
        let characters = self.0.chars().count();
        f.write_str("#")?;
        for (index, c) in self.0.chars().enumerate() {
            let is_cut = characters > 2 * HALF && (HALF..characters - HALF).contains(&index);
            match c {
                _ if is_cut && index == HALF => f.write_str("…")?,
                _ if is_cut => {}
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("#{}", self.0))
    }
}
