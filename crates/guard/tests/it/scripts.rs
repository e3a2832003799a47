//! Every script of `tests/scripts`, played through every transport.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use toolbond_contract::Policy;
use toolbond_guard::{Backend, Event, Launch, MemoryLimit, ProcessLimits, Processes, Settings};
use toolbond_harness::files::Folder;

use crate::http::{Client, Http, guarded, json, serve};
use crate::pair::{Pair, result};

/// A guard with a client and a server that the test plays.
trait Stage {
    fn client_sends(&mut self, text: &str);
    fn server_receives(&mut self) -> String;
    fn server_sends(&mut self, text: &str);
    fn client_receives(&mut self) -> String;
}

impl Stage for Pair {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        self.server.line()
    }

    fn server_sends(&mut self, text: &str) {
        self.server.send(text);
    }

    fn client_receives(&mut self) -> String {
        self.client.line()
    }
}

impl Stage for Http {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        String::from_utf8(self.asked().body).unwrap()
    }

    fn server_sends(&mut self, text: &str) {
        self.answer(&json(text.as_bytes(), ""));
    }

    fn client_receives(&mut self) -> String {
        self.client.receive().1
    }
}

/// A process whose pipes the test holds through two named pipes.
struct OverProcess {
    client: Client,
    from_guard: BufReader<File>,
    to_guard: File,
    _folder: Folder,
}

impl Stage for OverProcess {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        let mut line = String::new();
        self.from_guard.read_line(&mut line).unwrap();
        line
    }

    fn server_sends(&mut self, text: &str) {
        writeln!(self.to_guard, "{text}").unwrap();
    }

    fn client_receives(&mut self) -> String {
        self.client.receive().1
    }
}

fn quiet() -> Arc<dyn toolbond_guard::Listener> {
    Arc::new(|_: Event| {})
}

impl OverProcess {
    fn new(settings: Settings, revision: &str) -> Self {
        let folder = Folder::new();
        let [input, output] = ["in", "out"].map(|name| folder.join(name));
        let made = Command::new("mkfifo").args([&input, &output]).status().unwrap();
        assert!(made.success());
        let open = |path: &str| File::options().read(true).write(true).open(path).unwrap();
        let (to_guard, from_guard) = (open(&input), BufReader::new(open(&output)));
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
        let client = Client::new(port, "");
        let mut stage = Self { client, from_guard, to_guard, _folder: folder };
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        stage.client_sends(hello);
        assert_eq!(stage.server_receives().trim_end(), hello);
        stage.server_sends(&result(0, &format!(r#"{{"protocolVersion":"{revision}"}}"#)));
        let (head, _) = stage.client.receive();
        let session = head.lines().find(|line| line.starts_with("mcp-session-id:"));
        stage.client = Client::new(port, &format!("\r\n{}", session.expect("a session")));
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
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect();
    assert!(files.len() > 5);
    files.iter().map(|path| script(path)).collect()
}

fn script(path: &Path) -> Script {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut settings = Settings::default();
    let mut revision = "2025-11-25".to_owned();
    let mut steps = Vec::new();
    let mode = |text: &str| text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    for line in fs::read_to_string(path).unwrap().lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "#" => {}
            "set" => match rest.split_once(' ').unwrap() {
                ("results", value) => settings.results = mode(value),
                ("arguments", value) => settings.arguments = mode(value),
                ("tools", "filter") => settings.tools = Some(Policy::Filter),
                ("tools", "reject") => settings.tools = Some(Policy::Reject),
                ("for", value) => settings.view_for = value.parse().unwrap(),
                ("revision", value) => value.clone_into(&mut revision),
                other => panic!("{name}: no setting {other:?}"),
            },
            _ => steps.push((word.to_owned(), rest.to_owned())),
        }
    }
    Script { name, settings, revision, steps }
}

/// Plays every script on the stage that `build` makes for it.
fn play<S: Stage>(build: impl Fn(Settings, &str) -> S) {
    let ping = r#"{"jsonrpc":"2.0","id":"end","method":"ping"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"end","result":{}}"#;
    let end = [("client>", ping), ("server<", ping), ("server>", answer), ("client<", answer)];
    let end = end.map(|(word, text)| (word.to_owned(), text.to_owned()));
    for Script { name, settings, revision, steps } in scripts() {
        let mut stage = build(settings, &revision);
        let mut asked = Value::Null;
        for (word, text) in steps.iter().chain(&end) {
            match word.as_str() {
                "client>" => stage.client_sends(text),
                "server>" => stage.server_sends(text),
                "server<" => assert_eq!(stage.server_receives().trim_end(), text, "{name}"),
                "client<" => assert_eq!(stage.client_receives().trim_end(), text, "{name}"),
                "client<~" => {
                    let got = stage.client_receives();
                    for part in text.split(" | ") {
                        assert!(got.contains(part), "{name}: expected `{part}`, found {got}");
                    }
                }
                "server<list" => {
                    asked = serde_json::from_str(&stage.server_receives()).unwrap();
                    assert_eq!(asked["method"], "tools/list", "{name}");
                }
                "server>list" => {
                    let id = &asked["id"];
                    let list = format!(r#"{{"id":{id},"result":{{"tools":{text}}}}}"#);
                    stage.server_sends(&list);
                }
                other => panic!("{name}: no step `{other}`"),
            }
        }
    }
}

#[test]
fn on_standard_input_and_output() {
    play(Pair::greeted);
}

#[test]
fn in_front_of_a_server_on_http() {
    play(|settings, revision| {
        let more = format!("\r\nmcp-session-id: s\r\nmcp-protocol-version: {revision}");
        Http::new(settings, quiet(), &more)
    });
}

#[test]
fn in_front_of_a_process_on_http() {
    play(OverProcess::new);
}
