//! Violations of a schema.

use std::fmt;

use referencing::uri::{EncodedBuffer, Path};
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
    /// The place in the schema, or in [`Violation::document`] if there is one.
    pub schema: Pointer,
    /// The URI of the document that has the keyword, if it is not in the schema but was handed in with
    /// [`Options::document`](crate::Options::document).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
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
    /// What the author of the schema may want to know: which branch of a union the violation is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What is wrong, as data.
    #[serde(skip)]
    pub mistake: Mistake,
    /// Whether the schema requires more of the value than the message has room for.
    #[serde(skip)]
    pub is_brief: bool,
}

/// What is wrong at the place of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// The value: the message is "expected …, found …".
    Value,
    /// A required property is missing.
    Missing {
        /// Its name.
        property: String,
        /// What it takes, in at most 60 characters.
        takes: Option<String>,
    },
    /// A property is unknown.
    Unknown {
        /// Its name.
        property: String,
        /// The name that was probably meant.
        suggestion: Option<String>,
    },
    /// Something that only the message says.
    Other,
}

impl Violation {
    /// The message, with the name of a missing or unknown property written as `rename` writes it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_schema::{Schema, Verdict};
    ///
    /// let schema = Schema::compile(&json!({ "required": ["city"] }))?;
    /// let Verdict::Invalid(violations) = schema.validate(&json!({})) else { panic!() };
    /// let message = violations.as_slice()[0].message_with(|name| format!("address.{name}"));
    /// assert_eq!(message, "missing required property `address.city`");
    /// # Ok::<(), toolbond_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn message_with(&self, rename: impl FnOnce(&str) -> String) -> String {
        match &self.mistake {
            Mistake::Missing { property, .. } | Mistake::Unknown { property, .. } => {
                self.mistake.sentence(&rename(property)).unwrap_or_default()
            }
            Mistake::Value | Mistake::Other => self.message.clone(),
        }
    }

    /// Hint and note in one line.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match (&self.hint, &self.note) {
            (Some(hint), Some(note)) => Some(format!("{hint}; {note}")),
            (hint, note) => hint.as_ref().or(note.as_ref()).cloned(),
        }
    }
}

impl Mistake {
    /// The sentence about a property, which it calls `name`.
    pub(crate) fn sentence(&self, name: &str) -> Option<String> {
        match self {
            Self::Missing { takes: Some(takes), .. } => {
                Some(format!("missing required property `{name}` ({takes})"))
            }
            Self::Missing { .. } => Some(format!("missing required property `{name}`")),
            Self::Unknown { .. } => Some(format!("unknown property `{name}`")),
            Self::Value | Self::Other => None,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.instance, self.message)?;
        match self.advice() {
            Some(advice) => write!(f, " ({advice})"),
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
                let mut unit = json!({
                    "keywordLocation": violation.schema.as_str(),
                    "instanceLocation": violation.instance.as_str(),
                    "error": violation.message,
                });
                if let Some(document) = &violation.document {
                    let mut fragment = EncodedBuffer::new();
                    fragment.encode_str::<Path>(violation.schema.as_str());
                    let location = format!("{document}#{fragment}");
                    unit["absoluteKeywordLocation"] = location.into();
                }
                unit
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
