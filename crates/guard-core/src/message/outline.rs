//! The result of a call, parsed on the same pass as its message, as far as it takes to let it pass.

use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolbond_contract::{MARKER, Structured};
use toolbond_schema::{Instance, View};

use super::envelope::{Envelope, INLINE_BYTES, Kind};
use super::id::Id;
use super::params::created_tasks;
use crate::json::edit::Span;
use crate::json::members::case_variant;
use crate::json::strict::Extent;

/// The members of a result that the guard reads.
pub const RESULT_NAMES: [&str; 7] =
    ["content", Structured::KEY, "isError", "resultType", "task", "taskId", "_meta"];

/// A result without the text of its content, which no rule looks at and which may be long.
#[derive(Debug)]
pub struct Outline<'a> {
    /// Its members. A stand-in of the same outer shape takes the place of structured content.
    pub members: Value,
    /// Its structured content.
    pub structured: Option<Instance<'a>>,
}

/// Structured content of at most this depth fits every revision: projected results may be 120 levels deep.
const DEPTH: usize = 110;

impl<'a> Outline<'a> {
    /// Reads the message `json`, a part of `text`, and the outline of its result; `None` where it does
    /// not look like the small answer to a call, or is written in an unusual way.
    pub fn read(text: &'a str, json: &'a str) -> Option<(Envelope, Self)> {
        let has = |name: &str| memmem::find(json.as_bytes(), name.as_bytes()).is_some();
        if json.len() > INLINE_BYTES || !(has("\"content\"") || has("\"structuredContent\"")) {
            return None;
        }
        let Answer { id, result, outline } = serde_json::from_str(json).ok()?;
        let result = value_between(json, result.0, result.1)?;
        let kind = match id.and_then(|id| Id::parse(id.get())) {
            Some(id) => Kind::Response(id),
            None => Kind::Other,
        };
        let id = id.and_then(|id| Span::locate(text, id.get()));
        let envelope = Envelope {
            span: Span::locate(text, json.trim_ascii())?,
            kind,
            id,
            result: Some(Span::locate(text, result)?),
            error: None,
            method: None,
            params: None,
        };
        Some((envelope, outline))
    }

    /// Whether the outline is enough to decide: nothing about the result is unusual.
    pub fn is_plain(&self) -> bool {
        let members = &self.members;
        // The structured content of an error may be in its text, or go there.
        let is_error = members.get("isError").is_some_and(|flag| *flag != Value::Bool(false));
        let is_marked = members.get("_meta").is_some_and(|meta| meta.get(MARKER).is_some());
        let is_content = members.get("content").is_none_or(Value::is_array);
        let is_flat = self.structured.as_ref().is_none_or(|value| value.nesting() <= DEPTH);
        is_content && is_flat && !is_error && !is_marked && created_tasks(members).is_empty()
    }
}

/// The value of the member `name` of the object `text`, which `next` follows; both are parts of it.
fn value_between<'a>(text: &'a str, name: &str, next: Option<&str>) -> Option<&'a str> {
    let place = |part: &str| (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    let start = place(name)? + name.len() + 1;
    let (end, last) = match next {
        Some(next) => (place(next)? - 1, ','),
        None => (text.len(), '}'),
    };
    let value = text.get(start..end)?.trim().strip_prefix(':')?.strip_suffix(last)?;
    Some(value.trim())
}

/// A response: the names of the member `result` and of the one after it, and what is in it.
struct Answer<'a> {
    id: Option<&'a RawValue>,
    result: (&'a str, Option<&'a str>),
    outline: Outline<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Answer<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a response")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut id, mut result) = (None, None::<(_, Option<&'de str>, _)>);
                // A name that is written with escapes cannot be borrowed.
                while let Some(name) = map.next_key::<&'de str>()? {
                    if let Some((_, next @ None, _)) = &mut result {
                        *next = Some(name);
                    }
                    match name {
                        "id" if id.is_none() => id = Some(map.next_value()?),
                        "result" if result.is_none() => {
                            result = Some((name, None, map.next_value()?));
                        }
                        "jsonrpc" => map.next_value::<IgnoredAny>().map(drop)?,
                        "id" | "result" | "method" | "params" | "error" => {
                            return Err(A::Error::custom("not a plain response"));
                        }
                        _ if case_variant(
                            name,
                            &["jsonrpc", "id", "method", "params", "result", "error"],
                        )
                        .is_some() =>
                        {
                            return Err(A::Error::custom("not a plain response"));
                        }
                        _ => map.next_value::<IgnoredAny>().map(drop)?,
                    }
                }
                let (name, next, outline) =
                    result.ok_or_else(|| A::Error::missing_field("result"))?;
                Ok(Answer { id: id.flatten(), result: (name, next), outline })
            }
        }
        deserializer.deserialize_map(Members)
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
                    if case_variant(&name, &RESULT_NAMES).is_some() {
                        return Err(A::Error::custom("not a plain result"));
                    }
                    let value = match name.as_str() {
                        Structured::KEY => {
                            let instance: &Instance<'de> = structured.insert(map.next_value()?);
                            stand_in(instance.view())
                        }
                        "content" => map.next_value_seed(Extent::Content)?,
                        _ => map.next_value_seed(Extent::Whole)?,
                    };
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("duplicate key"));
                    }
                }
                Ok(Outline { members: Value::Object(members), structured })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// What has the shape of `value`: in an envelope, an object, or something else.
fn stand_in(value: View<'_>) -> Value {
    match value {
        View::Bool(boolean) => Value::Bool(boolean),
        View::Number(number) => Value::Number(number),
        View::String(_) => Value::String(String::new()),
        View::Array(_) => Value::Array(Vec::new()),
        View::Object(mut members) => match (members.next(), members.next()) {
            (Some(("result", inside)), None) => {
                Value::Object(Map::from_iter([("result".to_owned(), stand_in(inside))]))
            }
            _ => Value::Object(Map::new()),
        },
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;
    use toolbond_contract::{Form, Revision, project_result};

    use super::Outline;
    use crate::message::read::envelope;

    /// The outline of `result`, where it is plain.
    fn plain(result: &str) -> Option<serde_json::Value> {
        let text = format!("{{\"id\":1,\"result\":{result}}}");
        let (_, outline) = Outline::read(&text, &text)?;
        outline.is_plain().then_some(outline.members)
    }

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
        assert_eq!(plain(text), Some(members));
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
            r#"{"structuredContent":1,"_meta":{"dev.toolbond/projection":{}}}"#,
            r#"{"content":[{"text":"a}],"structuredContent":1}"#,
            r#"{"resultType":"complete"}"#,
            r#"["structuredContent"]"#,
        ] {
            assert!(plain(text).is_none(), "{text}");
        }
        let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let result = |levels| format!(r#"{{"structuredContent":{}}}"#, deep(levels));
        assert!(plain(&result(super::DEPTH)).is_some());
        assert!(plain(&result(super::DEPTH + 1)).is_none());
        let deepest = serde_json::from_str(&result(super::DEPTH)).unwrap();
        let sent = project_result(Cow::Owned(deepest), Form::Envelope, &Revision::V2025_11_25);
        assert!(sent.is_ok(), "every revision can carry it");
        let long = |bytes| format!(r#"{{"content":[{{"text":"{}"}}]}}"#, "a".repeat(bytes));
        assert!(plain(&long(super::INLINE_BYTES - 100)).is_some());
        assert!(plain(&long(super::INLINE_BYTES)).is_none());
    }

    #[test]
    fn the_message_is_the_one_that_is_read_without_it() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            r#" { "result" : { "content" : [ ] } , "id" : "a" } "#,
            "{\"id\":null,\n\"result\"\t:{\"content\":[],\"x\":1e2}\r\n,\"x\":{\"result\":1},\"y\":\"}\"}",
            r#"{"result":{"content":[],"result":{}},"x":[]}"#,
        ] {
            let (read, _) = Outline::read(text, text).expect(text);
            let plain = envelope(text, text).unwrap();
            assert_eq!(
                (read.span, read.kind, read.id, read.result),
                (plain.span, plain.kind, plain.id, plain.result),
                "{text}"
            );
        }
        for text in [
            r#"{"id":1,"result":{"content":[]},"result":{}}"#,
            r#"{"id":1,"id":2,"result":{"content":[]}}"#,
            r#"{"id":1,"r\u0065sult":{"content":[]}}"#,
            r#"{"method":"a","result":{"content":[]}}"#,
            r#"{"result":{"content":[]},"params":{}}"#,
            r#"{"id":1,"error":{"content":[]}}"#,
            r#"{"result":{"content":[]}} {}"#,
            r#"{"result":{"content":[]},"Error":{}}"#,
            r#"{"id":1,"result":{"content":[],"StructuredContent":1}}"#,
            r#"{"result":null,"content":[]}"#,
            r#"["content"]"#,
        ] {
            assert!(Outline::read(text, text).is_none(), "{text}");
        }
    }
}
