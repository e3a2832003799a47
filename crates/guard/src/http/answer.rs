//! The answer of a server in an HTTP response.

use bytes::Bytes;
use bytestring::ByteString;
use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::Incoming;

use super::events::{EventSplitter, data};
use crate::message::{Id, Kind, Message, Parts, text};

/// The answer in a response, JSON or a stream of events, which is read no further: the whole message,
/// and its result unless it is an error. With an `id`, answers to other requests are skipped.
pub(crate) async fn read_answer(
    response: Response<Incoming>,
    max: usize,
    id: Option<&Id>,
) -> Option<(Bytes, Option<ByteString>)> {
    let answer = |bytes: Bytes| {
        let text = text(&bytes).ok()?;
        let message = Message::read(&text).ok()?;
        let Parts::One(envelope) = &message.parts else { return None };
        let Kind::Response(found) = &envelope.kind else { return None };
        if id.is_some_and(|id| id != found) {
            return None;
        }
        Some((bytes, envelope.result.map(|result| text.slice_ref(result.text(&text)))))
    };
    let mut body = response.into_body();
    let mut all = Vec::new();
    let mut events = EventSplitter::default();
    while let Some(frame) = body.frame().await {
        let Ok(bytes) = frame.ok()?.into_data() else { continue };
        if all.len() + bytes.len() > max {
            return None;
        }
        all.extend_from_slice(&bytes);
        events.feed(&bytes);
        let found = std::iter::from_fn(|| events.next());
        if let Some(found) = found.map(|event| data(&event).into()).find_map(answer) {
            return Some(found);
        }
    }
    answer(all.into())
}
