//! A server on loopback that hands out documents, folders on disk, and a proxy; each remembers what it was asked for.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{fs, thread};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The request lines that a server got.
#[derive(Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<Vec<String>>>);

impl Requests {
    /// The request lines since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

/// A new folder that is removed in the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("bundle-{name}-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Serves `find(path)` on `listener`, one request for each connection.
pub(crate) fn serve(
    listener: TcpListener,
    find: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> Requests {
    let (requests, find) = (Requests::default(), Arc::new(find));
    let seen = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (find, seen) = (Arc::clone(&find), seen.clone());
            thread::spawn(move || drop(answer(stream.unwrap(), &*find, &seen)));
        }
    });
    requests
}

/// TLS for a server on `localhost`, and its certificate, as PEM.
pub(crate) fn tls_config() -> (Arc<ServerConfig>, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (Arc::new(config), made.cert.pem())
}

/// The same on https, for `localhost`. Also returns the port and the certificate, as PEM.
pub(crate) fn serve_tls(
    find: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> (u16, String, Requests) {
    let (config, pem) = tls_config();
    let find = Arc::new(find);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Requests::default();
    let seen = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = StreamOwned::new(connection, stream.unwrap());
            let (find, seen) = (Arc::clone(&find), seen.clone());
            thread::spawn(move || drop(answer(stream, &*find, &seen)));
        }
    });
    (port, pem, requests)
}

fn answer(
    stream: impl Read + Write,
    find: &dyn Fn(&str) -> Option<Vec<u8>>,
    seen: &Requests,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let head = read_head(&mut stream)?;
    let line = head.lines().next().unwrap_or_default();
    seen.add(line);
    let (status, body) = match find(line.split(' ').nth(1).unwrap_or_default()) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    let stream = stream.get_mut();
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n")?;
    stream.write_all(&body)?;
    stream.flush()
}

/// A proxy: `CONNECT` opens a tunnel, other requests are forwarded.
pub(crate) fn proxy() -> (u16, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Requests::default();
    let seen = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, seen) = (stream.unwrap(), seen.clone());
            thread::spawn(move || drop(forward(stream, &seen)));
        }
    });
    (port, requests)
}

fn forward(client: TcpStream, seen: &Requests) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let head = read_head(&mut reader)?;
    let (line, rest) = head.split_once("\r\n").unwrap_or_default();
    seen.add(line);
    let target = line.split(' ').nth(1).unwrap_or_default();
    let is_tunnel = line.starts_with("CONNECT ");
    let url = target.strip_prefix("http://").unwrap_or(target);
    let (authority, path) = url.split_once('/').unwrap_or((url, ""));
    // The names of the tests are on this machine.
    let port = authority.rsplit(':').next().unwrap_or_default();
    let mut server = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    let mut to_client = client;
    if is_tunnel {
        to_client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    } else {
        write!(server, "GET /{path} HTTP/1.1\r\n{rest}")?;
    }
    let mut from_server = server.try_clone()?;
    let back = thread::spawn(move || io::copy(&mut from_server, &mut to_client));
    io::copy(&mut reader, &mut server)?;
    let _ = server.shutdown(std::net::Shutdown::Write);
    drop(back.join());
    Ok(())
}

/// Reads up to the empty line after the headers.
fn read_head(stream: &mut BufReader<impl Read>) -> io::Result<String> {
    let mut head = String::new();
    loop {
        let start = head.len();
        if stream.read_line(&mut head)? == 0 || head[start..].trim().is_empty() {
            return Ok(head);
        }
    }
}
