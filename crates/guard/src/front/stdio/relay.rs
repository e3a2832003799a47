//! Carrying lines between a client and a server.

use std::future::pending;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use toolbond_contract::Revision;
use toolbond_listen::{Signal, Signals};

use crate::back::child::{Child, Launch, StartError, Watchdog};
use crate::front::stdio::standard::{Input, Output};
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
use toolbond_guard_core::era::Users;
use toolbond_guard_core::event::Event;

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The client closed its side and has its answers, or does not read them any more.
    Client,
    /// The server closed its side; every open request got an error.
    Server,
}

/// How long a server may take for the last answers after the client closed its side.
pub(super) const LAST_ANSWERS: Duration = Duration::from_secs(600);

/// How long a server may take to end after it closed its output.
const ENDING: Duration = Duration::from_secs(1);

/// How long a server may take to end by itself after that, and a client to read its last answers.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long the output of a server that has ended may stay silent: a child of it may keep it open.
const SILENCE: Duration = Duration::from_millis(300);

/// The bytes for a server that does not read, far beyond what clients may send ahead: answers of the guard itself.
const FLOOD: usize = 8 << 20;

/// The two pipes of a conversation.
struct Relay {
    server: Arc<GuardedServer>,
    driven: Driven,
    to_client: Outbox,
    to_server: Outbox,
    /// Whether the end of the server was reported, with what it left unanswered.
    has_reported: AtomicBool,
}

impl Transport for Relay {
    fn driven(&self) -> &Driven {
        &self.driven
    }

    fn carry_out(self: &Arc<Self>, action: Action) {
        // All other actions are for requests with streams of their own.
        let Action::Send { to, message, .. } = action else { return };
        let outbox = match to {
            Destination::Server(_) => &self.to_server,
            _ => &self.to_client,
        };
        let message = if self.server.rules().settings.is_inspecting() {
            self.driven.line(message)
        } else {
            self.driven.pieces(message)
        };
        outbox.push_of(None, message);
    }
}

impl Relay {
    /// Handles a line of the client or the server.
    async fn take(self: &Arc<Self>, sender: Sender, line: Line) {
        let (pool, is_client) = (self.driven.pool(), sender == Sender::Client);
        let is_inspecting = self.server.rules().settings.is_inspecting();
        let to = if is_client { &self.to_server } else { &self.to_client };
        let received = match line {
            Line::TooLong(why) => Received::unread(why),
            Line::Whole(line) if line.trim_ascii().is_empty() => return to.push(line),
            Line::Whole(line) => match (is_client, is_inspecting) {
                (true, true) => Received::of_client_as_line(line, pool).await,
                (true, false) => Received::of_client(line, pool).await,
                (false, true) => Received::of_server_as_line(line, pool).await,
                (false, false) => Received::of_server(line, pool).await,
            },
        };
        let forwarded =
            if is_client { take_client(self, received) } else { take_server(self, received) };
        if let Some(line) = forwarded {
            to.push(line);
        }
    }

    /// Handles what comes from the server until it closes its output, or is silent after its process `ended`. Returns
    /// how that ended, if it did.
    async fn read_server<R: AsyncRead + Send + Unpin>(
        self: &Arc<Self>,
        reader: &mut LineReader<R>,
        ended: impl Future<Output = ProcessEnd>,
    ) -> Option<ProcessEnd> {
        let mut ended = pin!(ended);
        let mut how = None;
        loop {
            self.to_client.wait_for_room().await;
            // A server that sends without end and does not read what it gets for it is not read any further.
            let read = async {
                self.to_server.wait_for_small(FLOOD).await;
                reader.next().await
            };
            let read = tokio::select! {
                biased;
                read = read => read,
                ended = &mut ended, if how.is_none() => {
                    how = Some(ended);
                    continue;
                }
                () = sleep(SILENCE), if how.is_some() => Ok(None),
            };
            let Ok(Some(line)) = read else {
                if how.is_none() {
                    how = timeout(ENDING, ended).await.ok();
                }
                return how;
            };
            self.take(Sender::Server, line).await;
        }
    }

    /// Waits for the answers to a client that has closed its side.
    async fn finish_client(self: &Arc<Self>) {
        wait_until(self, LAST_CHECKS, Conversation::holds_nothing).await;
        drive(self, |it, _| it.on_client_end());
        self.stop_sending();
        if !wait_until(self, LAST_ANSWERS, Conversation::is_idle).await {
            let reason = late();
            self.server.report(Event::warning(format!("server: {reason}")));
            drive(self, |it, _| it.on_server_gone(&reason));
        }
        self.to_server.close();
    }

    /// Has what is open finished, after one of the two sides has ended, as far as that takes little time.
    async fn settle(self: &Arc<Self>, end: End, how: Option<ProcessEnd>, is_expected: bool) {
        if end == End::Server {
            self.finish_server(how, is_expected).await;
        } else {
            wait_until(self, LAST_CHECKS, Conversation::holds_nothing).await;
        }
        self.to_client.close();
        sleep(LAST_WORDS).await;
    }

    /// Fails what waits for a server that is gone. With `is_expected`, requests that are still open then get no error.
    async fn finish_server(self: &Arc<Self>, how: Option<ProcessEnd>, is_expected: bool) {
        let reason = match how {
            Some(end) => format!("the server ended before it answered ({})", end.how),
            None => "the server closed its output before it answered".to_owned(),
        };
        drive(self, |it, _| it.fail_waiting_calls(&reason));
        wait_until(self, LAST_CHECKS, Conversation::holds_nothing).await;
        if !drive(self, |it, _| it.is_idle()) {
            let event = Event::warning(format!("server: {reason}"));
            self.server.report(event.or_unquoted("server: ended before it answered"));
            self.has_reported.store(true, Ordering::Relaxed);
        }
        if !is_expected {
            drive(self, |it, _| it.on_server_gone(&reason));
        }
    }

    /// Writes to the server, and to each one that takes its place. Never ends: a server that stopped reading is noticed
    /// when it ends.
    async fn write_server<W: AsyncWrite + Send + Unpin>(
        self: &Arc<Self>,
        mut servers: mpsc::Receiver<W>,
    ) {
        let mut next = servers.recv().await;
        while let Some(mut server) = next.take() {
            tokio::select! {
                biased;
                other = servers.recv() => next = other,
                _ = self.to_server.write_to(&mut server) => {}
            }
            if next.is_none() {
                drop(server);
                self.stop_sending();
                next = servers.recv().await;
            }
        }
        pending::<()>().await;
    }

    /// Sends no more to the server, unless the guard may have to or the server may be started again.
    fn stop_sending(self: &Arc<Self>) {
        if !drive(self, |it, _| it.is_bridging()) {
            self.to_server.close();
        }
    }
}

/// What is said of a server that does not answer a client that has closed its side.
pub(super) fn late() -> String {
    let seconds = LAST_ANSWERS.as_secs();
    format!("the server did not answer within {seconds} seconds after the client closed its input")
}

/// Carries lines between a client and a server until one of them is gone.
///
/// Reads from one side only as fast as the other one takes what comes out. A line of more than
/// `max_message` bytes is not kept, and whoever waits for it gets an error.
pub async fn relay(
    client: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin),
    server: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    guarded: Arc<GuardedServer>,
    memory: Arc<MemoryLimit>,
) -> End {
    let server: (Input, Output) = (Box::new(server.0), Box::new(server.1));
    relay_until(client, server, guarded, memory, None).await.0
}

/// How a process ended.
struct ProcessEnd {
    how: String,
    is_success: bool,
}

/// [`relay`], for a server that is over when its `process` is, if it is one of this guard. Its last lines are still read.
/// Says with how it ended whether the end of the server was reported.
async fn relay_until(
    client: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin),
    server: (Input, Output),
    guarded: Arc<GuardedServer>,
    memory: Arc<MemoryLimit>,
    process: Option<&Running>,
) -> (End, bool) {
    let max = guarded.rules().settings.max_message;
    let pool = Arc::new(JobPool::new(Arc::clone(&memory)));
    let conversation =
        Conversation::new(Arc::clone(guarded.shared()), Link::Pipe, Revision::default());
    let driven = Driven::new(conversation.with_bridge(Users::One), pool);
    let (to_client, to_server) = (Outbox::default(), Outbox::default());
    let has_reported = AtomicBool::new(false);
    let relay = Relay { server: guarded, driven, to_client, to_server, has_reported };
    let relay = Arc::new(relay);
    let mut client_in = LineReader::new(client.0, Sender::Client, max, &memory);
    let mut server_in = LineReader::new(server.0, Sender::Server, max, &memory);
    let (mut client_out, server_out) = (client.1, server.1);
    // The input of a server that was started again takes the place of the old one.
    let (next_out, outs) = mpsc::channel(1);
    let _ = next_out.try_send(server_out);

    let has_left = AtomicBool::new(false);
    let from_client = async {
        loop {
            relay.to_server.wait_for_room().await;
            relay.to_client.wait_for_room().await;
            let Ok(Some(line)) = client_in.next().await else { break };
            relay.take(Sender::Client, line).await;
        }
        has_left.store(true, Ordering::Relaxed);
        relay.finish_client().await;
        sleep(LAST_WORDS).await;
        (End::Client, None)
    };
    let from_server = async {
        loop {
            let ended = async {
                match process {
                    Some(process) => process.ended().await,
                    None => pending().await,
                }
            };
            let end = relay.read_server(&mut server_in, ended).await;
            let restarted = match process {
                Some(process) if drive(&relay, |it, _| it.wants_restart()) => {
                    process.restart().await
                }
                _ => None,
            };
            let Some((input, output)) = restarted else {
                return (End::Server, end);
            };
            server_in = LineReader::new(input, Sender::Server, max, &memory);
            let _ = next_out.try_send(output);
            drive(&relay, Conversation::on_restart);
        }
    };
    let mut to_client = pin!(relay.to_client.write_to(&mut client_out));
    let (end, how) = tokio::select! {
        biased;
        end = from_client => end,
        end = from_server => end,
        _ = &mut to_client => return (End::Client, false),
        () = relay.write_server(outs) => (End::Server, None),
    };
    // A client that has left may not read any more, and a server that then ends is at no fault.
    let is_expected = has_left.into_inner() && how.as_ref().is_some_and(|how| how.is_success);
    let settle = relay.settle(end, how, is_expected);
    tokio::select! {
        _ = &mut to_client => {}
        () = settle => {}
    }
    (end, relay.has_reported.load(Ordering::Relaxed))
}

/// Starts a server and relays between it and `client` until one of them ends or a signal arrives. Returns the exit
/// code of the server, or 128 plus the number of the signal that ended it.
///
/// Ends the whole process group of the server. A second signal kills it at once.
pub fn serve(
    launch: Launch,
    client: (Input, Output),
    guarded: Arc<GuardedServer>,
    memory: Arc<MemoryLimit>,
) -> LocalBoxFuture<'static, Result<u8, StartError>> {
    Box::pin(launch_and_relay(launch, client, guarded, memory))
}

async fn launch_and_relay(
    launch: Launch,
    client: (Input, Output),
    guarded: Arc<GuardedServer>,
    memory: Arc<MemoryLimit>,
) -> Result<u8, StartError> {
    let mut signals = Signals::register(true).map_err(StartError::Signals)?;
    let (mut child, watchdog) = launch.clone().start()?;
    let Some(streams) = child.streams() else { return Ok(0) };
    let running = Running { launch, child: tokio::sync::Mutex::new((child, watchdog)) };
    let (caught, has_reported) = {
        let (output, input) = streams;
        let streams: (Input, Output) = (Box::new(output), Box::new(input));
        let relayed = relay_until(client, streams, Arc::clone(&guarded), memory, Some(&running));
        tokio::select! {
            (_, has_reported) = relayed => (None, has_reported),
            caught = signals.next() => (Some(caught), false),
        }
    };
    if caught == Some(Signal::Interrupt) {
        let text = "ending: the server has 3 s to end; a second Ctrl-C kills it at once";
        guarded.report(Event::info(text));
    }
    let (mut child, _watchdog) = running.child.into_inner();
    let status = end(&mut child, caught, &mut signals).await;
    Ok(match status {
        Ok(status) => {
            if !status.success() && caught.is_none() && !has_reported {
                let how = child.describe_end(status);
                let event = Event::warning(format!("server: ended with {how}"));
                guarded.report(event.or_unquoted(format!("server: ended with {status}")));
            }
            exit_code(status)
        }
        Err(error) => {
            guarded
                .report(Event::error(format!("server: could not read its exit status: {error}")));
            1
        }
    })
}

/// A server that runs.
struct Running {
    launch: Launch,
    child: tokio::sync::Mutex<(Child, Option<Watchdog>)>,
}

impl Running {
    /// Waits until it has ended.
    async fn ended(&self) -> ProcessEnd {
        let child = &mut self.child.lock().await.0;
        match child.wait().await {
            Ok(status) => {
                ProcessEnd { how: child.describe_end(status), is_success: status.success() }
            }
            Err(error) => ProcessEnd { how: error.to_string(), is_success: false },
        }
    }

    /// Starts it again, after it has ended.
    async fn restart(&self) -> Option<(Input, Output)> {
        let mut running = self.child.lock().await;
        let (mut child, watchdog) = self.launch.clone().start().ok()?;
        let streams = child.streams();
        let _ = running.0.end().await;
        *running = (child, watchdog);
        let (output, input) = streams?;
        Some((Box::new(output), Box::new(input)))
    }
}

/// Ends the child, at once if a further signal comes.
async fn end(
    child: &mut Child,
    caught: Option<Signal>,
    signals: &mut Signals,
) -> std::io::Result<ExitStatus> {
    let ended = async {
        match caught {
            None => child.end().await,
            Some(caught) => child.end_with(caught.number().into()).await,
        }
    };
    tokio::select! {
        status = ended => return status,
        _ = signals.next() => {}
    }
    child.kill().await
}

fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};
    use tokio::time::sleep;

    use super::{End, LAST_ANSWERS, relay};
    use crate::memory::MemoryLimit;
    use crate::server::GuardedServer;
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::settings::Settings;

    const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    const PONG: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

    /// What a client that closes its input after a request gets from a server that answers after `delay`,
    /// and what the guard reports.
    async fn last_answer(delay: Duration) -> (String, Vec<String>) {
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let listener = move |event: Event| hears.lock().unwrap().push(event.to_string());
        let server = GuardedServer::new("a", Settings::default(), Arc::new(listener));
        let (client, guard_client) = duplex(4096);
        let (process, guard_process) = duplex(4096);
        let relayed = tokio::spawn(relay(
            split(guard_client),
            split(guard_process),
            Arc::new(server),
            Arc::new(MemoryLimit::default()),
        ));
        let answers = tokio::spawn(async move {
            let (mut input, mut output) = split(process);
            let mut line = vec![0; PING.len()];
            input.read_exact(&mut line).await.unwrap();
            sleep(delay).await;
            let _ = output.write_all(PONG.as_bytes()).await;
            let _ = input.read_to_end(&mut Vec::new()).await;
        });
        let (mut input, mut output) = split(client);
        output.write_all(PING.as_bytes()).await.unwrap();
        output.shutdown().await.unwrap();
        let mut got = String::new();
        input.read_to_string(&mut got).await.unwrap();
        answers.abort();
        assert!(matches!(relayed.await, Ok(End::Client | End::Server)));
        let said = said.lock().unwrap().clone();
        (got, said)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_closed_its_input_gets_its_answer_minutes_later() {
        let (got, said) = last_answer(LAST_ANSWERS.mul_f32(0.99)).await;
        assert_eq!(got, PONG);
        assert!(said.is_empty(), "{said:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_closed_its_input_is_told_that_no_answer_came() {
        let (got, said) = last_answer(2 * LAST_ANSWERS).await;
        let reason =
            "the server did not answer within 600 seconds after the client closed its input";
        assert!(got.contains(reason) && got.contains("\"id\":1"), "{got}");
        assert_eq!(said, [format!("warning: server: {reason}")]);
    }
}
