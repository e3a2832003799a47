//! Carrying lines between a client and a server.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use toolpact_contract::Revision;

use super::line::read_line;
use super::session::{QUEUE, Session, settled};
use crate::Inspector;
use crate::inspector::lock;

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The client closed its side, and what it had asked was answered, or nobody reads answers.
    Client,
    /// The server closed its side; every request that was open got an error.
    Server,
}

/// How long answers are waited for after the client closed its side.
pub(crate) const LAST_ANSWERS: Duration = Duration::from_secs(30);

/// How long a server may take to end by itself after that.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long the output of a server that has ended may stay silent: what it started may keep it open.
const SILENCE: Duration = Duration::from_millis(300);

/// Carries lines between a client and a server until one of them is gone.
///
/// Reads from a side only as fast as the other one takes what comes out; a line of more than
/// `max_message` bytes is not kept, and whoever waits for it gets an error.
pub async fn relay(
    client: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    server: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    inspector: Arc<Inspector>,
) -> End {
    relay_until(client, server, inspector, Revision::default(), pending()).await
}

/// [`relay`], for a server that is over when `ended` is: its last words are still read. Requests that
/// name no revision, before one is negotiated, are of `revision`.
pub(crate) async fn relay_until(
    client: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    server: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    inspector: Arc<Inspector>,
    revision: Revision,
    ended: impl Future<Output = ()> + Send,
) -> End {
    let (to_client, client_queue) = mpsc::channel(QUEUE);
    let (to_server, server_queue) = mpsc::channel(QUEUE);
    let max = inspector.settings().max_message;
    let session = Session::new(inspector, to_client, to_server);
    *lock(&session.negotiated) = revision;
    let session = Arc::new(session);
    let client_writer = tokio::spawn(write(client.1, client_queue));
    let server_writer = tokio::spawn(write(server.1, server_queue));
    let (mut client_in, mut server_in) = (BufReader::new(client.0), BufReader::new(server.0));

    let end = {
        let from_server = async {
            let mut ended = pin!(ended);
            let mut over = false;
            loop {
                let mut line = pin!(read_line(&mut server_in, max));
                let read = tokio::select! {
                    biased;
                    read = &mut line => read,
                    () = &mut ended, if !over => {
                        over = true;
                        timeout(SILENCE, line).await.unwrap_or(Ok(None))
                    }
                    () = sleep(SILENCE), if over => Ok(None),
                };
                let Ok(Some(line)) = read else { return End::Server };
                if session.from_server(line).await.is_err() {
                    return End::Client;
                }
            }
        };
        let from_client = async {
            while let Ok(Some(line)) = read_line(&mut client_in, max).await {
                if session.from_client(line).await.is_err() {
                    break;
                }
            }
            settled(&session.calls).await;
            session.close_server();
            let _ = timeout(LAST_ANSWERS, idle(&session)).await;
            sleep(LAST_WORDS).await;
            End::Client
        };
        tokio::select! { end = from_server => end, end = from_client => end }
    };
    settled(&session.answers).await;
    session.close_server();
    if end == End::Server {
        // Nobody may be left to hear it.
        let _ = session.give_up("the server ended before it answered", true).await;
    }
    // The writers end with their last message; tasks that still hold a sender hold nothing to say.
    server_writer.abort();
    drop(session);
    let _ = timeout(LAST_WORDS, client_writer).await;
    end
}

/// Ends when no request of the client is open.
async fn idle(session: &Session) {
    while !lock(&session.open).is_idle() {
        sleep(Duration::from_millis(20)).await;
    }
    settled(&session.answers).await;
}

/// Writes messages as they come, several at a time where there are several.
async fn write(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    let mut messages = Vec::new();
    while queue.recv_many(&mut messages, QUEUE).await > 0 {
        for message in messages.drain(..) {
            let written = writer.write_all(&message).await;
            let written = match written {
                Ok(()) if !message.ends_with(b"\n") => writer.write_all(b"\n").await,
                other => other,
            };
            if written.is_err() {
                return;
            }
        }
        if writer.flush().await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}
