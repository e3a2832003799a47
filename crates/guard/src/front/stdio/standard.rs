//! Standard input and output, read and written without a thread in between.
//!
//! Waiting on a thread for each read and write costs more than all the rest of forwarding a message.
//! A pipe is therefore opened a second time, through `/proc`, so that whoever else has it does not find
//! it non-blocking; a socket is read and written by calls that do not block. Everything else
//! (terminals, files, other systems) goes through threads.

use tokio::io::{AsyncRead, AsyncWrite};

/// What a client sends.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Where answers to a client go.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output of this process, for [`serve`](super::serve).
///
/// # Panics
///
/// Outside of a `tokio` runtime.
#[must_use]
pub fn standard() -> (Input, Output) {
    #[cfg(target_os = "linux")]
    let (input, output) = (linux::input(), linux::output());
    #[cfg(not(target_os = "linux"))]
    let (input, output) = (None, None);
    (
        input.unwrap_or_else(|| Box::new(tokio::io::stdin())),
        output.unwrap_or_else(|| Box::new(tokio::io::stdout())),
    )
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt::socket_type};
    use tokio::io::unix::AsyncFd;
    use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
    use tokio::net::unix::pipe;

    use super::{Input, Output};

    pub(super) fn input() -> Option<Input> {
        if let Ok(pipe) = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
            return Some(Box::new(pipe));
        }
        Socket::new(io::stdin(), Interest::READABLE).map(|socket| Box::new(socket) as Input)
    }

    pub(super) fn output() -> Option<Output> {
        if let Ok(pipe) = pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
            return Some(Box::new(pipe));
        }
        Socket::new(io::stdout(), Interest::WRITABLE).map(|socket| Box::new(socket) as Output)
    }

    /// A socket that may be blocking, and stays so.
    struct Socket<T: AsRawFd>(AsyncFd<T>);

    impl<T: AsRawFd + AsFd> Socket<T> {
        fn new(stream: T, interest: Interest) -> Option<Self> {
            socket_type(&stream).ok()?;
            #[expect(
                deprecated,
                reason = "standard streams stay open, as its successor has to be told in `unsafe`"
            )]
            let stream = AsyncFd::with_interest(stream, interest);
            stream.ok().map(Self)
        }
    }

    impl<T: AsRawFd + AsFd + Unpin> AsyncRead for Socket<T> {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.0.poll_read_ready(context))?;
                let room = buffer.initialize_unfilled();
                let read = ready.try_io(|fd| Ok(recv(fd, &mut *room, RecvFlags::DONTWAIT)?.0));
                // Where it would have blocked it is not ready, and waited for again.
                if let Ok(read) = read {
                    return Poll::Ready(read.map(|count| buffer.advance(count)));
                }
            }
        }
    }

    impl<T: AsRawFd + AsFd + Unpin> AsyncWrite for Socket<T> {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            loop {
                let mut ready = ready!(self.0.poll_write_ready(context))?;
                if let Ok(sent) = ready.try_io(|fd| Ok(send(fd, bytes, flags)?)) {
                    return Poll::Ready(sent);
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
