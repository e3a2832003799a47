//! `tools/call` under the contract.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock},
    service::RequestContext,
};
use serde_json::{Map, Value};
use toolpact_contract::{Form, JudgedCall, Mode, Outcome, Revision, Structured};

use super::{
    Enforced, Shared,
    entry::{Entry, Kept},
    nulls::drop_nulls,
    send::send,
};
use crate::{
    check::{Part, Stopped, check, is_seen_valid, text_of},
    protocol::revision_of,
    report::report,
};

impl<H: ServerHandler> Enforced<H> {
    /// Calls a tool: arguments judged first, the result judged and projected after.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _active = Arc::clone(&self.shared.active);
        let revision = revision_of(&context);
        let Some(entry) = self.entry(&request.name, &context).await? else {
            // The handler has its own answer for tools it does not list.
            let response = self.run(request, context).await?;
            return Ok(finish(response, Form::Undeclared, &revision));
        };
        let Some(kept) = &entry.kept else { return Err(unusable(&entry)) };
        let request = match self.shared.admit(kept, request).await? {
            Ok(request) => request,
            Err(refusal) => return Ok(refusal.into()),
        };
        let response = match self.run(request, context).await? {
            CallToolResponse::Complete(result) => self.shared.judge(kept, result).await?.into(),
            other => other,
        };
        Ok(finish(response, kept.form, &revision))
    }

    /// Calls the handler. A panic fails this call and nothing else.
    async fn run(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let call = async { self.handler.call_tool(request, context).await };
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(target: "toolpact", "tool `{name}` panicked");
            let text = format!("tool `{name}` failed: internal error");
            Ok(error(text).into())
        })
    }
}

impl Shared {
    /// Judges the arguments of `request`, and gives it back or what to answer in its place.
    async fn admit(
        &self,
        kept: &Kept,
        mut request: CallToolRequestParams,
    ) -> Result<Result<CallToolRequestParams, CallToolResult>, ErrorData> {
        let absent = request.arguments.is_none();
        let arguments = Value::Object(request.arguments.take().unwrap_or_default());
        let mode = self.options.arguments;
        let schema = kept.contract.input().value();
        let (mut arguments, mut judged) =
            check(&kept.contract, Part::Arguments, arguments, mode).await.map_err(stopped)?;
        if judged.outcome == Outcome::Invalid
            && self.options.absent_nulls
            && drop_nulls(schema, schema, &mut arguments)
        {
            (arguments, judged) =
                check(&kept.contract, Part::Arguments, arguments, mode).await.map_err(stopped)?;
        }
        if let Some(refusal) = self.refusal(&judged) {
            return Ok(Err(refusal));
        }
        request.arguments = match arguments {
            Value::Object(arguments) if !absent => Some(arguments),
            _ => None,
        };
        Ok(Ok(request))
    }

    /// Judges `result`, and gives it back or what to send in its place.
    async fn judge(
        &self,
        kept: &Kept,
        mut result: CallToolResult,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(output) = kept.contract.output() else { return Ok(result) };
        if result.is_error == Some(true)
            || self.options.results == Mode::Off
            || result.structured_content.as_ref().is_some_and(|value| is_seen_valid(output, value))
        {
            return Ok(result);
        }
        let mut judged = Map::new();
        judged.extend(
            result.structured_content.take().map(|value| (Structured::KEY.to_owned(), value)),
        );
        let (judged, outcome) =
            check(&kept.contract, Part::Result, Value::Object(judged), self.options.results)
                .await
                .map_err(stopped)?;
        if let Some(refusal) = self.refusal(&outcome) {
            return Ok(refusal);
        }
        if let Value::Object(mut judged) = judged {
            result.structured_content = judged.remove(Structured::KEY);
        }
        Ok(result)
    }

    /// Reports what was found, and gives what to answer where the call is refused.
    fn refusal(&self, judged: &JudgedCall) -> Option<CallToolResult> {
        report(&judged.findings, self.options.listener.as_ref());
        judged.refusal.as_ref().map(|refusal| error(text_of(refusal)))
    }
}

/// `response` in the shape that `revision` can carry.
fn finish(response: CallToolResponse, form: Form, revision: &Revision) -> CallToolResponse {
    let CallToolResponse::Complete(mut result) = response else { return response };
    if let Err(problem) = send(&mut result, form, revision) {
        tracing::error!(target: "toolpact", "result withheld: {problem}");
        result = error(format!("the result was withheld: {problem}"));
    }
    result.into()
}

fn stopped(_: Stopped) -> ErrorData {
    ErrorData::internal_error("the server is shutting down", None)
}

fn error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The answer to a call of a tool that is not listed because it cannot be used.
fn unusable(entry: &Entry) -> ErrorData {
    let reason = entry.findings.first().map(ToString::to_string).unwrap_or_default();
    let name = &entry.source.name;
    ErrorData::invalid_params(format!("tool `{name}` cannot be used: {reason}"), None)
}
