//! How a gRPC request ends.

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// The bytes of `grpc-message` that are escaped, beside those that are not ASCII.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// The codes that requests end with here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Ok = 0,
    Cancelled = 1,
    InvalidArgument = 3,
    NotFound = 5,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
}

/// How a request ends, and why.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(super) code: Code,
    message: String,
}

/// The status of a request whose messages are not those of its service.
pub(crate) fn wrong(reason: &str) -> Status {
    Status::new(Code::InvalidArgument, reason)
}

impl Status {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The trailers that end a response.
    pub(super) fn trailers(&self) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from(self.code as u16));
        let message = percent_encode(self.message.as_bytes(), ESCAPED).to_string();
        if let (false, Ok(message)) = (message.is_empty(), HeaderValue::from_str(&message)) {
            trailers.insert("grpc-message", message);
        }
        trailers
    }
}
