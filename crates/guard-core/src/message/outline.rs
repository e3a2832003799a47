//! The result of a call, parsed on the same pass as its message, as far as it takes to let it pass.

use serde_json::{Map, Value};
use smallvec::SmallVec;
use toolbond_contract::{Structured, project::MARKER};
use toolbond_schema::{Instance, ValueRef};

use super::params::created_tasks;
use crate::json::members::case_variant;
use crate::json::scan::Scanner;
use crate::json::strict::{self, value_bytes};

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
    /// Passes over a value; its outline if it is the result of a call, and written as usual.
    pub fn scan(scanner: &mut Scanner<'a>) -> Option<Option<Self>> {
        scanner.next_byte()?;
        let mut whole = scanner.clone();
        let outline = Self::of_next(scanner, usize::MAX);
        if outline.is_none() {
            whole.value()?;
            *scanner = whole;
        }
        Some(outline)
    }

    /// The outline of the result `text`, if its values take at most `memory`, beside those of its structured content.
    pub fn read(text: &'a str, memory: usize) -> Option<Self> {
        let mut scanner = Scanner::new(text);
        let outline = Self::of_next(&mut scanner, memory)?;
        scanner.finish()?;
        Some(outline)
    }

    fn of_next(scanner: &mut Scanner<'a>, mut memory: usize) -> Option<Self> {
        let (mut members, mut structured) = (Map::new(), None);
        // What is parsed once it is clear that this is the result of a call.
        let mut others = SmallVec::<[(&str, &str); 4]>::new();
        scanner.object(|scanner, name| {
            let name = plain_name(name)?;
            let value = match name {
                Structured::KEY => stand_in(structured.insert(scanner.instance()?).view()),
                "content" => content(scanner, 0, &mut memory)?,
                _ if case_variant(name, &RESULT_NAMES).is_some() => return None,
                _ => {
                    others.push((name, scanner.value()?));
                    Value::Null
                }
            };
            members.insert(name.to_owned(), value).is_none().then_some(())
        })?;
        if structured.is_none() && !members.contains_key("content") {
            return None;
        }
        for (name, text) in others {
            members.insert(name.to_owned(), parse_within(text, &mut memory)?);
        }
        Some(Self { members: Value::Object(members), structured })
    }

    /// Whether the outline is enough to decide: nothing about the result is unusual.
    pub fn is_plain(&self) -> bool {
        let is_plain = |(name, value): (&String, &Value)| match name.as_str() {
            // The structured content of an error may be in its text, or go there.
            "isError" => *value == Value::Bool(false),
            "_meta" => value.get(MARKER).is_none(),
            "content" => value.is_array(),
            "task" | "taskId" => created_tasks(&self.members).is_empty(),
            _ => true,
        };
        self.members.as_object().is_some_and(|members| members.iter().all(is_plain))
            && self.structured.as_ref().is_none_or(|value| value.nesting() <= DEPTH)
    }
}

/// The name that is written as `text`, unless it has escapes.
fn plain_name(text: &str) -> Option<&str> {
    let name = text.get(1..text.len() - 1)?;
    (!name.as_bytes().contains(&b'\\')).then_some(name)
}

/// The most arrays and objects of content in each other.
const CONTENT_DEPTH: usize = 16;

/// What an element of an array, a member, and what an object with members takes beside them, at most.
const ELEMENT: usize = 3 * size_of::<Value>() + 64;
const MEMBERS: usize = 1024;

/// Takes `bytes` off `memory`; fails where there is less.
fn take(memory: &mut usize, bytes: usize) -> Option<()> {
    *memory = memory.checked_sub(bytes)?;
    Some(())
}

fn parse_within(text: &str, memory: &mut usize) -> Option<Value> {
    take(memory, value_bytes(text))?;
    strict::parse(text).ok()
}

/// Passes over the content of a result, or a part of it, and returns it without its texts and data, which may be long.
/// Takes what it returns off `memory`.
fn content(scanner: &mut Scanner<'_>, depth: usize, memory: &mut usize) -> Option<Value> {
    match scanner.next_byte()? {
        _ if depth > CONTENT_DEPTH => None,
        b'[' => {
            let mut items = Vec::new();
            scanner.array(|scanner| {
                take(memory, ELEMENT)?;
                items.push(content(scanner, depth + 1, memory)?);
                Some(())
            })?;
            Some(Value::Array(items))
        }
        b'{' => {
            let mut members = Map::new();
            scanner.object(|scanner, name| {
                let name = plain_name(name)?;
                take(memory, ELEMENT + name.len())?;
                if members.is_empty() {
                    // Or the map grows twice on the way to a few members.
                    take(memory, MEMBERS)?;
                    members = Map::with_capacity(4);
                }
                let value = match name {
                    "text" | "data" | "blob" => {
                        scanner.value()?;
                        Value::String(String::new())
                    }
                    "resource" => content(scanner, depth + 1, memory)?,
                    _ => parse_within(scanner.value()?, memory)?,
                };
                members.insert(name.to_owned(), value).is_none().then_some(())
            })?;
            Some(Value::Object(members))
        }
        _ => parse_within(scanner.value()?, memory),
    }
}

/// What has the shape of `value`: in an envelope, an object, or something else.
fn stand_in(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Bool(boolean) => Value::Bool(boolean),
        ValueRef::Number(number) => Value::Number(number),
        ValueRef::String(_) => Value::String(String::new()),
        ValueRef::Array(_) => Value::Array(Vec::new()),
        ValueRef::Object(mut members) => match (members.next(), members.next()) {
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
    use crate::json::scan::Scanner;

    /// The outline of `result`, where it is plain.
    fn plain(result: &str) -> Option<serde_json::Value> {
        let outline = Outline::read(result, 1 << 20)?;
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
    }

    #[test]
    fn what_is_parsed_has_to_fit() {
        let many = |item: &str| format!(r#"{{"content":[{}]}}"#, vec![item; 1000].join(","));
        let [empty, named] = [many("{}"), many(r#"{"":0}"#)];
        assert!(
            Outline::read(&empty, 100_000).is_none() && Outline::read(&empty, 1 << 20).is_some()
        );
        assert!(
            Outline::read(&named, 1 << 20).is_none() && Outline::read(&named, 4 << 20).is_some()
        );
        let other = format!(r#"{{"content":[],"_meta":{{"a":[{}0]}}}}"#, "0,".repeat(1000));
        assert!(Outline::read(&other, 10_000).is_none());
        // Texts are not kept.
        let long = format!(r#"{{"content":[{{"text":"{}"}}]}}"#, ",".repeat(100_000));
        assert!(Outline::read(&long, 10_000).is_some());
    }

    #[test]
    fn passes_over_what_it_does_not_outline() {
        let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for text in [
            r#"{"tools":[{"name":"a"}]}"#,
            r#"{"content":[],"StructuredContent":1}"#,
            r#"{"content":[{"type":"a","type":"b"}]}"#,
            r#"{"c\u006fntent":[]}"#,
            "null",
            r#"["content"]"#,
            &format!(r#"{{"content":{}}}"#, deep(1000)),
        ] {
            let whole = format!(" {text} , 1");
            let mut scanner = Scanner::new(&whole);
            assert!(matches!(Outline::scan(&mut scanner), Some(None)), "{text}");
            assert_eq!(scanner.at(), 1 + text.len());
        }
        for text in ["", "{\"content\":[}", "{\"content\":[]"] {
            assert!(Outline::scan(&mut Scanner::new(text)).is_none(), "{text}");
        }
    }
}
