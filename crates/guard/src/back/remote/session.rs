//! Sending messages over a connection to a server on Streamable HTTP, and taking those of the server.

use std::sync::Arc;
use std::time::Duration;

use ahash::AHashMap;
use hyper::{HeaderMap, Method};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle, JoinSet, yield_now};
use tokio::time::timeout;

use super::connection::Connection;
use super::headers::RemoteHeaders;
use super::request::ToServer;
use super::server::Remote;
use crate::http::respond::full;
use crate::runtime::read::Received;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::Id;

/// How long the server may take to accept a notification, and the end of a session.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the server may take to accept the last messages before that.
const LAST_MESSAGES: Duration = Duration::from_secs(3);

/// One connection to a server on HTTP.
pub(crate) struct RemoteSession {
    to_server: mpsc::UnboundedSender<ToServer>,
    from_server: mpsc::Receiver<Received>,
    connection: Arc<Connection>,
    pump: JoinHandle<()>,
}

impl Remote {
    /// A connection to the server.
    pub(crate) fn connect(&self, headers: Arc<RemoteHeaders>) -> RemoteSession {
        let (to_server, from_guard) = mpsc::unbounded_channel();
        // A stream is read no further than its client reads.
        let (to_guard, from_server) = mpsc::channel(1);
        let connection = Connection::new(self.clone(), headers, to_guard);
        let connection = Arc::new(connection);
        let pump = tokio::spawn(pump(Arc::clone(&connection), from_guard));
        RemoteSession { to_server, from_server, connection, pump }
    }
}

impl RemoteSession {
    /// The way to the server.
    pub(crate) fn sender(&self) -> mpsc::UnboundedSender<ToServer> {
        self.to_server.clone()
    }

    /// The next message of the server; `None` once the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<Received> {
        let mut ended = self.connection.ended.subscribe();
        let ended = async {
            // Only a sender that is gone fails, and the connection has it.
            let _ = ended.wait_for(Option::is_some).await;
        };
        tokio::select! {
            biased;
            received = self.from_server.recv() => received,
            () = ended => {
                // What was read before that has its turn.
                yield_now().await;
                self.from_server.try_recv().ok()
            }
        }
    }

    /// Whether the server has not accepted the last message that is sent in order.
    pub(crate) fn busy(&self) -> watch::Receiver<bool> {
        self.connection.is_busy.subscribe()
    }

    /// Why the connection has ended, if it has.
    pub(crate) fn why_ended(&self) -> Option<String> {
        self.connection.ended.borrow().clone()
    }

    /// Ends the session at the server, after what was sent to it. Nobody sends any more.
    pub(crate) async fn end(self) {
        drop(self.to_server);
        let mut pump = self.pump;
        if timeout(LAST_MESSAGES, &mut pump).await.is_err() {
            pump.abort();
        }
        if lock(&self.connection.known).session.is_some() {
            let ended = self.connection.send(Method::DELETE, None, HeaderMap::new(), full(""));
            if let Ok(Err(failure)) = timeout(PATIENCE, ended).await {
                self.connection.remote.report(&failure);
            }
        }
    }
}

/// Sends the messages of the guard to the server, each as a request of its own.
async fn pump(connection: Arc<Connection>, mut from_guard: mpsc::UnboundedReceiver<ToServer>) {
    let mut running = JoinSet::<Option<Id>>::new();
    let mut requests = AHashMap::<Id, AbortHandle>::new();
    loop {
        connection.is_busy.send_replace(false);
        let Some(ToServer { request, text }) = from_guard.recv().await else { return };
        connection.is_busy.send_replace(true);
        while let Some(ended) = running.try_join_next() {
            if let Ok(Some(id)) = ended {
                requests.remove(&id);
            }
        }
        let method = request.as_ref().map_or("", |request| &request.method);
        if let Some(id) = request.as_ref().and_then(|request| request.id.clone()) {
            // The session of a legacy client ends with an error anyway.
            if method == "initialize" && connection.headers.is_on_pipe {
                connection.keep_initialize(request.as_ref(), &text);
            } else if method == "initialize" && connection.headers.is_fixed {
                lock(&connection.known).opening = Some(id.clone());
            }
            if method == "logging/setLevel" {
                lock(&connection.known).is_logging = true;
            }
            let connection = Arc::clone(&connection);
            let key = id.clone();
            let asked = async move {
                connection.request(&id, request.as_ref(), text).await;
                Some(id)
            };
            requests.insert(key, running.spawn(asked));
            continue;
        }
        let is_modern = lock(&connection.known).version.is_none();
        let is_cancel = method == "notifications/cancelled";
        // To a modern server, closing the stream of a request is its cancellation.
        if !(is_modern && is_cancel) {
            // In the order in which they are sent.
            let _ = timeout(PATIENCE, connection.post(request.as_ref(), text)).await;
        }
        let Some(request) = request else { continue };
        let cancelled = request.params.get("requestId").filter(|_| request.method == CANCELLED);
        let cancelled = cancelled.and_then(|id| Id::parse(id));
        if let Some(handle) = cancelled.and_then(|id| requests.remove(&id)) {
            handle.abort();
        }
        if request.method == "notifications/initialized" {
            let connection = Arc::clone(&connection);
            running.spawn(async move {
                connection.listen().await;
                None
            });
        }
    }
}

const CANCELLED: &str = "notifications/cancelled";
