//! HTTP messages of both sides: their types, bodies, event streams, and responses.

pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod media;
pub(crate) mod respond;

/// The most bytes of a request or a response that are buffered for a connection.
pub(crate) const READ_BUFFER: usize = 64 << 10;
