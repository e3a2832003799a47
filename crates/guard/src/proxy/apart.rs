//! Requests and results that a gateway hands over one at a time: `params` without a message around them, `result` without
//! the request that it answers.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response};
use serde_json::value::RawValue;
use toolbond_contract::Revision;
use toolbond_targets::UsedNames;

use super::Proxy;
use super::session::{Answered, Exchange, Session};
use crate::audience::Audience;
use crate::contract::catalog::{Catalog, Tool};
use crate::contract::list::PageCheck;
use crate::core::{Called, Origin};
use crate::http::body::{BodyError, Sender, read_body};
use crate::http::respond::{Body, full};
use crate::json::members::members;
use crate::message::{INLINE_BYTES, Id};
use crate::runtime::drive::{drive, now};
use crate::runtime::read::Received;

/// The id of every request: each has a stream of its own.
const ID: Id = Id::Integer(1);

/// What becomes of a call.
pub(crate) enum CheckedCall {
    /// It goes on.
    Sent {
        /// Its `params`, where they are not those of the client.
        params: Option<Bytes>,
        /// Its headers, some of which may have changed.
        headers: HeaderMap,
        /// What whoever checks its result needs.
        call: Option<(Called, Revision)>,
    },
    /// It is answered at once.
    Answered(Answer),
}

/// What a client gets in place of what was checked, or of what it asked for.
pub(crate) enum Answer {
    /// This result.
    Result(Bytes),
    /// This JSON-RPC error.
    Error(Bytes),
}

/// The request that a result answers.
pub(crate) enum Expected {
    /// A request for the tool list.
    List(Revision),
    /// A call.
    Call(Called, Revision),
}

/// Why something is not checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    #[error("{0}")]
    Body(#[from] BodyError),
    #[error("expected JSON: {0}")]
    Json(String),
    #[error("the check failed")]
    Failed,
}

impl Proxy {
    /// Checks the call with `params` of a client with `headers`.
    pub(crate) async fn check_call(
        self: &Arc<Self>,
        headers: HeaderMap,
        params: Bytes,
    ) -> Result<CheckedCall, Unread> {
        let start = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"#;
        let message = self.message(start, params).await?;
        let mut parts = self.request_parts(headers);
        let forwarded = match self.check(&mut parts, message.clone()).await {
            Ok(forwarded) => forwarded,
            Err(response) => {
                let answer = self.answer_of(collect(*response).await?).await?;
                return Ok(CheckedCall::Answered(answer));
            }
        };
        let (session, stream) = (&forwarded.exchange.session, forwarded.exchange.stream);
        let call = drive(session, |it, _| it.sent_call(stream));
        let mut params = None;
        if forwarded.body != message {
            let mut received = Received::counted(forwarded.body.clone(), &self.pool).await;
            let sent = received.message().map_err(|_| Unread::Failed)?;
            let found = sent.parts.as_slice().first().and_then(|part| part.params);
            let found = found.ok_or(Unread::Failed)?.text(sent.text);
            params = Some(forwarded.body.slice_ref(found.as_bytes()));
        }
        Ok(CheckedCall::Sent { params, headers: parts.headers, call })
    }

    /// Checks `result`, which answers a request that another process may have checked. Returns `None` if the client
    /// gets it as it is.
    pub(crate) async fn check_result(
        self: &Arc<Self>,
        expected: Expected,
        result: Bytes,
    ) -> Result<Option<Answer>, Unread> {
        let message = self.message(r#"{"jsonrpc":"2.0","id":1,"result":"#, result).await?;
        let exchange = Exchange::new(Arc::new(Session::new(self)), HeaderMap::new());
        let stream = exchange.stream;
        match expected {
            Expected::Call(called, revision) => {
                drive(&exchange.session, |it, _| it.expect_result(stream, ID, called, revision));
            }
            Expected::List(revision) => {
                let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
                let mut received = Received::counted(request.into(), &self.pool).await;
                let request = received.message().map_err(|_| Unread::Failed)?;
                drive(&exchange.session, |it, now| {
                    it.on_client(stream, &request, Some(&revision), now)
                });
            }
        }
        let origin = Origin::Stream(stream);
        let answered =
            Answered { exchange, origin, replies: Vec::new(), is_batch: false, is_rpc: true };
        let checked = self.check_json(answered, Response::new(full(message.clone()))).await;
        let checked = collect(checked).await?;
        if checked == message {
            return Ok(None);
        }
        self.answer_of(checked).await.map(Some)
    }

    /// Judges the tool `definition`, as clients of `revision` get it. Returns `None` if it is not offered.
    pub(crate) async fn judge_definition(
        self: &Arc<Self>,
        definition: String,
        revision: Revision,
    ) -> Option<Tool> {
        let server = Arc::clone(&self.server);
        let judged = self.pool.run(move || {
            let (rules, others) = (server.rules(), UsedNames::default());
            let check = PageCheck {
                server: &server,
                rules: &rules,
                request: Catalog::default().request_page(None, now()),
                others: &others,
                audience: &Audience::from(revision),
                may_wait: false,
            };
            check.check(&format!("{{\"tools\":[{definition}]}}")).tools
        });
        let (_, tools) = judged.await.flatten()?;
        tools.into_iter().map(|(_, tool)| tool).find(|tool| matches!(tool, Tool::Offered { .. }))
    }

    /// The head of a request with `headers` to the server.
    fn request_parts(&self, headers: HeaderMap) -> Parts {
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.upstream.clone();
        *request.headers_mut() = headers;
        request.into_parts().0
    }

    /// The message that starts with `start` and ends with `json`. Counts its memory.
    async fn message(&self, start: &'static str, json: Bytes) -> Result<Bytes, Unread> {
        let max = self.server.rules().settings.max_message;
        if json.len() > max {
            return Err(BodyError::TooLong(max).into());
        }
        let is_small = json.len() <= INLINE_BYTES;
        let write = move || {
            // What follows a value would be read as another member of the message.
            let value = serde_json::from_slice::<&RawValue>(&json);
            let value = value.map_err(|error| Unread::Json(error.to_string()))?;
            Ok::<_, Unread>(format!("{start}{value}}}"))
        };
        let message = if is_small {
            write()?
        } else {
            self.pool.run(write).await.ok_or(Unread::Failed)??
        };
        let max = message.len();
        Ok(read_body(full(message), Sender::Client, max, self.pool.memory()).await?)
    }

    /// The result or the error in a response.
    async fn answer_of(&self, message: Bytes) -> Result<Answer, Unread> {
        let mut received = Received::counted(message.clone(), &self.pool).await;
        let read = received.message().map_err(|_| Unread::Failed)?;
        let part = read.parts.as_slice().first().ok_or(Unread::Failed)?;
        if let Some(result) = part.result {
            return Ok(Answer::Result(message.slice_ref(result.text(read.text).as_bytes())));
        }
        let [error] = members(part.span.text(read.text), ["error"]).map_err(|_| Unread::Failed)?;
        let error = error.ok_or(Unread::Failed)?;
        Ok(Answer::Error(message.slice_ref(error.get().as_bytes())))
    }
}

async fn collect(response: Response<Body>) -> Result<Bytes, Unread> {
    let body = response.into_body().collect().await.map_err(|_| Unread::Failed)?;
    Ok(body.to_bytes())
}
