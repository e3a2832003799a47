//! A server that answers with whatever bytes a test wants.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::sleep;

/// What a path is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing: the connection stays open.
    Stuck(Vec<u8>),
    /// These bytes and the end of the connection, once [`Server::open_at`] lets it go.
    Held(Vec<u8>),
    /// These bytes, one at a time, with a pause after each.
    Dripping(Vec<u8>),
    /// These bytes, and then the others again and again.
    Endless(Vec<u8>, Vec<u8>),
}

/// A server on loopback; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

/// What a server counts.
#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    /// Connections that are not answered yet, and the most of them at a time.
    waiting: AtomicUsize,
    most: AtomicUsize,
    is_open: watch::Sender<bool>,
}

impl Server {
    pub(crate) async fn start<const N: usize>(replies: [(&str, Reply); N]) -> Self {
        Self::start_on("127.0.0.1:0", replies).await
    }

    pub(crate) async fn start_on<const N: usize>(at: &str, replies: [(&str, Reply); N]) -> Self {
        let replies = replies.into_iter().map(|(path, reply)| (path.to_owned(), reply)).collect();
        Self::listen(at, replies, |stream| async move { Some(stream) }).await
    }

    /// A server whose connections are prepared first, for example with TLS.
    pub(crate) async fn listen<S, F>(
        at: &str,
        replies: HashMap<String, Reply>,
        prepare: impl Fn(tokio::net::TcpStream) -> F + Send + Sync + Clone + 'static,
    ) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = Option<S>> + Send + 'static,
    {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::<Counts>::default();
        let shared = Arc::clone(&counts);
        let replies = Arc::new(replies);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let waiting = shared.waiting.fetch_add(1, Ordering::SeqCst) + 1;
                shared.most.fetch_max(waiting, Ordering::SeqCst);
                let (replies, prepare) = (Arc::clone(&replies), prepare.clone());
                let counts = Arc::clone(&shared);
                tokio::spawn(async move {
                    if let Some(stream) = prepare(stream).await {
                        answer(stream, &replies, &counts).await;
                    }
                });
            }
        });
        Self { address, counts, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Stops listening.
    pub(crate) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// How many connections were opened so far.
    pub(crate) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// The most connections at a time that waited for a held answer.
    pub(crate) fn most(&self) -> usize {
        self.counts.most.load(Ordering::SeqCst)
    }

    /// Waits for `count` connections, and lets held answers go.
    pub(crate) async fn open_at(&self, count: usize) {
        while self.connections() < count {
            sleep(Duration::from_millis(1)).await;
        }
        // Whatever else is under way gets here, too.
        for _ in 0..100 {
            yield_now().await;
        }
        self.counts.is_open.send_replace(true);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    replies: &HashMap<String, Reply>,
    counts: &Counts,
) {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(count @ 1..) if head.len() < 1 << 16 => head.extend_from_slice(&chunk[..count]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let lower = head.to_lowercase();
    for secret in ["cookie", "authorization", "referer"] {
        assert!(!lower.contains(secret), "{head}");
    }
    let missing = Reply::Bytes(response("404 Not Found", &[], b"{}"));
    match replies.get(&path).unwrap_or(&missing) {
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::Stuck(bytes) => {
            let _ = stream.write_all(bytes).await;
            // Until the client leaves.
            let _ = stream.read(&mut chunk).await;
        }
        Reply::Held(bytes) => {
            let _ = counts.is_open.subscribe().wait_for(|is_open| *is_open).await;
            counts.waiting.fetch_sub(1, Ordering::SeqCst);
            let _ = stream.write_all(bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::Dripping(bytes) => {
            for byte in bytes {
                if stream.write_all(&[*byte]).await.is_err() {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        }
        Reply::Endless(start, more) => {
            let mut written = stream.write_all(start).await;
            while written.is_ok() {
                written = stream.write_all(more).await;
            }
        }
    }
}

/// An answer with a status, headers and a body.
pub(crate) fn response(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    if !headers.iter().any(|(name, _)| matches!(*name, "content-length" | "transfer-encoding")) {
        write!(text, "content-length: {}\r\n", body.len()).unwrap();
    }
    text += "\r\n";
    [text.as_bytes(), body].concat()
}

/// A JSON document.
pub(crate) fn json(body: &str) -> Reply {
    typed("application/json", body.as_bytes())
}

/// A document of any type.
pub(crate) fn typed(media: &str, body: &[u8]) -> Reply {
    Reply::Bytes(response("200 OK", &[("content-type", media)], body))
}

/// A redirect.
pub(crate) fn redirect(to: &str) -> Reply {
    Reply::Bytes(response("302 Found", &[("location", to)], b""))
}
