//! A server that answers with whatever bytes a test wants.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What a path is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing: the connection stays open.
    Stuck(Vec<u8>),
    /// These bytes, one at a time, with a pause after each.
    Dripping(Vec<u8>),
    /// These bytes, and then the others again and again.
    Endless(Vec<u8>, Vec<u8>),
}

/// A server on loopback; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
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
        let connections = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&connections);
        let replies = Arc::new(replies);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (replies, prepare) = (Arc::clone(&replies), prepare.clone());
                tokio::spawn(async move {
                    if let Some(stream) = prepare(stream).await {
                        answer(stream, &replies).await;
                    }
                });
            }
        });
        Self { address, connections, task }
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
        self.connections.load(Ordering::SeqCst)
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
