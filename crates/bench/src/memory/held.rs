//! Every way of holding bytes, pushed to eight times the memory limit, and what the guard takes for it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;
use toolbond_harness::address::reserved;
use toolbond_harness::envoy::Replica;
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{ENFORCE, in_front_of, listening};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask};
use toolbond_harness::mcp::{call, initialize, modern, post};
use toolbond_harness::proc::status;

/// The memory limit in MiB, and what a process may need beside it.
const LIMIT: u64 = 64;
const BESIDE: u64 = 64;

/// The messages that are held at the same time: together eight times the limit.
const CLIENTS: usize = 32;

/// The bytes of a message, and those that are sent of it.
const WHOLE: usize = 16 << 20;
const PART: usize = WHOLE - (64 << 10);

/// How long the memory may stay the same before no more is expected, and how long one way takes at most.
const QUIET: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(25);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Bodies,
    Batches,
    OwnLists,
    Answers,
    Events,
    BridgedCalls,
    BridgedAnswers,
    BridgedEvents,
    Lines,
    Grpc,
    ToolLists,
    Headers,
}

const WAYS: [(Way, &str); 12] = [
    (Way::Bodies, "requests that do not end"),
    (Way::Batches, "batches that are held for the tool list"),
    (Way::OwnLists, "answers to the guard's own lists"),
    (Way::Answers, "answers that do not end"),
    (Way::Events, "events that do not end"),
    (Way::BridgedCalls, "bridged calls"),
    (Way::BridgedAnswers, "answers to bridged calls"),
    (Way::BridgedEvents, "events for bridged calls"),
    (Way::Lines, "lines of processes that do not end"),
    (Way::Grpc, "gRPC messages that do not end"),
    (Way::ToolLists, "tool lists of many callers"),
    (Way::Headers, "headers of many callers"),
];

/// Pushes each way and prints the peaks.
pub(super) fn run(only: &str) -> anyhow::Result<()> {
    let most = LIMIT + BESIDE;
    println!(
        "peak resident memory with --max-memory of {LIMIT} MiB, and {CLIENTS} messages of 16 MiB each or as much of other things\n"
    );
    println!("{:<42} {:>9} {:>9}", "held", "peak MiB", "at most");
    let (mut above, mut rows) = (Vec::new(), 0);
    for (way, name) in WAYS {
        if !name.contains(only) {
            continue;
        }
        rows += 1;
        let peak = push(way);
        println!("{name:<42} {peak:>9} {most:>9}");
        if peak >= most {
            above.push(name);
        }
    }
    ensure!(rows > 0, "nothing that is held has `{only}` in its name");
    ensure!(above.is_empty(), "above {most} MiB: {}", above.join(", "));
    println!("\nmet: nothing takes more than the limit and {BESIDE} MiB");
    Ok(())
}

/// The peak in MiB.
fn push(way: Way) -> u64 {
    let limit = (LIMIT << 20).to_string();
    let options = [&ENFORCE[..], &["--max-memory", &limit]].concat();
    let head = post("/mcp", "\r\nmcp-protocol-version: 2025-11-25");
    let small = call(1, "endless", &json!({}));
    if way == Way::Grpc {
        let folder = Folder::new();
        folder.write("toolbond.toml", "[servers.a]\nurl = \"http://127.0.0.1:9/mcp\"\n");
        let replica = Replica::start_with(&folder, reserved(), &["--max-memory", &limit], &[]);
        let address = replica.address;
        let streams: Vec<_> =
            (0..CLIENTS).map(|_| thread::spawn(move || endless_message(address))).collect();
        let peak = settle(replica.process.id());
        drop(replica);
        for stream in streams {
            drop(stream.join());
        }
        return peak;
    }
    if way == Way::Lines {
        let script = format!("head -c {PART} /dev/zero | tr '\\0' a; exec sleep 60");
        let (guard, port) = listening(&[&options[..], &["--", "sh", "-c", &script]].concat());
        let hello = initialize("2025-11-25", &json!({}));
        let _open: Vec<_> =
            (0..CLIENTS).map(|_| Connection::open(port, &head, hello.as_bytes())).collect();
        return settle(guard.id());
    }
    let server = server(way);
    let (guard, port) = in_front_of(server.port, &options);
    let (head, body) = match way {
        Way::Bodies => {
            (format!("{head}\r\ncontent-length: {WHOLE}"), format!("[\"{}", "x".repeat(PART)))
        }
        Way::Batches => (head, batch()),
        Way::BridgedCalls => {
            modern("/mcp", &call(1, "endless", &json!({ "text": "x".repeat(PART) })))
        }
        Way::BridgedAnswers | Way::BridgedEvents => modern("/mcp", &small),
        _ => (head, small),
    };
    match way {
        // Compiled, each takes about 5 MiB.
        Way::ToolLists => call_as(100, |n| n.to_string(), port, &head, &body),
        Way::Headers => call_as(4096, |n| format!("{n:0>59000}"), port, &head, &body),
        _ => {}
    }
    let body = Arc::new(body);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let (head, body) = (format!("{head}\r\nauthorization: {n}"), Arc::clone(&body));
            thread::spawn(move || {
                let mut connection = Connection::open(port, &head, body.as_bytes());
                let _ = connection.reader.read(&mut [0; 64]);
                connection
            })
        })
        .collect();
    let peak = settle(guard.id());
    drop(guard);
    for client in clients {
        drop(client.join());
    }
    peak
}

/// Calls a tool for each of so many callers, one after the other.
fn call_as(callers: usize, name: impl Fn(usize) -> String, port: u16, head: &str, body: &str) {
    for n in 0..callers {
        ask(port, &format!("{head}\r\nauthorization: {}", name(n)), body);
    }
}

/// Waits until the memory of a process does not change any more: its peak in MiB.
fn settle(process: u32) -> u64 {
    let (started, mut changed, mut last) = (Instant::now(), Instant::now(), 0);
    while changed.elapsed() < QUIET && started.elapsed() < LONGEST {
        thread::sleep(Duration::from_millis(50));
        let now = status(process, "VmHWM").unwrap_or_default();
        if now > last + 1024 {
            (changed, last) = (Instant::now(), now);
        }
    }
    status(process, "VmHWM").unwrap_or(last) >> 10
}

/// A server of 2025-11-25 that sends what `way` says, and not to its end.
fn server(way: Way) -> HttpServer {
    let text = Arc::new("x".repeat(PART));
    HttpServer::start(move |request: &Request, reply: &mut Reply<'_>| {
        let half = |reply: &mut Reply<'_>, kind: &str, start: &str| {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\n{start}");
            reply.raw(head.as_bytes())?;
            reply.raw(text.as_bytes())?;
            reply.hang();
            Ok(())
        };
        // Most of it is text without an end.
        let start = String::from_utf8_lossy(&request.body[..request.body.len().min(4096)]);
        let is = |method: &str| start.contains(&format!("\"{method}\""));
        let result = |result: serde_json::Value| json!({ "jsonrpc": "2.0", "id": request.message()["id"], "result": result });
        match way {
            _ if is("initialize") => reply.json(&result(json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "endless", "version": "1" },
            }))),
            Way::Batches if is("tools/list") => {
                reply.hang();
                Ok(())
            }
            Way::OwnLists if is("tools/list") => half(reply, "application/json", "{\"result\":\""),
            Way::ToolLists if is("tools/list") => {
                reply.json(&result(tools_of(request.header("authorization").unwrap_or_default())))
            }
            _ if is("tools/list") => {
                let tool = json!({ "name": "endless", "inputSchema": { "type": "object" } });
                reply.json(&result(json!({ "tools": [tool] })))
            }
            Way::Events | Way::BridgedEvents if is("tools/call") => {
                half(reply, "text/event-stream", "data: {\"a\":\"")
            }
            Way::Answers | Way::BridgedAnswers if is("tools/call") => {
                half(reply, "application/json", "{\"result\":\"")
            }
            Way::ToolLists | Way::Headers if is("tools/call") => {
                reply.json(&result(json!({ "content": [] })))
            }
            _ if is("tools/call") => {
                reply.hang();
                Ok(())
            }
            _ if start.contains("\"notifications/") => reply.send("202 Accepted", "", ""),
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                let answer =
                    json!({ "jsonrpc": "2.0", "id": request.message()["id"], "error": error });
                reply.send("400 Bad Request", "content-type: application/json", answer.to_string())
            }
        }
    })
}

/// 64 KiB of tools that no other caller has.
fn tools_of(caller: &str) -> serde_json::Value {
    let schema = |tool: usize| {
        let property = |n: usize| (format!("p{n}_{tool}_{caller}"), json!({ "type": "string" }));
        let properties: serde_json::Map<_, _> = (0..100).map(property).collect();
        json!({ "type": "object", "properties": properties })
    };
    let tool = |n: usize| match n {
        0 => json!({ "name": "endless", "inputSchema": schema(n) }),
        _ => json!({ "name": format!("t{n}"), "inputSchema": schema(n) }),
    };
    json!({ "tools": (0..20).map(tool).collect::<Vec<_>>() })
}

/// A batch of as many calls as may be in one.
fn batch() -> String {
    let text = "x".repeat(PART / 1000 - 200);
    let calls: Vec<_> = (0..1000).map(|id| call(id, "endless", &json!({ "text": text }))).collect();
    format!("[{}]", calls.join(","))
}

/// Sends a gRPC message to `toolbond ext-proc` that does not end: HTTP/2 as far as that takes.
fn endless_message(address: SocketAddr) -> std::io::Result<()> {
    const FRAME: usize = 16 << 10;
    let path = b"/envoy.service.ext_proc.v3.ExternalProcessor/Process";
    let kind = b"application/grpc";
    let mut head = vec![0x83, 0x86, 0x01, 1, b'a', 0x04, u8::try_from(path.len()).unwrap_or(0)];
    head.extend_from_slice(path);
    head.extend_from_slice(&[0x0f, 0x10, u8::try_from(kind.len()).unwrap_or(0)]);
    head.extend_from_slice(kind);
    let frame = |kind: u8, flags: u8, stream: u8, body: &[u8]| {
        let length = u32::try_from(body.len()).unwrap_or(0).to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, stream], body].concat()
    };
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LONGEST))?;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
    stream.write_all(&[frame(4, 0, 0, &[]), frame(1, 4, 1, &head)].concat())?;
    let length = u32::try_from(WHOLE).unwrap_or(0).to_be_bytes();
    let mut left = [&[0], &length[..], &vec![b'x'; PART]].concat();
    let (mut window, mut of_connection) = (65_535_usize, 65_535_usize);
    loop {
        while window.min(of_connection) >= FRAME && !left.is_empty() {
            let part: Vec<_> = left.drain(..left.len().min(FRAME)).collect();
            (window, of_connection) = (window - part.len(), of_connection - part.len());
            stream.write_all(&frame(0, 0, 1, &part))?;
        }
        let mut start = [0; 9];
        stream.read_exact(&mut start)?;
        let length =
            usize::from(start[0]) << 16 | usize::from(start[1]) << 8 | usize::from(start[2]);
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        match (start[3], start[4] & 1, body.first_chunk::<4>()) {
            (4, 0, _) => stream.write_all(&frame(4, 1, 0, &[]))?,
            (6, 0, _) => stream.write_all(&frame(6, 1, 0, &body))?,
            (8, _, Some(more)) if start[8] == 0 => {
                of_connection += u32::from_be_bytes(*more) as usize;
            }
            (8, _, Some(more)) => window += u32::from_be_bytes(*more) as usize,
            // The stream has ended.
            (3 | 7, ..) => return Ok(()),
            _ => {}
        }
    }
}
