//! One client and one server for HTTP, which send and answer whatever bytes a test wants.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::address::local;
use crate::wait::{HANG, wait_until};

/// Sends a request and returns the whole answer. `head` is the request line and headers; `host`, `content-type` and
/// `content-length` are added where they are missing.
#[track_caller]
pub fn ask(port: u16, head: &str, body: &str) -> String {
    String::from_utf8_lossy(&send(port, head, body.as_bytes())).into_owned()
}

/// [`ask`] in bytes. An answer that breaks off is returned as far as it came.
#[track_caller]
pub fn send(port: u16, head: &str, body: &[u8]) -> Vec<u8> {
    let mut connection = Connection::open(port, &format!("{head}\r\nconnection: close"), body);
    connection.rest()
}

/// A connection with one request on it, whose answer is read piece by piece.
#[derive(Debug)]
pub struct Connection {
    /// What the other side sends.
    pub reader: BufReader<TcpStream>,
}

impl Connection {
    /// Sends a request, as [`ask`] does, and leaves the connection open.
    #[track_caller]
    pub fn open(port: u16, head: &str, body: &[u8]) -> Self {
        Self::open_at(local(port), head, body)
    }

    /// The same for another address.
    #[track_caller]
    pub fn open_at(address: SocketAddr, head: &str, body: &[u8]) -> Self {
        let mut connection = Self::to(address);
        let mut text = head.to_owned();
        let length = body.len();
        for (name, value) in [
            ("host", address.to_string()),
            ("content-type", "application/json".to_owned()),
            ("content-length", length.to_string()),
        ] {
            if !text.to_ascii_lowercase().contains(&format!("\r\n{name}:")) {
                write!(text, "\r\n{name}: {value}").unwrap();
            }
        }
        // Who refuses a request need not read all of it.
        let _ = connection.write(&[text.as_bytes(), b"\r\n\r\n", body].concat());
        connection
    }

    /// Connects, and sends nothing yet.
    #[track_caller]
    pub fn to(address: SocketAddr) -> Self {
        let Ok(stream) = TcpStream::connect(address) else { panic!("nobody listens on {address}") };
        stream.set_read_timeout(Some(HANG)).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    /// Sends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// The next line; empty at the end.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        String::from_utf8_lossy(&line).into_owned()
    }

    /// Reads up to a line with `text` in it, and returns that.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "the connection ended before `{text}`");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until the answer begins, or the connection ends without one.
    #[track_caller]
    pub fn wait(&mut self) {
        came(self.reader.fill_buf().map(<[u8]>::len));
    }

    /// What comes until the end of the answer.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<u8> {
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while let count @ 1.. = came(self.reader.read(&mut piece)) {
            answer.extend_from_slice(&piece[..count]);
            // Some keep a connection open that was to be closed.
            if answer.ends_with(b"\r\n0\r\n\r\n") {
                break;
            }
        }
        answer
    }
}

/// How many bytes came; none where the connection has ended, however it did.
#[track_caller]
fn came(read: io::Result<usize>) -> usize {
    let hangs =
        |error: &io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    assert!(!read.as_ref().is_err_and(hangs), "waited in vain for an answer");
    read.unwrap_or(0)
}

/// The body of an answer, as JSON.
#[track_caller]
pub fn body(answer: &str) -> Value {
    let parsed = serde_json::from_str(&body_text(answer));
    let Ok(value) = parsed else { panic!("the body is not JSON: {answer}") };
    value
}

/// The body of an answer.
pub fn body_text(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let is_chunked = head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked");
    if is_chunked { join_chunks(body) } else { body.to_owned() }
}

/// The text of a body that comes in chunks.
fn join_chunks(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n")
        && let Ok(length @ 1..) = usize::from_str_radix(length, 16)
        && let Some(chunk) = rest.get(..length)
    {
        text.push_str(chunk);
        body = rest[length..].trim_start_matches("\r\n");
    }
    text
}

/// A request that a server got.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The request line and the headers, as they came.
    pub head: String,
    /// The body; only bodies with a length are read.
    pub body: Vec<u8>,
}

impl Request {
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut request = Self::default();
        loop {
            let start = request.head.len();
            if reader.read_line(&mut request.head)? == 0 {
                return Ok(None);
            }
            if request.head[start..].trim_end().is_empty() {
                break;
            }
        }
        let length = request.header("content-length").map_or(0, |text| text.parse().unwrap());
        request.body.resize(length, 0);
        reader.read_exact(&mut request.body)?;
        Ok(Some(request))
    }

    /// The request line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The method.
    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// The path with its query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = fields.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    /// The body as JSON; null where it is none.
    pub fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Where a server writes an answer.
pub trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// The connection that a request came on.
pub struct Reply<'a> {
    stream: &'a mut dyn Stream,
    socket: &'a TcpStream,
    is_over: bool,
}

impl Reply<'_> {
    /// Answers with JSON.
    pub fn json(&mut self, message: &Value) -> io::Result<()> {
        self.send("200 OK", "content-type: application/json", message.to_string())
    }

    /// Answers a request with this result.
    pub fn result(&mut self, request: &Request, result: &Value) -> io::Result<()> {
        let id = &request.message()["id"];
        self.json(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// Answers with a status, headers (lines with `\r\n` between them, or nothing) and a body.
    pub fn send(&mut self, status: &str, headers: &str, body: impl AsRef<[u8]>) -> io::Result<()> {
        let (body, line) = (body.as_ref(), if headers.is_empty() { "" } else { "\r\n" });
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}{line}{headers}\r\n\r\n");
        self.raw(&[head.as_bytes(), body].concat())
    }

    /// Begins an event stream, whose events [`Self::event`] sends.
    pub fn events(&mut self) -> io::Result<()> {
        self.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    }

    /// Sends text of an event stream, such as `data: {}\n\n`.
    pub fn event(&mut self, text: &str) -> io::Result<()> {
        self.raw(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// Sends bytes.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Closes the connection when the answer is complete, whatever was promised.
    pub fn close(&mut self) {
        self.is_over = true;
    }

    /// Connects the two sides with each other, as a proxy does for `CONNECT`.
    fn tunnel(&mut self, port: u16) -> io::Result<()> {
        self.is_over = true;
        let mut server = TcpStream::connect(("127.0.0.1", port))?;
        self.raw(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut from, mut to) = (server.try_clone()?, self.socket.try_clone()?);
        let back = thread::spawn(move || io::copy(&mut from, &mut to));
        io::copy(&mut self.stream, &mut server)?;
        server.shutdown(Shutdown::Write)?;
        back.join().unwrap().map(drop)
    }

    /// Sends nothing more, and waits until the other side closes the connection.
    pub fn hang(&mut self) {
        self.is_over = true;
        while self.stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

/// A server on a free port of loopback, which remembers what it was asked. It ends with the process of the test.
#[derive(Clone, Debug)]
pub struct HttpServer {
    /// Its port.
    pub port: u16,
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Where connections came from.
    peers: Arc<Mutex<Vec<SocketAddr>>>,
}

impl HttpServer {
    /// Starts a server that answers each request with `answer`. Connections are served at the same time, the requests
    /// of each one after the other.
    pub fn start(
        answer: impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::on(listener, |stream| stream, answer)
    }

    /// Starts a server on `listener`; `wrap` makes what is read and written of a connection, for example TLS.
    pub fn on<S: Stream>(
        listener: TcpListener,
        wrap: impl Fn(TcpStream) -> S + Send + Sync + 'static,
        answer: impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let (requests, peers) = (Arc::default(), Arc::default());
        let server = Self { port: address.port(), address, requests, peers };
        accept(listener, wrap, answer, Some(server.clone()));
        server
    }

    /// Starts a server that remembers nothing, for load: its port.
    pub fn forgetful(
        answer: impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        accept(listener, |stream| stream, answer, None);
        port
    }

    /// Starts a proxy. `port_of` says on which port of this machine an authority, such as `localhost:1234`, is found.
    pub fn proxy(port_of: impl Fn(&str) -> u16 + Send + Sync + 'static) -> Self {
        Self::start(move |request, reply| {
            let path = request.path();
            if request.method() == "CONNECT" {
                return reply.tunnel(port_of(path));
            }
            let authority = path.split('/').nth(2).unwrap_or_default();
            let place = path.splitn(4, '/').nth(3).unwrap_or_default();
            let head = request.head.trim_end().replacen(path, &format!("/{place}"), 1);
            reply.close();
            let answer = ask(port_of(authority), &head, "");
            reply.raw(answer.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes())
        })
    }

    /// The requests since the last time.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// How many connections were opened so far.
    #[track_caller]
    pub fn connections(&self) -> usize {
        // Connections are accepted in their order, so that all others are known when this one is.
        let last = TcpStream::connect(self.address).unwrap().local_addr().unwrap();
        wait_until("a connection", || self.peers.lock().unwrap().contains(&last));
        let mut peers = self.peers.lock().unwrap();
        peers.retain(|peer| *peer != last);
        peers.len()
    }

    /// The URL of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Serves connections, each on a thread of its own; what comes is remembered in `server`.
fn accept<S: Stream>(
    listener: TcpListener,
    wrap: impl Fn(TcpStream) -> S + Send + Sync + 'static,
    answer: impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static,
    server: Option<HttpServer>,
) {
    let tools = Arc::new((wrap, answer, server));
    thread::spawn(move || {
        while let Ok((stream, peer)) = listener.accept() {
            let tools = Arc::clone(&tools);
            if let Some(server) = &tools.2 {
                server.peers.lock().unwrap().push(peer);
            }
            // A client that breaks off is no failure of the test.
            thread::spawn(move || drop(serve(stream, &tools.0, &tools.1, tools.2.as_ref())));
        }
    });
}

fn serve<S: Stream>(
    stream: TcpStream,
    wrap: &impl Fn(TcpStream) -> S,
    answer: &impl Fn(&Request, &mut Reply<'_>) -> io::Result<()>,
    server: Option<&HttpServer>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = stream.try_clone()?;
    let mut reader = BufReader::new(wrap(stream));
    while let Some(request) = Request::read(&mut reader)? {
        if let Some(server) = server {
            server.requests.lock().unwrap().push(request.clone());
        }
        let mut reply = Reply { stream: reader.get_mut(), socket: &socket, is_over: false };
        answer(&request, &mut reply)?;
        if reply.is_over || request.header("connection") == Some("close") {
            break;
        }
    }
    socket.shutdown(Shutdown::Both)
}
