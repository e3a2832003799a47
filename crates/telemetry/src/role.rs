//! Who a span is about.

/// The side of a call that a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRole {
    /// It receives the call.
    Server,
    /// It sends the call.
    Client,
}
