//! Driving a conversation: what goes in, and carrying out what comes out.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use smallvec::SmallVec;
use tokio::time::{sleep, timeout};
use toolbond_fetch::PendingBundle;

use super::pool::JobPool;
use super::read::Received;
use crate::environment::pending;
use crate::memory::part_of_counted;
use crate::pipe::breaks::one_line;
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::conversation::{Action, Conversation, Origin, StreamId, Told};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::Outgoing;

/// A conversation and the pool for its jobs.
pub(crate) struct Driven {
    state: Mutex<TimedConversation>,
    pool: Arc<JobPool>,
}

struct TimedConversation {
    conversation: Conversation,
    /// The timeout that is waited for.
    timer: Option<Instant>,
}

impl Driven {
    pub(crate) fn new(conversation: Conversation, pool: Arc<JobPool>) -> Self {
        Self { state: Mutex::new(TimedConversation { conversation, timer: None }), pool }
    }

    pub(crate) fn pool(&self) -> &Arc<JobPool> {
        &self.pool
    }

    /// What `look` sees of the conversation.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Conversation) -> R) -> R {
        look(&lock(&self.state).conversation)
    }

    /// The pieces of a message for a pipe or an event stream: what the guard wrote of it has no character at which some
    /// reader ends a line. What peers wrote was made one line when it was read.
    pub(crate) fn line(&self, message: Outgoing) -> Pieces {
        self.in_pieces(message, one_line)
    }

    /// The pieces of a message, whose memory is counted.
    pub(crate) fn pieces(&self, message: Outgoing) -> Pieces {
        self.in_pieces(message, std::convert::identity)
    }

    /// The pieces of a message, with a change of what the guard wrote; empty where a change does not fit, which is a fault of the guard.
    fn in_pieces(&self, message: Outgoing, change: fn(Bytes) -> Bytes) -> Pieces {
        let memory = self.pool.memory();
        // What is not new is a part of a message, which was made from counted bytes.
        let count = |(bytes, is_new): (Bytes, bool)| {
            if is_new { memory.count(change(bytes)) } else { part_of_counted(bytes) }
        };
        message.into_rope().unwrap_or_default().into_iter().map(count).collect()
    }
}

/// What carries the messages of a conversation.
pub(crate) trait Transport: Send + Sync + 'static {
    fn driven(&self) -> &Driven;

    /// Does what the conversation asks for, other than to judge.
    fn carry_out(self: &Arc<Self>, action: Action);
}

/// Now, as the runtime tells it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// How long the checks of messages that were read may take after that.
pub(crate) const LAST_CHECKS: Duration = Duration::from_secs(30);

/// How often the end of a conversation is checked for.
const POLL: Duration = Duration::from_millis(20);

/// Waits until `is_over`, at most for `limit`; whether it is over.
pub(crate) async fn wait_until<T: Transport>(
    transport: &Arc<T>,
    limit: Duration,
    is_over: impl Fn(&Conversation) -> bool,
) -> bool {
    let over = async {
        while !drive(transport, |conversation, _| is_over(conversation)) {
            sleep(POLL).await;
        }
    };
    timeout(limit, over).await.is_ok()
}

type Actions = SmallVec<[Action; 4]>;

/// Hands `input` to the conversation of `transport`, and carries out what it asks for.
pub(crate) fn drive<T: Transport, R>(
    transport: &Arc<T>,
    input: impl FnOnce(&mut Conversation, Instant) -> R,
) -> R {
    let (result, actions, timeout) = step(transport.driven(), input);
    carry_out(transport, actions, timeout);
    result
}

/// Hands a message of the client on a pipe to the conversation; one that cannot be read is returned where it is to be
/// forwarded as it is.
pub(crate) fn take_client<T: Transport>(
    transport: &Arc<T>,
    mut received: Received,
) -> Option<Counted> {
    let is_forwarded = match received.message() {
        Ok(message) => {
            let told = Told::default();
            drive(transport, |it, now| it.on_client(StreamId::PIPE, &message, &told, now));
            false
        }
        Err(unreadable) => {
            drive(transport, |it, _| it.on_unreadable_client(StreamId::PIPE, &unreadable))
        }
    };
    is_forwarded.then(|| received.into_bytes())
}

/// The same with a message of the server.
pub(crate) fn take_server<T: Transport>(
    transport: &Arc<T>,
    mut received: Received,
) -> Option<Counted> {
    let is_forwarded = match received.message() {
        Ok(message) => {
            drive(transport, |it, now| it.on_server(Origin::Pipe, &message, now));
            false
        }
        Err(unreadable) => {
            drive(transport, |it, now| it.on_unreadable_server(Origin::Pipe, &unreadable, now))
        }
    };
    is_forwarded.then(|| received.into_bytes())
}

/// Hands `input` to a conversation: what it asks for, and when it wants to be told the time, unless that is waited for.
fn step<R>(
    driven: &Driven,
    input: impl FnOnce(&mut Conversation, Instant) -> R,
) -> (R, Actions, Option<Instant>) {
    let mut actions = Actions::new();
    let mut state = lock(&driven.state);
    let TimedConversation { conversation, timer } = &mut *state;
    let result = input(conversation, now());
    while let Some(action) = conversation.poll() {
        actions.push(action);
    }
    let timeout = conversation.next_timeout().filter(|timeout| *timer != Some(*timeout));
    *timer = timeout.or(*timer);
    (result, actions, timeout)
}

fn carry_out<T: Transport>(transport: &Arc<T>, actions: Actions, timeout: Option<Instant>) {
    for action in actions {
        match action {
            Action::Judge(job) => {
                let weak = Arc::downgrade(transport);
                transport.driven().pool.spawn(job, move |id, outcome| {
                    let pending = pending(outcome.pending());
                    let Some(transport) = weak.upgrade() else { return };
                    let ((), actions, timeout) =
                        step(transport.driven(), |it, now| it.on_judged(id, outcome, now));
                    carry_out(&transport, actions, timeout);
                    if !pending.is_empty() {
                        tokio::spawn(tell_when_bundled(weak, pending));
                    }
                });
            }
            other => transport.carry_out(other),
        }
    }
    if let Some(timeout) = timeout {
        set_timer(transport, timeout);
    }
}

/// Tells the conversation when more of its tools are bundled.
async fn tell_when_bundled<T: Transport>(transport: Weak<T>, pending: Vec<PendingBundle>) {
    let bundles: FuturesUnordered<_> = pending.into_iter().map(PendingBundle::finish).collect();
    let mut bundles = bundles.ready_chunks(MAX_TOLD);
    while let Some(bundled) = bundles.next().await {
        if !bundled.contains(&true) {
            continue;
        }
        let Some(transport) = transport.upgrade() else { return };
        let ((), actions, timeout) = step(transport.driven(), |it, _| it.on_tools_bundled());
        carry_out(&transport, actions, timeout);
    }
}

/// The most tools that are told of at once.
const MAX_TOLD: usize = 1024;

/// Tells the conversation when `timeout` has come.
fn set_timer<T: Transport>(transport: &Arc<T>, timeout: Instant) {
    let weak = Arc::downgrade(transport);
    tokio::spawn(async move {
        tokio::time::sleep_until(timeout.into()).await;
        let Some(transport) = weak.upgrade() else { return };
        let ((), actions, timeout) = step(transport.driven(), Conversation::on_timeout);
        carry_out(&transport, actions, timeout);
    });
}
