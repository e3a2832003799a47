//! Servers on HTTP+SSE of 2024-11-05: clients open an event stream with GET, whose first event says where their messages
//! are posted, and all answers come on that stream.
//!
//! The guard names an endpoint of its own instead, so that the stream and what is posted are one conversation.

use hyper::Uri;

use super::{Proxy, is_relative};
use crate::random::random;
use crate::url::without_query;
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

impl Proxy {
    /// An endpoint for a client that listens at `base`, and that the server tells to post to `place`. Fails with a reason.
    pub(super) fn endpoint(&self, base: &Uri, place: &str) -> Result<Endpoint, String> {
        let Some(uri) = self.place(base, place) else {
            let place: String = without_query(place).chars().take(200).collect();
            return Err(format!(
                "the server wants messages at {place}, around the guard; guard that URL instead"
            ));
        };
        let token = random().ok_or("the system has no random numbers")?;
        Ok(Endpoint { token: format!("{token:032x}"), uri })
    }

    /// What `place` means on a stream that was opened at `base`; `None` if that is not at the server.
    fn place(&self, base: &Uri, place: &str) -> Option<Uri> {
        if !is_relative(place) {
            let uri = self.absolute(place).filter(|uri| self.is_at_server(uri))?;
            return uri.path_and_query()?.as_str().parse().ok();
        }
        let base = base.path();
        let path = match place.chars().next()? {
            '/' => place.to_owned(),
            '?' => format!("{base}{place}"),
            _ => format!("{}/{place}", &base[..base.rfind('/')?]),
        };
        path.parse().ok()
    }
}
