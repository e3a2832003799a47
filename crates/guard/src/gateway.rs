//! For `toolbond-gateway`: the servers of a fleet behind a gateway, which sends requests here and takes them to the
//! servers itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{Request, Response, StatusCode};
use toolbond_guard_core::event::Event;
pub use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::code;
use toolbond_guard_core::settings::MAX_MESSAGE;

use crate::fleet::{Fleet, Member};
use crate::front::proxy::Proxy;
pub use crate::front::proxy::{Next, Repeatable, ResponseBody};
use crate::http::respond::refuse as refuse_with;
pub use crate::http::respond::{Body, BoxError};
pub use crate::memory::Reservation;
use crate::memory::{MemoryLimit, Sender};
use crate::router::Backend;

/// The servers on HTTP of a fleet.
#[derive(Clone, Debug)]
pub struct Servers(Arc<Fleet>);

/// One of them.
#[derive(Clone, Debug)]
pub struct Server(Arc<Proxy>);

impl Servers {
    /// Those of `fleet`.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>) -> Self {
        Self(fleet)
    }

    /// The server with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Server> {
        self.find(|all| all.get(name))
    }

    /// The server that the route `name` of the gateway leads to: by its `routes`, else the one of this name.
    #[must_use]
    pub fn of_route(&self, name: &str) -> Option<Server> {
        let has_route = |member: &&Member| member.config.has_route(name);
        self.find(|all| all.values().find(has_route).or_else(|| all.get(name)))
    }

    /// The server, if there is only one.
    #[must_use]
    pub fn only(&self) -> Option<Server> {
        self.find(|all| all.values().next().filter(|_| all.len() == 1))
    }

    fn find(&self, find: impl Fn(&BTreeMap<String, Member>) -> Option<&Member>) -> Option<Server> {
        match &find(&lock(&self.0.state).members)?.backend {
            Backend::Proxy(proxy) => Some(Server(Arc::clone(proxy))),
            Backend::Processes(_) => None,
        }
    }

    /// The most bytes of one message, for any of the servers.
    #[must_use]
    pub fn max_message(&self) -> usize {
        let state = lock(&self.0.state);
        let all = state.members.values();
        let max = all.map(|member| member.backend.server().rules().settings.max_message).max();
        max.unwrap_or(MAX_MESSAGE)
    }

    /// The memory limit of all servers.
    #[must_use]
    pub fn memory(&self) -> &Arc<MemoryLimit> {
        &self.0.memory
    }

    /// Tells the operator of an event that belongs to no server.
    pub fn report(&self, event: Event) {
        self.0.listener.on_event(event);
    }

    /// Closes the streams that never end by themselves.
    pub fn close_streams(&self) {
        lock(&self.0.state).members.values().for_each(|member| member.backend.close_streams());
    }
}

impl Server {
    /// Whether anything about its messages is checked.
    #[must_use]
    pub fn is_inspecting(&self) -> bool {
        self.0.server().rules().settings.is_inspecting()
    }

    /// Tells the operator of an event, unless one with the same text was reported before.
    pub fn report_once(&self, event: Event) {
        self.0.server().report_event_once(event);
    }

    /// Answers one request, which `next` takes to the server once it was checked. Listens to the server for changes of its
    /// tool list from now on.
    pub async fn answer<B>(&self, request: Request<B>, next: &impl Next) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
    {
        self.0.keep_watching();
        self.0.answer_checked(request, next).await
    }
}

/// Memory for a message of the gateway, of nothing yet.
#[must_use]
pub fn reserve(limit: &MemoryLimit) -> Reservation {
    limit.message(Sender::Client)
}

/// A response in place of one of the server: a JSON-RPC error.
#[must_use]
pub fn refuse(status: StatusCode, reason: &str) -> Response<Body> {
    refuse_with(status, code::INTERNAL, reason)
}
