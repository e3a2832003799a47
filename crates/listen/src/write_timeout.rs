//! Clients that do not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may read nothing of what is written to it, as long as with nginx.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that fails where its peer does not read: what waits for such a client takes memory.
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    stream: S,
    /// Until when the peer has to read.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, deadline: None }
    }

    /// What came of writing, or a failure where that has taken too long.
    fn within_time<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::{Instant, sleep};

    use super::{PATIENCE, WriteTimeout};

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_given_up_and_a_slow_one_is_not() {
        let (stream, mut client) = duplex(4);
        let mut stream = WriteTimeout::new(stream);
        let reads = async {
            for _ in 0..3 {
                sleep(PATIENCE.mul_f32(0.9)).await;
                client.read_exact(&mut [0; 4]).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 16]), reads);
        written.unwrap();
        // It may be silent for as long as there is nothing to read.
        sleep(10 * PATIENCE).await;
        client.read_exact(&mut [0; 4]).await.unwrap();
        let start = Instant::now();
        let stalled = stream.write_all(&[0; 5]).await.unwrap_err();
        assert_eq!((stalled.kind(), start.elapsed().as_secs()), (ErrorKind::TimedOut, 60));
    }
}
