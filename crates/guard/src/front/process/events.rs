//! Streams of a client as event streams, which a client of 2025-11-25 may resume after its connection broke.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _, iter, unfold};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response};
use tokio::time::timeout;

use super::client_stream::ClientStream;
use super::history::{Resumable, ResumableConnection};
use super::mailbox::{Mail, Mailbox};
use super::session::ProcessSession;
use crate::back::remote::headers::OwnHeaders;
use crate::http::events::with_data;
use crate::http::respond::{Body, BoxError, no_content};
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::Transport as _;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::INLINE_BYTES;

/// How soon a client should come back, in milliseconds.
const RETRY: u64 = 1000;

/// The interval of keep-alive comments in an event stream.
const ALIVE: Duration = Duration::from_secs(15);

/// The comment that shows that a stream is alive.
const COMMENT: Counted = Counted::from_static(b": alive\n\n");

/// The events of a stream that ends with its connection.
struct Events {
    client: ClientStream,
    /// The message whose event is being written. If the connection breaks, another stream may get it.
    writing: Option<Mail>,
}

impl Events {
    /// The next event; `None` after the last answer.
    async fn next(&mut self) -> Option<Pieces> {
        let client = &mut self.client;
        if client.inflow.seen.is_empty() && timeout(ALIVE, client.fill(false)).await.is_err() {
            return Some(COMMENT.into());
        }
        let mail = client.inflow.seen.pop_front()?;
        self.writing = Some(Mail::new(mail.message.clone(), mail.is_answer));
        let event = write(&client.session, String::new(), mail.message).await;
        self.writing = None;
        event
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(mail) = self.writing.take() {
            self.client.inflow.seen.push_front(mail);
        }
    }
}

/// The events of a stream that is kept for its client if the connection breaks, and that another connection of its client
/// may take over: a client may learn that its connection broke long before the guard does.
struct ResumableEvents {
    session: Arc<ProcessSession>,
    stream: StreamId,
    connection: Arc<ResumableConnection>,
}

/// What a stream does next.
enum Step {
    /// It sends an event again.
    Repeat(Counted),
    /// It sends its first event, which gives the client an id to come back with before anything was said.
    Begin(Pieces),
    /// It writes the event of a message, after these lines.
    Write(String, Pieces),
    /// It waits for messages.
    Wait(Arc<Mailbox>),
}

impl ResumableEvents {
    /// The next event; `None` after the last answer, or if another connection has taken over.
    async fn next(&mut self) -> Option<Pieces> {
        loop {
            let event = match self.step()? {
                Step::Repeat(event) => return Some(event.into()),
                Step::Begin(event) => event,
                Step::Write(lines, message) => write(&self.session, lines, message).await?,
                Step::Wait(mailbox) => {
                    if timeout(ALIVE, mailbox.wait()).await.is_err() {
                        return Some(COMMENT.into());
                    }
                    continue;
                }
            };
            return self.record(event).await;
        }
    }

    /// What is to be done now; `None` at the end.
    fn step(&self) -> Option<Step> {
        let mut connection = lock(&self.connection);
        let Resumable { inflow, history, writing, .. } = connection.as_mut()?;
        if let Some(event) = history.replay() {
            return Some(Step::Repeat(event));
        }
        let number = history.next_number();
        let lines = format!("id: {}-{number}\n", self.stream);
        if number == 0 {
            let event = format!("{lines}retry: {RETRY}\ndata:\n\n");
            return Some(Step::Begin(self.session.memory().count(event).into()));
        }
        if inflow.seen.is_empty() && !inflow.is_complete() {
            self.session.collect(inflow);
        }
        if let Some(mail) = inflow.seen.pop_front() {
            *writing = Some(mail.message.clone());
            return Some(Step::Write(lines, mail.message));
        }
        if !inflow.is_complete() {
            return Some(Step::Wait(Arc::clone(&inflow.mailbox)));
        }
        let left = inflow.close();
        *connection = None;
        drop(connection);
        self.session.close_stream(self.stream);
        self.session.take_back(left);
        None
    }

    /// Keeps a copy of an event before it is sent.
    async fn record(&self, event: Pieces) -> Option<Pieces> {
        let length = event.length();
        let room = {
            let mut connection = lock(&self.connection);
            let Resumable { history, writing, .. } = connection.as_mut()?;
            let room = history.make_room(length, self.session.memory());
            let Some(room) = room else {
                *writing = None;
                history.add(None);
                return Some(event);
            };
            room
        };
        let copy = move || room.attach(event.joined().into_owned());
        let event = self.session.driven().pool().run(length, copy).await?;
        let mut connection = lock(&self.connection);
        let Resumable { history, writing, .. } = connection.as_mut()?;
        *writing = None;
        history.add(Some(event.clone()));
        Some(event.into())
    }
}

impl Drop for ResumableEvents {
    fn drop(&mut self) {
        let broken = lock(&self.connection).take();
        if let Some(mut broken) = broken {
            broken.rewind();
            self.session.suspend(broken);
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

/// Sends a stream as events.
pub(super) fn respond(client: ClientStream) -> Response<Body> {
    let events = Events { client, writing: None };
    send(unfold(events, async |mut events| Some((events.next().await?, events))))
}

/// Sends a stream as events, and keeps it for its client if the connection breaks.
pub(super) fn respond_resumable(mut client: ClientStream) -> Response<Body> {
    match client.take_resumable() {
        Some((resumable, headers)) => {
            send_resumable(Arc::clone(&client.session), resumable, headers)
        }
        None => respond(client),
    }
}

/// Sends the events of a stream; the headers of its requests are kept as long as it is sent.
fn send_resumable(
    session: Arc<ProcessSession>,
    resumable: Resumable,
    headers: Option<OwnHeaders>,
) -> Response<Body> {
    let stream = resumable.stream;
    let connection = Arc::new(Mutex::new(Some(resumable)));
    session.connect_stream(stream, Arc::downgrade(&connection));
    let events = ResumableEvents { session, stream, connection };
    send(unfold((events, headers), async |(mut events, headers)| {
        Some((events.next().await?, (events, headers)))
    }))
}

/// The response with these events.
fn send(events: impl Stream<Item = Pieces> + Send + 'static) -> Response<Body> {
    let frame = |piece: Counted| Ok::<_, BoxError>(Frame::data(piece.into_bytes()));
    let frames = events.flat_map(move |event| iter(event.into_iter().map(frame)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Resumes the stream whose event `Last-Event-ID` names; one that has ended has nothing more to say. `None` where the
/// header names no event of a stream.
pub(super) fn resume(session: &Arc<ProcessSession>, headers: &HeaderMap) -> Option<Response<Body>> {
    let (stream, last) = headers.get("last-event-id")?.to_str().ok()?.split_once('-')?;
    let (stream, last) = (StreamId::parse(stream)?, last.parse::<u64>().ok()?);
    let Some(mut resumed) = session.resume(stream) else { return Some(no_content()) };
    resumed.history.replay_after(last);
    Some(send_resumable(Arc::clone(session), resumed, None))
}
