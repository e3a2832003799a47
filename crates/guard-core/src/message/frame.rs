//! One message in its text, and what changes in it on its way.

use std::borrow::Cow;
use std::sync::Arc;

use bytestring::ByteString;
use serde_json::Value;

use super::envelope::{Envelope, Kind, Method, Params};
use super::id::Id;
use super::unreadable::BYTE_ORDER_MARK;
use crate::json::edit::{EditError, Span, apply};
use crate::json::object::{NotReadable, Object};
use crate::json::rope::{Rope, RopeWriter};

/// One message in its text.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The text that the message is a part of, or all of.
    pub text: ByteString,
    pub part: Envelope,
}

impl Frame {
    /// The method; empty where there is none.
    pub fn method(&self) -> Cow<'_, str> {
        self.part.method(&self.text)
    }

    /// The part of its text at `span`.
    pub fn slice(&self, span: Span) -> ByteString {
        self.text.slice_ref(span.text(&self.text))
    }

    /// The message as it came: with the white space around it, unless it is a part of a batch.
    pub fn as_it_came(&self) -> ByteString {
        let Span { start, end } = self.part.span;
        let [before, after] = [&self.text[..start], &self.text[end..]];
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        if before.trim_ascii().is_empty() && after.trim_ascii().is_empty() {
            return self.text.clone();
        }
        self.slice(self.part.span)
    }

    /// The parameters; an empty object where there are none.
    pub fn params(&self) -> Result<Object, NotReadable> {
        match (self.part.params(), self.part.params_text(&self.text)) {
            (Some(params), _) => params.object(&self.text),
            (None, Some(_)) => Err(NotReadable::NoObject),
            (None, None) => Ok(Object::default()),
        }
    }

    /// An answer to the request `id`: `member` is `result` or `error`, and `value` is JSON.
    fn answer(id: &Id, member: &str, value: &str) -> Self {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":"#);
        let text = format!("{start}{value}}}");
        let place = Span { start: start.len(), end: text.len() - 1 };
        let id_at = r#"{"jsonrpc":"2.0","id":"#.len();
        let is_result = member == "result";
        let part = Envelope {
            span: Span::from(0, &text),
            kind: Kind::Response(id.clone()),
            id: Some(Span { start: id_at, end: start.len() - member.len() - 4 }),
            result: is_result.then_some(place),
            error: (!is_result).then_some(place),
            method: None,
            params: None,
        };
        Self { text: text.into(), part }
    }

    /// A result, which is JSON.
    pub fn result(id: &Id, result: &str) -> Self {
        Self::answer(id, "result", result)
    }

    /// An error, which is the whole error object.
    pub fn error(id: &Id, error: &str) -> Self {
        Self::answer(id, "error", error)
    }

    /// A request, or with no `id` a notification.
    pub fn request(id: Option<&Id>, method: &str, params: &Object) -> Self {
        let own = id.map_or_else(String::new, |id| format!(r#""id":{id},"#));
        let name = Value::from(method).to_string();
        let start = format!(r#"{{"jsonrpc":"2.0",{own}"method":{name}"#);
        let method_end = start.len();
        let params_at = method_end + r#","params":"#.len();
        let text = if params.is_empty() {
            ByteString::from(format!("{start}}}"))
        } else {
            ByteString::from(format!(r#"{start},"params":{params}}}"#))
        };
        let params = text.get(params_at..text.len() - 1);
        let known = Method::parse(method);
        let id_at = r#"{"jsonrpc":"2.0","id":"#.len();
        let part = Envelope {
            span: Span::from(0, &text),
            kind: id.map_or(Kind::Notification(known), |id| Kind::Request(id.clone(), known)),
            id: id.map(|_| Span { start: id_at, end: id_at + own.len() - r#""id":,"#.len() }),
            result: None,
            error: None,
            method: Some(Span { start: method_end - name.len(), end: method_end }),
            params: params.and_then(|params| Params::read(&text, params)).map(Arc::new),
        };
        Self { text, part }
    }
}

/// What changes in a message.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// New text in some places.
    pub edits: Vec<(Span, String)>,
    /// Members of `_meta` of the parameters, and their values as JSON.
    pub meta: Vec<(&'static str, String)>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.meta.is_empty()
    }

    /// The message with its changes. Fails where an edit does not fit.
    pub fn apply(mut self, text: &ByteString, part: &Envelope) -> Result<Rope, EditError> {
        self.edits.extend(meta_edits(text, part, std::mem::take(&mut self.meta)));
        Rope::edit(text, part.span, self.edits)
    }

    /// What is at `span` of `text` after the changes.
    fn at(&self, text: &ByteString, span: Span) -> Result<ByteString, EditError> {
        let is_in = |it: &&(Span, String)| span.start <= it.0.start && it.0.end <= span.end;
        let inside: Vec<_> = self.edits.iter().filter(is_in).cloned().collect();
        if inside.is_empty() {
            return Ok(text.slice_ref(span.text(text)));
        }
        apply(text, span, inside).map(ByteString::from)
    }
}

/// A message of a client as it leaves the conversation.
#[derive(Clone, Debug)]
pub struct Sent {
    pub frame: Frame,
    pub changes: Changes,
}

impl From<Frame> for Sent {
    fn from(frame: Frame) -> Self {
        Self { frame, changes: Changes::default() }
    }
}

impl Sent {
    /// The id, if there is one.
    pub fn id(&self) -> Option<Id> {
        let span = self.frame.part.id?;
        match &self.frame.part.kind {
            Kind::Request(id, _) | Kind::Response(id) if self.changes.edits.is_empty() => {
                Some(id.clone())
            }
            _ => Id::parse(&self.changes.at(&self.frame.text, span).ok()?),
        }
    }

    /// The parameters; an empty object where there are none. Fails where they are none, or two readers may disagree.
    pub fn params(&self) -> Result<Object, NotReadable> {
        let mut params = self.frame.params()?;
        if self.changes.is_empty() {
            return Ok(params);
        }
        let text = &self.frame.text;
        let changed: Vec<_> = params
            .iter()
            .filter_map(|(name, value)| {
                let new = self.changes.at(text, Span::locate(text, value)?).ok()?;
                (new != *value).then(|| (name.to_owned(), new))
            })
            .collect();
        for (name, value) in changed {
            params.set(&name, value);
        }
        if !self.changes.meta.is_empty() {
            let mut meta = params.object("_meta");
            for (name, value) in &self.changes.meta {
                meta.set(name, value.as_str());
            }
            params.set("_meta", meta.to_string());
        }
        Ok(params)
    }

    /// The message in pieces. Fails where a change does not fit.
    pub fn into_rope(self) -> Result<Rope, EditError> {
        let Self { frame, changes } = self;
        if changes.is_empty() {
            return Ok(Rope::kept(frame.as_it_came()));
        }
        changes.apply(&frame.text, &frame.part)
    }
}

/// A message on its way out.
#[derive(Debug)]
pub enum Outgoing {
    /// Its text.
    Text(Rope),
    /// A message of a client, for a server.
    Sent(Box<Sent>),
    /// A request for a server that was translated, or with no id a notification.
    Request { id: Option<Id>, method: String, params: Object },
}

impl Outgoing {
    /// The message in pieces. Fails where a change does not fit.
    pub fn into_rope(self) -> Result<Rope, EditError> {
        match self {
            Self::Text(rope) => Ok(rope),
            Self::Sent(sent) => sent.into_rope(),
            Self::Request { id, method, params } => {
                let mut rope = RopeWriter::default();
                let id = id.map_or_else(String::new, |id| format!(r#""id":{id},"#));
                let method = Value::from(method);
                rope.write(&format!(r#"{{"jsonrpc":"2.0",{id}"method":{method},"params":"#));
                params.write(&mut rope);
                rope.write("}");
                Ok(rope.finish())
            }
        }
    }
}

/// The edits of `text` that set members of `_meta` of the message `part`. A `_meta` that two readers may read in two ways
/// stays as it is.
fn meta_edits(
    text: &str,
    part: &Envelope,
    members: Vec<(&'static str, String)>,
) -> Vec<(Span, String)> {
    let (mut edits, mut added) = (Vec::new(), Vec::new());
    for (name, value) in members {
        match part.find_meta(text, [name]) {
            Ok([Some(found)]) if found == value => {}
            Ok([Some(found)]) => edits.extend(Span::locate(text, found).map(|at| (at, value))),
            Ok([None]) => added.push(format!("\"{name}\":{value}")),
            Err(_) => return Vec::new(),
        }
    }
    if added.is_empty() {
        return edits;
    }
    let added = added.join(",");
    let inside = |object: Span, added: &str| insertion(text, object.text(text), added);
    edits.extend(match (part.meta(), part.params()) {
        (Some(meta), _) => inside(meta.span, &added),
        (None, Some(params)) => match params.get(text, "_meta") {
            Some(null) => Span::locate(text, null).map(|at| (at, format!("{{{added}}}"))),
            None => inside(params.span, &format!("\"_meta\":{{{added}}}")),
        },
        (None, None) => None,
    });
    edits
}

/// `result`, which is JSON, with members that it gets unless it has them, and their values as JSON: as edits of the text
/// that it is a part of.
pub fn default_edits(
    text: &str,
    result: &str,
    has: impl Fn(&str) -> bool,
    defaults: &[(&str, &str)],
) -> Option<(Span, String)> {
    let missing = defaults.iter().filter(|(name, _)| !has(name));
    let missing: Vec<_> = missing.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    if missing.is_empty() { None } else { insertion(text, result, &missing.join(",")) }
}

/// Returns the edit of `text` that puts `members` at the start of `object`, a part of it; `None` where it is no object.
fn insertion(text: &str, object: &str, members: &str) -> Option<(Span, String)> {
    let Span { start, .. } = Span::locate(text, object)?;
    let is_empty = object.strip_prefix('{')?.trim_ascii_start().starts_with('}');
    let comma = if is_empty { "" } else { "," };
    Some((Span { start: start + 1, end: start + 1 }, format!("{members}{comma}")))
}

#[cfg(test)]
mod tests {
    use super::{Changes, Frame, Outgoing, Sent};
    use crate::json::edit::Span;
    use crate::json::object::Object;
    use crate::message::{Id, Message, Parts, Text};

    fn read(text: &str) -> Frame {
        let text = Text::from(text.to_owned());
        let Parts::One(part) = Message::read(&text).unwrap().parts else { panic!("{text:?}") };
        Frame { text: (*text).clone(), part }
    }

    #[test]
    fn what_the_guard_writes_is_what_a_reader_reads() {
        let params = Object::copied(r#"{"a":1,"_meta":{"b":2}}"#);
        for id in [Id::Integer(7), Id::String("x\"y".to_owned())] {
            for frame in [
                Frame::result(&id, r#"{"a":1}"#),
                Frame::error(&id, r#"{"code":1,"message":""}"#),
                Frame::request(Some(&id), "tools/call", &params),
                Frame::request(None, "notifications/message", &params),
                Frame::request(Some(&id), "tools/list", &Object::default()),
            ] {
                let same = read(&frame.text);
                assert_eq!(
                    format!("{:?}", same.part),
                    format!("{:?}", frame.part),
                    "{}",
                    frame.text
                );
            }
        }
    }

    #[test]
    fn changes_are_seen_by_name_and_in_the_text() {
        let text = r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1}}}"#;
        let frame = read(text);
        let at = |part: &str| {
            Span::locate(&frame.text, &frame.text[text.find(part).unwrap()..][..part.len()])
                .unwrap()
        };
        let edits = vec![(at("1"), "9".to_owned()), (at(r#"{"n":1}"#), r#"{"n":2}"#.to_owned())];
        let changes = Changes { edits, meta: vec![("traceparent", "\"t\"".to_owned())] };
        let sent = Sent { frame: frame.clone(), changes };
        assert_eq!(sent.id(), Some(Id::Integer(9)));
        let params = sent.params().unwrap();
        assert_eq!(
            params.to_string(),
            r#"{"name":"a","arguments":{"n":2},"_meta":{"traceparent":"t"}}"#
        );
        let text = sent.into_rope().unwrap().joined();
        let expected = r#"{"id":9,"method":"tools/call","params":{"_meta":{"traceparent":"t"},"name":"a","arguments":{"n":2}}}"#;
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        let message = Outgoing::Request { id: None, method: "m".to_owned(), params };
        let written = String::from_utf8(message.into_rope().unwrap().joined()).unwrap();
        assert!(
            written.starts_with(r#"{"jsonrpc":"2.0","method":"m","params":{"name":"#),
            "{written}"
        );
    }
}
