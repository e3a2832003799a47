//! The pipe to a server, with the bridge between eras in it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::drive::now;
use super::pool::JobPool;
use crate::era::{Bridge, Output, Users};
use crate::lock::lock;
use crate::memory::Counted;
use crate::message::{INLINE_BYTES, Unreadable};
use crate::pipe::line::{Line, LineSource};
use crate::pipe::outbox::{Outbox, one_line};
use crate::server::GuardedServer;

/// The bytes for a server that does not read, far beyond what clients may send ahead: answers of the guard itself.
const FLOOD: usize = 8 << 20;

/// The pipe to a server.
pub(crate) struct Upstream(Arc<Pipe>);

struct Pipe {
    pool: Arc<JobPool>,
    bridge: Mutex<Place>,
    outbox: Outbox,
    /// What the bridge has for the conversation.
    inbox: Mutex<VecDeque<FromServer>>,
    /// Tells that the inbox, the next timeout of the bridge or its place has changed.
    has_changed: Notify,
}

/// Where the bridge is: large messages are translated on a worker, in their turn.
enum Place {
    Here(Box<Bridge>),
    OnWorker {
        /// What waits for it.
        inputs: VecDeque<Input>,
        /// Whether a request waited for input of its client before.
        is_waiting: bool,
    },
}

/// What a bridge takes.
enum Input {
    Client(Counted),
    Server(Counted),
    ClientEnd,
    Restart,
}

impl Input {
    fn len(&self) -> usize {
        match self {
            Self::Client(bytes) | Self::Server(bytes) => bytes.len(),
            Self::ClientEnd | Self::Restart => 0,
        }
    }

    /// Hands it to `bridge`: what comes out.
    fn enter(self, bridge: &mut Bridge, now: Instant) -> Vec<Output> {
        match self {
            Self::Client(bytes) => bridge.on_client(bytes.into_bytes(), now),
            Self::Server(bytes) => bridge.on_server(bytes.into_bytes(), now),
            Self::ClientEnd => bridge.on_client_end(),
            Self::Restart => bridge.on_restart(now),
        }
        outputs(bridge)
    }
}

/// What comes out of `bridge`; a message to the server as one line.
fn outputs(bridge: &mut Bridge) -> Vec<Output> {
    let all = std::iter::from_fn(|| bridge.poll());
    all.map(|output| match output {
        Output::Server(bytes) => Output::Server(one_line(bytes)),
        output => output,
    })
    .collect()
}

/// What comes from a server.
#[derive(Debug)]
pub(crate) enum FromServer {
    /// A line.
    Line(Counted),
    /// A line that is longer than allowed.
    TooLong(Unreadable),
    /// The tool list has changed.
    ToolsChanged,
}

impl Upstream {
    pub(crate) fn new(server: Arc<GuardedServer>, users: Users, pool: Arc<JobPool>) -> Self {
        Self(Arc::new(Pipe {
            pool,
            bridge: Mutex::new(Place::Here(Box::new(Bridge::new(server, users)))),
            outbox: Outbox::default(),
            inbox: Mutex::default(),
            has_changed: Notify::new(),
        }))
    }

    /// The lines on their way to the server.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    /// Whether the bridge may have to write messages of its own.
    pub(crate) fn is_bridging(&self) -> bool {
        match &*lock(&self.0.bridge) {
            Place::Here(bridge) => bridge.is_bridging(),
            Place::OnWorker { .. } => true,
        }
    }

    /// Whether the server, which has ended, has to be started again to find out its era.
    pub(crate) fn wants_restart(&self) -> bool {
        matches!(&*lock(&self.0.bridge), Place::Here(bridge) if bridge.wants_restart())
    }

    /// Goes on with a server that was started again.
    pub(crate) fn on_restart(&self) {
        self.0.enter(Input::Restart);
    }

    /// The server does not read any more: drops what is sent to it, unless it may be started again.
    pub(crate) fn stop_sending(&self) {
        if !self.is_bridging() {
            self.0.outbox.close();
        }
    }

    /// Whether a request waits for input of its client, which comes with another request.
    pub(crate) fn is_waiting(&self) -> bool {
        match &*lock(&self.0.bridge) {
            Place::Here(bridge) => bridge.is_waiting(),
            Place::OnWorker { is_waiting, .. } => *is_waiting,
        }
    }

    /// The client sends nothing any more.
    pub(crate) fn on_client_end(&self) {
        self.0.enter(Input::ClientEnd);
    }

    /// Sends a message to the server.
    pub(crate) fn send(&self, bytes: Counted) {
        if self.is_transparent() {
            return self.0.outbox.push(bytes);
        }
        self.0.enter(Input::Client(bytes));
    }

    fn is_transparent(&self) -> bool {
        matches!(&*lock(&self.0.bridge), Place::Here(bridge) if bridge.is_transparent())
    }

    /// The next that comes from the server, or from the bridge in its name; `None` at the end of the pipe.
    pub(crate) async fn next(&self, lines: &mut impl LineSource) -> io::Result<Option<FromServer>> {
        loop {
            if let Some(found) = lock(&self.0.inbox).pop_front() {
                return Ok(Some(found));
            }
            let (is_here, timeout) = match &*lock(&self.0.bridge) {
                Place::Here(bridge) => (true, bridge.next_timeout()),
                Place::OnWorker { .. } => (false, None),
            };
            let timer = async {
                match timeout {
                    Some(timeout) => sleep_until(timeout.into()).await,
                    None => std::future::pending().await,
                }
            };
            // A server that sends without end and does not read what it gets for it is not read any further.
            let read = async {
                self.0.outbox.wait_until_below(FLOOD).await;
                poll_fn(|context| lines.poll_line(context)).await
            };
            tokio::select! {
                biased;
                () = self.0.has_changed.notified() => {}
                line = read, if is_here => match line? {
                    None => return Ok(None),
                    Some(Line::TooLong(mut unreadable)) => {
                        if let Place::Here(bridge) = &mut *lock(&self.0.bridge) {
                            let id = unreadable.id.as_ref();
                            let retried = id.and_then(|id| bridge.take_retried(id));
                            unreadable.id = retried.or(unreadable.id);
                        }
                        return Ok(Some(FromServer::TooLong(unreadable)));
                    }
                    Some(Line::Whole(line)) if self.is_transparent() => {
                        return Ok(Some(FromServer::Line(line)));
                    }
                    Some(Line::Whole(line)) => self.0.enter(Input::Server(line)),
                },
                () = timer => {
                    let mut place = lock(&self.0.bridge);
                    if let Place::Here(bridge) = &mut *place {
                        bridge.on_timeout(now());
                        self.0.carry_out(outputs(bridge));
                    }
                }
            }
        }
    }
}

impl Pipe {
    /// Hands `input` to the bridge: at once if it is here and the input is small.
    fn enter(self: &Arc<Self>, input: Input) {
        let mut place = lock(&self.bridge);
        match &mut *place {
            Place::OnWorker { inputs, .. } => inputs.push_back(input),
            Place::Here(bridge) if input.len() <= INLINE_BYTES => {
                let outputs = input.enter(bridge, now());
                self.carry_out(outputs);
            }
            Place::Here(bridge) => {
                let is_waiting = bridge.is_waiting();
                let away = Place::OnWorker { inputs: VecDeque::new(), is_waiting };
                if let Place::Here(bridge) = std::mem::replace(&mut *place, away) {
                    tokio::spawn(translate(Arc::clone(self), bridge, input));
                }
            }
        }
    }

    fn carry_out(&self, outputs: Vec<Output>) {
        let memory = self.pool.memory();
        let mut inbox = lock(&self.inbox);
        for output in outputs {
            match output {
                Output::Server(bytes) => self.outbox.push(memory.count(bytes)),
                Output::Client(bytes) => inbox.push_back(FromServer::Line(memory.count(bytes))),
                Output::ToolsChanged => inbox.push_back(FromServer::ToolsChanged),
            }
        }
        self.has_changed.notify_one();
    }
}

/// Hands `input` and all that waits behind it to the bridge, and puts the bridge back.
async fn translate(pipe: Arc<Pipe>, mut bridge: Box<Bridge>, mut input: Input) {
    loop {
        let (length, now) = (input.len(), now());
        let enter = move || {
            let outputs = input.enter(&mut bridge, now);
            (bridge, outputs)
        };
        let Some(entered) = pipe.pool.run(length, enter).await else {
            // Nothing can be told of the server without the bridge.
            return pipe.outbox.close();
        };
        let outputs;
        (bridge, outputs) = entered;
        pipe.carry_out(outputs);
        let mut place = lock(&pipe.bridge);
        let next = match &mut *place {
            Place::OnWorker { inputs, .. } => inputs.pop_front(),
            Place::Here(_) => None,
        };
        match next {
            Some(next) => input = next,
            None => {
                *place = Place::Here(bridge);
                drop(place);
                return pipe.has_changed.notify_one();
            }
        }
    }
}
