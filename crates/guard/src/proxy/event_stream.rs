//! A stream of events of the server, checked one by one as the client reads them.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::unfold;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;

use super::session::{Answered, UNANSWERED};
use super::{Proxy, ResponseBody};
use crate::core::Origin;
use crate::event::Event;
use crate::http::events::{
    EventSplitter, data, event, event_id, has_hidden_breaks, with_data, without_hidden_lines,
};
use crate::http::respond::{Body, BoxError};
use crate::pipe::outbox::escape_separators;
use crate::runtime::drive::drive;
use crate::runtime::memory::Reservation;
use crate::runtime::read::Received;

/// A stream of events of the server.
///
/// Nothing is read from the server until the client has read what came before, so that a client that
/// does not read takes no more memory than one event.
pub(super) struct EventStream<B> {
    proxy: Arc<Proxy>,
    answered: Answered,
    body: B,
    events: EventSplitter,
    memory: Reservation,
    max: usize,
    /// Events that are ready for the client.
    ready: VecDeque<Bytes>,
    /// Whether an event was left out, which may have been an answer.
    has_dropped: bool,
    is_over: bool,
}

impl<B: ResponseBody> EventStream<B> {
    pub(super) fn new(proxy: Arc<Proxy>, mut answered: Answered, body: B) -> Self {
        let ready = answered.replies.drain(..).map(|reply| event(&reply)).collect();
        let memory = proxy.pool.memory().message();
        let max = proxy.server.rules().settings.max_message;
        let events = EventSplitter::default();
        Self {
            proxy,
            answered,
            body,
            events,
            memory,
            max,
            ready,
            has_dropped: false,
            is_over: false,
        }
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
            // Events without data go along with what follows them.
            let mut quiet = Vec::new();
            while let Some(event) = self.events.next() {
                let checked = self.check(event).await;
                if let Some((event, has_data)) = checked {
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
        let buffered = self.events.len();
        self.memory.shrink(buffered);
        if buffered > self.max {
            return Err(
                format!("event exceeds the limit of {} bytes (--max-message)", self.max).into()
            );
        }
        let mut closing = self.proxy.is_closing.subscribe();
        let is_listening = matches!(self.answered.origin, Origin::Listening(_));
        let frame = tokio::select! {
            frame = self.body.frame() => frame,
            // Only a sender that is gone fails, and the proxy has it.
            _ = closing.wait_for(|closing| *closing), if is_listening => None,
        };
        match frame {
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    self.memory.grow(buffered + bytes.len()).await?;
                    self.events.feed(&bytes);
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
        let rest = std::mem::take(&mut self.events).rest();
        if !rest.is_empty()
            && let Some((event, _)) = self.check(rest).await
        {
            self.ready.push_back(event);
        }
        let exchange = &self.answered.exchange;
        if self.has_dropped && !exchange.may_resume {
            let stream = exchange.stream;
            drive(&exchange.session, |it, _| it.fail_stream(stream, UNANSWERED));
            self.add_replies();
        }
    }

    /// What is left of an event, and whether it has data.
    async fn check(&mut self, event: Bytes) -> Option<(Bytes, bool)> {
        let event = without_hidden_lines(&event).unwrap_or(event);
        let Answered { exchange, origin, .. } = &mut self.answered;
        if let Some(id) = event_id(&event) {
            exchange.session.record_event(id, exchange.stream);
            exchange.may_resume |= matches!(origin, Origin::Stream(_));
        }
        let text = Bytes::from(data(&event));
        if text.is_empty() {
            return Some((event, false));
        }
        // Other requests of the client may be in other sessions of this replica.
        #[cfg(feature = "grpc")]
        if self.proxy.server.rules().settings.is_replica
            && memchr::memmem::find(&text, b"notifications/tools/list_changed").is_some()
        {
            self.proxy.forget_lists();
        }
        let origin = *origin;
        let session = Arc::clone(&exchange.session);
        let mut received = Received::counted(text.clone(), &self.proxy.pool).await;
        let left = match received.message() {
            Ok(message) => {
                let ticket = drive(&session, |it, now| it.on_server(origin, &message, now));
                session.decision(ticket).await
            }
            Err(unreadable) => {
                let stream = exchange.stream;
                let has_object = text.contains(&b'{');
                let is_forwarded = drive(&session, |it, now| {
                    // Some readers may find a result in it.
                    let may_answer = has_object && it.expects_checked(stream);
                    it.on_unreadable_server(origin, &unreadable, now) && !may_answer
                });
                let is_plain = !has_hidden_breaks(&text);
                (is_forwarded && is_plain).then(|| text.clone())
            }
        };
        self.add_replies();
        self.has_dropped |= left.is_none();
        let left = left?;
        let left = match std::str::from_utf8(&left).map(escape_separators) {
            Ok(std::borrow::Cow::Owned(escaped)) => Bytes::from(escaped),
            _ => left,
        };
        let event =
            if left == text { event } else { with_data(&event, left.trim_ascii_end()).into() };
        Some((event, true))
    }

    /// Adds what the guard itself answers.
    fn add_replies(&mut self) {
        let exchange = &self.answered.exchange;
        let replies = exchange.session.take_replies(exchange.stream);
        self.ready.extend(replies.iter().map(|reply| event(reply)));
    }
}
