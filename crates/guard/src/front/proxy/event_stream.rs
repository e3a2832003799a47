//! A stream of events of the server, checked one by one as the client reads them.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use tokio::task::consume_budget;

use super::session::{Answered, UNANSWERED};
use super::{Proxy, ResponseBody};
use crate::http::events::{
    EventSplitter, data, event, event_id, event_type, has_hidden_breaks, with_data,
    with_plain_lines,
};
use crate::http::respond::{Body, BoxError};
use crate::memory::{MemoryLimit, Sender};
use crate::pipe::breaks::escape_separators;
use crate::runtime::drive::drive;
use crate::runtime::read::Received;
use toolbond_guard_core::conversation::{Origin, StreamId};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::message::INLINE_BYTES;

/// A stream of events of the server.
///
/// Nothing is read from the server until the client has read what came before, so that a client that
/// does not read takes no more memory than one event.
pub(super) struct EventStream<B> {
    proxy: Arc<Proxy>,
    answered: Answered,
    body: B,
    events: EventSplitter,
    /// Events that are ready for the client.
    ready: VecDeque<Bytes>,
    /// Whether an event was left out, which may have been an answer.
    has_dropped: bool,
    is_over: bool,
}

impl<B: ResponseBody> EventStream<B> {
    pub(super) fn new(proxy: Arc<Proxy>, mut answered: Answered, body: B) -> Self {
        let ready = answered.replies.drain(..).map(|reply| event(&reply)).collect();
        let max = proxy.server.rules().settings.max_message;
        let events = EventSplitter::new(Sender::Server, max, proxy.pool.memory());
        Self { proxy, answered, body, events, ready, has_dropped: false, is_over: false }
    }

    /// The stream as the body of a response.
    pub(super) fn into_body(self) -> Body {
        let frames = unfold(self, |mut stream| async move {
            let frame = stream.next().await?;
            Some((frame.map(Frame::data), stream))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    /// The next bytes for the client; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(Ok(ready));
            }
            // Small events without data go along with what follows them.
            let mut quiet = Vec::new();
            while let Some(event) = self.events.next() {
                // One read may bring thousands of events.
                consume_budget().await;
                let checked = self.check(event).await;
                if let Some((event, has_data)) = checked {
                    if (quiet.is_empty() && has_data) || event.len() > INLINE_BYTES {
                        self.ready.push_front(event);
                        if !quiet.is_empty() {
                            self.ready.push_front(std::mem::take(&mut quiet).into());
                        }
                        break;
                    }
                    quiet.extend_from_slice(&event);
                    if has_data {
                        break;
                    }
                }
                if !self.ready.is_empty() {
                    break;
                }
            }
            if !quiet.is_empty() {
                self.ready.push_front(quiet.into());
                continue;
            }
            if !self.ready.is_empty() {
                continue;
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.read().await {
                self.is_over = true;
                self.proxy.server.report(Event::error(format!("server: {error}")));
                return Some(Err(error));
            }
        }
    }

    /// Reads more of the stream.
    async fn read(&mut self) -> Result<(), BoxError> {
        let mut closing = self.proxy.is_closing.subscribe();
        let session = Arc::clone(&self.answered.request.session);
        let is_endpoint = self.answered.origin == Origin::Pipe;
        let is_listening = is_endpoint || matches!(self.answered.origin, Origin::Listening(_));
        // From here on it hears of what is added.
        let told = session.told.notified();
        self.add_replies();
        if !self.ready.is_empty() {
            return Ok(());
        }
        let frame = tokio::select! {
            frame = self.body.frame() => frame,
            // Only a sender that is gone fails, and the proxy has it.
            _ = closing.wait_for(|closing| *closing), if is_listening => None,
            () = told => {
                self.add_replies();
                return Ok(());
            }
        };
        match frame {
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    self.events.feed(&bytes).await?;
                }
            }
            Some(Err(error)) => return Err(error.into()),
            None => self.finish().await,
        }
        Ok(())
    }

    /// Ends the stream: with its last event, which some clients read even if it is cut off, and with
    /// errors for what is left unanswered because of the guard.
    async fn finish(&mut self) {
        self.is_over = true;
        self.events.finish();
        while let Some(event) = self.events.next() {
            if let Some((event, _)) = self.check(event).await {
                self.ready.push_back(event);
            }
        }
        let rest = self.events.rest();
        if !rest.is_empty()
            && let Some((event, _)) = self.check(rest).await
        {
            self.ready.push_back(event);
        }
        let request = &self.answered.request;
        if self.has_dropped && !request.may_resume {
            let stream = request.stream;
            drive(&request.session, |it, _| it.fail_stream(stream, UNANSWERED));
            self.add_replies();
        }
    }

    /// What is left of an event, and whether it has data.
    async fn check(&mut self, event: Counted) -> Option<(Bytes, bool)> {
        let pool = Arc::clone(&self.proxy.pool);
        let memory = Arc::clone(pool.memory());
        let split = pool.run(event.len(), move || SplitEvent::new(event, &memory)).await;
        let SplitEvent { event, id, text, is_endpoint } = split?;
        if is_endpoint && self.may_name_endpoint() {
            return self.tell_endpoint(&event, &text);
        }
        let Answered { request, origin, .. } = &mut self.answered;
        // Who resumes a stream that was opened with GET listens again.
        let is_listening = matches!(origin, Origin::Listening(_));
        if let Some(id) = id.filter(|_| !is_listening) {
            request.session.record_event(&id, request.stream);
            request.may_resume |= matches!(origin, Origin::Stream(_));
        }
        if text.is_empty() {
            return Some((event.into_bytes(), false));
        }
        // Other requests of the client may be in other sessions of this replica.
        if self.proxy.server.rules().settings.is_replica()
            && memchr::memmem::find(&text, b"notifications/tools/list_changed").is_some()
        {
            self.proxy.sessions.forget_lists();
        }
        let origin = *origin;
        let session = Arc::clone(&request.session);
        // A client may read each line of data as a message of its own.
        let mut received = Received::of_server_as_line(text.clone(), &pool).await;
        let left = match received.message() {
            Ok(message) => {
                let ticket = drive(&session, |it, now| it.on_server(origin, &message, now));
                session.decision(ticket).await
            }
            Err(unreadable) => {
                let stream = request.stream;
                let has_object = text.contains(&b'{');
                let is_forwarded = drive(&session, |it, now| {
                    // Some readers may find a result in it.
                    let may_answer = has_object && it.expects_checked(stream);
                    it.on_unreadable_server(origin, &unreadable, now) && !may_answer
                });
                let has_lines = has_object && text.contains(&b'\n');
                let is_plain = !has_lines && !has_hidden_breaks(&text);
                (is_forwarded && is_plain).then(|| text.clone().into_bytes())
            }
        };
        self.add_replies();
        self.has_dropped |= left.is_none();
        let left = left?;
        let memory = Arc::clone(pool.memory());
        let event = pool.run(left.len(), move || rewritten(event, &text, left, &memory)).await?;
        Some((event, true))
    }

    /// Whether a client may take an endpoint from the stream, which it opened with GET. What is posted may come to another
    /// replica than the stream.
    fn may_name_endpoint(&self) -> bool {
        matches!(self.answered.origin, Origin::Listening(_) | Origin::Resumed(_))
            && !self.proxy.server.rules().settings.is_replica()
    }

    /// Tells the client to post its messages to the guard, and not to `place`. Ends the stream if that fails.
    fn tell_endpoint(&mut self, event: &[u8], place: &[u8]) -> Option<(Bytes, bool)> {
        let place = String::from_utf8_lossy(place);
        match self.open_endpoint(place.trim()) {
            Ok(told) => Some((with_data(event, told.as_bytes()).into(), true)),
            Err(reason) => {
                self.proxy.server.report(Event::error(format!("server: {reason}")));
                self.is_over = true;
                None
            }
        }
    }

    /// Opens an endpoint in place of the server's: where it is. Fails with a reason.
    fn open_endpoint(&mut self, place: &str) -> Result<String, String> {
        let Answered { request, origin, .. } = &mut self.answered;
        if request.caller.has_session() || !matches!(origin, Origin::Listening(_)) {
            return Err("the server names an endpoint on a stream of Streamable HTTP".to_owned());
        }
        let base = request.uri().unwrap_or_default();
        let endpoint = self.proxy.endpoint(&base, place)?;
        let path = request.path.take().map_or_else(|| base.path().to_owned(), |path| path.0);
        let told = endpoint.told(&path);
        let session = self.proxy.sessions.open(endpoint).ok_or("too many clients listen")?;
        request.enter(session);
        (request.stream, *origin) = (StreamId::PIPE, Origin::Pipe);
        Ok(told)
    }

    /// Adds what the guard itself answers.
    fn add_replies(&mut self) {
        let Answered { request, origin, .. } = &self.answered;
        let mut replies = request.session.take_replies(request.stream);
        if matches!(origin, Origin::Listening(_)) {
            replies.extend(request.session.take_for_listener());
        }
        self.ready.extend(replies.iter().map(|reply| event(reply)));
    }
}

/// An event of the server, taken apart.
struct SplitEvent {
    event: Counted,
    id: Option<Vec<u8>>,
    /// Its data.
    text: Counted,
    /// Whether it says where messages are posted.
    is_endpoint: bool,
}

impl SplitEvent {
    fn new(event: Counted, memory: &MemoryLimit) -> Self {
        let event = match with_plain_lines(&event) {
            Some(left) => memory.count(left),
            None => event,
        };
        let id = event_id(&event).map(<[u8]>::to_vec);
        let text = data(&event, memory);
        let is_endpoint = event_type(&event) == Some(b"endpoint");
        Self { event, id, text, is_endpoint }
    }
}

/// The event with what is `left` of its data `text`.
fn rewritten(event: Counted, text: &[u8], left: Bytes, memory: &MemoryLimit) -> Bytes {
    let left = match std::str::from_utf8(&left).map(escape_separators) {
        Ok(std::borrow::Cow::Owned(escaped)) => Bytes::from(escaped),
        _ => left,
    };
    if left == text {
        return event.into_bytes();
    }
    memory.count(with_data(&event, left.trim_ascii_end())).into_bytes()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full};
    use hyper::http::request::Parts;
    use hyper::{Request, Response};
    use tokio::task::yield_now;

    use crate::front::proxy::{Next, Proxy};
    use crate::{Client, Event, GuardedServer, MemoryLimit, Settings};

    /// A server that answers with these events.
    struct Events(String);

    impl Next for Events {
        type Body = Full<Bytes>;

        async fn send(&self, _: Parts, _: Bytes) -> Result<Response<Full<Bytes>>, String> {
            let response = Response::builder().header("content-type", "text/event-stream");
            response.body(self.0.clone().into()).map_err(|error| error.to_string())
        }
    }

    #[tokio::test]
    async fn many_small_events_leave_the_thread_to_others() {
        let mut settings = Settings::default();
        settings.translate.eras = false;
        let guarded = GuardedServer::new("server", settings, Arc::new(|_: Event| {}));
        let (client, memory) = (Client::new(None).unwrap(), Arc::new(MemoryLimit::default()));
        let proxy = Proxy::new("http://127.0.0.1:1/mcp", client, Arc::new(guarded), memory);
        let ping = Full::from(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let request = Request::post("/mcp").header("content-type", "application/json");
        let server = Events(":\n\n".repeat(10_000));
        let response =
            Arc::new(proxy.unwrap()).answer_checked(request.body(ping).unwrap(), &server).await;
        let turns = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                counts.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() >= 30_000 && turns.load(Ordering::Relaxed) > 10, "{turns:?}");
        other.abort();
    }
}
