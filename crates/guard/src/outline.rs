//! The result of a call, read as far as it takes to let it pass.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use toolpact_contract::{MARKER, MAX_PROJECTED_DEPTH, Structured};
use toolpact_schema::Instance;

use crate::tasks;
use crate::unique::Read;

/// A result without what its content says, which nothing is judged by, and which may be long.
pub(crate) struct Outline<'a> {
    /// Its members. In the place of structured content is something that has the same shape, as far
    /// as revisions differ in that.
    pub(crate) members: Value,
    /// Its structured content.
    pub(crate) structured: Option<Instance<'a>>,
}

/// So deep that every revision can carry it, however it is wrapped.
const DEPTH: usize = MAX_PROJECTED_DEPTH - 10;

impl<'a> Outline<'a> {
    /// Reads `result`, where its outline says enough of it: it is nothing out of the ordinary.
    pub(crate) fn read(result: &'a str) -> Option<Self> {
        let outline: Self = serde_json::from_str(result).ok()?;
        let members = &outline.members;
        // The structured content of an error may be in its text, or go there.
        let is_error = members.get("isError").is_some_and(|flag| *flag != Value::Bool(false));
        let is_marked = members.get("_meta").is_some_and(|meta| meta.get(MARKER).is_some());
        let is_content = members.get("content").is_none_or(Value::is_array);
        let is_flat = outline.structured.as_ref().is_none_or(|value| value.nesting() <= DEPTH);
        let is_plain = is_content && is_flat && !is_error && !is_marked;
        (is_plain && tasks::created(members).is_none()).then_some(outline)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Outline<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Outline<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut members, mut structured) = (Map::new(), None);
                while let Some(name) = map.next_key::<String>()? {
                    let value = match name.as_str() {
                        Structured::KEY => stand_in(structured.insert(map.next_value()?)),
                        "content" => map.next_value_seed(Read::Content)?,
                        _ => map.next_value_seed(Read::Whole)?,
                    };
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a member is there twice"));
                    }
                }
                Ok(Outline { members: Value::Object(members), structured })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// What has the shape of `instance`: in an envelope, an object, or something else.
fn stand_in(instance: &Instance<'_>) -> Value {
    match instance {
        Instance::Null => Value::Null,
        Instance::Bool(boolean) => Value::Bool(*boolean),
        Instance::Number(number) => Value::Number(number.clone()),
        Instance::String(_) => Value::String(String::new()),
        Instance::Array(_) => Value::Array(Vec::new()),
        Instance::Object(members) => match members.as_slice() {
            [(name, inside)] if name == "result" => {
                Value::Object(Map::from_iter([("result".to_owned(), stand_in(inside))]))
            }
            _ => Value::Object(Map::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Outline;

    #[test]
    fn passes_over_what_content_says() {
        let text = r#"{"content":[{"type":"text","text":"a\"b"},{"type":"resource",
            "resource":{"uri":"a:b","blob":"AAAA"}},{"type":"image","data":"\ud800"}],
            "structuredContent":{"result":[{"data":"b"}]},"isError":false}"#;
        let members = json!({
            "content": [
                { "type": "text", "text": "" },
                { "type": "resource", "resource": { "uri": "a:b", "blob": "" } },
                { "type": "image", "data": "" }
            ],
            "structuredContent": { "result": [] },
            "isError": false
        });
        assert_eq!(Outline::read(text).unwrap().members, members);
    }

    #[test]
    fn is_not_read_from_anything_out_of_the_ordinary() {
        for text in [
            r#"{"content":{},"structuredContent":1}"#,
            r#"{"content":[{"text":"a","text":"b"}],"structuredContent":1}"#,
            r#"{"structuredContent":1,"structuredContent":1}"#,
            r#"{"structuredContent":{"a":1,"a":1}}"#,
            r#"{"structuredContent":1,"isError":true}"#,
            r#"{"structuredContent":1,"isError":0}"#,
            r#"{"structuredContent":1,"resultType":"task","taskId":"1"}"#,
            r#"{"structuredContent":1,"_meta":{"dev.toolpact/projection":{}}}"#,
            r#"{"content":[{"text":"a}],"structuredContent":1}"#,
            "[]",
        ] {
            assert!(Outline::read(text).is_none(), "{text}");
        }
        let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let result = |levels| format!(r#"{{"structuredContent":{}}}"#, deep(levels));
        assert!(Outline::read(&result(super::DEPTH)).is_some());
        assert!(Outline::read(&result(super::DEPTH + 1)).is_none());
    }
}
