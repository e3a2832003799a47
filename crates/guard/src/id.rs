//! The id of a request, as two peers compare it.

use std::fmt;

use serde_json::value::RawValue;

/// The id of a request.
///
/// A peer may write an id in another way than it came (`1.0` for `1`, an escape in a string): what is
/// compared is the value. Read from the raw text; nothing but strings and numbers is an id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number.
    Integer(i64),
    /// A number of another kind, by its text.
    Number(String),
    /// A string.
    String(String),
}

impl Id {
    /// The id that `raw` is; nothing where it is no string and no number.
    #[must_use]
    pub fn of(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::String),
            b'-' | b'0'..=b'9' => Some(Self::number(text)),
            _ => None,
        }
    }

    fn number(text: &str) -> Self {
        if let Ok(integer) = text.parse() {
            return Self::Integer(integer);
        }
        // Beyond 2^53 not every whole number is a double: such an id is compared by its text.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        match text.parse::<f64>() {
            Ok(float) if float.fract() == 0.0 && float.abs() < 9e15 => Self::Integer(float as i64),
            _ => Self::Number(text.to_owned()),
        }
    }
}

/// The id as JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => serde_json::Value::from(text.as_str()).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Id;

    fn id(text: &str) -> Option<Id> {
        Id::of(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn equal_values_are_equal_ids() {
        assert_eq!(id("1"), id("1.0"));
        assert_eq!(id("1"), id("10e-1"));
        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_ne!(id("1"), id(r#""1""#));
        assert_ne!(id("9007199254740993"), id("9007199254740992.0"));
    }

    #[test]
    fn what_is_no_id() {
        for text in ["null", "true", "[1]", "{}"] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn is_written_as_json() {
        assert_eq!(id(r#""a\"b""#).unwrap().to_string(), r#""a\"b""#);
        assert_eq!(id("7").unwrap().to_string(), "7");
    }
}
