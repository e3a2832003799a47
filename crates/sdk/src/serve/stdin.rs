//! Standard input, until it ends or the process is told to stop.

use std::io::Read as _;

use tokio::{
    io::{AsyncWriteExt as _, DuplexStream, duplex},
    sync::mpsc,
};

use super::signal;

/// Bytes that are read ahead.
const BUFFER: usize = 64 * 1024;

/// What comes in over standard input. It ends on SIGINT and SIGTERM too, so that the calls under way are answered
/// as if the client had gone.
///
/// A thread of its own reads: one of the runtime's would keep the runtime from ending before the input does.
pub(super) fn stdin() -> DuplexStream {
    let (chunks, mut read) = mpsc::channel::<Vec<u8>>(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut buffer = vec![0; BUFFER];
        while let Ok(bytes @ 1..) = input.read(&mut buffer) {
            if chunks.blocking_send(buffer[..bytes].to_vec()).is_err() {
                break;
            }
        }
    });
    let (mut writer, reader) = duplex(BUFFER);
    tokio::spawn(async move {
        let mut stop = std::pin::pin!(signal::shutdown());
        loop {
            let chunk = tokio::select! {
                chunk = read.recv() => chunk,
                () = &mut stop => None,
            };
            let Some(chunk) = chunk else { break };
            if writer.write_all(&chunk).await.is_err() {
                break;
            }
        }
    });
    reader
}
