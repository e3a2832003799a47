//! Ids of requests, compared as peers compare them.

use std::fmt;

/// The most bytes of an id: ids of open requests are kept.
pub const MAX_ID: usize = 1024;

/// The id of a request.
///
/// A peer may write an id in another way than it received it (`1.0` for `1`, an escape in a string),
/// so ids are compared by value. Only strings and numbers are ids.
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
    /// Parses the JSON `text`; `None` where it is neither a string nor a number.
    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::String),
            b'-' | b'0'..=b'9' => Some(Self::number(text)),
            _ => None,
        }
    }

    /// The other id that an answer with this one may be meant for: servers write a number as a
    /// string, and TypeScript v1 takes the string for the number.
    pub fn other_reading(&self) -> Option<Self> {
        match self {
            Self::String(text) => match Self::number(&numeral(text)) {
                Self::Number(_) => None,
                integer => Some(integer),
            },
            Self::Integer(_) | Self::Number(_) => Some(Self::String(self.to_string())),
        }
    }

    /// The open request that an answer with this id belongs to: the one with this id, else the one with the other reading
    /// of it.
    pub fn among(&self, is_open: impl Fn(&Self) -> bool) -> Option<Self> {
        if is_open(self) {
            return Some(self.clone());
        }
        self.other_reading().filter(is_open)
    }

    /// Whether it has more than [`MAX_ID`] bytes.
    pub fn is_long(&self) -> bool {
        self.bytes() > MAX_ID
    }

    /// The bytes of its text.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Integer(_) => 0,
            Self::Number(text) | Self::String(text) => text.len(),
        }
    }

    /// Its text: a string without quotes.
    pub fn text(&self) -> String {
        match self {
            Self::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Whether every peer reads it as it is written: many read numbers as doubles.
    pub fn is_exact(&self) -> bool {
        match self {
            Self::Integer(integer) => integer.unsigned_abs() <= 1 << 53,
            Self::Number(_) => false,
            Self::String(_) => true,
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

/// A string as `Number` of JavaScript reads it.
fn numeral(text: &str) -> String {
    let text = text.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    let radix = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ if text.is_empty() => return "0".to_owned(),
        _ => return text.to_owned(),
    };
    i64::from_str_radix(&text[2..], radix).map_or_else(|_| text.to_owned(), |n| n.to_string())
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
    use super::Id;

    fn id(text: &str) -> Option<Id> {
        Id::parse(text)
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
    fn a_string_may_be_meant_for_a_number() {
        let reads = |text: &str| id(text).unwrap().other_reading();
        for text in ["\"1\"", "\" 1.0 \"", "\"\u{feff}1\"", "\"0x1\"", "\"10e-1\""] {
            assert_eq!(reads(text), Some(Id::Integer(1)), "{text}");
        }
        assert_eq!(reads("\"\""), Some(Id::Integer(0)));
        assert_eq!(reads("1"), Some(Id::String("1".into())));
        for text in ["\"a1\"", "\"inf\"", "\"0xg\"", "\"é\""] {
            assert_eq!(reads(text), None, "{text}");
        }
    }

    #[test]
    fn an_answer_belongs_to_the_request_with_its_id_or_else_with_its_other_reading() {
        let open = |all: &'static [&'static str]| {
            move |it: &Id| all.iter().any(|text| id(text).as_ref() == Some(it))
        };
        let text = Id::String("1".into());
        assert_eq!(text.among(open(&["1", "2"])), Some(Id::Integer(1)));
        assert_eq!(text.among(open(&["1", "\"1\""])), Some(text.clone()));
        assert_eq!(text.among(open(&["2"])), None);
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
