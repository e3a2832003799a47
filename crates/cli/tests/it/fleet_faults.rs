//! Faults under load: Envoy with `examples/envoy/retries.yaml`, replicas that die, stop and come back, and a server that does.
//!
//! In every test no answer is wrong, nothing reaches the server unchecked, and nothing runs twice that must not. What may
//! be lost is a call of `append` that was under way at what died. A call of a tool that only reads fails in ways that
//! Envoy tries again; it does so [until it succeeds](MANY_RETRIES), so that none is lost.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::address::{local, reserved};
use toolbond_harness::envoy::{Envoy, ONE_SERVER, Replica, Setup};
use toolbond_harness::files::Folder;
use toolbond_harness::http::ask;
use toolbond_harness::mcp::{self, POST};
use toolbond_harness::peers;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

/// How many calls are made at a time.
const CLIENTS: usize = 8;

/// How many right answers there are before a fault, and after it.
const ENOUGH: usize = 40;

/// Envoy tries again for as long as a fault lasts, however slow the machine is.
const MANY_RETRIES: (&str, &str) = ("num_retries: 8", "num_retries: 1000");

/// What the server of `peers/servers/fleet.mjs` wrote down.
struct Record(Folder);

impl Record {
    fn path(&self) -> String {
        self.0.join("record")
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How many clients have listened for changes.
    fn listeners(&self) -> usize {
        self.lines().iter().filter(|line| line[0] == "listen").count()
    }

    /// Holds what the server ran against what it may run: valid calls, and none of `append` twice.
    #[track_caller]
    fn check(&self) {
        let mut keys = HashSet::new();
        for call in self.lines() {
            match call[0].as_str().unwrap() {
                "add" => assert!(call[1]["a"].is_u64(), "unchecked: {call}"),
                "append" => assert!(keys.insert(call[1]["key"].clone()), "ran twice: {call}"),
                _ => {}
            }
        }
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

/// Sends a call, and returns its answer.
fn send(port: u16, id: usize, name: &str, arguments: &Value) -> String {
    ask(port, POST, &mcp::call(u32::try_from(id).unwrap(), name, arguments))
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
    let answer = send(port, id, name, &arguments);
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

struct World {
    record: Record,
    server: Option<Process>,
    address: SocketAddr,
    envoy: Envoy,
}

impl World {
    /// Two replicas, and reads that are tried again for as long as it takes.
    fn new() -> Self {
        Self::with(&Setup { replaced: &[ONE_SERVER, MANY_RETRIES], ..Setup::default() })
    }

    fn with(setup: &Setup<'_>) -> Self {
        let (record, address) = (Record(Folder::new()), reserved());
        let server = Some(start_server(&record, address, 1));
        let envoy = Envoy::start(&Setup {
            example: Some("retries.yaml"),
            servers: [address, local(9)],
            contract: "results = \"enforce\"\n",
            ..*setup
        });
        Self { record, server, address, envoy }
    }

    /// Makes calls before, during and after `fault`, until each part has [`ENOUGH`] right answers, and sees that none
    /// is wrong.
    #[track_caller]
    fn under_load(&self, fault: impl FnOnce(&Load)) -> Tally {
        let load = Load::default();
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| load.run(self.envoy.port));
            }
            // The clients stop, too, if the fault fails.
            let _over = Over(&load.is_over);
            load.wait_for_more();
            fault(&load);
            load.wait_for_more();
        });
        let tally = load.tally.into_inner().unwrap();
        assert_eq!(tally.wrong, Vec::<String>::new());
        self.record.check();
        tally
    }

    /// Sends calls with the arguments of an older tool list, until every replica has refused one.
    fn wait_for_new_list(&self, old: &Value) {
        // A list is requested again when it is a minute old, whether the replica has heard of a change or not.
        let start = Instant::now();
        let mut uninformed: Vec<_> = self.envoy.replicas.iter().map(|it| it.address).collect();
        while !uninformed.is_empty() {
            assert!(start.elapsed() < Duration::from_secs(45), "{uninformed:?} use an old list");
            let before: Vec<_> = uninformed.iter().map(|it| self.envoy.sent_to(*it)).collect();
            let answer = send(self.envoy.port, 0, "current", old);
            if answer.contains("\"isError\":true") {
                let mut before = before.into_iter();
                uninformed.retain(|it| before.next() == Some(self.envoy.sent_to(*it)));
            }
        }
    }
}

fn start_server(record: &Record, address: SocketAddr, version: u32) -> Process {
    let mut node = peers::command("servers/fleet.mjs");
    node.args([&record.path(), &address.to_string(), &version.to_string()]);
    Process::listening(node).0
}

/// Clients that make calls.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    tally: Mutex<Tally>,
}

impl Load {
    fn run(&self, port: u16) {
        // No two calls of a test have the same id.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        while !self.is_over.load(Ordering::Relaxed) {
            let id = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = ["add", "append", "add", "lies"][id % 4];
            let outcome = call(port, id, name);
            let mut tally = self.tally();
            match outcome {
                Outcome::Right => tally.right += 1,
                Outcome::Lost(how) if name == "append" => tally.lost_writes.push(how),
                Outcome::Lost(how) => tally.lost_reads.push(how),
                Outcome::Wrong(how) => tally.wrong.push(how),
            }
        }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap()
    }

    #[track_caller]
    fn wait_for_more(&self) {
        let before = self.tally().right;
        wait_until("right answers", || self.tally().right >= before + ENOUGH);
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[track_caller]
fn nothing_is_lost(tally: &Tally) {
    assert_eq!((&tally.lost_reads[..], &tally.lost_writes[..]), (&[][..], &[][..]));
}

#[test]
fn a_replica_is_killed_and_added_again() {
    let mut world = World::new();
    let killed = world.envoy.replicas.remove(0);
    let address = killed.address;
    let tally = world.under_load(|_| {
        drop(killed);
        wait_until("Envoy notices", || world.envoy.healthy() == 1);
    });
    assert_eq!(tally.lost_reads, Vec::<String>::new());
    assert!(tally.lost_writes.len() <= CLIENTS, "{:?}", tally.lost_writes);
    let mut added = None;
    let tally = world.under_load(|_| {
        let before = world.envoy.sent_to(address);
        added = Some(Replica::start(&world.envoy.folder, address));
        wait_until("the new replica is used", || world.envoy.sent_to(address) > before);
    });
    nothing_is_lost(&tally);
}

#[test]
fn all_replicas_are_killed_and_started_again() {
    let few = ("num_retries: 8", "num_retries: 1");
    let mut world = World::with(&Setup { replaced: &[ONE_SERVER, few], ..Setup::default() });
    let killed = std::mem::take(&mut world.envoy.replicas);
    let addresses: Vec<_> = killed.iter().map(|replica| replica.address).collect();
    let mut started = Vec::new();
    world.under_load(|load| {
        let envoy = &world.envoy;
        drop(killed);
        // What a replica had let pass has been answered then, and nothing follows it.
        let active = |name: &str| envoy.counter(&format!("cluster.{name}.upstream_rq_active"));
        let is_idle = || envoy.healthy() == 0 && active("toolbond") + active("weather") == 0;
        wait_until("Envoy notices", is_idle);
        let before = envoy.counter("cluster.weather.upstream_rq_total");
        let lost = load.tally().lost_reads.len();
        wait_until("calls are lost", || load.tally().lost_reads.len() >= lost + 2 * CLIENTS);
        assert!(matches!(call(envoy.port, 1_000_001, "append"), Outcome::Lost(_)));
        assert_eq!(envoy.counter("cluster.weather.upstream_rq_total"), before);
        started.extend(addresses.iter().map(|it| Replica::start(&envoy.folder, *it)));
        wait_until("the replicas are back", || envoy.healthy() == 2);
    });
    for id in 2_000_001..2_000_010 {
        assert_eq!(call(world.envoy.port, id, "append"), Outcome::Right);
    }
}

#[test]
fn a_replica_is_paused_and_goes_on() {
    let replaced = &[ONE_SERVER, MANY_RETRIES];
    let world = World::with(&Setup { patience: "1s", replaced, ..Setup::default() });
    let (envoy, paused) = (&world.envoy, &world.envoy.replicas[0]);
    let given_up = || envoy.counter("cluster.toolbond.http2.keepalive_timeout");
    let tally = world.under_load(|_| {
        paused.process.signal("-STOP");
        wait_until("Envoy notices", || envoy.healthy() == 1 && given_up() > 0);
        paused.process.signal("-CONT");
        wait_until("the replica is back", || envoy.healthy() == 2);
        let before = envoy.sent_to(paused.address);
        wait_until("the replica is used", || envoy.sent_to(paused.address) > before);
    });
    assert_eq!(tally.lost_reads, Vec::<String>::new());
    let most = CLIENTS * usize::try_from(given_up()).unwrap();
    assert!(tally.lost_writes.len() <= most, "{:?}", tally.lost_writes);
}

#[test]
fn the_server_is_killed_and_comes_back_with_other_tools() {
    let mut world = World::new();
    let (port, mut server) = (world.envoy.port, world.server.take());
    let mut id = 0;
    wait_until("both replicas listen for changes", || {
        id += 1;
        let answer = send(port, id, "current", &json!({ "v": 1 }));
        assert!(answer.contains("\"structuredContent\":{\"v\":1}"), "{answer}");
        world.record.listeners() >= 2
    });
    world.under_load(|_| {
        drop(server.take());
        let again = || world.envoy.counter("cluster.checked.upstream_rq_retry");
        let before = again();
        wait_until("calls are tried again", || again() >= before + 2 * CLIENTS as u64);
        server = Some(start_server(&world.record, world.address, 2));
    });
    world.wait_for_new_list(&json!({ "v": 1 }));
    for id in 0..8 {
        let answer = send(port, id, "current", &json!({ "v": 2 }));
        assert!(answer.contains("\"structuredContent\":{\"v\":2}"), "{answer}");
        let answer = send(port, id, "current", &json!({ "v": 1 }));
        assert!(answer.contains("expected 2"), "{answer}");
    }
}

#[test]
fn a_changed_list_is_in_force_when_the_replicas_have_heard_of_it() {
    let world = World::new();
    let (port, record) = (world.envoy.port, &world.record);
    for version in 1..4 {
        for id in 0..6 {
            let answer = send(port, id, "current", &json!({ "v": version }));
            let right = format!("\"structuredContent\":{{\"v\":{version}}}");
            assert!(answer.contains(&right), "{version}: {answer}");
        }
        let start = record.lines().len();
        for id in 0..6 {
            let answer = send(port, id, "current", &json!({ "v": version - 1 }));
            assert!(answer.contains("\"isError\":true"), "{version}: {answer}");
        }
        let ran = record.lines().split_off(start);
        assert!(ran.iter().all(|call| call[0] != "current"), "{ran:?}");
        wait_until("both replicas listen for changes", || record.listeners() >= 2);
        let answer = send(port, 7, "bump", &json!({}));
        assert!(answer.contains("\"result\""), "{answer}");
        world.wait_for_new_list(&json!({ "v": version }));
    }
}

#[test]
fn replicas_are_restarted_one_after_the_other() {
    let mut world = World::new();
    let old = std::mem::take(&mut world.envoy.replicas);
    let mut new = Vec::new();
    let tally = world.under_load(|_| {
        for mut replica in old {
            replica.process.signal("-TERM");
            let status = replica.process.wait();
            assert_eq!(status.code(), Some(0), "{:?}", replica.process.log());
            new.push(Replica::start(&world.envoy.folder, replica.address));
            wait_until("the replica is back", || world.envoy.healthy() == 2);
        }
    });
    nothing_is_lost(&tally);
}

#[test]
fn a_changed_configuration_is_in_force_after_it_is_applied() {
    let world = World::new();
    let (folder, replicas) = (&world.envoy.folder, &world.envoy.replicas);
    let text = fs::read_to_string(folder.join("toolbond.toml")).unwrap();
    let write = |text: &str, said: &str| {
        let before: Vec<_> = replicas.iter().map(|replica| replica.said(said)).collect();
        folder.write("toolbond.toml", text);
        let is_told = || replicas.iter().zip(&before).all(|(it, before)| it.said(said) > *before);
        wait_until(said, is_told);
    };
    let current = |expected: &str| {
        for id in 0..6 {
            let answer = send(world.envoy.port, id, "current", &json!({ "v": 1 }));
            assert!(answer.contains(expected), "{answer}");
        }
    };
    let tally = world.under_load(|_| {
        let hidden = format!("{text}\n[servers.weather.tools.current]\nhide = true\n");
        write(&hidden, "configuration: applied");
        current("its operator hides it");
        write(&text, "configuration: applied");
        current("\"structuredContent\":{\"v\":1}");
        // What cannot be read changes nothing.
        write("[servers.weather]\nurl = 7\n", "the old configuration stays in force");
        current("\"structuredContent\":{\"v\":1}");
    });
    nothing_is_lost(&tally);
}

#[test]
fn clients_that_leave_at_once_take_nobody_along() {
    const LEAVING: u64 = 150;
    let world = World::with(&Setup { replicas: 1, replaced: &[ONE_SERVER], ..Setup::default() });
    let (envoy, replica) = (&world.envoy, &world.envoy.replicas[0]);
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let tally = world.under_load(|load| {
        for _ in 0..2 {
            replica.process.signal("-STOP");
            let leave = |_| {
                let mut stream = TcpStream::connect(local(envoy.port)).unwrap();
                stream.write_all(head.as_bytes()).unwrap();
                stream
            };
            let leaving: Vec<_> = (0..LEAVING).map(leave).collect();
            let open = || envoy.counter("cluster.toolbond.upstream_rq_active");
            wait_until("Envoy asks the replica", || open() >= LEAVING);
            let before = envoy.counter("cluster.toolbond.http2.tx_reset");
            drop(leaving);
            let reset = || envoy.counter("cluster.toolbond.http2.tx_reset") - before;
            wait_until("Envoy gives the requests up", || reset() >= LEAVING);
            replica.process.signal("-CONT");
            load.wait_for_more();
        }
    });
    nothing_is_lost(&tally);
}
