//! Large values of messages of clients that share a server, which are set aside while a bridge translates the rest.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, Weak};

use ahash::AHashMap;
use bytes::Bytes;

use crate::pipe::pieces::Pieces;
use crate::random::random;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::json::edit::{Span, entries};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::INLINE_BYTES;

/// The members of `params` and of results that no bridge looks into.
const OPAQUE: [&str; 9] = [
    "arguments",
    "content",
    "contents",
    "messages",
    "prompts",
    "resourceTemplates",
    "resources",
    "structuredContent",
    "tools",
];

/// The method of the requests that values are taken out of.
const CALL: &str = "\"tools/call\"";

/// Values of fewer bytes than this stay where they are.
const LEAST: usize = 4 << 10;

/// Large values that are set aside. In their place, a message has strings that nobody can guess.
pub(super) struct Aside {
    /// How these strings begin; `None` without random numbers.
    mark: Option<String>,
    values: Mutex<Values>,
}

#[derive(Default)]
struct Values {
    last: u64,
    /// Those that a message still stands for.
    all: AHashMap<u64, Weak<Counted>>,
}

/// A message without its large values, which it keeps.
struct Rest {
    text: String,
    _values: Vec<Arc<Counted>>,
}

impl AsRef<[u8]> for Rest {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Default for Aside {
    fn default() -> Self {
        let mark = random().map(|it| format!("toolbond-aside/{it:032x}/"));
        Self { mark, values: Mutex::default() }
    }
}

impl Aside {
    /// `message` without the large values in its `member`, which are kept as long as what is returned or a part of it is.
    /// `None` where it has none, or is large without them.
    pub(super) fn take_out(&self, message: &Counted, member: &str) -> Option<Bytes> {
        let mark = self.mark.as_ref()?;
        let whole = str::from_utf8(message).ok()?;
        let all = entries(whole)?;
        // What the bridge keeps of a call, it keeps with its values; other requests may wait in it as text alone.
        let is_other = |(name, _, value): &(_, _, &str)| name == "method" && *value != CALL;
        if all.iter().any(is_other) {
            return None;
        }
        let (_, _, inner) = all.into_iter().find(|(name, ..)| name == member)?;
        let (mut text, mut done, mut values) = (String::new(), 0, Vec::new());
        for (name, _, value) in entries(inner)? {
            if value.len() < LEAST || !OPAQUE.contains(&name.as_str()) {
                continue;
            }
            let span = Span::locate(whole, value)?;
            let (number, value) = self.keep(message.part(value.as_bytes()));
            values.push(value);
            text.push_str(&whole[done..span.start]);
            // Writing to a string cannot fail.
            let _ = write!(text, "\"{mark}{number}\"");
            done = span.end;
        }
        if values.is_empty() || text.len() + whole.len() - done > INLINE_BYTES {
            return None;
        }
        text.push_str(&whole[done..]);
        Some(Bytes::from_owner(Rest { text, _values: values }))
    }

    /// Keeps `value`: its number.
    fn keep(&self, value: Counted) -> (u64, Arc<Counted>) {
        let value = Arc::new(value);
        let mut values = lock(&self.values);
        values.all.retain(|_, known| known.strong_count() > 0);
        values.last += 1;
        let number = values.last;
        values.all.insert(number, Arc::downgrade(&value));
        (number, value)
    }

    /// The pieces of `message` with the values that were taken out of it; `None` where one of them is lost. No message that has
    /// a mark leaves.
    pub(super) fn put_back(&self, message: Counted) -> Option<Pieces> {
        let mut pieces = Pieces::default();
        let mut done = 0;
        let has_values = !lock(&self.values).all.is_empty();
        if let Some(mark) = self.mark.as_ref().filter(|_| has_values) {
            for at in memchr::memmem::find_iter(&message, mark.as_bytes()) {
                // The whole of a string.
                let start = at.checked_sub(1).filter(|start| message[*start] == b'"')?;
                let number = &message[at + mark.len()..];
                let number = &number[..memchr::memchr(b'"', number)?];
                pieces.push(message.part(&message[done..start]));
                done = at + mark.len() + number.len() + 1;
                let number = str::from_utf8(number).ok()?.parse::<u64>().ok()?;
                let value = lock(&self.values).all.get(&number)?.upgrade()?;
                pieces.push(Counted::clone(&value));
            }
        }
        if done == 0 {
            return Some(message.into());
        }
        pieces.push(message.part(&message[done..]));
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::{Aside, INLINE_BYTES};
    use crate::testing::counted;

    #[test]
    fn a_message_is_small_without_its_large_values_and_gets_them_back() {
        let aside = Aside::default();
        let long = "x".repeat(INLINE_BYTES);
        let text = format!(
            r#"{{"id":1, "method":"tools/call", "params":{{"arguments" : {{"a":"{long}"}},"name":"b","_meta":{{"c":1}},"content":["{long}"]}}}}"#
        );
        let message = counted(text.clone());
        assert_eq!(aside.take_out(&message, "result"), None);
        let rest = aside.take_out(&message, "params").unwrap();
        assert!(rest.len() < 300, "{rest:?}");
        let mut value: serde_json::Value = serde_json::from_slice(&rest).unwrap();
        assert_eq!(value["params"]["_meta"]["c"], 1);
        let pieces = aside.put_back(counted(rest.clone())).unwrap();
        assert_eq!(pieces.joined(), text.as_bytes());
        // The values are kept as long as a part of what stands for them is.
        let part = rest.slice(..1);
        drop((rest, pieces, message));
        value["params"]["arguments"].take();
        let changed = counted(value.to_string());
        let whole = aside.put_back(changed.clone()).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&whole.joined()).unwrap();
        assert_eq!(read["params"]["content"][0], long);
        // A mark is the whole of a string, however long the message is.
        let text = str::from_utf8(&changed).unwrap();
        let quoted = format!("{{\"a\":\"{long}{long}\",\"b\":{}}}", serde_json::json!(text));
        assert!(aside.put_back(counted(quoted)).is_none());
        let longer = format!("{{\"a\":\"{long}{long}\",\"b\":{text}}}");
        assert!(aside.put_back(counted(longer)).unwrap().length() > 3 * INLINE_BYTES);
        // A value that is lost is not made up.
        drop(part);
        assert!(aside.put_back(changed).is_none());
    }

    #[test]
    fn what_stays_large_is_left_whole() {
        let aside = Aside::default();
        let long = "x".repeat(INLINE_BYTES);
        for text in [
            format!(r#"{{"params":{{"_meta":{{"a":"{long}"}}}}}}"#),
            format!(r#"{{"params":{{"arguments":"{long}","_meta":"{long}"}}}}"#),
            format!(r#"{{"method":"prompts/get","params":{{"arguments":"{long}"}}}}"#),
            format!(r#"{{"params":{{"arguments":"{long}"}}"#),
            format!(r#"[{{"params":{{"arguments":"{long}"}}}}]"#),
        ] {
            assert_eq!(aside.take_out(&counted(text), "params"), None);
        }
    }
}
