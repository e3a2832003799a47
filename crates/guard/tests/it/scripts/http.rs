//! A client on HTTP, in front of a server on HTTP or a process.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use toolbond_guard::Client as Connector;
use toolbond_guard::{
    Backend, Event, Launch, MemoryLimit, ProcessLimits, Processes, Proxy, Settings,
};
use toolbond_harness::files::Folder;
use toolbond_harness::http::{Connection, HttpServer};
use toolbond_harness::wait::HANG;

use super::events::Messages;
use super::stage::{Answer, Inbox, Open, Seen, Stage, is_one_way};
use crate::http::{guarded, serve};
use crate::pair::result;

pub(super) type Answers = Sender<Answer>;

/// A client, each of whose requests has a connection of its own.
struct Client {
    port: u16,
    /// The request line and the headers.
    head: String,
    inbox: Sender<Seen<Answers>>,
}

impl Client {
    fn new(port: u16, more: &str, inbox: Sender<Seen<Answers>>) -> Self {
        let head = format!(
            "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\nconnection: close{more}"
        );
        Self { port, head, inbox }
    }

    /// Sends a message. What nobody answers has been taken when this returns.
    fn send(&self, text: &str) {
        let reading = self.start(text);
        if is_one_way(text) {
            reading.join().unwrap();
        }
    }

    /// Sends a message: the head of the response, once all of it is there.
    fn start(&self, text: &str) -> JoinHandle<String> {
        let mut connection = Connection::open(self.port, &self.head, text.as_bytes());
        let inbox = self.inbox.clone();
        thread::spawn(move || {
            let tell = |message| drop(inbox.send(Seen::Client(message)));
            let head = read_head(&mut connection);
            let header = |name: &str| {
                let value = head.lines().find_map(|line| line.strip_prefix(name));
                value.unwrap_or_default().to_owned()
            };
            let mut messages = Messages::new(&header("content-type: "));
            if header("transfer-encoding: ") == "chunked" {
                while let piece @ [_, ..] = &chunk(&mut connection)[..] {
                    messages.take(piece).into_iter().for_each(tell);
                }
            } else {
                messages.take(&connection.rest()).into_iter().for_each(tell);
            }
            messages.end().into_iter().for_each(tell);
            head
        })
    }
}

fn read_head(connection: &mut Connection) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        // The test has ended, and the guard with it.
        let Ok(1..) = connection.reader.read_line(&mut head) else { break };
    }
    head
}

/// The next chunk of a body; empty at the end.
fn chunk(connection: &mut Connection) -> Vec<u8> {
    let mut length = String::new();
    let Ok(1..) = connection.reader.read_line(&mut length) else { return Vec::new() };
    let length = usize::from_str_radix(length.trim_end(), 16).unwrap();
    let mut bytes = vec![0; length + 2];
    if connection.reader.read_exact(&mut bytes).is_err() {
        return Vec::new();
    }
    bytes.truncate(length);
    bytes
}

fn quiet() -> Arc<dyn toolbond_guard::Listener> {
    Arc::new(|_: Event| {})
}

/// A server that the test plays: each POST is a message for it.
pub(super) fn server(inbox: Sender<Seen<Answers>>) -> HttpServer {
    HttpServer::start(move |request, reply| {
        if request.method() != "POST" {
            return reply.send("405 Method Not Allowed", "", "");
        }
        let body = String::from_utf8(request.body.clone()).unwrap();
        if is_one_way(&body) {
            let _ = inbox.send(Seen::Server(body, None));
            return reply.send("202 Accepted", "", "");
        }
        let (answers, answer) = channel();
        let _ = inbox.send(Seen::Server(body, Some(answers)));
        let mut is_stream = false;
        while let Ok(answer) = answer.recv() {
            match answer {
                Answer::Last(text) if !is_stream => {
                    return reply.send("200 OK", "content-type: application/json", text);
                }
                Answer::Last(text) => {
                    reply.event(&format!("data: {text}\n\n"))?;
                    return reply.event("");
                }
                Answer::Before(text) => {
                    if !is_stream {
                        reply.events()?;
                    }
                    is_stream = true;
                    reply.event(&format!("data: {text}\n\n"))?;
                }
            }
        }
        // The script has ended without an answer.
        reply.close();
        Ok(())
    })
}

/// A client and a server on HTTP.
pub(super) struct OverHttp {
    client: Client,
    inbox: Inbox<Answers>,
    open: Open<Answers>,
}

impl OverHttp {
    pub(super) fn new(settings: Settings, revision: &str) -> Self {
        let (sender, receiver) = channel();
        let server = server(sender.clone());
        let url = server.url("/mcp");
        let guarded = guarded(settings, quiet());
        let port = serve(move || {
            let (connector, memory) = (Connector::new(None).unwrap(), MemoryLimit::default());
            let proxy = Proxy::new(&url, connector, guarded, Arc::new(memory)).unwrap();
            Backend::Proxy(Arc::new(proxy))
        });
        let more = format!("\r\nmcp-session-id: s\r\nmcp-protocol-version: {revision}");
        let client = Client::new(port, &more, sender);
        Self { client, inbox: Inbox::new(receiver), open: Open::default() }
    }
}

impl Stage for OverHttp {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        let seen = self.inbox.next(|seen| matches!(seen, Seen::Server(..)));
        let Seen::Server(text, answers) = seen else { unreachable!() };
        if let Some(answers) = answers {
            self.open.add(&text, answers);
        }
        text
    }

    fn server_sends(&mut self, text: &str) {
        self.open.answer(text, |answers, answer| answers.send(answer).unwrap());
    }

    fn client_receives(&mut self) -> String {
        next_of_client(&mut self.inbox)
    }
}

fn next_of_client(inbox: &mut Inbox<Answers>) -> String {
    let seen = inbox.next(|seen| matches!(seen, Seen::Client(_)));
    let Seen::Client(text) = seen else { unreachable!() };
    text
}

/// A process whose pipes the test holds through two named pipes.
pub(super) struct OverProcess {
    client: Client,
    inbox: Inbox<Answers>,
    from_guard: Receiver<String>,
    to_guard: File,
    _folder: Folder,
}

impl Stage for OverProcess {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        self.from_guard.recv_timeout(HANG).expect("a line for the process")
    }

    fn server_sends(&mut self, text: &str) {
        writeln!(self.to_guard, "{text}").unwrap();
    }

    fn client_receives(&mut self) -> String {
        next_of_client(&mut self.inbox)
    }
}

impl OverProcess {
    pub(super) fn new(settings: Settings, revision: &str) -> Self {
        let folder = Folder::new();
        let [input, output] = ["in", "out"].map(|name| folder.join(name));
        let made = Command::new("mkfifo").args([&input, &output]).status().unwrap();
        assert!(made.success());
        let open = |path: &str| File::options().read(true).write(true).open(path).unwrap();
        let (to_guard, output_lines) = (open(&input), BufReader::new(open(&output)).lines());
        let (lines, from_guard) = channel();
        // It ends with the process of the test.
        thread::spawn(move || output_lines.map_while(Result::ok).try_for_each(|it| lines.send(it)));
        let script = "cat \"$0\" & cat > \"$1\"";
        let launch = Launch {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into(), input.into(), output.into()],
            ..Launch::default()
        };
        let server = guarded(settings, quiet());
        let port = serve(move || {
            let (limits, memory) = (ProcessLimits::default(), Arc::new(MemoryLimit::default()));
            Backend::Processes(Arc::new(Processes::new(launch, limits, server, memory)))
        });
        let (sender, receiver) = channel();
        let client = Client::new(port, "", sender.clone());
        let inbox = Inbox::new(receiver);
        let mut stage = Self { client, inbox, from_guard, to_guard, _folder: folder };
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let greeting = stage.client.start(hello);
        assert_eq!(stage.server_receives(), hello);
        stage.server_sends(&result(0, &format!(r#"{{"protocolVersion":"{revision}"}}"#)));
        stage.client_receives();
        let head = greeting.join().unwrap();
        let session = head.lines().find(|line| line.starts_with("mcp-session-id:"));
        let more = format!("\r\n{}", session.expect("a session"));
        stage.client = Client::new(port, &more, sender);
        stage
    }
}
