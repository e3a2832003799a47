//! A server on HTTP that behaves as badly as it is told to by the method of a request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};

/// A line of this many bytes is beyond the limit of a guard.
pub(crate) const HUGE: usize = 100_000_000;

/// A server on a free port.
pub(crate) struct Upstream {
    pub(crate) port: u16,
    /// What became of connections that the server keeps open: one message for each that was closed
    /// by the other side.
    pub(crate) gone: Receiver<()>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, gone) = channel();
        // Both end with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let sender = sender.clone();
                // A client that breaks off is no failure of the test.
                thread::spawn(move || drop(serve(stream.unwrap(), &sender)));
            }
        });
        Self { port, gone }
    }
}

/// Answers the requests of one connection.
fn serve(mut stream: TcpStream, gone: &Sender<()>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((line, body)) = request(&mut reader)? {
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let id = &message["id"];
        let good = json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string();
        let json = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
        let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\n\n";
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        let method = if line.starts_with("GET") {
            "stream"
        } else {
            message["method"].as_str().unwrap_or("")
        };
        match method {
            "hang" => return wait(stream, gone),
            "stream" => {
                stream.write_all(format!("{events}{chunk}").as_bytes())?;
                return wait(stream, gone);
            }
            "close" => return stream.shutdown(Shutdown::Both),
            "half" => {
                write!(stream, "{json}\r\ncontent-length: 1000\r\n\r\n{{\"jsonrpc\":")?;
                return stream.shutdown(Shutdown::Write);
            }
            "half stream" => {
                stream.write_all(format!("{events}{chunk}400\r\ndata: {{\"json").as_bytes())?;
                return stream.shutdown(Shutdown::Write);
            }
            "garbage" => {
                stream.write_all(b"\x00\xffnot http\r\n\r\n")?;
                return stream.shutdown(Shutdown::Both);
            }
            "no json" => write!(stream, "{json}\r\ncontent-length: 7\r\n\r\n{{broken")?,
            "huge" => {
                write!(stream, "{json}\r\ncontent-length: {}\r\n\r\n", HUGE + 2)?;
                stream.write_all(b"\"")?;
                flood(&mut stream)?;
                stream.write_all(b"\"")?;
            }
            "huge event" => {
                write!(stream, "{events}{HUGE:x}\r\n")?;
                flood(&mut stream)?;
                return stream.shutdown(Shutdown::Both);
            }
            _ => write!(stream, "{json}\r\ncontent-length: {}\r\n\r\n{good}", good.len())?,
        }
    }
    Ok(())
}

fn flood(stream: &mut TcpStream) -> std::io::Result<()> {
    let piece = vec![b'x'; 100_000];
    for _ in 0..HUGE / piece.len() {
        stream.write_all(&piece)?;
    }
    Ok(())
}

/// Waits for the other side to close the connection, and tells.
fn wait(mut stream: TcpStream, gone: &Sender<()>) -> std::io::Result<()> {
    let _ = stream.read(&mut [0; 64]);
    let _ = gone.send(());
    stream.shutdown(Shutdown::Both)
}

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
