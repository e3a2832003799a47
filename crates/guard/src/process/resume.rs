//! Event streams that a client of 2025-11-25 may resume after its connection broke.

use std::sync::Arc;

use futures_util::stream::unfold;
use hyper::{HeaderMap, Response};

use super::answers::{Answers, Next, events};
use super::mailbox::Mail;
use super::parked::{History, Parked};
use super::session::ProcessSession;
use crate::http::respond::Body;
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::Transport as _;
use toolbond_guard_core::conversation::StreamId;

/// How soon a client should come back, in milliseconds.
const RETRY: u64 = 1000;

/// A stream that is being sent. If the connection breaks before the last answer, it is kept for its client.
struct Resumable {
    answers: Option<Answers>,
    history: History,
    /// The number of the next event to send again.
    replay: Option<u64>,
    /// The message whose event is being written.
    writing: Option<Pieces>,
}

impl Resumable {
    /// The next event; `None` after the last answer.
    async fn next(&mut self) -> Option<Pieces> {
        if let Some((number, event)) = self.replay.and_then(|from| self.history.from(from)) {
            self.replay = Some(number + 1);
            return Some(event.into());
        }
        self.replay = None;
        let answers = self.answers.as_mut()?;
        let id = format!("id: {}-{}\n", answers.client.stream, self.history.next_number());
        let session = Arc::clone(&answers.client.session);
        let event = if self.history.next_number() == 0 {
            // It gives the client an id to come back with before anything was said.
            session.memory().count(format!("{id}retry: {RETRY}\ndata:\n\n")).into()
        } else {
            match answers.next().await {
                Some(Next::Alive(comment)) => return Some(comment.into()),
                Some(Next::Message(message)) => {
                    self.writing = Some(message.clone());
                    session.write_event(id, message).await?
                }
                None => {
                    self.answers = None;
                    return None;
                }
            }
        };
        let length = event.length();
        let Some(room) = self.history.make_room(length, session.memory()) else {
            self.writing = None;
            self.history.add(None);
            return Some(event);
        };
        let copy = move || room.attach(event.joined().into_owned());
        let event = session.driven().pool().run(length, copy).await?;
        self.writing = None;
        self.history.add(Some(event.clone()));
        Some(event.into())
    }
}

impl Drop for Resumable {
    fn drop(&mut self) {
        if let Some(mut answers) = self.answers.take() {
            if let Some(message) = self.writing.take() {
                answers.seen.push_front(Mail::new(message, true));
            }
            let session = Arc::clone(&answers.client.session);
            session.park(Parked {
                stream: answers.client.stream,
                mailbox: answers.client.leave_open(),
                expected: answers.expected,
                seen: std::mem::take(&mut answers.seen),
                history: std::mem::take(&mut self.history),
            });
        }
    }
}

fn send(stream: Resumable) -> Response<Body> {
    events(unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((event, stream))
    }))
}

/// Sends the answers as a stream that can be resumed.
pub(super) fn respond(answers: Answers) -> Response<Body> {
    send(Resumable {
        answers: Some(answers),
        history: History::default(),
        replay: None,
        writing: None,
    })
}

/// Goes on with the stream whose event `Last-Event-ID` names. `None` if no stream waits for that.
pub(super) fn resume(session: &Arc<ProcessSession>, headers: &HeaderMap) -> Option<Response<Body>> {
    let (stream, last) = headers.get("last-event-id")?.to_str().ok()?.split_once('-')?;
    let (stream, last) = (StreamId::parse(stream)?, last.parse::<u64>().ok()?);
    let (client, parked) = session.unpark(stream)?;
    let Parked { expected, seen, history, .. } = parked;
    let answers = Answers { client, expected, seen, is_initialize: false };
    let replay = last.checked_add(1);
    Some(send(Resumable { answers: Some(answers), history, replay, writing: None }))
}
