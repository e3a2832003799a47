//! How long a client waits while others send and get messages of 16 MiB, beside how long it waits behind nginx.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use toolbond_harness::envoy::Setup;
use toolbond_harness::guard::{ENFORCE, in_front_of, listening};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask};
use toolbond_harness::mcp::{call, modern, open, request};

use crate::peers::{envoy, nginx};
use crate::serve::words;

/// The senders of large messages, and the time for which they send.
const SENDERS: usize = 8;
const TIME: Duration = Duration::from_secs(15);

/// The bytes of a large message.
const LARGE: usize = (16 << 20) - (64 << 10);

/// Between two requests of the other client.
const PAUSE: Duration = Duration::from_millis(10);

/// Another client waits no longer than this, or twice as long as behind nginx.
const BAR: Duration = Duration::from_millis(100);

/// What `ext-proc` holds calls to.
const CONTRACT: &str = "arguments = \"enforce\"\nresults = \"enforce\"\n";

/// How long the requests of the other client took, and how many messages the senders got through.
struct Waited {
    times: Vec<Duration>,
    sent: usize,
}

impl Waited {
    fn percent(&self, percent: usize) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times.get((self.times.len() * percent / 100).min(last)).copied().unwrap_or_default()
    }
}

/// How clients send a message.
#[derive(Clone, Copy)]
enum Clients {
    /// In requests of 2026-07-28.
    Modern,
    /// In sessions of 2025-11-25, one for each.
    Legacy,
}

impl Clients {
    /// How one client sends its messages: their heads and bodies.
    fn posts<const N: usize>(self, port: u16, messages: [String; N]) -> [(String, String); N] {
        match self {
            Self::Modern => messages.map(|message| modern("/mcp", &message)),
            Self::Legacy => {
                let head = open(port, "/mcp");
                let initialized =
                    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
                drop(ask(port, &head, &initialized.to_string()));
                messages.map(|message| (head.clone(), message))
            }
        }
    }
}

/// Measures nginx and the guard, and prints both; of the guard, the rows whose name contains `only`.
pub(super) fn run(only: &str) -> anyhow::Result<()> {
    println!(
        "{SENDERS} senders of 16 MiB messages and lists for {} s; requests of another client, in ms\n",
        TIME.as_secs()
    );
    println!("{:<28} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "requests", "p50", "p99", "max", "sent");
    let (natural, legacy) = (server("2026-07-28"), server("2025-11-25"));
    let mut bar = BAR;
    match nginx(natural.port) {
        Ok(nginx) => {
            let waited = measure("nginx", nginx.address.port(), Clients::Modern);
            bar = bar.max(2 * waited.percent(99));
        }
        Err(error) => println!("nginx: not measured: {error:#}"),
    }
    let mut above = Vec::new();
    let mut one = |name: &'static str, clients, port: u16| {
        if measure(name, port, clients).percent(99) > bar {
            above.push(name);
        }
    };
    for (name, clients, port) in [
        ("HTTP", Clients::Modern, natural.port),
        ("HTTP, another era", Clients::Modern, legacy.port),
        ("HTTP, sessions", Clients::Legacy, legacy.port),
        ("HTTP, sessions, another era", Clients::Legacy, natural.port),
    ] {
        if name.contains(only) {
            let (_guard, port) = in_front_of(port, &ENFORCE);
            one(name, clients, port);
        }
    }
    for (name, kind) in [
        ("process", &["plain", "stdio", "--eras", "both"][..]),
        ("process, another era", &["plain", "stdio"][..]),
    ] {
        if name.contains(only) {
            let words = words(kind)?;
            let words = words.iter().map(String::as_str);
            let options: Vec<_> = ENFORCE.into_iter().chain(["--"]).chain(words).collect();
            let (_guard, port) = listening(&options);
            one(name, Clients::Modern, port);
        }
    }
    if "ext-proc".contains(only) {
        let setup = Setup { contract: CONTRACT, replicas: 1, ..Setup::default() };
        match envoy(natural.port, &setup) {
            Ok(envoy) => one("ext-proc", Clients::Modern, envoy.port),
            Err(error) => println!("ext-proc: not measured: {error:#}"),
        }
    }
    ensure!(above.is_empty(), "p99 above {} ms: {}", bar.as_millis(), above.join(", "));
    println!("\nmet: p99 at most {} ms", bar.as_millis());
    Ok(())
}

fn measure(name: &str, port: u16, clients: Clients) -> Waited {
    let (is_over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let other = [request(1, "tools/list"), call(1, "forecast", &json!({ "city": "x" }))];
    let other = clients.posts(port, other);
    // The first ones find out what the server is.
    for (head, body) in &other {
        drop(ask(port, head, body));
    }
    let senders: Vec<_> = (0..SENDERS)
        .map(|n| {
            let (is_over, sent) = (Arc::clone(&is_over), Arc::clone(&sent));
            thread::spawn(move || {
                let [(head, body)] = clients.posts(port, [large(n)]);
                let head =
                    format!("{head}\r\nx-large: 1\r\nauthorization: {n}\r\nconnection: close");
                while !is_over.load(Relaxed) {
                    let answer = Connection::open(port, &head, body.as_bytes()).rest();
                    sent.fetch_add(usize::from(answer.starts_with(b"HTTP/1.1 200")), Relaxed);
                }
            })
        })
        .collect();
    let (started, mut times) = (Instant::now(), Vec::new());
    while started.elapsed() < TIME {
        for (head, body) in &other {
            let asked = Instant::now();
            let answer = ask(port, head, body);
            times.push(asked.elapsed());
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            thread::sleep(PAUSE);
        }
    }
    is_over.store(true, Relaxed);
    for sender in senders {
        drop(sender.join());
    }
    times.sort_unstable();
    let waited = Waited { times, sent: sent.load(Relaxed) };
    let [p50, p99, max] = [50, 99, 100].map(|percent| waited.percent(percent).as_secs_f64() * 1e3);
    let count = waited.times.len();
    println!("{name:<28} {count:>8} {p50:>8.1} {p99:>8.1} {max:>8.1} {:>8}", waited.sent);
    waited
}

/// The message of a sender: large arguments of two kinds, a request for a large result, or for a large list.
fn large(sender: usize) -> String {
    match sender % 4 {
        0 => call(1, "count", &json!({ "values": vec![0; LARGE / 2] })),
        1 => call(1, "count", &json!({ "text": "x".repeat(LARGE) })),
        2 => call(1, "zeros", &json!({})),
        _ => request(1, "tools/list"),
    }
}

/// A server that has large results and lists for those who ask for them.
fn server(revision: &'static str) -> HttpServer {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools = ["count", "zeros", "forecast"].map(tool);
    let tools = json!({ "tools": tools }).to_string();
    let schema = |n: usize| {
        let property =
            |m: usize| (format!("p{n}x{m}"), json!({ "type": "string", "maxLength": m }));
        json!({ "type": "object", "properties": (0..80).map(property).collect::<serde_json::Map<_, _>>() })
    };
    let mut many: Vec<Value> = ["count", "zeros", "forecast"].map(tool).into();
    let mut length = 0;
    while length < LARGE {
        let tool =
            json!({ "name": format!("tool{}", many.len()), "inputSchema": schema(many.len()) });
        length += tool.to_string().len() + 1;
        many.push(tool);
    }
    many.pop();
    let many = json!({ "tools": many }).to_string();
    let zeros =
        json!({ "content": [], "structuredContent": { "values": vec![0; LARGE / 2] } }).to_string();
    let one = json!({ "content": [], "structuredContent": { "city": "x" } }).to_string();
    let sessions = AtomicUsize::new(1);
    let server = HttpServer::start(move |request: &Request, reply: &mut Reply<'_>| {
        let text = String::from_utf8_lossy(&request.body);
        let (start, end) =
            (&text[..text.len().min(1000)], &text[text.len().saturating_sub(1000)..]);
        let is = |name: &str| [start, end].iter().any(|part| part.contains(&format!("\"{name}\"")));
        let is_large = request.header("x-large").is_some();
        let result = if is("server/discover") && revision == "2026-07-28" {
            let server = json!({ "name": "a", "version": "1" });
            json!({ "supportedVersions": [revision], "capabilities": { "tools": {} }, "serverInfo": server })
                .to_string()
        } else if is("server/discover") {
            let id =
                serde_json::from_slice::<Value>(&request.body).unwrap_or_default()["id"].take();
            let error = json!({ "code": -32601, "message": "method not found" });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
            return reply.send("400 Bad Request", "content-type: application/json", answer);
        } else if is("initialize") {
            let server = json!({ "name": "a", "version": "1" });
            json!({ "protocolVersion": revision, "capabilities": { "tools": {} }, "serverInfo": server }).to_string()
        } else if is("tools/list") {
            if is_large { many.clone() } else { tools.clone() }
        } else if is("zeros") {
            zeros.clone()
        } else if start.contains("\"notifications/") {
            return reply.send("202 Accepted", "", "");
        } else {
            one.clone()
        };
        let id = [start, end].iter().find_map(|part| {
            let (_, rest) = part.split_once("\"id\":")?;
            rest.split([',', '}']).next().map(str::to_owned)
        });
        let id = id.unwrap_or_else(|| "null".to_owned());
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let session = if is("initialize") { sessions.fetch_add(1, Relaxed) } else { 0 };
        let headers = match session {
            0 => "content-type: application/json".to_owned(),
            _ => format!("content-type: application/json\r\nmcp-session-id: {session}"),
        };
        reply.send("200 OK", &headers, answer)
    });
    // It remembers what it was asked, which is much.
    let same = server.clone();
    thread::spawn(move || {
        loop {
            same.take();
            thread::sleep(Duration::from_millis(100));
        }
    });
    server
}
