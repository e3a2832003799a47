//! A client on standard input and output, in front of a server on Streamable HTTP.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use toolbond_contract::Revision;
use toolbond_listen::{Signal, Signals};

use super::relay::{LAST_ANSWERS, LAST_WORDS, late};
use super::standard::{Input, Output};
use crate::back::child::StartError;
use crate::back::http::{Client, HttpServer, UpstreamError, parse_upstream};
use crate::back::remote::headers::RemoteHeaders;
use crate::back::remote::{Remote, RemoteSession, ToServer};
use crate::memory::{MemoryLimit, Sender};
use crate::pipe::line::{Line, LineReader};
use crate::pipe::outbox::Outbox;
use crate::runtime::drive::{
    Driven, LAST_CHECKS, Transport, drive, take_client, take_server, wait_until,
};
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use crate::server::GuardedServer;
use toolbond_guard_core::conversation::{Action, Conversation, Destination, Link};
use toolbond_guard_core::event::Event;

/// How long the server may take to end the session after a signal.
const ENDING: Duration = Duration::from_secs(3);

/// A server on Streamable HTTP, for one client on standard input and output.
#[derive(Debug)]
pub struct Upstream {
    remote: Remote,
    headers: HeaderMap,
}

impl Upstream {
    /// The server at `url`; each request to it has `headers`.
    ///
    /// Fails if `url` is not an `http` or `https` URL.
    pub fn new(
        url: &str,
        headers: HeaderMap,
        client: Client,
        server: Arc<GuardedServer>,
        memory: Arc<MemoryLimit>,
    ) -> Result<Self, UpstreamError> {
        let http = HttpServer { url: parse_upstream(url)?, client };
        let remote = Remote { http, server, pool: Arc::new(JobPool::new(memory)) };
        Ok(Self { remote, headers })
    }

    /// Carries messages between `client` and the server until the client leaves, and ends the session at the server.
    pub async fn relay(self, client: (Input, Output)) {
        let (relay, mut session) = self.connect();
        relay.run(client, &mut session).await;
        drop(relay);
        session.end().await;
    }

    fn connect(self) -> (Arc<RemoteRelay>, RemoteSession) {
        let headers = Arc::new(RemoteHeaders::on_pipe(self.headers));
        let session = self.remote.connect(Arc::clone(&headers));
        (RemoteRelay::new(&self.remote, headers, session.sender()), session)
    }

    /// Carries messages between `client` and the server until the client leaves or a signal arrives, and ends the session
    /// at the server. A second signal does not wait for that.
    ///
    /// Fails if the process cannot receive signals.
    pub async fn serve(self, client: (Input, Output)) -> Result<(), StartError> {
        let mut signals = Signals::register(true).map_err(StartError::Signals)?;
        let server = Arc::clone(&self.remote.server);
        let (relay, mut session) = self.connect();
        let caught = tokio::select! {
            () = relay.run(client, &mut session) => None,
            caught = signals.next() => Some(caught),
        };
        if caught == Some(Signal::Interrupt) {
            let text =
                "ending: the server has 3 s to end the session; a second Ctrl-C does not wait";
            server.report(Event::info(text));
        }
        drop(relay);
        let limit = if caught.is_some() { ENDING } else { Duration::MAX };
        tokio::select! {
            _ = timeout(limit, session.end()) => {}
            _ = signals.next() => {}
        }
        Ok(())
    }
}

/// The two sides of a conversation.
struct RemoteRelay {
    server: Arc<GuardedServer>,
    driven: Driven,
    headers: Arc<RemoteHeaders>,
    to_client: Outbox,
    to_server: mpsc::UnboundedSender<ToServer>,
}

impl Transport for RemoteRelay {
    fn driven(&self) -> &Driven {
        &self.driven
    }

    fn carry_out(self: &Arc<Self>, action: Action) {
        // All other actions are for requests with streams of their own.
        let Action::Send { to, message, .. } = action else { return };
        if let Destination::Server(_) = to {
            // A connection that has ended needs none.
            let _ = self.to_server.send(ToServer::new(message, &self.driven));
            return;
        }
        let message = self.driven.line(message);
        // The client sees no status: what it means is in the error.
        let (message, _) = self.headers.take_refusal(message, self.driven.pool().memory());
        self.to_client.push_of(None, message);
    }
}

impl RemoteRelay {
    fn new(
        remote: &Remote,
        headers: Arc<RemoteHeaders>,
        to_server: mpsc::UnboundedSender<ToServer>,
    ) -> Arc<Self> {
        let server = Arc::clone(&remote.server);
        let conversation =
            Conversation::new(Arc::clone(server.shared()), Link::Pipe, Revision::default());
        let driven = Driven::new(conversation.with_bridge_to_http(), Arc::clone(&remote.pool));
        Arc::new(Self { server, driven, headers, to_client: Outbox::default(), to_server })
    }

    /// Carries messages until the client has left and has its answers, or the session has ended.
    async fn run(self: &Arc<Self>, client: (Input, Output), session: &mut RemoteSession) {
        let max = self.server.rules().settings.max_message;
        let memory = self.driven.pool().memory();
        let mut lines = LineReader::new(client.0, Sender::Client, max, memory);
        let mut output = client.1;
        let mut written = pin!(self.to_client.write_to(&mut output));
        let mut busy = session.busy();
        let from_client = async {
            loop {
                // Only a sender that is gone fails, and then there is nothing to wait for.
                let _ = busy.wait_for(|is_busy| !is_busy).await;
                self.to_client.wait_for_room().await;
                let Ok(Some(line)) = lines.next().await else { break };
                self.client_line(line).await;
            }
            self.finish_client().await;
        };
        let from_server = async {
            loop {
                self.to_client.wait_for_room().await;
                let Some(received) = session.next().await else { break };
                self.take(received);
            }
            let reason = session.why_ended().unwrap_or_default();
            self.server.report(Event::warning(format!("server: {reason}")));
            drive(self, |it, _| it.fail_waiting_calls(&reason));
            wait_until(self, LAST_CHECKS, Conversation::holds_nothing).await;
            drive(self, |it, _| it.on_server_gone(&reason));
        };
        tokio::select! {
            biased;
            () = from_client => {}
            () = from_server => {}
            _ = &mut written => return,
        }
        self.to_client.close();
        tokio::select! {
            _ = written => {}
            () = sleep(LAST_WORDS) => {}
        }
    }

    /// Handles a line of the client.
    async fn client_line(self: &Arc<Self>, line: Line) {
        let received = match line {
            Line::TooLong(why) => Received::unread(why),
            Line::Whole(line) if line.trim_ascii().is_empty() => return,
            Line::Whole(line) => Received::of_client(line, self.driven.pool()).await,
        };
        if let Some(line) = take_client(self, received) {
            let _ = self.to_server.send(ToServer::unread(line));
        }
    }

    /// Takes a message of the server.
    fn take(self: &Arc<Self>, received: Received) {
        if received.is_blank() {
            return;
        }
        if let Some(line) = take_server(self, received) {
            self.to_client.push(line);
        }
    }

    /// Waits for the answers to a client that has closed its side.
    async fn finish_client(self: &Arc<Self>) {
        wait_until(self, LAST_CHECKS, Conversation::holds_nothing).await;
        drive(self, |it, _| it.on_client_end());
        if !wait_until(self, LAST_ANSWERS, Conversation::is_idle).await {
            let reason = late();
            self.server.report(Event::warning(format!("server: {reason}")));
            drive(self, |it, _| it.on_server_gone(&reason));
        }
    }
}
