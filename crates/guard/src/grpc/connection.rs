//! Connections of a gateway, read and written in large blocks.
//!
//! The frames of all requests that are open share a connection. `h2` writes each longer frame with a system call of its
//! own; here those that are ready at the same time leave together.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite, BufStream, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::{Connected, TcpConnectInfo, TcpIncoming};

/// The bytes of each of the two buffers of a connection.
const BUFFER: usize = 64 << 10;

/// A connection of a gateway.
pub(super) struct Connection(BufStream<TcpStream>);

/// The connections that `listener` accepts.
pub(super) fn accept(
    listener: TcpListener,
) -> impl Stream<Item = io::Result<Connection>> + Unpin + Send {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    incoming.map(|stream| Ok(Connection(BufStream::with_capacity(BUFFER, BUFFER, stream?))))
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.0.get_ref().connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
