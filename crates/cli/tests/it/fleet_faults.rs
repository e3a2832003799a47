//! Faults under load: Envoy with `examples/envoy/retries.yaml`, replicas that die, stop and come back, and a server that does.
//!
//! No answer is wrong, nothing reaches the server unchecked, and nothing runs twice that must not. Lost are at most the
//! calls that were under way at what died; of tools that only read, none.

use std::collections::HashSet;
use std::fs;
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::envoy::{Envoy, ONE_SERVER, Replica, Setup};
use crate::guard_http::{Process, port_of};
use crate::recorder::{HANG, Record};

/// How many calls are made at a time.
const CLIENTS: usize = 8;

/// The server of `peers/servers/fleet.mjs`.
struct Server {
    _process: Process,
    port: u16,
}

impl Server {
    fn start(record: &Record, port: u16, version: u32) -> Self {
        let mut node = peers::command("servers/fleet.mjs");
        node.args([record.path(), &port.to_string(), &version.to_string()]);
        node.stdout(Stdio::piped());
        let mut process = Process(node.spawn().unwrap());
        let port = port_of(&mut process);
        Self { _process: process, port }
    }
}

/// What came of a call.
#[derive(Debug, PartialEq)]
enum Outcome {
    Right,
    /// An error of Envoy, or of the service about a tool list that it cannot have.
    Lost(String),
    Wrong(String),
}

/// Sends a call and reads its answer to the end.
fn send(port: u16, id: usize, name: &str, arguments: &Value) -> Result<String, String> {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": arguments } })
    .to_string();
    let run = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(HANG))?;
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        BufReader::new(stream).read_to_string(&mut answer)?;
        Ok(answer)
    };
    run().map_err(|error| error.to_string())
}

/// Makes the call `id` of this tool; which of its arguments are valid depends on the id.
fn call(port: u16, id: usize, name: &str) -> Outcome {
    let (arguments, right): (Value, String) = match name {
        "add" if id.is_multiple_of(5) => {
            (json!({ "a": "x", "b": 1 }), "expected integer".to_owned())
        }
        "add" => {
            (json!({ "a": id, "b": 1 }), format!("\"structuredContent\":{{\"sum\":{}}}", id + 1))
        }
        "append" => (
            json!({ "key": format!("k{id}") }),
            format!("\"structuredContent\":{{\"key\":\"k{id}\"}}"),
        ),
        _ => (json!({}), "\"isError\":true".to_owned()),
    };
    let answer = match send(port, id, name, &arguments) {
        Ok(answer) => answer,
        Err(error) => return Outcome::Lost(error),
    };
    let is_own =
        answer.contains(&format!("\"id\":{id},")) || answer.contains(&format!("\"id\":{id}}}"));
    if answer.contains("evil") {
        return Outcome::Wrong(answer);
    }
    if answer.starts_with("HTTP/1.1 200") && is_own && answer.contains(&right) {
        return Outcome::Right;
    }
    if answer.is_empty()
        || answer.starts_with("HTTP/1.1 5")
        || answer.contains("could not fetch the tool list")
    {
        return Outcome::Lost(answer);
    }
    Outcome::Wrong(answer)
}

/// What came of many calls.
#[derive(Debug, Default)]
struct Tally {
    right: usize,
    lost_reads: Vec<String>,
    lost_writes: Vec<String>,
    wrong: Vec<String>,
}

/// Makes `count` calls at the rate that they are answered at, until `fault` is over at least. `fault` starts when a tenth
/// of the calls are made.
fn under_load(port: u16, count: usize, fault: impl FnOnce() + Send) -> Tally {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let tally = std::sync::Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    // Bounded, should the fault never end.
                    if id >= count && is_over.load(Ordering::Relaxed) || id >= 20 * count {
                        return;
                    }
                    let name = ["add", "append", "add", "lies"][id % 4];
                    let outcome = call(port, id, name);
                    let mut tally = tally.lock().unwrap();
                    match outcome {
                        Outcome::Right => tally.right += 1,
                        Outcome::Lost(how) if name == "append" => tally.lost_writes.push(how),
                        Outcome::Lost(how) => tally.lost_reads.push(how),
                        Outcome::Wrong(how) => tally.wrong.push(how),
                    }
                }
            });
        }
        while next.load(Ordering::Relaxed) < count / 10 {
            thread::sleep(Duration::from_millis(5));
        }
        // The clients stop with the fault, should that fail.
        let _over = Over(&is_over);
        fault();
    });
    tally.into_inner().unwrap()
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Holds what the server ran against what it may run: valid calls, and none of `append` twice.
fn check_record(record: &Record) -> usize {
    let mut keys = HashSet::new();
    let calls = record.arguments();
    for call in &calls {
        match call[0].as_str().unwrap() {
            "add" => assert!(call[1]["a"].is_u64(), "unchecked: {call}"),
            "append" => assert!(keys.insert(call[1]["key"].clone()), "ran twice: {call}"),
            _ => {}
        }
    }
    calls.len()
}

struct World {
    record: Record,
    server: Server,
    envoy: Envoy,
}

fn start(replicas: usize) -> World {
    let record = Record::new();
    let server = Server::start(&record, 0, 1);
    let envoy = Envoy::start(&Setup {
        example: Some("retries.yaml"),
        servers: [server.port, 9],
        contract: "results = \"enforce\"\n",
        replicas,
        replaced: &[ONE_SERVER],
        ..Setup::default()
    });
    World { record, server, envoy }
}

fn signal(process: &Process, name: &str) {
    let status = Command::new("kill").arg(name).arg(process.0.id().to_string()).status().unwrap();
    assert!(status.success());
}

fn wait(what: &str, mut is_done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < HANG, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn no_wrong_answer(tally: &Tally, record: &Record) {
    assert_eq!(tally.wrong, Vec::<String>::new());
    assert!(tally.right > 100, "{tally:?}");
    check_record(record);
}

#[test]
fn a_replica_is_killed() {
    let World { record, server: _server, mut envoy } = start(2);
    let port = envoy.port;
    let mut killed = envoy.replicas.remove(0);
    let tally = under_load(port, 800, || {
        killed.process.0.kill().unwrap();
        killed.process.0.wait().unwrap();
        wait("Envoy did not notice", || envoy.healthy() == 1);
    });
    no_wrong_answer(&tally, &record);
    assert_eq!(tally.lost_reads, Vec::<String>::new());
    assert!(tally.lost_writes.len() <= CLIENTS, "{:?}", tally.lost_writes);
}

#[test]
fn both_replicas_are_killed_and_started_again() {
    let World { record, server: _server, mut envoy } = start(2);
    let port = envoy.port;
    let folder = envoy.folder.clone();
    let ports: Vec<u16> = envoy.replicas.iter().map(|replica| replica.port).collect();
    let killed = std::mem::take(&mut envoy.replicas);
    let mut started = Vec::new();
    let tally = under_load(port, 600, || {
        drop(killed);
        wait("Envoy did not notice", || envoy.healthy() == 0);
        // What was under way has arrived by now, and nothing follows it.
        thread::sleep(Duration::from_millis(500));
        let before = check_record(&record);
        for _ in 0..20 {
            assert!(matches!(call(port, 1_000_003, "append"), Outcome::Lost(_)));
        }
        assert_eq!(check_record(&record), before);
        started.extend(ports.iter().map(|port| Replica::start(&folder, *port)));
        wait("the replicas are not back", || envoy.healthy() == 2);
    });
    no_wrong_answer(&tally, &record);
    for id in 2_000_001..2_000_050 {
        assert_eq!(call(port, id, "append"), Outcome::Right);
    }
}

#[test]
fn a_replica_is_paused_and_goes_on() {
    let World { record, server: _server, envoy } = start(2);
    let paused = &envoy.replicas[0];
    let tally = under_load(envoy.port, 800, || {
        signal(&paused.process, "-STOP");
        wait("Envoy did not notice", || envoy.healthy() == 1);
        thread::sleep(Duration::from_secs(2));
        signal(&paused.process, "-CONT");
        wait("the replica is not back", || envoy.healthy() == 2);
    });
    no_wrong_answer(&tally, &record);
    assert_eq!(tally.lost_reads, Vec::<String>::new());
    assert!(tally.lost_writes.len() <= CLIENTS, "{:?}", tally.lost_writes);
}

#[test]
fn the_server_is_killed_and_comes_back_with_other_tools() {
    let World { record, server, envoy } = start(2);
    let port = envoy.port;
    let own = server.port;
    let mut server = Some(server);
    // Both replicas know the first version.
    for id in 0..8 {
        let answer = send(port, id, "current", &json!({ "v": 1 })).unwrap();
        assert!(answer.contains("\"structuredContent\":{\"v\":1}"), "{answer}");
    }
    let tally = under_load(port, 800, || {
        drop(server.take());
        thread::sleep(Duration::from_millis(700));
        server = Some(Server::start(&record, own, 2));
    });
    no_wrong_answer(&tally, &record);
    for id in 0..8 {
        let answer = send(port, id, "current", &json!({ "v": 2 })).unwrap();
        assert!(answer.contains("\"structuredContent\":{\"v\":2}"), "{answer}");
        let answer = send(port, id, "current", &json!({ "v": 1 })).unwrap();
        assert!(answer.contains("expected 2"), "{answer}");
    }
}

#[test]
fn a_changed_list_is_in_force_at_every_replica_at_once() {
    let World { record, server: _server, envoy } = start(2);
    let port = envoy.port;
    for version in 1..6 {
        // Whoever gets it, valid or not by the version before.
        for id in 0..6 {
            let answer = send(port, id, "current", &json!({ "v": version })).unwrap();
            let right = format!("\"structuredContent\":{{\"v\":{version}}}");
            assert!(answer.contains(&right), "{version}: {answer}");
        }
        for id in 0..6 {
            let answer = send(port, id, "current", &json!({ "v": version - 1 })).unwrap();
            assert!(answer.contains("\"isError\":true"), "{version}: {answer}");
        }
        let answer = send(port, 7, "bump", &json!({})).unwrap();
        assert!(answer.contains("\"result\""), "{answer}");
        // The notification is on its way to the replicas.
        thread::sleep(Duration::from_millis(100));
    }
    let stale = |call: &Value| call[0] == "current" && call[1]["v"] != call[2];
    assert_eq!(
        record.arguments().into_iter().filter(stale).collect::<Vec<_>>(),
        Vec::<Value>::new()
    );
}

#[test]
fn a_replica_is_added() {
    let World { record, server: _server, mut envoy } = start(2);
    let port = envoy.port;
    let gone = envoy.replicas.pop().unwrap();
    let (folder, own) = (envoy.folder.clone(), gone.port);
    drop(gone);
    wait("Envoy did not notice", || envoy.healthy() == 1);
    let mut added = None;
    let tally = under_load(port, 300, || {
        added = Some(Replica::start(&folder, own));
        wait("the replica is not there", || envoy.healthy() == 2);
    });
    no_wrong_answer(&tally, &record);
    assert_eq!((tally.lost_reads, tally.lost_writes), (Vec::new(), Vec::new()));
    let mut id = 2_000_000;
    wait("the new replica was not used", || {
        id += 1;
        assert_eq!(call(port, id, "append"), Outcome::Right);
        !envoy.get("/clusters").contains(&format!("127.0.0.1:{own}::rq_total::0"))
    });
}

#[test]
fn replicas_are_restarted_one_after_the_other() {
    let World { record, server: _server, mut envoy } = start(2);
    let port = envoy.port;
    let folder = envoy.folder.clone();
    let old = std::mem::take(&mut envoy.replicas);
    let mut new = Vec::new();
    let tally = under_load(port, 800, || {
        for mut replica in old {
            signal(&replica.process, "-TERM");
            let status = replica.process.0.wait().unwrap();
            assert_eq!(status.code(), Some(0), "{}", replica.log());
            new.push(Replica::start(&folder, replica.port));
            wait("the replica is not back", || envoy.healthy() == 2);
        }
    });
    no_wrong_answer(&tally, &record);
    assert_eq!((tally.lost_reads, tally.lost_writes), (Vec::new(), Vec::new()));
}

#[test]
fn a_changed_configuration_is_in_force_after_it_is_applied() {
    let World { record, server: _server, envoy } = start(2);
    let path = envoy.folder.join("toolbond.toml");
    let text = fs::read_to_string(&path).unwrap();
    let tally = under_load(envoy.port, 600, || {
        for round in 1..4 {
            let applied = |count: usize| {
                envoy
                    .replicas
                    .iter()
                    .all(|replica| replica.log().matches("configuration: applied").count() >= count)
            };
            fs::write(&path, format!("{text}\n[servers.weather.tools.current]\nhide = true\n"))
                .unwrap();
            wait("not applied", || applied(3 * round - 2));
            for id in 0..6 {
                let answer = send(envoy.port, id, "current", &json!({ "v": 1 })).unwrap();
                assert!(answer.contains("its operator hides it"), "{answer}");
            }
            fs::write(&path, &text).unwrap();
            wait("not applied", || applied(3 * round - 1));
            for id in 0..6 {
                let answer = send(envoy.port, id, "current", &json!({ "v": 1 })).unwrap();
                assert!(answer.contains("\"structuredContent\":{\"v\":1}"), "{answer}");
            }
            // What cannot be read changes nothing.
            fs::write(&path, "[servers.weather]\nurl = 7\n").unwrap();
            wait("not told", || {
                envoy.replicas.iter().all(|replica| {
                    replica.log().matches("the old configuration stays in force").count() >= round
                })
            });
            fs::write(&path, &text).unwrap();
            wait("not applied", || applied(3 * round));
        }
    });
    no_wrong_answer(&tally, &record);
    assert_eq!((tally.lost_reads, tally.lost_writes), (Vec::new(), Vec::new()));
}

#[test]
fn clients_that_leave_at_once_take_nobody_along() {
    let World { record, server: _server, envoy } = start(1);
    let port = envoy.port;
    let replica = &envoy.replicas[0];
    let tally = under_load(port, 200, || {
        for _ in 0..4 {
            signal(&replica.process, "-STOP");
            let leaving: Vec<_> = (0..150)
                .filter_map(|_| {
                    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
                    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
                    stream.write_all(head.as_bytes()).ok()?;
                    Some(stream)
                })
                .collect();
            thread::sleep(Duration::from_millis(50));
            drop(leaving);
            thread::sleep(Duration::from_millis(50));
            signal(&replica.process, "-CONT");
            thread::sleep(Duration::from_millis(100));
        }
    });
    no_wrong_answer(&tally, &record);
    assert_eq!((tally.lost_reads, tally.lost_writes), (Vec::new(), Vec::new()));
}
