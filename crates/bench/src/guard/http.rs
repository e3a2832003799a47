//! A client connection that does no more than it has to, so that it is not what is measured.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, bail};
use memchr::memmem::find;

/// Longer than any answer takes.
const HANG: Duration = Duration::from_secs(20);

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

    /// The first line.
    fn status(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
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

    /// A second connection to `port`, in the same session.
    pub(crate) fn again(&self, port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(HANG))?;
        Ok(Self { stream, head: self.head.clone(), buffer: Vec::new(), out: Vec::new() })
    }

    /// Sends these headers, too.
    pub(crate) fn header(&mut self, lines: &str) {
        self.head.push_str("\r\n");
        self.head.push_str(lines);
    }

    /// Waits so long for the next bytes of an answer.
    pub(crate) fn wait_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.stream.set_read_timeout(Some(time))?;
        Ok(self.stream.set_write_timeout(Some(time))?)
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
            bail!("{} {}", answer.status(), String::from_utf8_lossy(&body));
        }
        Ok(if answer.is_event_stream() { last_data(&body) } else { body })
    }

    /// Sends a request with `body` and reads nothing.
    pub(crate) fn post(&mut self, body: &[u8]) -> anyhow::Result<()> {
        self.out.clear();
        self.write_head(body.len())?;
        self.out.extend_from_slice(body);
        Ok(self.stream.write_all(&self.out)?)
    }

    /// Sends the beginning of a request whose body has `length` bytes.
    pub(crate) fn post_part(&mut self, part: &[u8], length: usize) -> anyhow::Result<()> {
        self.out.clear();
        self.write_head(length)?;
        self.out.extend_from_slice(part);
        Ok(self.stream.write_all(&self.out)?)
    }

    /// Sends a request with `body` in so many pieces, each after a pause.
    pub(crate) fn post_slowly(
        &mut self,
        body: &[u8],
        pieces: usize,
        pause: Duration,
    ) -> anyhow::Result<()> {
        self.out.clear();
        self.write_head(body.len())?;
        self.stream.write_all(&self.out)?;
        for piece in body.chunks(body.len().div_ceil(pieces.max(1)).max(1)) {
            std::thread::sleep(pause);
            self.stream.write_all(piece)?;
        }
        Ok(())
    }

    fn write_head(&mut self, length: usize) -> anyhow::Result<()> {
        Ok(write!(self.out, "{}\r\ncontent-length: {length}\r\n\r\n", self.head)?)
    }

    /// Sends a request without a body: `GET` opens a stream of events, `DELETE` ends the session.
    pub(crate) fn request(&mut self, method: &str) -> anyhow::Result<()> {
        let (_, rest) = self.head.split_once(' ').context("no path")?;
        let rest = rest
            .replace("accept: application/json, text/event-stream", "accept: text/event-stream");
        Ok(self.stream.write_all(format!("{method} {rest}\r\n\r\n").as_bytes())?)
    }

    /// Reads the head of an answer, and keeps the session that it names.
    pub(crate) fn answer(&mut self) -> anyhow::Result<Answer> {
        let end = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => self.more()?,
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        self.buffer.drain(..end);
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
        match answer.value("content-length:") {
            Some(length) => self.take(length.parse()?),
            None if answer.value("transfer-encoding:").is_some() => self.chunks(),
            None => Ok(Vec::new()),
        }
    }

    /// Reads the body of an answer and keeps only its beginning.
    pub(crate) fn beginning(&mut self, answer: &Answer) -> anyhow::Result<Vec<u8>> {
        let Some(length) = answer.value("content-length:") else {
            let mut body = self.body(answer)?;
            body.truncate(BEGINNING);
            return Ok(body);
        };
        let (length, mut kept) = (length.parse::<usize>()?, Vec::new());
        let mut read = 0;
        while read < length {
            if self.buffer.is_empty() {
                self.more()?;
            }
            let count = self.buffer.len().min(length - read);
            let wanted = BEGINNING.saturating_sub(kept.len()).min(count);
            kept.extend_from_slice(&self.buffer[..wanted]);
            self.buffer.drain(..count);
            read += count;
        }
        Ok(kept)
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
