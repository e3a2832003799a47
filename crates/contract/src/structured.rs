//! Structured content in its three states.

use serde_json::{Map, Value};

/// The structured content of a result: absent, `null` or a value.
///
/// `null` is a value a tool may return, and not the same as returning nothing; `0`, `false`, `""`
/// and `[]` are values like any other.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::Structured;
///
/// let null = json!({ "content": [], "structuredContent": null });
/// assert_eq!(Structured::of(&null), Structured::Null);
/// assert_eq!(Structured::of(&json!({ "content": [] })), Structured::Absent);
/// assert_eq!(Structured::of(&null).value(), Some(&json!(null)));
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
    /// The name of the member of a result.
    pub const KEY: &'static str = "structuredContent";

    /// The structured content of `result`; [`Structured::Absent`] where that is not an object.
    #[must_use]
    pub fn of(result: &'a Value) -> Self {
        result.as_object().map_or(Self::Absent, Self::of_map)
    }

    /// The structured content of a result that is known to be an object.
    #[must_use]
    pub fn of_map(result: &'a Map<String, Value>) -> Self {
        match result.get(Self::KEY) {
            None => Self::Absent,
            Some(Value::Null) => Self::Null,
            Some(value) => Self::Value(value),
        }
    }

    /// The value, `null` included; `None` where it is absent.
    #[must_use]
    pub fn value(self) -> Option<&'a Value> {
        match self {
            Self::Absent => None,
            Self::Null => Some(&NULL),
            Self::Value(value) => Some(value),
        }
    }

    /// Whether it is there and no object: what a legacy revision cannot carry.
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
            assert_eq!(Structured::of(&result), Structured::Value(&value));
            assert!(Structured::of(&result).is_bare());
        }
        assert!(!Structured::of(&json!({ "structuredContent": {} })).is_bare());
    }

    #[test]
    fn what_is_no_result_has_none() {
        assert_eq!(Structured::of(&json!([1])), Structured::Absent);
        assert!(!Structured::Absent.is_bare());
    }
}
