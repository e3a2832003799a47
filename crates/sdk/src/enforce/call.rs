//! `tools/call` behind the contract.

use std::{borrow::Cow, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures_util::{FutureExt as _, future};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, MetaObject},
    service::{MaybeSendFuture, RequestContext},
};
use serde_json::{Map, Value};
use toolbond_contract::{
    Form, JudgedCall, Mode, Revision, Structured, lift_result, project::MARKER,
};

use super::{
    enforced::{Enforced, Shared},
    handler::{catch_panic, catch_panic_sync},
    send::send,
    tool::{ServerTool, UsableTool},
};
use crate::{
    check::{CallPart, RuntimeStopped, check, is_valid_inline, refusal_text},
    protocol::request_revision,
    trace,
    views::ViewFor,
};

/// The tool that a call names.
enum CalledTool {
    /// A usable tool of the list: its contract applies.
    Listed(Arc<ServerTool>),
    /// The name of a tool that is not in the list: no contract applies, and the handler answers.
    Unlisted(Cow<'static, str>),
}

impl CalledTool {
    fn usable(&self) -> Option<&UsableTool> {
        match self {
            Self::Listed(tool) => tool.usable.as_ref(),
            Self::Unlisted(_) => None,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Listed(tool) => &tool.source.name,
            Self::Unlisted(name) => name,
        }
    }
}

/// A call whose arguments are checked.
struct CheckedCall {
    tool: CalledTool,
    revision: Revision,
    /// Counts this call as open.
    _open: Arc<()>,
}

type Response = Result<CallToolResponse, ErrorData>;

type Answer<'a> = Pin<Box<dyn Future<Output = Response> + Send + 'a>>;

impl<H: ServerHandler> Enforced<H> {
    /// Calls a tool: checks the arguments, calls the handler, checks the result and converts it for the client.
    ///
    /// `rmcp` moves the future of a request several times before it runs, so this one is hardly larger than that of the
    /// handler. The rare paths are boxed.
    pub(super) fn call(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Response> + MaybeSendFuture {
        if self.shared.options.view_for != ViewFor::None {
            let answer = self.restore_and_run(request, context);
            let answer: Answer<'_> = Box::pin(catch_panic("tools/call", answer));
            return answer.right_future();
        }
        if let Some(call) = self.check_inline(&mut request, &context) {
            return self.run(call, request, context).left_future();
        }
        let answer = self.check_and_run(request, context);
        let answer: Answer<'_> = Box::pin(catch_panic("tools/call", answer));
        answer.right_future()
    }

    async fn restore_and_run(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Response {
        let request = self.restore_call(request, &context).await?;
        self.check_and_run(request, context).await
    }

    /// Checks a call of a fresh tool whose arguments take little fuel to validate: the common case.
    fn check_inline(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CheckedCall> {
        let has_fixed_tools = self.shared.has_fixed_tools.get()?;
        let tool = has_fixed_tools.then(|| self.shared.cache.find_fresh(&request.name))??;
        let usable = tool.usable.as_ref()?;
        let is_absent = request.arguments.is_none();
        let arguments = Value::Object(request.arguments.take().unwrap_or_default());
        let is_valid = self.shared.options.checks.arguments == Mode::Off
            || is_valid_inline(usable.contract.input().schema(), &arguments, CallPart::Arguments);
        request.arguments = match arguments {
            Value::Object(arguments) if !is_absent => Some(arguments),
            _ => None,
        };
        is_valid.then(|| self.checked(CalledTool::Listed(tool), context))
    }

    fn checked(&self, tool: CalledTool, context: &RequestContext<RoleServer>) -> CheckedCall {
        trace::set_tool(tool.name(), matches!(tool, CalledTool::Listed(_)));
        let open = Arc::clone(&self.shared.open_calls);
        CheckedCall { tool, revision: request_revision(context), _open: open }
    }

    async fn check_and_run(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Response {
        let _open = Arc::clone(&self.shared.open_calls);
        let Some(tool) = self.find_tool(&request.name, &context).await? else {
            let call = self.checked(CalledTool::Unlisted(request.name.clone()), &context);
            return self.run(call, request, context).await;
        };
        let Some(usable) = &tool.usable else { return Err(unusable(&tool)) };
        let request = match self.shared.check_arguments(usable, request).await? {
            Ok(request) => request,
            Err(refusal) => return Ok(refusal.into()),
        };
        let call = self.checked(CalledTool::Listed(tool), &context);
        self.run(call, request, context).await
    }

    /// Calls the handler and checks its result. A panic fails only this call.
    fn run(
        &self,
        call: CheckedCall,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Response> + MaybeSendFuture {
        let work = future::lazy(move |_| self.handler.call_tool(request, context)).flatten();
        AssertUnwindSafe(work).catch_unwind().then(move |response| {
            let mut response = response.unwrap_or_else(|_| {
                let name = call.tool.name();
                tracing::error!(target: "toolbond", "tool `{name}` panicked");
                Ok(tool_error(format!("tool `{name}` failed: internal error")).into())
            });
            let mut is_done = true;
            if let Ok(CallToolResponse::Complete(result)) = &mut response {
                // What panics here panics again in `check_result`, which answers the call.
                is_done = catch_panic_sync("checking a result", || {
                    let is_valid = self.shared.is_valid_result(call.tool.usable(), result);
                    if is_valid {
                        convert(result, &call);
                    }
                    is_valid
                });
            }
            match response {
                Ok(CallToolResponse::Complete(result)) if !is_done => {
                    let check = self.shared.check_result(call, result);
                    Box::pin(catch_panic("tools/call", check)).right_future()
                }
                response => future::ready(response).left_future(),
            }
        })
    }
}

impl Shared {
    /// Checks the arguments of `request`. Returns the request, or the tool error that answers it.
    async fn check_arguments(
        &self,
        usable: &UsableTool,
        mut request: CallToolRequestParams,
    ) -> Result<Result<CallToolRequestParams, CallToolResult>, ErrorData> {
        let is_absent = request.arguments.is_none();
        let arguments = Value::Object(request.arguments.take().unwrap_or_default());
        let terms = self.options.checks.argument_terms();
        let contract = &usable.contract;
        let (arguments, judged) =
            check(contract, CallPart::Arguments, arguments, terms).await.map_err(stopped)?;
        if let Some(refusal) = self.refusal(&judged) {
            trace::set_tool(contract.name(), true);
            trace::set_refused();
            return Ok(Err(refusal));
        }
        request.arguments = match arguments {
            Value::Object(arguments) if !is_absent => Some(arguments),
            _ => None,
        };
        Ok(Ok(request))
    }

    /// Whether no schema applies to `result`, or it takes little fuel to find it valid: the common case.
    fn is_valid_result(&self, usable: Option<&UsableTool>, result: &CallToolResult) -> bool {
        let Some(output) = usable.and_then(|usable| usable.contract.output()) else { return true };
        result.is_error == Some(true)
            || self.options.checks.results == Mode::Off
            || (!is_marked(result)
                && result
                    .structured_content
                    .as_ref()
                    .is_some_and(|value| is_valid_inline(output.schema(), value, CallPart::Result)))
    }

    /// Checks `result`. Returns it in the form for the client, or the tool error that replaces it.
    async fn check_result(&self, call: CheckedCall, mut result: CallToolResult) -> Response {
        let Some(usable) = call.tool.usable() else { return Ok(result.into()) };
        let mut parts = Map::new();
        parts.extend(
            result.structured_content.take().map(|value| (Structured::KEY.to_owned(), value)),
        );
        let mut parts = Value::Object(parts);
        if let Some(MetaObject(meta)) = result.meta.take() {
            // A handler that is itself behind a contract may have put its result into the envelope.
            parts["_meta"] = Value::Object(meta);
            if let Ok(Cow::Owned(lifted)) = lift_result(&parts, usable.form) {
                parts = lifted;
            }
        }
        let mode = match self.options.checks.results {
            // A server does not relax its own contract.
            Mode::Repair => Mode::Enforce,
            mode => mode,
        };
        let (parts, judged) =
            check(&usable.contract, CallPart::Result, parts, mode.into()).await.map_err(stopped)?;
        if let Some(refusal) = self.refusal(&judged) {
            trace::set_withheld();
            return Ok(refusal.into());
        }
        if let Value::Object(mut parts) = parts {
            result.structured_content = parts.remove(Structured::KEY);
            if let Some(Value::Object(meta)) = parts.remove("_meta") {
                result.meta = Some(MetaObject(meta));
            }
        }
        convert(&mut result, &call);
        Ok(result.into())
    }

    /// Reports the findings. Returns the tool error that answers the call if it is refused.
    fn refusal(&self, judged: &JudgedCall) -> Option<CallToolResult> {
        self.options.checks.report(&judged.findings);
        judged.refusal.as_ref().map(|refusal| tool_error(refusal_text(refusal)))
    }
}

/// Whether `result` says that it was projected before: then it is lifted before it is checked.
fn is_marked(result: &CallToolResult) -> bool {
    result.meta.as_ref().is_some_and(|meta| meta.0.contains_key(MARKER))
}

/// Converts `result` to the form for the revision of its request.
fn convert(result: &mut CallToolResult, call: &CheckedCall) {
    let form = call.tool.usable().map_or(Form::Undeclared, |usable| usable.form);
    let keeps_error = result.is_error == Some(true)
        && result.structured_content.as_ref().is_some_and(|value| match call.tool.usable() {
            Some(usable) => usable.contract.allows_in_error(value),
            None => value.is_object(),
        });
    // What suits every revision needs no other shape than the natural one.
    let revision = if keeps_error { &Revision::V2026_07_28 } else { &call.revision };
    if let Err(error) = send(result, form, revision) {
        tracing::error!(target: "toolbond", "result withheld: {error}");
        *result = tool_error(format!("the result was withheld: {error}"));
    }
}

fn stopped(_: RuntimeStopped) -> ErrorData {
    ErrorData::internal_error("the server is shutting down", None)
}

fn tool_error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The answer to a call of a tool that is not listed because it cannot be used.
fn unusable(tool: &ServerTool) -> ErrorData {
    let reason = tool.reason_unusable().map(ToString::to_string).unwrap_or_default();
    let name = &tool.source.name;
    ErrorData::invalid_params(format!("tool `{name}` cannot be used: {reason}"), None)
}
