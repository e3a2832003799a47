//! The pipe to a server, with the bridge between eras in it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::io::AsyncRead;
use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::drive::now;
use crate::era::{Bridge, Output, Users};
use crate::lock::lock;
use crate::message::Unreadable;
use crate::pipe::line::{Line, LineReader};
use crate::pipe::outbox::{Outbox, one_line};
use crate::server::GuardedServer;

/// The bytes for a server that does not read, far beyond what clients may send ahead: answers of the guard itself.
const FLOOD: usize = 8 << 20;

/// The pipe to a server.
pub(crate) struct Upstream {
    bridge: Mutex<Bridge>,
    outbox: Outbox,
    /// What the bridge has for the conversation.
    inbox: Mutex<VecDeque<FromServer>>,
    /// Tells that the inbox or the next timeout of the bridge has changed.
    has_changed: Notify,
}

/// What comes from a server.
#[derive(Debug)]
pub(crate) enum FromServer {
    /// A line.
    Line(Bytes),
    /// A line that is longer than allowed.
    TooLong(Unreadable),
    /// The tool list has changed.
    ToolsChanged,
}

impl Upstream {
    pub(crate) fn new(server: Arc<GuardedServer>, users: Users) -> Self {
        Self {
            bridge: Mutex::new(Bridge::new(server, users)),
            outbox: Outbox::default(),
            inbox: Mutex::default(),
            has_changed: Notify::new(),
        }
    }

    /// The lines on their way to the server.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whether the bridge may have to write messages of its own.
    pub(crate) fn is_bridging(&self) -> bool {
        lock(&self.bridge).is_bridging()
    }

    /// Whether the server, which has ended, has to be started again to find out its era.
    pub(crate) fn wants_restart(&self) -> bool {
        lock(&self.bridge).wants_restart()
    }

    /// Goes on with a server that was started again.
    pub(crate) fn on_restart(&self) {
        let mut bridge = lock(&self.bridge);
        bridge.on_restart(now());
        self.carry_out(&mut bridge);
    }

    /// The server does not read any more: drops what is sent to it, unless it may be started again.
    pub(crate) fn stop_sending(&self) {
        if !self.is_bridging() {
            self.outbox.close();
        }
    }

    /// Whether a request waits for input of its client, which comes with another request.
    pub(crate) fn is_waiting(&self) -> bool {
        lock(&self.bridge).is_waiting()
    }

    /// The client sends nothing any more.
    pub(crate) fn on_client_end(&self) {
        let mut bridge = lock(&self.bridge);
        bridge.on_client_end();
        self.carry_out(&mut bridge);
    }

    /// Sends a message to the server.
    pub(crate) fn send(&self, bytes: Bytes) {
        let mut bridge = lock(&self.bridge);
        if bridge.is_transparent() {
            return self.outbox.push(bytes);
        }
        bridge.on_client(bytes, now());
        self.carry_out(&mut bridge);
    }

    /// The next that comes from the server, or from the bridge in its name; `None` at the end of the pipe.
    pub(crate) async fn next<R: AsyncRead + Unpin>(
        &self,
        reader: &mut LineReader<R>,
    ) -> io::Result<Option<FromServer>> {
        loop {
            if let Some(found) = lock(&self.inbox).pop_front() {
                return Ok(Some(found));
            }
            let timeout = lock(&self.bridge).next_timeout();
            let timer = async {
                match timeout {
                    Some(timeout) => sleep_until(timeout.into()).await,
                    None => std::future::pending().await,
                }
            };
            // A server that sends without end and does not read what it gets for it is not read any further.
            let read = async {
                self.outbox.wait_until_below(FLOOD).await;
                reader.next().await
            };
            tokio::select! {
                biased;
                () = self.has_changed.notified() => {}
                line = read => match line? {
                    None => return Ok(None),
                    Some(Line::TooLong(mut unreadable)) => {
                        let mut bridge = lock(&self.bridge);
                        let retried = unreadable.id.as_ref().and_then(|id| bridge.take_retried(id));
                        unreadable.id = retried.or(unreadable.id);
                        return Ok(Some(FromServer::TooLong(unreadable)));
                    }
                    Some(Line::Whole(line)) => {
                        let mut bridge = lock(&self.bridge);
                        if bridge.is_transparent() {
                            return Ok(Some(FromServer::Line(line.into())));
                        }
                        bridge.on_server(line.into(), now());
                        self.carry_out(&mut bridge);
                    }
                },
                () = timer => {
                    let mut bridge = lock(&self.bridge);
                    bridge.on_timeout(now());
                    self.carry_out(&mut bridge);
                }
            }
        }
    }

    fn carry_out(&self, bridge: &mut Bridge) {
        let mut inbox = lock(&self.inbox);
        while let Some(output) = bridge.poll() {
            match output {
                Output::Server(bytes) => self.outbox.push(one_line(bytes)),
                Output::Client(bytes) => inbox.push_back(FromServer::Line(bytes)),
                Output::ToolsChanged => inbox.push_back(FromServer::ToolsChanged),
            }
        }
        self.has_changed.notify_one();
    }
}
