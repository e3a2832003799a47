//! Streams of a client as event streams, which a client of 2025-11-25 may resume after its connection broke.

use std::sync::Arc;

use futures_util::stream::{StreamExt as _, iter, unfold};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response};

use super::client_stream::ClientStream;
use super::history::History;
use super::mailbox::Mail;
use super::session::ProcessSession;
use crate::http::events::with_data;
use crate::http::respond::{Body, BoxError};
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::Transport as _;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::INLINE_BYTES;

/// How soon a client should come back, in milliseconds.
const RETRY: u64 = 1000;

/// The comment that shows that a stream is alive.
const COMMENT: Counted = Counted::from_static(b": alive\n\n");

/// The events of a stream. If the connection breaks before the last answer, a stream with a history is kept for its
/// client.
struct Events {
    client: Option<ClientStream>,
    history: Option<History>,
    /// The message whose event is being written, if it has to be kept.
    writing: Option<Pieces>,
}

impl Events {
    /// The next event; `None` after the last answer.
    async fn next(&mut self) -> Option<Pieces> {
        if let Some(event) = self.history.as_mut().and_then(History::replay) {
            return Some(event.into());
        }
        let client = self.client.as_mut()?;
        let session = Arc::clone(&client.session);
        let number = self.history.as_ref().map(History::next_number);
        let id = match (client.stream, number) {
            (Some(stream), Some(number)) => format!("id: {stream}-{number}\n"),
            _ => String::new(),
        };
        let event = if number == Some(0) {
            // It gives the client an id to come back with before anything was said.
            session.memory().count(format!("{id}retry: {RETRY}\ndata:\n\n")).into()
        } else {
            if !client.wait().await {
                return Some(COMMENT.into());
            }
            let Some(mail) = client.inflow.seen.pop_front() else {
                self.client = None;
                return None;
            };
            self.writing = self.history.is_some().then(|| mail.message.clone());
            write(&session, id, mail.message).await?
        };
        let Some(history) = &mut self.history else { return Some(event) };
        let length = event.length();
        let Some(room) = history.make_room(length, session.memory()) else {
            self.writing = None;
            history.add(None);
            return Some(event);
        };
        let copy = move || room.attach(event.joined().into_owned());
        let event = session.driven().pool().run(length, copy).await?;
        self.writing = None;
        history.add(Some(event.clone()));
        Some(event.into())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let (Some(mut client), Some(history)) = (self.client.take(), self.history.take()) {
            let message = self.writing.take().map(|message| Mail::new(message, true));
            if let Some(message) = message {
                client.inflow.seen.push_front(message);
            }
            client.suspend(history);
        }
    }
}

/// An event with these lines and this message, whose memory stays counted as it was.
async fn write(session: &ProcessSession, lines: String, message: Pieces) -> Option<Pieces> {
    let (length, memory) = (message.length(), Arc::clone(session.memory()));
    let write = move || {
        let start = format!("{lines}data: ");
        if length > INLINE_BYTES
            && let Some(event) = message.within(memory.count(start), b"\n\n")
        {
            return event;
        }
        let event = format!("{lines}data:\n\n");
        memory.count(with_data(event.as_bytes(), message.joined().trim_ascii_end())).into()
    };
    session.driven().pool().run(length, write).await
}

/// Sends a stream as events, which can be resumed if it has a history.
pub(super) fn respond(client: ClientStream, history: Option<History>) -> Response<Body> {
    let events = Events { client: Some(client), history, writing: None };
    let events = unfold(events, |mut events| async move {
        let event = events.next().await?;
        Some((event, events))
    });
    let frame = |piece: Counted| Ok::<_, BoxError>(Frame::data(piece.into_bytes()));
    let frames = events.flat_map(move |event| iter(event.into_iter().map(frame)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Goes on with the stream whose event `Last-Event-ID` names. `None` if no stream waits for that.
pub(super) fn resume(session: &Arc<ProcessSession>, headers: &HeaderMap) -> Option<Response<Body>> {
    let (stream, last) = headers.get("last-event-id")?.to_str().ok()?.split_once('-')?;
    let (stream, last) = (StreamId::parse(stream)?, last.parse::<u64>().ok()?);
    let (client, mut history) = ClientStream::resume(session, stream)?;
    history.replay_after(last);
    Some(respond(client, Some(history)))
}
