//! Refusals of a server that does not know the session of a request.

use hyper::StatusCode;

use crate::runtime::read::Received;
use toolbond_guard_core::json::object::Object;
use toolbond_guard_core::message::{Id, Kind, code, error_object_code};

/// The most bytes of a refusal that is searched for what it is about.
pub(super) const MAX_TOLD: usize = 4 << 10;

/// Whether a server that answers so does not know the session of the request.
pub(super) fn is_without_session(status: StatusCode, body: &Received, id: Option<&Id>) -> bool {
    let frame = body.frame();
    let error = frame.as_ref().and_then(|it| Some(it.slice(it.part.error?)));
    match status.as_u16() {
        404 => error.and_then(|error| error_object_code(&error)) != Some(code::METHOD),
        // What several SDKs answer instead of 404, without the id of the request.
        400 | 401 => {
            let kind = frame.map(|frame| frame.part.kind);
            let is_answer = matches!(&kind, Some(Kind::Response(found)) if Some(found) == id);
            let told = body.bytes().to_ascii_lowercase();
            let names_it = memchr::memmem::find(&told, b"session").is_some();
            !is_answer && told.len() <= MAX_TOLD && names_it
        }
        _ => false,
    }
}

/// The error object in `body`, if it is an error answer.
pub(super) fn error_of(body: &Received) -> Option<String> {
    let text = std::str::from_utf8(body.bytes()).ok()?;
    let error = Object::copied(text.trim_ascii()).get("error")?.clone();
    error.starts_with('{').then(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::{Received, is_without_session};
    use crate::testing::counted;
    use toolbond_guard_core::message::Id;

    #[test]
    fn a_refusal_tells_whether_the_session_is_over() {
        let id = Id::String("a".to_owned());
        let is = |status, body: &str| {
            let body = Received::read(counted(body.to_owned()));
            is_without_session(StatusCode::from_u16(status).unwrap(), &body, Some(&id))
        };
        assert!(is(404, "") && is(404, r#"{"error":{"code":-32001,"message":"a"}}"#));
        assert!(!is(404, r#"{"error":{"code":-32601,"message":"a"}}"#));
        assert!(is(400, "No valid Session ID") && is(401, "Session not found"));
        assert!(!is(400, "no") && !is(500, "session"));
        let answer = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"session"}}"#;
        assert!(!is(400, answer));
    }
}
