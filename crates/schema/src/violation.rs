//! Violations of a schema.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::Pointer;

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Violation {
    /// The place in the instance.
    pub instance: Pointer,
    /// The place in the schema.
    pub schema: Pointer,
    /// The keyword that is violated.
    pub keyword: String,
    /// What the schema requires.
    pub expected: String,
    /// What was found, shortened to 60 characters.
    pub found: String,
    /// Expected and found in one line, without the place.
    pub message: String,
    /// What to do about it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.instance, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// The violations of one instance, at most [`Limits::violations`](crate::Limits::violations).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violations {
    pub(crate) list: Vec<Violation>,
    pub(crate) omitted: bool,
}

impl Violations {
    /// The violations; at least one.
    #[must_use]
    pub fn as_slice(&self) -> &[Violation] {
        &self.list
    }

    /// The violations, in the order of the schema.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.list.iter()
    }

    /// The "basic" output of JSON Schema 2020-12.
    #[must_use]
    pub fn basic(&self) -> Value {
        let errors: Vec<Value> = self
            .iter()
            .map(|violation| {
                json!({
                    "keywordLocation": violation.schema.as_str(),
                    "instanceLocation": violation.instance.as_str(),
                    "error": violation.message,
                })
            })
            .collect();
        json!({ "valid": false, "errors": errors })
    }

    /// Whether there are more than are listed.
    #[must_use]
    pub const fn omitted(&self) -> bool {
        self.omitted
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// Writes one violation per line.
impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            violation.fmt(f)?;
        }
        if self.omitted {
            f.write_str("\n… and more")?;
        }
        Ok(())
    }
}
