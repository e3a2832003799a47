//! Clients that do not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
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
}

impl<S: SendNow> WriteTimeout<S> {
    /// What came of writing `bytes`, or a failure where the peer has read nothing for too long.
    fn within_time(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ready!(deadline.as_mut().poll(context));
        self.deadline = None;
        // A peer that reads slowly has made room for something.
        Poll::Ready(
            self.stream
                .send_now(bytes)
                .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the client does not read")),
        )
    }
}

/// A stream that can be written to whether or not the system says so: a socket counts as writable only when a good part
/// of its buffer is free, which takes a slow peer minutes.
pub(crate) trait SendNow {
    /// Writes some of `bytes`.
    ///
    /// Fails where there is no room.
    fn send_now(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl SendNow for TcpStream {
    fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        // The socket does not block, and programs in Rust ignore SIGPIPE.
        socket2::SockRef::from(self).send(bytes)
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

impl<S: AsyncWrite + SendNow + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_time(context, written, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.within_time(context, written, first.map_or(&[], |first| first))
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

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::{Instant, sleep};

    use super::{PATIENCE, SendNow, WriteTimeout};

    impl SendNow for DuplexStream {
        fn send_now(&self, _bytes: &[u8]) -> std::io::Result<usize> {
            Err(ErrorKind::WouldBlock.into())
        }
    }

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

    /// The system calls a socket writable only when a third of its buffer is free.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_client_that_reads_a_little_is_not_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let full = vec![0; 1 << 20];
        while let Ok(1..) = server.send_now(&full) {}
        assert_eq!(server.send_now(&full).unwrap_err().kind(), ErrorKind::WouldBlock);
        let (mut client, mut read) = (client, vec![0; 1 << 20]);
        // What the client reads makes room in its own buffer first.
        for _ in 0..64 {
            client.read_exact(&mut read).await.unwrap();
            if server.send_now(&full).is_ok() {
                return;
            }
        }
        panic!("nothing can be sent although the client has read 64 MiB");
    }
}
