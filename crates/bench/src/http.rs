//! A client connection that does no more than it has to, so that it is not what is measured.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use toolbond_harness::mcp::INITIALIZED;
use toolbond_harness::wait::HANG;

use crate::calls::Era;

/// How much of a long answer is kept.
const BEGINNING: usize = 4096;

/// The head of an answer, in lower case.
pub(crate) struct Answer {
    head: String,
}

impl Answer {
    fn value(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
    }

    fn length(&self) -> anyhow::Result<Option<usize>> {
        Ok(self.value("content-length:").map(str::parse).transpose()?)
    }

    pub(crate) fn is_success(&self) -> bool {
        self.head.starts_with("http/1.1 2")
    }

    fn is_event_stream(&self) -> bool {
        self.value("content-type:").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}

/// A connection that is kept.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    head: String,
}

impl Connection {
    /// Connects to `path` at an address of this machine.
    pub(crate) fn open(address: SocketAddr, path: &str, revision: &str) -> anyhow::Result<Self> {
        // Some accept no other host.
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: {revision}",
            address.port()
        );
        Self::with_head(address, head)
    }

    fn with_head(address: SocketAddr, head: String) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).context("cannot connect")?;
        stream.set_nodelay(true)?;
        let mut connection =
            Self { stream: BufReader::with_capacity(64 << 10, stream), address, head };
        connection.wait_for(HANG)?;
        Ok(connection)
    }

    /// Connects for calls of `tool`, after the handshake where there is one.
    pub(crate) fn greet(
        address: SocketAddr,
        path: &str,
        era: Era,
        tool: &str,
    ) -> anyhow::Result<Self> {
        let mut connection = Self::open(address, path, era.revision())?;
        match era.hello() {
            Some(hello) => connection.shake_hands(&hello)?,
            None => connection.header(&format!("mcp-method: tools/call\r\nmcp-name: {tool}")),
        }
        Ok(connection)
    }

    /// Opens a session.
    pub(crate) fn shake_hands(&mut self, hello: &str) -> anyhow::Result<()> {
        self.ask(hello.as_bytes()).context("initialize")?;
        self.ask(INITIALIZED.as_bytes()).context("initialized")?;
        Ok(())
    }

    /// A second connection in the same session.
    pub(crate) fn again(&self) -> anyhow::Result<Self> {
        Self::with_head(self.address, self.head.clone())
    }

    /// Ends the session, where there is one.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        if self.head.contains("mcp-session-id") {
            self.request("DELETE")?;
            self.answer()?;
        }
        Ok(())
    }

    /// Sends these headers, too.
    pub(crate) fn header(&mut self, lines: &str) {
        self.head.push_str("\r\n");
        self.head.push_str(lines);
    }

    /// Waits so long for the next bytes of an answer.
    pub(crate) fn wait_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.stream.get_ref().set_read_timeout(Some(time))?;
        Ok(self.stream.get_ref().set_write_timeout(Some(time))?)
    }

    /// Posts `body`; the message that comes back, out of its event where it is in one.
    pub(crate) fn ask(&mut self, body: &[u8]) -> anyhow::Result<Vec<u8>> {
        self.post(body)?;
        self.message()
    }

    /// Reads the message that answers a request, out of its event where it is in one.
    pub(crate) fn message(&mut self) -> anyhow::Result<Vec<u8>> {
        let answer = self.answer()?;
        let body = self.body(&answer)?;
        if !answer.is_success() {
            let status = answer.head.lines().next().unwrap_or_default();
            bail!("{status} {}", String::from_utf8_lossy(&body));
        }
        Ok(if answer.is_event_stream() { last_data(&body) } else { body })
    }

    /// Sends a request with `body` and reads nothing.
    pub(crate) fn post(&mut self, body: &[u8]) -> anyhow::Result<()> {
        self.post_part(body, body.len())
    }

    /// Sends the beginning of a request whose body has `length` bytes.
    pub(crate) fn post_part(&mut self, part: &[u8], length: usize) -> anyhow::Result<()> {
        let mut out = format!("{}\r\ncontent-length: {length}\r\n\r\n", self.head).into_bytes();
        out.extend_from_slice(part);
        self.write(&out)
    }

    /// Sends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.get_mut().write_all(bytes)?)
    }

    /// Sends a request without a body: `GET` opens a stream of events, `DELETE` ends the session.
    pub(crate) fn request(&mut self, method: &str) -> anyhow::Result<()> {
        let (_, rest) = self.head.split_once(' ').context("no path")?;
        let rest = rest.replace("accept: application/json, ", "accept: ");
        self.write(format!("{method} {rest}\r\n\r\n").as_bytes())
    }

    /// Reads the head of an answer, and keeps the session that it names.
    pub(crate) fn answer(&mut self) -> anyhow::Result<Answer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            ensure!(self.stream.read_line(&mut head)? > 0, "the connection was closed");
        }
        head.make_ascii_lowercase();
        let answer = Answer { head };
        if let Some(session) = answer.value("mcp-session-id:")
            && !self.head.contains("mcp-session-id")
        {
            self.header(&format!("mcp-session-id: {session}"));
        }
        Ok(answer)
    }

    /// Reads the body of an answer.
    fn body(&mut self, answer: &Answer) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        if let Some(length) = answer.length()? {
            self.take(length, &mut body)?;
        } else if answer.value("transfer-encoding:").is_some() {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16)?;
                self.take(size + 2, &mut body)?;
                body.truncate(body.len() - 2);
                if size == 0 {
                    break;
                }
            }
        }
        Ok(body)
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) -> anyhow::Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        Ok(self.stream.read_exact(&mut body[start..])?)
    }

    /// Reads the body of an answer and keeps only its beginning.
    pub(crate) fn beginning(&mut self, answer: &Answer) -> anyhow::Result<Vec<u8>> {
        let mut kept = Vec::new();
        if let Some(length) = answer.length()? {
            self.take(length.min(BEGINNING), &mut kept)?;
            let rest = length - kept.len();
            let read = io::copy(&mut self.stream.by_ref().take(rest as u64), &mut io::sink())?;
            ensure!(read == rest as u64, "the connection was closed");
        } else {
            kept = self.body(answer)?;
            kept.truncate(BEGINNING);
        }
        Ok(kept)
    }
}

/// The data of the last event that has some.
fn last_data(body: &[u8]) -> Vec<u8> {
    let lines = body.rsplit(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    data.find(|data| !data.is_empty()).unwrap_or_default().to_vec()
}
