//! Peers, as their makers publish them, each in front of the same server.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// How long a peer may take to start.
const START: Duration = Duration::from_secs(30);

/// A process that ends with its case.
pub(crate) struct Process {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts what will listen on `port`, and waits until it does.
    pub(crate) fn start(mut command: Command, port: u16) -> anyhow::Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut process = Self { child, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = process.child.try_wait()? {
                bail!("it ended with {status}");
            }
            if start.elapsed() > START {
                bail!("it did not listen within {} s", START.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// A port that is free at this moment.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// What is installed for the bench.
pub(crate) struct Installed {
    pub(super) root: PathBuf,
}

impl Installed {
    pub(crate) fn new() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: here.join("../../target/testkit") }
    }

    /// Why `name` is not there.
    pub(super) fn reason(&self, name: &str) -> anyhow::Error {
        let note = self.root.join("failed").join(format!("{name}.txt"));
        let reason = fs::read_to_string(note).unwrap_or_default();
        match reason.trim() {
            "" => anyhow::anyhow!("not installed; `cargo xtask bench guard` installs it"),
            reason => anyhow::anyhow!("not installed: {reason}"),
        }
    }

    /// The crate `mcp-proxy` in front of `backend`, lines of its configuration.
    pub(crate) fn mcp_proxy_crate(&self, backend: &str) -> anyhow::Result<Process> {
        let program = self.root.join("cargo/mcp-proxy-0.6.0/bin/mcp-proxy");
        if !program.exists() {
            return Err(self.reason("mcp-proxy-crate"));
        }
        let port = free_port()?;
        let config = self.root.join(format!("mcp-proxy-{port}.toml"));
        let text = format!(
            "[proxy]\nname = \"bench\"\nseparator = \"/\"\n[proxy.listen]\nhost = \"127.0.0.1\"\n\
             port = {port}\n[[backends]]\nname = \"b\"\n{backend}\n\
             [observability]\naudit = false\nlog_level = \"error\"\n"
        );
        fs::write(&config, text)?;
        let mut command = Command::new(program);
        command.arg("--config").arg(&config);
        let process = Process::start(command, port);
        let _ = fs::remove_file(config);
        process
    }

    /// npm's `supergateway` in front of a server on standard input and output.
    pub(crate) fn supergateway(&self, server: &str) -> anyhow::Result<Process> {
        let package = self.root.join("peers/node_modules/supergateway");
        if !package.exists() {
            return Err(self.reason("node"));
        }
        let port = free_port()?;
        let mut command = Command::new("node");
        command.arg(package.join("dist/index.js")).args(["--stdio", server, "--stateful"]);
        command.args(["--outputTransport", "streamableHttp", "--logLevel", "none", "--port"]);
        command.arg(port.to_string());
        Process::start(command, port)
    }

    /// `mcp-proxy` of the Python index in front of a server on standard input and output.
    pub(crate) fn mcp_proxy_python(&self, server: &[&str]) -> anyhow::Result<Process> {
        self.python("mcp1", "mcp_proxy")?;
        let port = free_port()?;
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", toolbond_harness::peers::python_path("mcp1"));
        command.args(["-m", "mcp_proxy", "--log-level", "ERROR"]);
        command.args(["--port", &port.to_string(), "--"]).args(server);
        Process::start(command, port)
    }

    /// `FastMCP` as a proxy: to `target`, on standard input and output or on a port.
    pub(crate) fn fastmcp(&self, target: &[&str], port: Option<u16>) -> anyhow::Result<Command> {
        self.python("mcp2", "fastmcp")?;
        let mut command = toolbond_harness::peers::command("bench/fastmcp_proxy.py");
        command.arg(port.unwrap_or_default().to_string()).args(target);
        Ok(command)
    }

    pub(super) fn python(&self, name: &str, module: &str) -> anyhow::Result<PathBuf> {
        let place = self.root.join("python").join(name);
        let note = if name == "tools" { "envoy" } else { "python" };
        if place.join(module).exists() { Ok(place) } else { Err(self.reason(note)) }
    }

    /// The versions of what is there.
    pub(crate) fn versions(&self) -> Vec<String> {
        let mut versions = Vec::new();
        if self.root.join("cargo/mcp-proxy-0.6.0/bin/mcp-proxy").exists() {
            versions.push("crate mcp-proxy 0.6.0".to_owned());
        }
        let package = self.root.join("peers/node_modules/supergateway/package.json");
        let package = fs::read(package).ok();
        let package = package.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        if let Some(version) = package.as_ref().and_then(|package| package["version"].as_str()) {
            versions.push(format!("npm supergateway {version}"));
        }
        for (folder, name) in [("mcp1", "mcp_proxy-"), ("mcp2", "fastmcp-")] {
            let Ok(entries) = fs::read_dir(self.root.join("python").join(folder)) else { continue };
            let names = entries.flatten().map(|entry| entry.file_name());
            let names = names.filter_map(|name| name.into_string().ok());
            let version = names.filter_map(|found| {
                let rest = found.strip_prefix(name)?.strip_suffix(".dist-info")?;
                Some(format!("PyPI {} {rest}", name.trim_end_matches('-').replace('_', "-")))
            });
            versions.extend(version);
        }
        versions
    }
}
