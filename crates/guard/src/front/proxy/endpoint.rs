//! Servers on HTTP+SSE of 2024-11-05: clients open an event stream with GET, whose first event says where their messages
//! are posted, and all answers come on that stream.
//!
//! The guard names an endpoint of its own instead, so that the stream and what is posted are one conversation.

use hyper::Uri;

use crate::random::random;
use toolbond_guard_core::caller::ConversationKey;

/// The query of an endpoint of the guard, up to its token.
const QUERY: &str = "toolbond-endpoint=";

/// The path of a request as its client wrote it, where that is another one at the server.
#[derive(Clone, Debug)]
pub(crate) struct ClientPath(pub(crate) String);

/// Where messages of one client are posted.
pub(super) struct Endpoint {
    token: String,
    /// The place at the server.
    pub(super) uri: Uri,
}

impl Endpoint {
    /// An endpoint for messages to `uri`. Fails with a reason.
    pub(super) fn new(uri: Uri) -> Result<Self, String> {
        let token = random().ok_or("the system has no random numbers")?;
        Ok(Self { token: format!("{token:032x}"), uri })
    }

    /// Its conversation.
    pub(super) fn key(&self) -> ConversationKey {
        ConversationKey::Endpoint { token: self.token.clone() }
    }

    /// What a client that listens at `path` is told.
    pub(super) fn told(&self, path: &str) -> String {
        format!("{path}?{QUERY}{}", self.token)
    }
}

/// The conversation of what is sent to `uri`, if that is an endpoint of the guard.
pub(super) fn endpoint_of(uri: &Uri) -> Option<ConversationKey> {
    let token = uri.query()?.strip_prefix(QUERY)?.to_owned();
    Some(ConversationKey::Endpoint { token })
}
