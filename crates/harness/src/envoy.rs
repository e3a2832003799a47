//! Envoy with replicas of `toolbond ext-proc`, as `examples/envoy` configures them.
//!
//! What differs from the example: addresses, so that tests run at the same time; health checks come ten times as often,
//! so that a test does not wait for them; and nothing takes a slow replica for one that hangs, unless a test asks for it.

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::address::{local, reserved};
use crate::files::{Folder, root};
use crate::http::ask;
use crate::peers;
use crate::process::{Process, toolbond};
use crate::wait::{wait_for, wait_until};

/// One server at every path.
pub const ONE_SERVER: (&str, &str) = ("match: { prefix: /weather/ }", "match: { prefix: / }");

/// What is different from the example.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The file of `examples/envoy`; none for plain Envoy.
    pub example: Option<&'a str>,
    /// The addresses of the two servers.
    pub servers: [SocketAddr; 2],
    /// The contract in `toolbond.toml`.
    pub contract: &'a str,
    /// How many replicas there are, at most two.
    pub replicas: usize,
    /// How long Envoy waits for a replica that says nothing.
    pub patience: &'a str,
    /// What is replaced in the configuration of Envoy.
    pub replaced: &'a [(&'a str, &'a str)],
    /// Options of the replicas.
    pub options: &'a [&'a str],
    /// Environment variables of the replicas.
    pub variables: &'a [(&'a str, String)],
    /// Worker threads of Envoy.
    pub workers: u16,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            example: Some("envoy.yaml"),
            servers: [local(9), local(9)],
            contract: "",
            replicas: 2,
            patience: "60s",
            replaced: &[],
            options: &["--drain-seconds", "1"],
            variables: &[],
            workers: 1,
        }
    }
}

/// A replica of `toolbond ext-proc`.
#[derive(Debug)]
pub struct Replica {
    /// The process; its log is that of the replica.
    pub process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Replica {
    /// Starts a replica with the configuration `toolbond.toml` in `folder`, at `address`.
    pub fn start(folder: &Folder, address: SocketAddr) -> Self {
        Self::start_with(folder, address, &["--drain-seconds", "1"], &[])
    }

    /// The same with other options and environment variables.
    pub fn start_with(
        folder: &Folder,
        address: SocketAddr,
        options: &[&str],
        variables: &[(&str, String)],
    ) -> Self {
        let (config, listen) = (folder.join("toolbond.toml"), address.to_string());
        let mut command = toolbond(&["ext-proc", "--listen", &listen, "--config", &config]);
        command.args(options).envs(variables.iter().cloned()).stdin(Stdio::null());
        let process = Process::start(command);
        process.log().wait_for("listening for Envoy on");
        Self { process, address }
    }

    /// How many lines of its log have `text` in them.
    pub fn said(&self, text: &str) -> usize {
        self.process.log().count(text)
    }
}

/// Envoy in front of servers, with replicas of the service.
#[derive(Debug)]
pub struct Envoy {
    /// Where clients connect, on loopback.
    pub port: u16,
    /// The replicas.
    pub replicas: Vec<Replica>,
    /// Where the configurations are.
    pub folder: Folder,
    admin: u16,
    process: Process,
}

impl Envoy {
    /// Starts Envoy and the replicas, and waits until both are ready.
    pub fn start(setup: &Setup<'_>) -> Self {
        let folder = Folder::new();
        let mut contract =
            example("toolbond.toml").replace("results = \"enforce\"\n", setup.contract);
        for (port, server) in [3001, 3002].iter().zip(setup.servers) {
            contract = contract.replace(&format!("127.0.0.1:{port}"), &server.to_string());
        }
        folder.write("toolbond.toml", contract);
        let replicas = (0..setup.replicas)
            .map(|_| Replica::start_with(&folder, reserved(), setup.options, setup.variables))
            .collect::<Vec<_>>();
        let config = folder.write("envoy.yaml", configuration(setup, &replicas));
        let mut command = Command::new(peers::envoy());
        command.args(["-c", &config, "--admin-address-path", &folder.join("admin")]);
        command.args(["--concurrency", &setup.workers.to_string()]);
        command.args(["--disable-hot-restart", "--log-level", "warning"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut process = Process::start(command);
        let admin = wait_for("the admin page of Envoy", || {
            let ended = process.child.try_wait().unwrap();
            assert!(ended.is_none(), "Envoy ended: {:#?}", process.log().lines());
            let text = fs::read_to_string(folder.join("admin")).ok()?;
            text.rsplit(':').next()?.trim().parse().ok()
        });
        let mut envoy = Self { port: 0, replicas, folder, admin, process };
        wait_until("Envoy is ready", || envoy.get("/ready").contains("LIVE"));
        let listeners = envoy.json("/listeners?format=json");
        let listeners = listeners["listener_statuses"].as_array().unwrap();
        let clients = listeners.iter().find(|it| it["name"] == "clients").unwrap();
        let port = &clients["local_address"]["socket_address"]["port_value"];
        envoy.port = port.as_u64().unwrap().try_into().unwrap();
        if setup.example.is_some() {
            wait_until("the replicas are healthy", || envoy.healthy() == setup.replicas);
        }
        envoy
    }

    /// Envoy in front of one server, whose arguments and results are held to their schemas.
    pub fn enforcing(server: u16) -> Self {
        Self::start(&Setup {
            servers: [local(server), local(9)],
            contract: "arguments = \"enforce\"\nresults = \"enforce\"\n",
            replaced: &[ONE_SERVER],
            ..Setup::default()
        })
    }

    /// The URL of `path` for clients.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What the admin page says at `path`.
    pub fn get(&self, path: &str) -> String {
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
    pub fn healthy(&self) -> usize {
        let text = self.get("/clusters");
        let is_healthy =
            |line: &&str| line.starts_with("toolbond::") && line.ends_with("health_flags::healthy");
        text.lines().map(str::trim).filter(is_healthy).count()
    }

    /// How many requests Envoy has sent to the replica at `address`.
    pub fn sent_to(&self, address: SocketAddr) -> u64 {
        let start = format!("toolbond::{address}::rq_total::");
        let text = self.get("/clusters");
        let mut counts = text.lines().filter_map(|line| line.trim().strip_prefix(&start));
        counts.next().map_or(0, |count| count.parse().unwrap())
    }

    /// The sum of the counters or gauges of Envoy whose names end with `name`.
    pub fn counter(&self, name: &str) -> u64 {
        let text = self.get(&format!("/stats?filter={name}"));
        let values = text.lines().filter_map(|line| line.split_once(": "));
        let own = values.filter(|(key, _)| key.ends_with(name));
        own.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).sum()
    }
}

fn example(name: &str) -> String {
    fs::read_to_string(root().join("examples/envoy").join(name)).unwrap()
}

/// The configuration of Envoy, from the example.
fn configuration(setup: &Setup<'_>, replicas: &[Replica]) -> String {
    let mut text = example(setup.example.unwrap_or("envoy.yaml"));
    if setup.example.is_none() {
        let (start, end) = (
            "                  - name: envoy.filters.http.ext_proc",
            "                  - name: envoy.filters.http.router",
        );
        let (from, to) = (text.find(start).unwrap(), text.find(end).unwrap());
        text.replace_range(from..to, "");
    }
    let [weather, notes] = setup.servers;
    let any = local(0);
    // The second listener is reached by its address, which therefore is known before.
    let mut addresses =
        vec![(3001, weather), (3002, notes), (9901, any), (10_000, any), (10_001, reserved())];
    addresses.extend([9002, 9003].into_iter().zip(replicas.iter().map(|replica| replica.address)));
    let place =
        |address: SocketAddr| format!("address: {}, port_value: {}", address.ip(), address.port());
    for (port, address) in addresses {
        // With a space at the end: 1000 is no part of 10000.
        text = text.replace(&format!("{} ", place(local(port))), &format!("{} ", place(address)));
    }
    for line in ["connect_timeout: 1s", "interval: 1s, timeout: 1s", "- timeout: 1s"] {
        let (start, _) = line.rsplit_once(' ').unwrap();
        text = text.replace(line, &format!("{start} {}", setup.patience));
    }
    text = text.replace("interval: 1s\n", "interval: 0.1s\n");
    for (from, to) in setup.replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}
