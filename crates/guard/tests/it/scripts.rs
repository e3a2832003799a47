//! Every script of `tests/scripts`, played through every transport.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use toolbond_contract::Policy;
use toolbond_guard::http::{Client, Hosts};
use toolbond_guard::{
    Backend, Event, GuardedServer, Launch, MemoryLimit, ProcessLimits, Processes, Proxy, Router,
    Routes, Settings,
};

use crate::lossless::runtime;
use crate::pair::Pair;

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(60);

/// A guard with a client and a server that the test plays.
pub(crate) trait Stage {
    async fn client_sends(&mut self, text: &str);
    async fn server_receives(&mut self) -> String;
    async fn server_sends(&mut self, text: &str);
    async fn client_receives(&mut self) -> String;
}

impl Stage for Pair {
    async fn client_sends(&mut self, text: &str) {
        self.client.send(text).await;
    }

    async fn server_receives(&mut self) -> String {
        self.server.line().await
    }

    async fn server_sends(&mut self, text: &str) {
        self.server.send(text).await;
    }

    async fn client_receives(&mut self) -> String {
        self.client.line().await
    }
}

/// The client's side on HTTP: one connection for each message.
pub(crate) struct HttpClient {
    port: u16,
    pub(crate) headers: String,
    open: Option<TcpStream>,
}

impl HttpClient {
    pub(crate) async fn send(&mut self, text: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\ncontent-type: application/json\r\n{}content-length: {}\r\nconnection: close\r\n\r\n",
            self.headers,
            text.len()
        );
        stream.write_all(format!("{head}{text}").as_bytes()).await.unwrap();
        self.open = Some(stream);
    }

    /// Head and body of the response.
    pub(crate) async fn receive(&mut self) -> (String, String) {
        let mut response = String::new();
        let mut stream = self.open.take().unwrap();
        timeout(HANG, stream.read_to_string(&mut response)).await.unwrap().unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

/// A server on HTTP.
pub(crate) struct OverHttp {
    pub(crate) client: HttpClient,
    upstream: TcpListener,
    asked: Option<TcpStream>,
    /// The head of the last request.
    pub(crate) head: String,
    /// Further headers of the next response.
    pub(crate) more: String,
}

impl Stage for OverHttp {
    async fn client_sends(&mut self, text: &str) {
        self.client.send(text).await;
    }

    async fn server_receives(&mut self) -> String {
        let (mut stream, _) = timeout(HANG, self.upstream.accept()).await.unwrap().unwrap();
        let mut seen = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&seen).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap();
                let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
                if body.len() == length {
                    self.asked = Some(stream);
                    self.head = head;
                    return body.to_owned();
                }
            }
            assert!(timeout(HANG, stream.read_buf(&mut seen)).await.unwrap().unwrap() > 0);
        }
    }

    async fn server_sends(&mut self, text: &str) {
        let mut stream = self.asked.take().unwrap();
        let response = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{}content-length: {}\r\nconnection: close\r\n\r\n{text}",
            self.more,
            text.len()
        );
        stream.write_all(response.as_bytes()).await.unwrap();
    }

    async fn client_receives(&mut self) -> String {
        self.client.receive().await.1
    }
}

/// A process whose pipes the test holds through two named pipes.
struct OverProcess {
    client: HttpClient,
    from_guard: BufReader<pipe::Receiver>,
    to_guard: pipe::Sender,
    folder: PathBuf,
}

impl Stage for OverProcess {
    async fn client_sends(&mut self, text: &str) {
        self.client.send(text).await;
    }

    async fn server_receives(&mut self) -> String {
        let mut line = String::new();
        timeout(HANG, self.from_guard.read_line(&mut line)).await.unwrap().unwrap();
        line
    }

    async fn server_sends(&mut self, text: &str) {
        self.to_guard.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    async fn client_receives(&mut self) -> String {
        self.client.receive().await.1
    }
}

impl Drop for OverProcess {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn guarded(settings: Settings) -> (Arc<GuardedServer>, Arc<MemoryLimit>) {
    let server = GuardedServer::new("server", settings, Arc::new(|_: Event| {}));
    (Arc::new(server), Arc::new(MemoryLimit::default()))
}

async fn serve(backend: Backend) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new(Routes::one(backend, Hosts::new([])));
    tokio::spawn(Arc::new(router).serve(listener, Box::pin(std::future::pending())));
    port
}

impl OverHttp {
    pub(crate) async fn new(settings: Settings, revision: &str) -> Self {
        let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", upstream.local_addr().unwrap().port());
        let (server, memory) = guarded(settings);
        let proxy = Proxy::new(&url, Client::new(None).unwrap(), server, memory).unwrap();
        let port = serve(Backend::Proxy(Arc::new(proxy))).await;
        let headers = format!("mcp-session-id: s\r\nmcp-protocol-version: {revision}\r\n");
        let client = HttpClient { port, headers, open: None };
        let (head, more) = (String::new(), String::new());
        Self { client, upstream, asked: None, head, more }
    }
}

impl OverProcess {
    async fn new(settings: Settings, revision: &str, name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolbond-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (input, output) = (folder.join("in"), folder.join("out"));
        for path in [&input, &output] {
            mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        }
        let open = || {
            let mut options = pipe::OpenOptions::new();
            options.read_write(true);
            options
        };
        let from_guard = BufReader::new(open().open_receiver(&output).unwrap());
        let to_guard = open().open_sender(&input).unwrap();
        let script = "cat \"$0\" & cat > \"$1\"";
        let launch = Launch {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into(), input.into(), output.into()],
            ..Launch::default()
        };
        let (server, memory) = guarded(settings);
        let processes = Processes::new(launch, ProcessLimits::default(), server, memory);
        let port = serve(Backend::Processes(Arc::new(processes))).await;
        let client = HttpClient { port, headers: String::new(), open: None };
        let mut stage = Self { client, from_guard, to_guard, folder };
        let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}"#;
        stage.client_sends(hello).await;
        assert_eq!(stage.server_receives().await.trim_end(), hello);
        let result = format!(r#"{{"protocolVersion":"{revision}"}}"#);
        stage.server_sends(&format!(r#"{{"jsonrpc":"2.0","id":"hello","result":{result}}}"#)).await;
        let (head, _) = stage.client.receive().await;
        let session = head.split("mcp-session-id: ").nth(1).expect("a session");
        let session = session.split("\r\n").next().unwrap();
        stage.client.headers = format!("mcp-session-id: {session}\r\n");
        stage
    }
}

/// A script, read.
struct Script {
    name: String,
    settings: Settings,
    revision: String,
    steps: Vec<(String, String)>,
}

fn scripts() -> Vec<Script> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect();
    files.sort();
    assert!(files.len() > 5);
    files.iter().map(|path| script(path)).collect()
}

fn script(path: &Path) -> Script {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut settings = Settings::default();
    let mut revision = "2025-11-25".to_owned();
    let mut steps = Vec::new();
    let mode = |text: &str| text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "#" => {}
            "set" => match rest.split_once(' ').unwrap() {
                ("results", value) => settings.results = mode(value),
                ("arguments", value) => settings.arguments = mode(value),
                ("tools", "filter") => settings.tools = Some(Policy::Filter),
                ("for", value) => settings.view_for = value.parse().unwrap(),
                ("revision", value) => value.clone_into(&mut revision),
                other => panic!("{name}: no setting {other:?}"),
            },
            _ => steps.push((word.to_owned(), rest.to_owned())),
        }
    }
    Script { name, settings, revision, steps }
}

/// Plays a script.
async fn play(script: &Script, stage: &mut impl Stage) {
    let name = &script.name;
    let mut asked = Value::Null;
    let ping = r#"{"jsonrpc":"2.0","id":"end","method":"ping"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"end","result":{}}"#;
    let end = [("client>", ping), ("server<", ping), ("server>", answer), ("client<", answer)];
    let end = end.map(|(word, text)| (word.to_owned(), text.to_owned()));
    for (word, text) in script.steps.iter().chain(&end) {
        match word.as_str() {
            "client>" => stage.client_sends(text).await,
            "server>" => stage.server_sends(text).await,
            "server<" => assert_eq!(stage.server_receives().await.trim_end(), text, "{name}"),
            "client<" => assert_eq!(stage.client_receives().await.trim_end(), text, "{name}"),
            "client<~" => {
                let got = stage.client_receives().await;
                for part in text.split(" | ") {
                    assert!(got.contains(part), "{name}: expected `{part}`, found {got}");
                }
            }
            "server<list" => {
                asked = serde_json::from_str(&stage.server_receives().await).unwrap();
                assert_eq!(asked["method"], "tools/list", "{name}");
            }
            "server>list" => {
                let id = &asked["id"];
                let answer =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{text}}}}}"#);
                stage.server_sends(&answer).await;
            }
            other => panic!("{name}: no step `{other}`"),
        }
    }
}

#[test]
fn on_standard_input_and_output() {
    for script in scripts() {
        runtime().block_on(async {
            let mut pair = Pair::new(script.settings.clone());
            pair.initialize(&script.revision).await;
            play(&script, &mut pair).await;
        });
    }
}

#[test]
fn in_front_of_a_server_on_http() {
    for script in scripts() {
        runtime().block_on(async {
            let mut stage = OverHttp::new(script.settings.clone(), &script.revision).await;
            play(&script, &mut stage).await;
        });
    }
}

#[test]
fn in_front_of_a_process_on_http() {
    for script in scripts() {
        runtime().block_on(async {
            let settings = script.settings.clone();
            let mut stage = OverProcess::new(settings, &script.revision, &script.name).await;
            play(&script, &mut stage).await;
        });
    }
}
