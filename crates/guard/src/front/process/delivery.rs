//! Which stream of a client gets a message, and what happens to one that none takes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::history::{Resumable, ResumableConnection};
use super::inflow::Inflow;
use super::mailbox::{Delivery, Mail, Mailbox, ROOM};
use super::session::ProcessSession;
use crate::runtime::drive::drive;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::lock::lock;

/// The most streams of one client that wait to be resumed.
const MAX_SUSPENDED: usize = 32;

/// The warning about notifications that name no request, once for each server.
const UNROUTED: &str = "server: dropped a notification that names no open request, because clients without a session \
                        share the process; further ones are dropped without a warning";

impl ProcessSession {
    pub(super) fn has_room(&self) -> bool {
        let streams = lock(&self.streams);
        let mut all = streams.requests.values().chain(&streams.listener);
        all.all(|mailbox| mailbox.has_room())
    }

    pub(super) async fn wait_for_room(&self) {
        while !self.has_room() {
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Delivers a message to a client: on `stream`, else on its GET stream, else on the stream of any open
    /// request, else later, when it opens a stream.
    pub(super) fn deliver(self: &Arc<Self>, stream: Option<StreamId>, mail: Mail) {
        let mut streams = lock(&self.streams);
        if !streams.seems_left() {
            streams.used = Instant::now();
        }
        let own = stream.and_then(|stream| streams.mailbox(stream));
        let mut mail = mail;
        let is_it = |suspended: &Resumable| Some(suspended.stream) == stream;
        if let Some(index) = streams.suspended.iter().position(is_it)
            && mail.keep(self.memory()).is_err()
        {
            // Without its answer the stream is of no use.
            let given_up = mail.is_answer.then(|| streams.suspended.remove(index)).flatten();
            drop(streams);
            if let Some(given_up) = given_up {
                given_up.inflow.mailbox.close();
            }
            return self.refuse(&mail, "the client has left");
        }
        let others: Vec<_> = if mail.is_answer || self.is_modern() {
            Vec::new()
        } else {
            streams.listener.iter().chain(streams.requests.values()).cloned().collect()
        };
        for mailbox in own.into_iter().chain(others) {
            match mailbox.deliver(mail) {
                (Delivery::Refused, Some(left)) => mail = left,
                (Delivery::Missed(is_first), Some(missed)) => {
                    drop(streams);
                    self.refuse(&missed, "the client does not read");
                    if is_first {
                        self.warn("does not read; messages other than answers are dropped");
                    }
                    return;
                }
                _ => return,
            }
        }
        if mail.is_answer || self.is_modern() {
            if stream.is_none() {
                drop(streams);
                self.server.report_event_once(Event::warning(UNROUTED));
            }
            return;
        }
        streams.weight += mail.weight();
        streams.backlog.push_back(mail);
        let mut is_first = false;
        let mut left_out = Vec::new();
        while streams.weight > ROOM {
            let Some(oldest) = streams.backlog.pop_front() else { break };
            streams.weight -= oldest.weight();
            is_first |= !std::mem::replace(&mut streams.is_missing, true);
            left_out.push(oldest);
        }
        drop(streams);
        for mail in left_out {
            self.refuse(&mail, "the client has no stream open");
        }
        if is_first {
            self.warn("has no stream open; the oldest messages of the server are dropped");
        }
    }

    /// Takes what is in the mailbox of a stream. Ends the session if that refuses `initialize`.
    pub(super) fn collect(&self, inflow: &mut Inflow) {
        if inflow.collect() {
            self.end();
        }
    }

    /// Delivers what the closed stream of a client did not get. An answer is for that stream alone.
    pub(super) fn take_back(self: &Arc<Self>, left: impl IntoIterator<Item = Mail>) {
        if self.is_modern() || self.is_over() {
            return;
        }
        for mail in left.into_iter().filter(|mail| !mail.is_answer) {
            self.deliver(None, mail);
        }
    }

    /// Notes that a request of `stream` gets no answer, because its client has cancelled it.
    pub(super) fn cancel(&self, stream: StreamId) {
        if let Some(mailbox) = lock(&self.streams).mailbox(stream) {
            mailbox.cancel();
        }
    }

    /// Answers a request of the process that could not be delivered.
    fn refuse(self: &Arc<Self>, mail: &Mail, reason: &str) {
        // An answer is no request, and may be large.
        if !mail.is_answer {
            let bytes = mail.message.clone().into_one(self.memory());
            drive(self, |it, now| it.on_undelivered(&bytes, reason, now));
        }
    }

    fn warn(&self, text: &str) {
        self.server.report(Event::warning(format!("client: {text}")));
    }

    /// Opens the stream of requests.
    pub(super) fn open(&self, answers_only: bool) -> (StreamId, Arc<Mailbox>) {
        let (stream, mailbox) = (StreamId::new(), Mailbox::new(answers_only));
        self.posts.fetch_add(1, Ordering::Relaxed);
        let mut streams = lock(&self.streams);
        streams.used = Instant::now();
        streams.requests.insert(stream, Arc::clone(&mailbox));
        if self.is_over() {
            mailbox.close();
        }
        (stream, mailbox)
    }

    /// Opens the GET stream of the client, with the messages that wait for it. Returns `None` if one is open.
    pub(super) fn listen(&self) -> Option<Arc<Mailbox>> {
        let mut streams = lock(&self.streams);
        if streams.listens() {
            return None;
        }
        let mailbox = Mailbox::new(false);
        for mail in streams.backlog.drain(..) {
            mailbox.deliver(mail);
        }
        (streams.weight, streams.is_missing) = (0, false);
        streams.listener = Some(Arc::clone(&mailbox));
        (streams.has_listened, streams.used) = (true, Instant::now());
        Some(mailbox)
    }

    /// Keeps a stream whose connection broke until its client resumes it. The oldest ones are given up, and so is this one
    /// where there is no memory for what it holds.
    pub(super) fn suspend(self: &Arc<Self>, mut suspended: Resumable) {
        let mut streams = lock(&self.streams);
        streams.used = Instant::now();
        streams.requests.remove(&suspended.stream);
        streams.connections.remove(&suspended.stream);
        let is_kept = suspended.inflow.keep(self.memory()).is_ok();
        streams.suspended.push_back(suspended);
        let most = if self.is_over() { 0 } else { MAX_SUSPENDED };
        let many = streams.suspended.len().saturating_sub(most);
        let mut given_up: Vec<_> = streams.suspended.drain(..many).collect();
        if !is_kept {
            given_up.extend(streams.suspended.pop_back());
        }
        drop(streams);
        self.give_up(given_up);
    }

    /// Notes the connection that carries a stream.
    pub(super) fn connect_stream(&self, stream: StreamId, connection: Weak<ResumableConnection>) {
        lock(&self.streams).connections.insert(stream, connection);
    }

    /// Takes back a stream whose connection broke, or seems to have broken to its client.
    pub(super) fn resume(&self, stream: StreamId) -> Option<Resumable> {
        let mut streams = lock(&self.streams);
        let resumed = streams.take(stream)?;
        streams.used = Instant::now();
        streams.requests.insert(stream, Arc::clone(&resumed.inflow.mailbox));
        Some(resumed)
    }

    /// Closes the stream of a request.
    pub(super) fn close_stream(self: &Arc<Self>, stream: StreamId) {
        {
            let mut streams = lock(&self.streams);
            streams.used = Instant::now();
            streams.requests.remove(&stream);
            streams.connections.remove(&stream);
        }
        drive(self, |it, now| it.close_stream(stream, false, now));
    }

    /// Forgets the requests of streams that nobody resumed.
    fn give_up(self: &Arc<Self>, suspended: impl IntoIterator<Item = Resumable>) {
        for mut suspended in suspended {
            let left = suspended.inflow.close();
            drive(self, |it, now| it.close_stream(suspended.stream, false, now));
            self.take_back(left);
        }
    }

    /// Closes the GET stream of the client. Requests go on.
    pub(super) fn close_listener(&self) {
        if let Some(listener) = lock(&self.streams).listener.take() {
            listener.close();
        }
    }

    pub(super) fn close_streams(self: &Arc<Self>) {
        self.close_listener();
        let mut streams = lock(&self.streams);
        for mailbox in streams.requests.values() {
            mailbox.close();
        }
        let suspended = std::mem::take(&mut streams.suspended);
        drop(streams);
        self.give_up(suspended);
    }
}
