//! Serving over standard input and output.

use std::io::Read as _;

use rmcp::{ServerHandler, ServiceExt as _, service::ServerInitializeError};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream, duplex},
    sync::mpsc,
};
use toolbond_listen::shutdown_signal;

use super::error::ServeError;
use crate::{ServerOptions, enforce_with};

/// Bytes of standard input that are read ahead.
const BUFFER: usize = 64 * 1024;

/// Serves `server` over standard input and output, behind the contract of its tools.
///
/// Reads no command line and sets no log. The options are
/// `ServerOptions::default().declared_capabilities_only(true)`. Returns when the client closes standard input, or after
/// SIGINT or SIGTERM.
///
/// # Errors
///
/// Fails if the handshake with the client fails.
pub async fn serve_stdio<H: ServerHandler>(server: H) -> Result<(), ServeError> {
    serve_stdio_with(server, ServerOptions::of_program()).await
}

/// [`serve_stdio`] with other options.
///
/// # Errors
///
/// The same as [`serve_stdio`].
pub async fn serve_stdio_with<H: ServerHandler>(
    server: H,
    options: ServerOptions,
) -> Result<(), ServeError> {
    match enforce_with(server, options).serve((stdin(), tokio::io::stdout())).await {
        Ok(running) => {
            // Either the service ended or its task failed; nothing is left to serve.
            _ = running.waiting().await;
            Ok(())
        }
        // A client may connect and leave without a message.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Handshake(Box::new(error))),
    }
}

/// Standard input until it ends, or until SIGINT or SIGTERM, so that calls in progress finish as if the client had
/// left.
///
/// A separate thread reads: a thread of the runtime would keep the runtime alive until the input ends.
fn stdin() -> DuplexStream {
    let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut buffer = vec![0; BUFFER];
        while let Ok(bytes @ 1..) = input.read(&mut buffer) {
            if sender.blocking_send(buffer[..bytes].to_vec()).is_err() {
                break;
            }
        }
    });
    let (mut writer, reader) = duplex(BUFFER);
    tokio::spawn(async move {
        let mut shutdown = std::pin::pin!(shutdown_signal());
        loop {
            let chunk = tokio::select! {
                chunk = chunks.recv() => chunk,
                () = &mut shutdown => None,
            };
            let Some(chunk) = chunk else { break };
            if writer.write_all(&chunk).await.is_err() {
                break;
            }
        }
    });
    reader
}
