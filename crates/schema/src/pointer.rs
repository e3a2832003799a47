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

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
