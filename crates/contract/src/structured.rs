//! Structured content in its three states.

use serde_json::{Map, Value};

/// The structured content of a result: absent, `null` or a value.
///
/// A tool may return `null`, which differs from returning nothing. `0`, `false`, `""` and `[]` are ordinary values.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::Structured;
///
/// let null = json!({ "content": [], "structuredContent": null });
/// assert_eq!(Structured::from_result(&null), Structured::Null);
/// assert_eq!(Structured::from_result(&json!({ "content": [] })), Structured::Absent);
/// assert_eq!(Structured::from_result(&null).value(), Some(&json!(null)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Structured<'a> {
    /// There is no `structuredContent`.
    Absent,
    /// `structuredContent` is `null`.
    Null,
    /// `structuredContent` is anything else.
    Value(&'a Value),
}

static NULL: Value = Value::Null;

impl<'a> Structured<'a> {
    /// The name of the member in a result.
    pub const KEY: &'static str = "structuredContent";

    /// Returns the structured content of `result`, or [`Structured::Absent`] if `result` is not an object.
    #[must_use]
    pub fn from_result(result: &'a Value) -> Self {
        result.as_object().map_or(Self::Absent, Self::from_members)
    }

    /// Returns the structured content of a result whose members are given.
    #[must_use]
    pub fn from_members(result: &'a Map<String, Value>) -> Self {
        match result.get(Self::KEY) {
            None => Self::Absent,
            Some(Value::Null) => Self::Null,
            Some(value) => Self::Value(value),
        }
    }

    /// Returns the value, which may be `null`, or `None` if it is absent.
    #[must_use]
    pub fn value(self) -> Option<&'a Value> {
        match self {
            Self::Absent => None,
            Self::Null => Some(&NULL),
            Self::Value(value) => Some(value),
        }
    }

    /// Whether there is a value that is not an object. Legacy revisions cannot carry such a value.
    #[must_use]
    pub fn is_bare(self) -> bool {
        self.value().is_some_and(|value| !value.is_object())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Structured;

    #[test]
    fn falsy_values_are_values() {
        for value in [json!(0), json!(false), json!(""), json!([])] {
            let result = json!({ "structuredContent": value });
            assert_eq!(Structured::from_result(&result), Structured::Value(&value));
            assert!(Structured::from_result(&result).is_bare());
        }
        assert!(!Structured::from_result(&json!({ "structuredContent": {} })).is_bare());
    }

    #[test]
    fn other_values_have_no_structured_content() {
        assert_eq!(Structured::from_result(&json!([1])), Structured::Absent);
        assert!(!Structured::Absent.is_bare());
    }
}
