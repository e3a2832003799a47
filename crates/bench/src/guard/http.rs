//! A client connection that does no more than it has to, so that it is not what is measured.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, bail};
use memchr::memmem::find;

/// Longer than any answer takes.
const HANG: Duration = Duration::from_secs(20);

/// A connection that is kept.
pub(crate) struct Connection {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

impl Connection {
    /// Connects to `path` on `port` of this machine.
    pub(crate) fn open(port: u16, path: &str, version: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(HANG))?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: {version}"
        );
        Ok(Self { stream, head, buffer: Vec::new(), out: Vec::new() })
    }

    /// Sends these headers, too.
    pub(crate) fn header(&mut self, lines: &str) {
        self.head.push_str("\r\n");
        self.head.push_str(lines);
    }

    /// Posts `body`; the message that comes back, out of its event where it is in one.
    pub(crate) fn ask(&mut self, body: &[u8]) -> anyhow::Result<Vec<u8>> {
        self.out.clear();
        write!(self.out, "{}\r\ncontent-length: {}\r\n\r\n", self.head, body.len())?;
        self.out.extend_from_slice(body);
        self.stream.write_all(&self.out)?;
        let end = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => self.more()?,
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        self.buffer.drain(..end);
        let value = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|value| value.trim().to_owned())
        };
        if let Some(session) = value("mcp-session-id:")
            && !self.head.contains("mcp-session-id")
        {
            self.header(&format!("mcp-session-id: {session}"));
        }
        let body = match value("content-length:") {
            Some(length) => self.take(length.parse()?)?,
            None if value("transfer-encoding:").is_some() => self.chunks()?,
            None => Vec::new(),
        };
        if !head.starts_with("http/1.1 2") {
            bail!("{} {}", head.lines().next().unwrap_or_default(), String::from_utf8_lossy(&body));
        }
        if value("content-type:").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(last_data(&body));
        }
        Ok(body)
    }

    fn more(&mut self) -> anyhow::Result<()> {
        let mut part = [0; 16 << 10];
        let count = self.stream.read(&mut part)?;
        if count == 0 {
            bail!("the connection was closed");
        }
        self.buffer.extend_from_slice(&part[..count]);
        Ok(())
    }

    fn take(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        while self.buffer.len() < length {
            self.more()?;
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    fn chunks(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match find(&self.buffer, b"\r\n") {
                    Some(end) => break end,
                    None => self.more()?,
                }
            };
            let line = self.take(end + 2)?;
            let size = usize::from_str_radix(std::str::from_utf8(&line)?.trim(), 16)?;
            let chunk = self.take(size + 2)?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
}

/// The data of the last event that has some.
fn last_data(body: &[u8]) -> Vec<u8> {
    let lines = body.rsplit(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    data.find(|data| !data.is_empty()).unwrap_or_default().to_vec()
}
