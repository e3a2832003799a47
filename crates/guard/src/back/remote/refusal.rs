//! The status and the headers with which a server on HTTP refuses a request, on their way through a bridge.
//!
//! A bridge carries messages. So the error that stands for a refusal carries its status and headers, in a member whose
//! name no server can guess, and the response to the client takes them out again.

use bytes::Bytes;
use hyper::header::{DATE, HeaderName, HeaderValue};
use hyper::http::response::Parts;
use hyper::{HeaderMap, Response, StatusCode};
use memchr::memmem;
use serde_json::json;

use crate::http::respond::{Body, json as respond, remove_hop_by_hop};
use crate::random::random;
use toolbond_guard_core::era::HTTP_REFUSAL;
use toolbond_guard_core::json::object::Object;

/// The most bytes of an error that goes with a refusal, and of an answer that may have one.
const MAX_ERROR: usize = 64 << 10;
pub(crate) const MAX_ANSWER: usize = 8 * MAX_ERROR;

/// How a server on HTTP refused a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HttpRefusal {
    status: StatusCode,
    headers: HeaderMap,
}

/// Whether a server may refuse a request with this status because it is of another era.
pub(crate) fn may_be_of_era(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 405 | 406 | 409 | 415 | 422)
}

impl HttpRefusal {
    /// A refusal of the guard itself, with this status.
    pub(super) fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new() }
    }

    /// The status.
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// The refusal that `response` is; `None` where its status means something else in another era, such as 404.
    pub(crate) fn read(response: &Parts) -> Option<Self> {
        let status = response.status;
        if may_be_of_era(status) || !(status.is_client_error() || status.is_server_error()) {
            return None;
        }
        let mut headers = response.headers.clone();
        remove_hop_by_hop(&mut headers);
        let is_of_body = |name: &HeaderName| {
            let text = name.as_str();
            *name == DATE || text.starts_with("content-") || text.starts_with("mcp-")
        };
        let names: Vec<_> = headers.keys().filter(|name| is_of_body(name)).cloned().collect();
        for name in names {
            headers.remove(name);
        }
        Some(Self { status, headers })
    }

    /// The response to a client, with this message.
    pub(crate) fn respond(self, message: Bytes) -> Response<Body> {
        let mut response = respond(self.status, message);
        response.headers_mut().extend(self.headers);
        response
    }
}

/// The name of the member that carries a refusal.
#[derive(Clone, Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// A mark that nobody else knows; `None` without random numbers.
    pub(crate) fn new() -> Option<Self> {
        Some(Self(format!("{HTTP_REFUSAL}{:032x}", random()?)))
    }

    /// The error object `error` with a refusal in it.
    pub(crate) fn add(&self, error: &str, refusal: &HttpRefusal) -> String {
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        let headers: Vec<_> = refusal
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), text(value)?)))
            .collect();
        let is_short = error.len() <= MAX_ERROR;
        let error = if is_short { error } else { r#"{"code":-32603,"message":"refused"}"# };
        let mut error = Object::copied(error);
        error.set(&self.0, json!([refusal.status.as_u16(), headers]).to_string());
        error.to_string()
    }

    /// Takes the refusal out of an answer.
    pub(crate) fn take(&self, answer: Bytes) -> (Bytes, Option<HttpRefusal>) {
        match self.try_take(&answer) {
            Some((without, refusal)) => (without.into(), Some(refusal)),
            None => (answer, None),
        }
    }

    fn try_take(&self, answer: &[u8]) -> Option<(String, HttpRefusal)> {
        memmem::find(answer, self.0.as_bytes())?;
        let text = str::from_utf8(answer).ok()?;
        let mut answer = Object::copied(text.trim_ascii());
        let mut error = answer.object("error");
        let (status, all) =
            serde_json::from_str::<(u16, Vec<(String, String)>)>(error.get(&self.0)?).ok()?;
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
        }
        error.remove(&self.0);
        let error = error.to_string();
        answer.set("error", error);
        let status = StatusCode::from_u16(status).ok()?;
        Some((answer.to_string(), HttpRefusal { status, headers }))
    }
}

#[cfg(test)]
mod tests {
    use hyper::Response;

    use super::{HttpRefusal, Mark};

    fn response(status: u16) -> Option<HttpRefusal> {
        let response = Response::builder()
            .status(status)
            .header("www-authenticate", "Bearer resource_metadata=\"https://a/b\"")
            .header("content-length", "3")
            .header("connection", "x-hop")
            .header("x-hop", "1")
            .header("mcp-session-id", "s");
        HttpRefusal::read(&response.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_refusal_comes_out_as_it_went_in() {
        let refusal = response(401).unwrap();
        let names: Vec<_> = refusal.headers.keys().map(hyper::header::HeaderName::as_str).collect();
        assert_eq!(names, ["www-authenticate"]);
        let mark = Mark::new().unwrap();
        let error = mark.add(r#"{"code":-1,"message":"m"}"#, &refusal);
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{error}}}\n");
        let (answer, found) = mark.take(answer.into());
        assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#);
        assert_eq!(found, Some(refusal));
    }

    #[test]
    fn a_server_cannot_make_one_up() {
        let (one, other) = (Mark::new().unwrap(), Mark::new().unwrap());
        let error = one.add("{}", &response(429).unwrap());
        let answer = format!("{{\"id\":1,\"error\":{error}}}");
        assert_eq!(other.take(answer.clone().into()), (answer.into(), None));
    }

    #[test]
    fn what_a_status_means_in_one_era_only_is_no_refusal() {
        for status in [200, 202, 307, 400, 404, 405, 406, 422] {
            assert_eq!(response(status), None, "{status}");
        }
        for status in [401, 402, 403, 429, 500, 503] {
            assert!(response(status).is_some(), "{status}");
        }
    }
}
