//! Who calls.

use http::{header::AUTHORIZATION, request::Parts};
use toolbond::{Context, FromContext, ToolError, rmcp::ErrorData};

/// Who has sent the bearer token of a request. On standard input, whoever started the server.
pub struct User(pub String);

impl FromContext for User {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        let Some(head) = context.extensions.get::<Parts>() else {
            return Ok(Self("me".to_owned()));
        };
        let value = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match value.and_then(|value| value.strip_prefix("Bearer ")) {
            Some("secret of ada") => Ok(Self("ada".to_owned())),
            _ => Err(ErrorData::invalid_request("expected a bearer token", None).into()),
        }
    }
}
