//! Arguments in HTTP headers: the `Mcp-Param-*` headers of revision 2026-07-28.
//!
//! An input schema names the header of an argument with `x-mcp-header`. Clients repeat the argument in that header, and
//! servers compare the two. `Mcp-Name` has the same encoding.
//!
//! ```
//! use serde_json::json;
//! use toolbond_contract::headers::{encode, matches, param_headers};
//!
//! let schema = json!({ "type": "object", "properties": {
//!     "region": { "type": "string", "x-mcp-header": "Region" },
//!     "limit": { "type": "integer", "x-mcp-header": "Limit" },
//! } });
//! let arguments = json!({ "region": "Zürich" });
//! let [region, limit] = &param_headers(&schema, Some(&arguments))[..] else { panic!() };
//! assert_eq!(region.name, "Mcp-Param-Region");
//! assert_eq!(region.value.and_then(encode).unwrap(), "=?base64?WsO8cmljaA==?=");
//! assert_eq!(limit.value, None);
//! assert!(matches(b"=?base64?WsO8cmljaA==?=", &json!("Zürich")));
//! assert!(matches(b"42.0", &json!(42)));
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Map, Number, Value};

use crate::rules::header_annotation::{KEY, header_name};
use crate::subschemas::DEEPEST;

/// What the name of each header starts with.
pub const PREFIX: &str = "Mcp-Param-";

/// What surrounds a value in Base64.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// The largest integer that every reader of JSON reads exactly, 2⁵³ − 1.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// An argument that has a header.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamHeader<'a> {
    /// The name of the header, such as `Mcp-Param-Region`.
    pub name: String,
    /// The string, number or boolean to repeat in the header. A request without it has no such header.
    pub value: Option<&'a Value>,
}

/// The arguments that `schema`, an input schema, asks for in headers, with their values in `arguments`.
///
/// Leaves out annotations that break a rule (`toolbond explain header-annotation`).
#[must_use]
pub fn param_headers<'a>(schema: &Value, arguments: Option<&'a Value>) -> Vec<ParamHeader<'a>> {
    let mut walk = Walk { seen: HashSet::new(), found: Vec::new() };
    walk.properties(schema, arguments, 1);
    walk.found
}

struct Walk<'a> {
    /// The names used so far, in lower case.
    seen: HashSet<String>,
    found: Vec<ParamHeader<'a>>,
}

impl<'a> Walk<'a> {
    fn properties(&mut self, schema: &Value, value: Option<&'a Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        if depth > DEEPEST {
            return;
        }
        for (property, schema) in properties.into_iter().flatten() {
            let value = value.and_then(|value| value.get(property));
            if let Some(schema) = schema.as_object() {
                self.annotation(schema, value);
            }
            self.properties(schema, value, depth + 1);
        }
    }

    fn annotation(&mut self, schema: &Map<String, Value>, value: Option<&'a Value>) {
        let Some(name) = schema.get(KEY) else { return };
        if let Ok(name) = header_name(name, schema, true, &mut self.seen) {
            let value = value.filter(|value| text(value).is_some());
            self.found.push(ParamHeader { name: format!("{PREFIX}{name}"), value });
        }
    }
}

/// Writes a string, number or boolean as the value of a header. Other values have none.
#[must_use]
pub fn encode(value: &Value) -> Option<String> {
    let text = text(value)?;
    let is_plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && text.trim_matches([' ', '\t']).len() == text.len()
        && !(text.starts_with(ENCODED.0) && text.ends_with(ENCODED.1));
    if is_plain {
        return Some(text.into_owned());
    }
    Some(format!("{}{}{}", ENCODED.0, BASE64_STANDARD.encode(text.as_bytes()), ENCODED.1))
}

/// Reads the value of a header. Fails if it contains characters other than visible ASCII, space and tab, or invalid
/// Base64 or UTF-8 where it is encoded.
#[must_use]
pub fn decode(header: &[u8]) -> Option<Cow<'_, str>> {
    let header = str::from_utf8(header).ok()?;
    if !header.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return None;
    }
    let header = header.trim_matches([' ', '\t']);
    let inner = header.strip_prefix(ENCODED.0).and_then(|rest| rest.strip_suffix(ENCODED.1));
    let Some(inner) = inner else { return Some(header.into()) };
    Some(String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok()?.into())
}

/// Whether the value of a header is that of an argument. Compares numbers by value: `42.0` is 42.
#[must_use]
pub fn matches(header: &[u8], value: &Value) -> bool {
    let (Some(header), Some(expected)) = (decode(header), text(value)) else { return false };
    if header == expected {
        return true;
    }
    let Value::Number(expected) = value else { return false };
    // A JSON number, without the space that the parser would skip.
    let is_number = header.bytes().all(|byte| !byte.is_ascii_whitespace());
    let found = is_number.then(|| header.parse::<Number>().ok()).flatten();
    found.is_some_and(|found| decimal(&found) == decimal(expected))
}

/// The text of a value that may stand in a header.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) => text.into(),
        Value::Bool(value) => (if *value { "true" } else { "false" }).into(),
        Value::Number(number) => decimal(number).into(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}

/// The decimal form of a number, the same for `42`, `42.0` and `4.2e1`.
fn decimal(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= MAX_SAFE => {
            // Negative zero is zero.
            format!("{:.0}", float + 0.0)
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{decode, encode, matches, param_headers};

    fn names_and_values(schema: &Value, arguments: &Value) -> Vec<(String, Option<String>)> {
        let headers = param_headers(schema, Some(arguments));
        headers.into_iter().map(|it| (it.name, it.value.and_then(encode))).collect()
    }

    /// The table of the specification, and what else "Value Encoding" asks for.
    #[test]
    fn values_are_written_as_the_specification_shows_and_read_back() {
        for (value, header) in [
            (json!("us-west1"), "us-west1"),
            (json!("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (json!(" padded "), "=?base64?IHBhZGRlZCA=?="),
            (json!("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?="),
            (json!("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            (json!(""), ""),
            (json!("two words\tand a tab"), "two words\tand a tab"),
            (json!("=?BASE64?literal?="), "=?BASE64?literal?="),
            (json!("=?base64?="), "=?base64?PT9iYXNlNjQ/PQ==?="),
            (json!("\u{7f}"), "=?base64?fw==?="),
            (json!(42), "42"),
            (json!(-7), "-7"),
            (json!(42.0), "42"),
            (json!(-0.0), "0"),
            (json!(1e3), "1000"),
            (json!(true), "true"),
            (json!(false), "false"),
        ] {
            assert_eq!(encode(&value).as_deref(), Some(header), "{value}");
            assert!(matches(header.as_bytes(), &value), "{value}");
        }
        for value in [json!(null), json!([1]), json!({ "a": 1 })] {
            assert_eq!(encode(&value), None);
            assert!(!matches(value.to_string().as_bytes(), &value));
        }
    }

    #[test]
    fn numbers_are_compared_by_value_and_everything_else_by_text() {
        for (header, value) in [
            ("42.0", json!(42)),
            ("4.2e1", json!(42)),
            ("42", json!(42.0)),
            ("-0", json!(0)),
            ("=?base64?NDI=?=", json!(42)),
            (" us-west1 ", json!("us-west1")),
        ] {
            assert!(matches(header.as_bytes(), &value), "{header} is {value}");
        }
        for (header, value) in [
            ("43", json!(42)),
            ("42 ,", json!(42)),
            ("0x2a", json!(42)),
            ("", json!(42)),
            ("9007199254740993", json!(9_007_199_254_740_992_u64)),
            ("9007199254740993", json!(9_007_199_254_740_992_f64)),
            ("42.0", json!("42")),
            ("True", json!(true)),
            ("1", json!(true)),
            ("US-WEST1", json!("us-west1")),
            ("null", json!(null)),
        ] {
            assert!(!matches(header.as_bytes(), &value), "{header} is not {value}");
        }
    }

    #[test]
    fn headers_that_cannot_be_read_match_nothing() {
        for header in [
            "Hello, 世界".as_bytes(),
            b"line1\nline2",
            b"\x7f",
            b"\xff",
            b"=?base64?SGVsbG8?=",
            b"=?base64?SGVs bG8=?=",
            b"=?base64?/w==?=",
        ] {
            assert_eq!(decode(header), None, "{header:?}");
        }
    }

    #[test]
    fn arguments_are_found_along_their_properties() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "place": { "type": "object", "properties": {
                "floor": { "type": "integer", "x-mcp-header": "Floor" },
            } },
            "dry": { "type": "boolean", "x-mcp-header": "Dry" },
            "plain": { "type": "string" },
        } });
        let header = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let arguments = json!({ "region": "eu", "place": { "floor": 3 }, "dry": null });
        assert_eq!(
            names_and_values(&schema, &arguments),
            [
                header("Mcp-Param-Region", Some("eu")),
                header("Mcp-Param-Floor", Some("3")),
                header("Mcp-Param-Dry", None),
            ]
        );
        for arguments in [json!({}), json!([]), json!({ "region": ["eu"], "place": 3 })] {
            let headers = names_and_values(&schema, &arguments);
            assert!(headers.iter().all(|(_, value)| value.is_none()), "{arguments}");
        }
        assert_eq!(param_headers(&schema, None).len(), 3);
    }

    #[test]
    fn annotations_that_break_a_rule_are_left_out() {
        let schema = json!({ "type": "object", "x-mcp-header": "Root", "properties": {
            "a": { "type": "string", "x-mcp-header": "Same" },
            "b": { "type": "string", "x-mcp-header": "SAME" },
            "c": { "type": "number", "x-mcp-header": "Number" },
            "d": { "type": "string", "x-mcp-header": "bad name" },
            "e": { "type": "array", "items": { "type": "string", "x-mcp-header": "Item" } },
            "f": true,
        } });
        let headers = names_and_values(&schema, &json!({ "a": "1", "b": "2", "c": 3, "d": "4" }));
        assert_eq!(headers, [("Mcp-Param-Same".to_owned(), Some("1".to_owned()))]);

        let mut deep = json!({ "type": "string", "x-mcp-header": "Deep" });
        for _ in 0..300 {
            deep = json!({ "properties": { "a": deep } });
        }
        assert_eq!(param_headers(&deep, None), []);
    }
}
