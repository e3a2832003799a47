//! What tests outside of the harness still use.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
pub(crate) use toolbond_harness::http::send as post;
pub(crate) use toolbond_harness::mcp::modern;
pub(crate) use toolbond_harness::process::wait_for_port as wait_for;
pub(crate) use toolbond_harness::wait::{HANG, wait_until as settles};

use crate::command::toolbond;

/// A process that ends with its test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The port that the first line of a process ends with, or has in a URL.
pub(crate) fn port_of(process: &mut Process) -> u16 {
    port_and_log(process).0
}

/// The port that a process says it listens on, and what it says from then on until it ends.
pub(crate) fn port_and_log(process: &mut Process) -> (u16, JoinHandle<String>) {
    let stream: Box<dyn Read + Send> = match process.0.stdout.take() {
        Some(stdout) => Box::new(stdout),
        None => Box::new(process.0.stderr.take().unwrap()),
    };
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    // What it says later is not held up.
    let log = std::thread::spawn(move || {
        let mut log = Vec::new();
        // What was said before it failed is enough.
        let _ = reader.read_to_end(&mut log);
        String::from_utf8_lossy(&log).into_owned()
    });
    let address = line.split("http://127.0.0.1:").nth(1).unwrap_or(&line);
    (address.split('/').next().unwrap().trim().parse().unwrap(), log)
}

/// A guard in front of `port`: the process and its own port.
pub(crate) fn guard(port: u16, options: &[&str]) -> (Process, u16) {
    guard_at(&format!("http://127.0.0.1:{port}/mcp"), options)
}

/// A guard in front of `upstream`.
pub(crate) fn guard_at(upstream: &str, options: &[&str]) -> (Process, u16) {
    let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", upstream]);
    command.args(options).stderr(Stdio::piped());
    let mut process = Process(command.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

/// Sends a request, and gives the whole answer.
pub(crate) fn ask(port: u16, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = if head.contains("\r\nhost:") { "" } else { "\r\nhost: localhost" };
    write!(
        stream,
        "{head}{host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn call(id: u32, name: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": arguments } })
    .to_string()
}

pub(crate) const POST: &str = "POST /mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25";

/// The next request: its head and its body; nothing where the connection was closed.
pub(crate) fn request(
    reader: &mut BufReader<TcpStream>,
) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut head = String::new();
    if reader.read_line(&mut head)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((head, body)))
}
