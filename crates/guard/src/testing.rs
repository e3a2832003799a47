//! Bytes and messages for unit tests, whose memory nobody counts.

use bytes::Bytes;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::Text;

/// Bytes as if they were counted.
pub(crate) fn counted(bytes: impl Into<Bytes>) -> Counted {
    Counted::new(bytes.into())
}

/// A text of a peer.
pub(crate) fn text(text: impl Into<Bytes>) -> Text {
    Text::read(&counted(text)).unwrap()
}
