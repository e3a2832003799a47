//! One place where an output schema is relaxed, and how.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;
use toolbond_schema::Pointer;

use crate::keyword::relaxable;

/// The most steps of a relaxation. A schema that needs more says little about its results.
pub const MAX_STEPS: usize = 64;

/// A change of one schema inside the author's schema. It has a place in that schema and a kind, and nothing of any value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The schema, in the author's document.
    #[serde(deserialize_with = "pointer")]
    pub at: Pointer,
    /// What changes there.
    pub change: Loosening,
}

/// How one schema is relaxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loosening {
    /// The schema is `false`, and accepts everything now.
    Accept,
    /// `type` allows another type.
    Allow(Kind),
    /// The schema is a `$ref`, and values of this type need not match what it leads to.
    AllowBesideRef(Kind),
    /// `anyOf` (or `oneOf` that became `anyOf`) has another branch, for values of this type.
    Branch(Kind),
    /// `oneOf` becomes `anyOf`.
    AnyOf,
    /// The name with this index in `required` is not required.
    Optional(usize),
    /// `unevaluatedProperties` or `unevaluatedItems` accepts everything.
    Open(Keyword),
    /// The keyword goes.
    Drop(Keyword),
}

/// A JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The type of `value`. A number without a fraction is an integer, however it is written.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_i64() || number.is_u64() => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The name of the type in a schema.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A keyword that a relaxation may take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Keyword(&'static str);

impl Keyword {
    /// The keyword called `name`, if a relaxation may take it away.
    pub(super) fn named(name: &str) -> Option<Self> {
        relaxable(name).map(Self)
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Whether it is about what no other keyword evaluated. It can be opened only: it evaluates that itself.
    pub(super) fn is_unevaluated(self) -> bool {
        self.0.starts_with("unevaluated")
    }

    /// Whether what it holds marks properties or items as evaluated, so that without it `unevaluatedProperties` and
    /// `unevaluatedItems` are about more of them.
    pub(super) fn evaluates(self) -> bool {
        matches!(self.0, "anyOf" | "contains" | "dependencies" | "if" | "oneOf")
    }
}

impl Serialize for Keyword {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Keyword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom("unknown keyword"))
    }
}

fn pointer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pointer, D::Error> {
    Ok(Pointer::from(String::deserialize(deserializer)?.as_str()))
}
