//! How clients and a server are connected.

use super::action::StreamId;

/// How clients and the server of a conversation are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// One client and one server on a pipe: ids pass as they are.
    Pipe,
    /// One client on HTTP and a process: ids that some peers do not read exactly are replaced.
    Session,
    /// Many clients on HTTP share a process: ids and progress tokens are replaced.
    Shared,
    /// Each request has a stream of its own to the server, as on HTTP.
    Streams,
    /// One client posts its messages, and all answers come on one stream, as in HTTP+SSE of 2024-11-05.
    Endpoint,
}

impl Link {
    /// Whether a batch is taken apart, because its messages may go different ways.
    pub(super) fn splits_batches(self) -> bool {
        matches!(self, Self::Session | Self::Shared)
    }

    /// Whether the transport sends the requests of the guard itself apart from those of clients.
    pub(super) fn asks_separately(self) -> bool {
        matches!(self, Self::Streams | Self::Endpoint)
    }
}

/// Where a message of the server came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The pipe that all messages share.
    Pipe,
    /// The response to the request of this stream.
    Stream(StreamId),
    /// A stream with which the client resumes an earlier one.
    Resumed(StreamId),
    /// A stream on which the client, as this stream, listens for whatever comes.
    Listening(StreamId),
}
