//! The pipe to a server, with the bridge between eras in it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ahash::AHashMap;
use tokio::sync::Notify;
use tokio::time::sleep_until;

use super::aside::Aside;
use super::drive::now;
use super::pool::JobPool;
use super::read::Received;
use crate::memory::{MemoryLimit, Reservation};
use crate::pipe::breaks::one_line;
use crate::pipe::line::{Line, LineSource};
use crate::pipe::outbox::Outbox;
use crate::pipe::pieces::Pieces;
use crate::server::GuardedServer;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::era::{Bridge, Incoming, Output, Users};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{INLINE_BYTES, Unreadable};

/// The bytes for a server that does not read, far beyond what clients may send ahead: answers of the guard itself.
const FLOOD: usize = 8 << 20;

/// The large answers that are read on workers at a time, while those after them are read on.
const MAX_READING: usize = 16;

/// The bytes at the start of a large message that tell whether it is an answer.
const START: usize = 1 << 10;

/// The pipe to a server.
pub(crate) struct Upstream(Arc<Pipe>);

struct Pipe {
    pool: Arc<JobPool>,
    /// Whether several clients use it, who do not wait for each other.
    is_shared: bool,
    /// Whether large values are set aside: only where no request is sent again.
    sets_aside: bool,
    bridge: Mutex<Place>,
    /// The large values of messages that the bridge translates.
    aside: Aside,
    outbox: Outbox,
    /// The streams of clients with a large message that is being prepared, and what comes after it.
    preparing: Mutex<AHashMap<StreamId, VecDeque<Pieces>>>,
    inbox: Mutex<Inbox>,
    /// Tells that the inbox, the next timeout of the bridge or its place has changed.
    has_changed: Notify,
}

/// What has come from the server.
#[derive(Default)]
struct Inbox {
    /// What there is for the conversation.
    ready: VecDeque<FromServer>,
    /// How many large messages are on workers.
    reading: usize,
    /// Whether the one that is on a worker is no answer: nothing passes it.
    is_alone: bool,
    /// What came after them and may not pass them.
    held: Option<Counted>,
}

/// Where the bridge is: messages that are large without their large values are translated on a worker, in their turn.
enum Place {
    Here(Box<Bridge>),
    OnWorker {
        /// What waits for it: the memory for its copies, its stream, and itself.
        inputs: VecDeque<(Option<Reservation>, Option<StreamId>, Input)>,
        /// Whether a request waited for input of its client before.
        is_waiting: bool,
    },
}

/// What a bridge takes.
enum Input {
    Client(Pieces),
    Server(Counted),
    ClientEnd,
    Restart,
}

impl Input {
    /// Its message, whose large values are kept as long as it is.
    fn message(&self) -> Pieces {
        match self {
            Self::Client(pieces) => pieces.clone(),
            Self::Server(bytes) => bytes.clone().into(),
            Self::ClientEnd | Self::Restart => Pieces::default(),
        }
    }

    /// Hands it to `bridge`: what comes out.
    fn enter(self, bridge: &mut Bridge, now: Instant, memory: &MemoryLimit) -> Vec<Output> {
        match self {
            Self::Client(pieces) => bridge.on_client(pieces.into_one(memory).into_bytes(), now),
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
pub(crate) enum FromServer {
    /// A line.
    Line(Counted),
    /// A large line that has been read.
    Read(Received),
    /// A line that is longer than allowed.
    TooLong(Unreadable),
    /// The tool list has changed.
    ToolsChanged,
}

impl Upstream {
    pub(crate) fn new(server: &GuardedServer, users: Users, pool: Arc<JobPool>) -> Self {
        Self(Arc::new(Pipe {
            pool,
            is_shared: users != Users::One,
            sets_aside: users == Users::Many,
            bridge: Mutex::new(Place::Here(Box::new(Bridge::new(
                Arc::clone(server.shared()),
                users,
            )))),
            aside: Aside::default(),
            outbox: Outbox::default(),
            preparing: Mutex::default(),
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
        self.0.enter(None, Input::Restart);
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
        self.0.enter(None, Input::ClientEnd);
    }

    /// Sends a line to the server, in its turn among all others.
    pub(crate) fn send(&self, line: impl Into<Pieces>) {
        self.0.enter(None, Input::Client(line.into()));
    }

    /// Sends a message of `stream` to the server. Those of one stream stay in order.
    pub(crate) fn send_of(&self, stream: StreamId, message: impl Into<Pieces>) {
        let (pipe, mut message) = (&self.0, message.into());
        let mut preparing = lock(&pipe.preparing);
        if let Some(waiting) = preparing.get_mut(&stream) {
            waiting.push_back(message);
        } else if message.length() > INLINE_BYTES {
            preparing.insert(stream, VecDeque::new());
            tokio::spawn(prepare(Arc::clone(pipe), stream, message));
        } else {
            drop(preparing);
            message.make_one_line(pipe.pool.memory());
            pipe.enter(Some(stream), Input::Client(message));
        }
    }

    /// The next that comes from the server, or from the bridge in its name; `None` at the end of the pipe.
    pub(crate) async fn next(&self, lines: &mut impl LineSource) -> io::Result<Option<FromServer>> {
        let pipe = &self.0;
        loop {
            let may_read = {
                let mut inbox = lock(&pipe.inbox);
                if let Some(found) = inbox.ready.pop_front() {
                    return Ok(Some(found));
                }
                if inbox.reading == 0
                    && let Some(held) = inbox.held.take()
                {
                    drop(inbox);
                    pipe.take(held);
                    continue;
                }
                inbox.held.is_none() && !inbox.is_alone && inbox.reading < MAX_READING
            };
            let (is_here, timeout) = match &*lock(&pipe.bridge) {
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
                pipe.outbox.wait_for_small(FLOOD).await;
                poll_fn(|context| lines.poll_line(context)).await
            };
            tokio::select! {
                biased;
                () = pipe.has_changed.notified() => {}
                line = read, if is_here && may_read => match line? {
                    // What is being read is answered before the end.
                    None if lock(&pipe.inbox).reading > 0 => pipe.has_changed.notified().await,
                    None => return Ok(None),
                    Some(Line::TooLong(mut unreadable)) => {
                        if let Place::Here(bridge) = &mut *lock(&pipe.bridge) {
                            let id = unreadable.id.as_ref();
                            let retried = id.and_then(|id| bridge.take_retried(id));
                            unreadable.id = retried.or(unreadable.id);
                        }
                        return Ok(Some(FromServer::TooLong(unreadable)));
                    }
                    Some(Line::Whole(line)) => pipe.take(line),
                },
                () = timer => {
                    let mut place = lock(&pipe.bridge);
                    if let Place::Here(bridge) = &mut *place {
                        bridge.on_timeout(now());
                        pipe.carry_out(None, outputs(bridge));
                    }
                }
            }
        }
    }
}

impl Pipe {
    fn is_transparent(&self) -> bool {
        matches!(&*lock(&self.bridge), Place::Here(bridge) if bridge.is_transparent())
    }

    /// Takes a line of the server. Clients that share the pipe do not wait for large answers to others.
    fn take(self: &Arc<Self>, line: Counted) {
        let is_large = self.is_shared && line.len() > INLINE_BYTES;
        let is_transparent = self.is_transparent();
        let mut inbox = lock(&self.inbox);
        if inbox.reading > 0 && !may_pass(&line) {
            inbox.held = Some(line);
        } else if is_large {
            inbox.reading += 1;
            inbox.is_alone = !is_answer(&line);
            tokio::spawn(read_large(Arc::clone(self), line));
        } else if is_transparent {
            inbox.ready.push_back(FromServer::Line(line));
        } else {
            drop(inbox);
            self.enter(None, Input::Server(line));
        }
    }

    /// Hands `input` to the bridge: at once if it is here and the input is small.
    fn enter(self: &Arc<Self>, stream: Option<StreamId>, input: Input) {
        self.enter_with(None, stream, input);
    }

    /// The same with the memory for copies of `input`.
    fn enter_with(
        self: &Arc<Self>,
        copies: Option<Reservation>,
        stream: Option<StreamId>,
        input: Input,
    ) {
        let mut place = lock(&self.bridge);
        match (&mut *place, input) {
            (Place::OnWorker { inputs, .. }, input) => inputs.push_back((copies, stream, input)),
            (Place::Here(bridge), Input::Client(line)) if bridge.is_transparent() => {
                self.send(stream, line);
            }
            (Place::Here(bridge), input) if input.message().length() <= INLINE_BYTES => {
                let _kept = input.message();
                let outputs = input.enter(bridge, now(), self.pool.memory());
                self.carry_out(stream, outputs);
            }
            (Place::Here(bridge), input) => {
                let is_waiting = bridge.is_waiting();
                let away = Place::OnWorker { inputs: VecDeque::new(), is_waiting };
                if let Place::Here(bridge) = std::mem::replace(&mut *place, away) {
                    tokio::spawn(translate(Arc::clone(self), bridge, copies, stream, input));
                }
            }
        }
    }

    /// Sends a line of `stream`. Ends the pipe where a value of it is lost, which is a fault of the guard.
    fn send(&self, stream: Option<StreamId>, line: Pieces) {
        let mut pieces = Pieces::default();
        for piece in line {
            let Some(whole) = self.aside.put_back(piece) else { return self.outbox.close() };
            pieces.extend(whole);
        }
        self.outbox.push_of(stream, pieces);
    }

    /// Sends on what came out of the bridge for a message of `stream`.
    fn carry_out(self: &Arc<Self>, stream: Option<StreamId>, outputs: Vec<Output>) {
        let memory = self.pool.memory();
        let mut inbox = lock(&self.inbox);
        for output in outputs {
            match output {
                Output::Server(bytes) => {
                    self.send(stream, memory.count(bytes).into());
                }
                Output::Client(bytes) => {
                    let line = memory.count(bytes);
                    let Some(pieces) = self.aside.put_back(line.clone()) else {
                        return self.outbox.close();
                    };
                    if pieces.len() == 1 {
                        inbox.ready.push_back(FromServer::Line(line));
                    } else {
                        inbox.reading += 1;
                        tokio::spawn(join(Arc::clone(self), line, pieces));
                    }
                }
                Output::ToolsChanged => inbox.ready.push_back(FromServer::ToolsChanged),
            }
        }
        self.has_changed.notify_one();
    }

    /// A large message of the server is read, and may be `found`.
    fn end_reading(&self, found: Option<FromServer>) {
        let mut inbox = lock(&self.inbox);
        inbox.ready.extend(found);
        inbox.reading -= 1;
        inbox.is_alone &= inbox.reading > 0;
        drop(inbox);
        self.has_changed.notify_one();
    }
}

/// Whether a line may pass large answers to other requests: an answer, or a notification about an open request.
fn may_pass(line: &Counted) -> bool {
    if line.len() > INLINE_BYTES {
        return is_answer(line);
    }
    str::from_utf8(line).is_ok_and(|text| match Incoming::read(text) {
        Incoming::Answer { .. } => true,
        Incoming::Notification { method, .. } => {
            matches!(&*method, "notifications/progress" | "notifications/message")
        }
        Incoming::Request { .. } | Incoming::Other => false,
    })
}

/// Whether a large message looks like an answer: it has a result or an error before anything else that is large.
fn is_answer(line: &[u8]) -> bool {
    let start = &line[..line.len().min(START)];
    let at = |name: &str| {
        let mut all = memchr::memmem::find_iter(start, name);
        all.find(|at| start[at + name.len()..].trim_ascii_start().starts_with(b":"))
    };
    let [result, other] = [["\"result\"", "\"error\""], ["\"method\"", "\"params\""]]
        .map(|names| names.iter().filter_map(|name| at(name)).min());
    start.trim_ascii_start().starts_with(b"{")
        && result.is_some_and(|result| other.is_none_or(|other| result < other))
}

/// Prepares a large message of `stream` on a worker and sends it, and then what came after it on that stream.
async fn prepare(pipe: Arc<Pipe>, stream: StreamId, mut message: Pieces) {
    loop {
        let (own, same, length) = (Arc::clone(&pipe), message.clone(), message.length());
        let is_translated = !pipe.is_transparent();
        let sets_aside = pipe.sets_aside && is_translated;
        // Only what comes after it on this stream waits for this memory.
        let copies = if is_translated { copies_of(&message) } else { 0 };
        let mut copy = match copies {
            0 => None,
            _ => pipe.pool.memory().reserve_copy(length * copies).await,
        };
        let prepare = move || {
            let memory = own.pool.memory();
            message.make_one_line(memory);
            if !sets_aside {
                return message;
            }
            let line = message.into_one(memory);
            let rest = own.aside.take_out(&line, "params");
            rest.map_or(line, |rest| memory.count(rest)).into()
        };
        let line = pipe.pool.run(length, prepare).await.unwrap_or(same);
        if line.length() <= INLINE_BYTES {
            copy = None;
        }
        pipe.enter_with(copy, Some(stream), Input::Client(line));
        let mut preparing = lock(&pipe.preparing);
        match preparing.get_mut(&stream).and_then(VecDeque::pop_front) {
            Some(next) => message = next,
            None => {
                preparing.remove(&stream);
                return;
            }
        }
    }
}

/// Reads a large line of the server on a worker, or has it translated without its large values.
async fn read_large(pipe: Arc<Pipe>, line: Counted) {
    if pipe.is_transparent() {
        let received = Received::new(line, &pipe.pool).await;
        return pipe.end_reading(Some(FromServer::Read(received)));
    }
    let (own, same) = (Arc::clone(&pipe), line.clone());
    let take_out = move || own.sets_aside.then(|| own.aside.take_out(&same, "result")).flatten();
    let rest = pipe.pool.run(line.len(), take_out).await;
    let rest = rest.flatten().map(|rest| pipe.pool.memory().count(rest));
    pipe.enter(None, Input::Server(rest.unwrap_or(line)));
    pipe.end_reading(None);
}

/// Reads an answer whose large values are put back, on a worker.
async fn join(pipe: Arc<Pipe>, rest: Counted, pieces: Pieces) {
    let length = pieces.length();
    let memory = Arc::clone(pipe.pool.memory());
    let copy = memory.reserve_copy_soon(length).await;
    let join = move || {
        let line = pieces.into_one(&memory);
        drop(copy);
        Received::read(line)
    };
    let read = pipe.pool.run(length, join).await.map(FromServer::Read);
    let found = read.unwrap_or_else(|| {
        let text = str::from_utf8(&rest).unwrap_or_default();
        let id = match Incoming::read(text) {
            Incoming::Answer { id, .. } => Some(id),
            _ => None,
        };
        let reason = "reading the message failed".to_owned();
        FromServer::TooLong(Unreadable { id, ..Unreadable::not_read(reason) })
    });
    pipe.end_reading(Some(found));
}

/// How often the bridge copies a message: what comes out of it is a copy, and so is what goes in where it is in pieces.
fn copies_of(message: &Pieces) -> usize {
    message.len().min(2)
}

/// Hands `input` of `stream` and all that waits behind it to the bridge, and puts the bridge back.
async fn translate(
    pipe: Arc<Pipe>,
    mut bridge: Box<Bridge>,
    mut copies: Option<Reservation>,
    mut stream: Option<StreamId>,
    mut input: Input,
) {
    loop {
        let kept = input.message();
        let length = kept.length();
        if copies.is_none() && length > INLINE_BYTES {
            copies = pipe.pool.memory().reserve_copy_soon(length * copies_of(&kept)).await;
        }
        let (now, memory) = (now(), Arc::clone(pipe.pool.memory()));
        let enter = move || {
            let outputs = input.enter(&mut bridge, now, &memory);
            (bridge, outputs)
        };
        let Some(entered) = pipe.pool.run(length, enter).await else {
            // Nothing can be told of the server without the bridge.
            return pipe.outbox.close();
        };
        drop(copies);
        let outputs;
        (bridge, outputs) = entered;
        pipe.carry_out(stream, outputs);
        drop(kept);
        let mut place = lock(&pipe.bridge);
        let next = match &mut *place {
            Place::OnWorker { inputs, .. } => inputs.pop_front(),
            Place::Here(_) => None,
        };
        match next {
            Some(next) => (copies, stream, input) = next,
            None => {
                *place = Place::Here(bridge);
                drop(place);
                return pipe.has_changed.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use std::sync::{Arc, mpsc as blocking};

    use serde_json::{Value, json};
    use tokio::sync::mpsc;
    use tokio::task::yield_now;

    use super::{FromServer, INLINE_BYTES, Place, Upstream, is_answer};
    use crate::runtime::pool::JobPool;
    use crate::server::GuardedServer;
    use toolbond_guard_core::conversation::StreamId;
    use toolbond_guard_core::counted::Counted;
    use toolbond_guard_core::era::{MODERN, Users};
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::lock::lock;
    use toolbond_guard_core::message::Id;
    use toolbond_guard_core::settings::Settings;

    /// A server that several clients share.
    struct Shared {
        upstream: Arc<Upstream>,
        pool: Arc<JobPool>,
        to_guard: mpsc::Sender<Counted>,
        from_guard: mpsc::UnboundedReceiver<String>,
    }

    impl Shared {
        /// A server of this revision, of which the guard knows that.
        async fn start(revision: &str) -> Self {
            let server = GuardedServer::new("a", Settings::default(), Arc::new(|_: Event| ()));
            let pool = Arc::new(JobPool::new(Arc::default()));
            let upstream = Upstream::new(&server, Users::Many, Arc::clone(&pool));
            let upstream = Arc::new(upstream);
            let (to_guard, mut lines) = mpsc::channel(16);
            let (told, from_guard) = mpsc::unbounded_channel();
            let reads = Arc::clone(&upstream);
            tokio::spawn(async move {
                while let Ok(Some(found)) = reads.next(&mut lines).await {
                    let text = match found {
                        FromServer::Line(line) => line,
                        FromServer::Read(received) => received.into_bytes(),
                        FromServer::TooLong(unreadable) => panic!("{}", unreadable.reason),
                        FromServer::ToolsChanged => Counted::from_static(b"\"changed\""),
                    };
                    let _ = told.send(String::from_utf8(text.to_vec()).unwrap());
                }
            });
            let mut shared = Self { upstream, pool, to_guard, from_guard };
            shared.upstream.send_of(StreamId::new(), call(0, 0));
            loop {
                let message = shared.gets().await;
                let result = match (message["method"].as_str().unwrap_or_default(), revision) {
                    ("server/discover", MODERN) => {
                        json!({ "supportedVersions": [MODERN], "capabilities": {} })
                    }
                    ("initialize", revision) if revision != MODERN => {
                        let info = json!({ "name": "a", "version": "1" });
                        json!({ "protocolVersion": revision, "capabilities": {}, "serverInfo": info })
                    }
                    ("notifications/initialized", _) => continue,
                    ("tools/call", _) => break,
                    _ => {
                        let error = json!({ "code": -32601, "message": "no" });
                        shared.says(&json!({ "id": message["id"], "error": error })).await;
                        continue;
                    }
                };
                shared.says(&json!({ "id": message["id"], "result": result })).await;
            }
            shared.says(&json!({ "id": 0, "result": {} })).await;
            assert_eq!(shared.hears().await["id"], 0);
            shared
        }

        /// The next message that the server gets.
        async fn gets(&self) -> Value {
            let line = self.upstream.outbox().next_line().await.unwrap();
            serde_json::from_slice(&line.joined()).unwrap()
        }

        async fn says(&self, message: &Value) {
            let mut message = message.clone();
            message["jsonrpc"] = "2.0".into();
            self.to_guard.send(counted(message.to_string())).await.unwrap();
        }

        /// The next message that the conversation gets.
        async fn hears(&mut self) -> Value {
            serde_json::from_str(&self.from_guard.recv().await.unwrap()).unwrap()
        }

        /// Keeps all workers for large messages busy, until what is returned is dropped.
        async fn busy(&self) -> Vec<blocking::Sender<()>> {
            let ends = (0..32).map(|_| {
                let (end, ended) = blocking::channel::<()>();
                let pool = Arc::clone(&self.pool);
                tokio::spawn(async move { pool.run(1 << 20, move || ended.recv().is_err()).await });
                end
            });
            let ends = ends.collect();
            yield_now().await;
            ends
        }
    }

    fn call(id: u64, bytes: usize) -> Counted {
        let capabilities = "io.modelcontextprotocol/clientCapabilities";
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": MODERN, capabilities: {} });
        let arguments = json!({ "text": "x".repeat(bytes) });
        let params = json!({ "name": "a", "arguments": arguments, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        counted(call.to_string())
    }

    const LARGE: usize = 1 << 20;

    #[tokio::test]
    async fn clients_of_a_shared_server_do_not_wait_for_large_messages_of_others() {
        for revision in ["2025-11-25", MODERN] {
            let shared = Shared::start(revision).await;
            let (a, b) = (StreamId::new(), StreamId::new());
            let busy = shared.busy().await;
            let cancelled = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
            shared.upstream.send_of(a, call(1, LARGE));
            shared.upstream.send_of(a, counted(cancelled.to_owned()));
            shared.upstream.send_of(b, call(2, 10));
            assert_eq!(shared.gets().await["id"], 2);
            drop(busy);
            // Those of one client stay in order.
            let large = shared.gets().await;
            assert_eq!(large["id"], 1);
            assert_eq!(large["params"]["arguments"]["text"].as_str().unwrap().len(), LARGE);
            assert_eq!(shared.gets().await["params"]["requestId"], 1);
        }
    }

    #[tokio::test]
    async fn answers_of_a_shared_server_do_not_wait_for_large_ones_to_others() {
        for revision in ["2025-11-25", MODERN] {
            let mut shared = Shared::start(revision).await;
            for id in 1..=4 {
                shared.upstream.send_of(StreamId::new(), call(id, 0));
                assert_eq!(shared.gets().await["id"], id);
            }
            let busy = shared.busy().await;
            let content = json!([{ "type": "text", "text": "x".repeat(LARGE) }]);
            let changed = json!({ "method": "notifications/tools/list_changed" });
            shared.says(&json!({ "id": 1, "result": { "content": content } })).await;
            shared.says(&json!({ "id": 2, "result": { "content": [] } })).await;
            assert_eq!(shared.hears().await["id"], 2);
            // What is about all requests passes none.
            shared.says(&changed).await;
            shared.says(&json!({ "id": 3, "result": { "content": [] } })).await;
            drop(busy);
            let large = shared.hears().await;
            assert!(large["id"] == 1 && large["result"]["content"] == content);
            let next = shared.hears().await;
            assert!(next == "changed" || next["method"] == changed["method"], "{next}");
            assert_eq!(shared.hears().await["id"], 3);
        }
    }

    #[tokio::test]
    async fn a_message_that_stays_large_is_translated_all_the_same() {
        let mut shared = Shared::start("2025-11-25").await;
        let long = "x".repeat(INLINE_BYTES);
        let text = String::from_utf8(call(1, 0).to_vec()).unwrap();
        let text = text.replacen("\"_meta\":{", &format!("\"_meta\":{{\"a\":\"{long}\","), 1);
        shared.upstream.send_of(StreamId::new(), counted(text));
        let got = shared.gets().await;
        assert!(got["params"]["_meta"] == json!({ "a": long }));
        shared.says(&json!({ "id": 1, "result": { "content": [], "a": long } })).await;
        let answer = shared.hears().await;
        assert_eq!(
            (&answer["result"]["resultType"], &answer["id"]),
            (&json!("complete"), &json!(1))
        );
        assert!(answer["result"]["a"] == long);
    }

    #[tokio::test]
    async fn a_request_takes_no_memory_after_an_answer_that_cannot_be_read() {
        let shared = Shared::start("2025-11-25").await;
        let memory = shared.pool.memory();
        shared.upstream.send_of(StreamId::new(), memory.count(call(1, LARGE).into_bytes()));
        assert_eq!(shared.gets().await["id"], 1);
        // It may be needed again.
        assert!(memory.used()[0] > LARGE && memory.used()[0] < 2 * LARGE, "{:?}", memory.used());
        let mut place = lock(&shared.upstream.0.bridge);
        let Place::Here(bridge) = &mut *place else { panic!("the bridge is away") };
        assert_eq!(bridge.take_retried(&Id::Integer(1)), None);
        assert_eq!(memory.used(), [0, 0]);
    }

    #[test]
    fn a_large_answer_is_known_by_its_start() {
        for (text, is) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"#, true),
            (r#" {"result" : {"method":"#, true),
            (r#"{"id":"result","error":{"#, true),
            (r#"{"id":"result","method":"a","params":{"result":"#, false),
            (r#"{"params":{"result":1},"method":"#, false),
            (r#"[{"id":1,"result":"#, false),
            ("{\"id\":1", false),
        ] {
            assert_eq!(is_answer(text.as_bytes()), is, "{text}");
        }
    }
}
