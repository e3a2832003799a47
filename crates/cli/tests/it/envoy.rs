//! Envoy with replicas of `toolbond ext-proc`, as `examples/envoy` configures them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolbond_harness::peers;

use crate::command::toolbond;
use crate::guard_http::{Process, ask};
use crate::receiver::export_to;
use crate::recorder::HANG;

/// Envoy in front of servers, with replicas of the service.
pub(crate) struct Envoy {
    /// Where clients connect.
    pub(crate) port: u16,
    pub(crate) admin: u16,
    pub(crate) replicas: Vec<Replica>,
    _process: Process,
    pub(crate) folder: PathBuf,
}

/// A replica of `toolbond ext-proc`.
pub(crate) struct Replica {
    pub(crate) process: Process,
    pub(crate) port: u16,
    /// Where it writes its log.
    pub(crate) log: PathBuf,
}

/// What is different from the example.
pub(crate) struct Setup<'a> {
    /// The file of `examples/envoy`; none for plain Envoy.
    pub(crate) example: Option<&'a str>,
    /// The ports of the two servers.
    pub(crate) servers: [u16; 2],
    /// The contract in `toolbond.toml`.
    pub(crate) contract: &'a str,
    pub(crate) replicas: usize,
    /// What is replaced in the configuration of Envoy.
    pub(crate) replaced: &'a [(&'a str, &'a str)],
    /// The port of an OTLP receiver that the replicas export to.
    pub(crate) export: Option<u16>,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            example: Some("envoy.yaml"),
            servers: [9, 9],
            contract: "",
            replicas: 2,
            replaced: &[],
            export: None,
        }
    }
}

/// One server at every path.
pub(crate) const ONE_SERVER: (&str, &str) =
    ("match: { prefix: /weather/ }", "match: { prefix: / }");

/// A folder of its own.
fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("envoy-{}-{count}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/envoy").join(name);
    fs::read_to_string(path).unwrap()
}

impl Replica {
    /// Starts a replica with the configuration in `folder`, on `port`.
    pub(crate) fn start(folder: &Path, port: u16) -> Self {
        Self::start_exporting(folder, port, None)
    }

    /// The same, for a replica that exports to this port.
    fn start_exporting(folder: &Path, port: u16, export: Option<u16>) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let log = folder.join(format!("replica-{}.log", COUNT.fetch_add(1, Ordering::Relaxed)));
        let address = format!("127.0.0.1:{port}");
        let config = folder.join("toolbond.toml");
        let options = ["ext-proc", "--listen", &address, "--drain-seconds", "2", "--config"];
        let mut command = toolbond(&options);
        command.arg(config).stdin(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        if let Some(port) = export {
            export_to(&mut command, port);
        }
        let process = Process(command.spawn().unwrap());
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(&log).unwrap();
            let said = text.split("listening for Envoy on 127.0.0.1:").nth(1);
            if let Some(port) = said.and_then(|rest| rest.lines().next()?.parse().ok()) {
                return Self { process, port, log };
            }
            assert!(start.elapsed() < HANG, "{text}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Envoy {
    /// Starts Envoy and the replicas, and waits until both are ready.
    pub(crate) fn start(setup: &Setup<'_>) -> Self {
        let folder = folder();
        let [weather, notes] = setup.servers;
        let with_servers = |text: String| {
            text.replace("127.0.0.1:3001", &format!("127.0.0.1:{weather}"))
                .replace("127.0.0.1:3002", &format!("127.0.0.1:{notes}"))
                .replace("port_value: 3001", &format!("port_value: {weather}"))
                .replace("port_value: 3002", &format!("port_value: {notes}"))
        };
        let contract = with_servers(example("toolbond.toml"))
            .replace("results = \"enforce\"\n", setup.contract);
        fs::write(folder.join("toolbond.toml"), contract).unwrap();
        let replicas: Vec<_> = (0..setup.replicas)
            .map(|_| Replica::start_exporting(&folder, 0, setup.export))
            .collect();
        let mut text = with_servers(example(setup.example.unwrap_or("envoy.yaml")));
        if setup.example.is_none() {
            let (start, end) = (
                "                  - name: envoy.filters.http.ext_proc",
                "                  - name: envoy.filters.http.router",
            );
            let (from, to) = (text.find(start).unwrap(), text.find(end).unwrap());
            text.replace_range(from..to, "");
        }
        for (place, replica) in [9002, 9003].iter().zip(&replicas) {
            text = text
                .replace(&format!("port_value: {place}"), &format!("port_value: {}", replica.port));
        }
        // The second listener is reached by its port, so that has to be known before.
        let second = free_port();
        text = text
            .replace("port_value: 10001", &format!("port_value: {second}"))
            .replace("port_value: 10000", "port_value: 0")
            .replace("port_value: 9901", "port_value: 0");
        for (from, to) in setup.replaced {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let config = folder.join("envoy.yaml");
        fs::write(&config, text).unwrap();
        let address = folder.join("admin");
        let mut command = Command::new(peers::envoy());
        command.arg("-c").arg(&config).arg("--admin-address-path").arg(&address);
        command.args(["--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"]);
        let log = fs::File::create(folder.join("envoy.log")).unwrap();
        command.stdin(Stdio::null()).stderr(log).stdout(Stdio::null());
        let process = Process(command.spawn().unwrap());
        let start = Instant::now();
        let wait = |what: &str| {
            let log = fs::read_to_string(folder.join("envoy.log")).unwrap_or_default();
            assert!(start.elapsed() < HANG, "{what}\n{log}");
            thread::sleep(Duration::from_millis(20));
        };
        let admin = loop {
            let text = fs::read_to_string(&address).unwrap_or_default();
            match text.rsplit(':').next().and_then(|port| port.trim().parse().ok()) {
                Some(port) => break port,
                None => wait("Envoy did not start"),
            }
        };
        let mut envoy =
            Self { port: 0, admin, replicas, _process: process, folder: folder.clone() };
        while !envoy.get("/ready").contains("LIVE") {
            wait("Envoy is not ready");
        }
        let listeners: Value = envoy.json("/listeners?format=json");
        let listeners = listeners["listener_statuses"].as_array().unwrap();
        let clients = listeners.iter().find(|it| it["name"] == "clients").unwrap();
        let port = &clients["local_address"]["socket_address"]["port_value"];
        envoy.port = port.as_u64().unwrap().try_into().unwrap();
        if setup.replicas > 0 && setup.example.is_some() {
            while envoy.healthy() < setup.replicas {
                wait("the replicas are not healthy");
            }
        }
        envoy
    }

    /// Envoy in front of one server, whose arguments and results are held to their schemas.
    pub(crate) fn enforcing(server: u16) -> Self {
        Self::start(&Setup {
            servers: [server, 9],
            contract: "arguments = \"enforce\"\nresults = \"enforce\"\n",
            replaced: &[ONE_SERVER],
            ..Setup::default()
        })
    }

    /// What the admin page says at `path`.
    pub(crate) fn get(&self, path: &str) -> String {
        let answer = ask(self.admin, &format!("GET {path} HTTP/1.1"), "");
        answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let text = self.get(path);
        // Chunked: what is between the braces.
        let (from, to) = (text.find('{').unwrap(), text.rfind('}').unwrap());
        serde_json::from_str(&text[from..=to]).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// How many replicas Envoy takes for healthy.
    pub(crate) fn healthy(&self) -> usize {
        let text = self.get("/clusters");
        let is_healthy =
            |line: &&str| line.starts_with("toolbond::") && line.ends_with("health_flags::healthy");
        text.lines().map(str::trim).filter(is_healthy).count()
    }

    /// A counter of Envoy.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let text = self.get(&format!("/stats?filter={name}"));
        let values = text.lines().filter_map(|line| line.split_once(": "));
        values
            .filter(|(key, _)| key.ends_with(name))
            .filter_map(|(_, value)| value.trim().parse::<u64>().ok())
            .sum()
    }

    /// The URL of a server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server on a free port whose tool `echo` gives back what it gets, with a body of known length, and whose tool `flood`
/// gives more than may be read.
pub(crate) struct Echo {
    pub(crate) port: u16,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // It ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                thread::spawn(move || drop(echo(stream.unwrap())));
            }
        });
        Self { port }
    }
}

fn echo(stream: std::net::TcpStream) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut writer = stream.try_clone()?;
    let mut reader = std::io::BufReader::new(stream);
    while let Some((head, body)) = crate::upstream::request(&mut reader)? {
        if head.contains("expired") {
            write!(
                writer,
                "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer resource_metadata=\"http://127.0.0.1/a\"\r\ncontent-length: 0\r\n\r\n"
            )?;
            continue;
        }
        if head.starts_with("GET") && head.contains("last-event-id") {
            let event = r#"data: {"jsonrpc":"2.0","id":77,"result":{"content":[],"structuredContent":{"resumed":true}}}"#;
            write!(
                writer,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{event}\n\n",
                event.len() + 2
            )?;
            continue;
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let schema =
            serde_json::json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let params = &message["params"];
        let header = head.lines().find_map(|line| line.strip_prefix("traceparent: "));
        let text = match params["name"].as_str() {
            Some("flood") => Value::from("x".repeat(20 << 20)),
            _ => params["arguments"]["text"].clone(),
        };
        let tool = |name| serde_json::json!({ "name": name, "inputSchema": schema, "outputSchema": schema });
        let names = ["echo", "flood", "odd", "moved"];
        let result = match message["method"].as_str() {
            Some("tools/list") if head.contains("x-lenient") => {
                let any = serde_json::json!({ "type": "object", "description": "lenient" });
                serde_json::json!({ "tools": [{ "name": "echo", "inputSchema": any }] })
            }
            Some("tools/list") => serde_json::json!({ "tools": names.map(tool) }),
            _ => serde_json::json!({
                "content": [], "structuredContent": { "text": text },
                "_meta": { "header": header, "meta": params["_meta"]["traceparent"] },
            }),
        };
        let answer = serde_json::json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
            .to_string();
        let (status, answer) = match params["name"].as_str() {
            Some("odd") => {
                let start = params["arguments"]["text"].as_str().unwrap_or_default();
                (
                    "200 OK".to_owned(),
                    format!("{start}{}", answer.replace(&text.to_string(), "\"evil\"")),
                )
            }
            Some("moved") => {
                let location = params["arguments"]["text"].as_str().unwrap_or_default();
                (format!("307 Moved\r\nlocation: {location}\r\nx-toolbond-retry: 1"), String::new())
            }
            _ => ("200 OK".to_owned(), answer),
        };
        write!(
            writer,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        )?;
    }
    Ok(())
}
