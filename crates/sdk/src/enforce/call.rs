//! `tools/call` under the contract.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt as _, future};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, MetaObject},
    service::{MaybeSendFuture, RequestContext},
};
use serde_json::{Map, Value};
use toolpact_contract::{
    Form, JudgedCall, MARKER, Mode, Outcome, Revision, Structured, lift_result,
};

use super::{
    Enforced, Shared,
    entry::{Entry, Kept},
    handler::{guarded, guarded_now},
    nulls::drop_nulls,
    send::send,
};
use crate::{
    check::{Part, Stopped, check, is_seen_valid, text_of},
    protocol::revision_of,
    report::report,
};

/// What the response of a handler is held to.
enum Held {
    /// The contract of a tool that is listed, and can be used.
    Listed(Arc<Entry>),
    /// None: no tool of this name is listed. The handler has its own answer for that.
    Unlisted(Cow<'static, str>),
}

impl Held {
    fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Listed(entry) => entry.kept.as_ref(),
            Self::Unlisted(_) => None,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Listed(entry) => &entry.source.name,
            Self::Unlisted(name) => name,
        }
    }
}

/// A call that the handler may be asked.
struct Admitted {
    held: Held,
    revision: Revision,
    /// Says that a call is under way.
    _active: Arc<()>,
}

type Response = Result<CallToolResponse, ErrorData>;

impl<H: ServerHandler> Enforced<H> {
    /// Calls a tool: arguments judged first, the result judged and projected after.
    ///
    /// `rmcp` moves the future of a request several times before it runs, so this one holds little more than that of
    /// the handler; what is seldom needed is boxed.
    pub(super) fn call(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Response> + MaybeSendFuture {
        match self.admit_at_once(&mut request, &context) {
            Some(admitted) => self.run(admitted, request, context).left_future(),
            None => {
                Box::pin(guarded("tools/call", self.call_slowly(request, context))).right_future()
            }
        }
    }

    /// Admits a call of a tool that was judged before, with arguments that are seen to be valid: the common case.
    fn admit_at_once(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Admitted> {
        let entry =
            self.shared.is_fixed.get()?.then(|| self.shared.store.recent(&request.name))??;
        let kept = entry.kept.as_ref()?;
        let is_absent = request.arguments.is_none();
        let arguments = Value::Object(request.arguments.take().unwrap_or_default());
        let is_admitted = self.shared.options.arguments == Mode::Off
            || is_seen_valid(kept.contract.input().schema(), &arguments);
        request.arguments = match arguments {
            Value::Object(arguments) if !is_absent => Some(arguments),
            _ => None,
        };
        is_admitted.then(|| self.admitted(Held::Listed(entry), context))
    }

    fn admitted(&self, held: Held, context: &RequestContext<RoleServer>) -> Admitted {
        Admitted { held, revision: revision_of(context), _active: Arc::clone(&self.shared.active) }
    }

    async fn call_slowly(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Response {
        let _active = Arc::clone(&self.shared.active);
        let Some(entry) = self.entry(&request.name, &context).await? else {
            let admitted = self.admitted(Held::Unlisted(request.name.clone()), &context);
            return self.run(admitted, request, context).await;
        };
        let Some(kept) = &entry.kept else { return Err(unusable(&entry)) };
        let request = match self.shared.admit(kept, request).await? {
            Ok(request) => request,
            Err(refusal) => return Ok(refusal.into()),
        };
        let admitted = self.admitted(Held::Listed(entry), &context);
        self.run(admitted, request, context).await
    }

    /// Calls the handler, and judges what it answers. A panic fails this call and nothing else.
    fn run(
        &self,
        admitted: Admitted,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Response> + MaybeSendFuture {
        let call = future::lazy(move |_| self.handler.call_tool(request, context)).flatten();
        AssertUnwindSafe(call).catch_unwind().then(move |response| {
            let mut response = response.unwrap_or_else(|_| {
                let name = admitted.held.name();
                tracing::error!(target: "toolpact", "tool `{name}` panicked");
                Ok(error(format!("tool `{name}` failed: internal error")).into())
            });
            let mut is_right = true;
            if let Ok(CallToolResponse::Complete(result)) = &mut response {
                // What panics here does so again where it is judged, and is answered there.
                is_right = guarded_now("a first look at a result", || {
                    let is_right = self.shared.is_right(admitted.held.kept(), result);
                    if is_right {
                        finish(result, &admitted);
                    }
                    is_right
                });
            }
            match response {
                Ok(CallToolResponse::Complete(result)) if !is_right => {
                    let judge = guarded("tools/call", self.shared.judge(admitted, result));
                    Box::pin(judge).right_future()
                }
                response => future::ready(response).left_future(),
            }
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
            && drop_nulls(schema, &mut arguments)
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

    /// Whether there is nothing to judge in `result`, or it is seen to be valid: the common case.
    fn is_right(&self, kept: Option<&Kept>, result: &CallToolResult) -> bool {
        let Some(output) = kept.and_then(|kept| kept.contract.output()) else { return true };
        result.is_error == Some(true)
            || self.options.results == Mode::Off
            || (!is_marked(result)
                && result
                    .structured_content
                    .as_ref()
                    .is_some_and(|value| is_seen_valid(output.schema(), value)))
    }

    /// Judges `result`, and gives what to send: it, or a refusal.
    async fn judge(&self, admitted: Admitted, mut result: CallToolResult) -> Response {
        let Some(kept) = admitted.held.kept() else { return Ok(result.into()) };
        let mut judged = Map::new();
        judged.extend(
            result.structured_content.take().map(|value| (Structured::KEY.to_owned(), value)),
        );
        let mut judged = Value::Object(judged);
        if let Some(MetaObject(meta)) = result.meta.take() {
            // A handler that is behind a contract already may have put its result into the envelope.
            judged["_meta"] = Value::Object(meta);
            if let Ok(Cow::Owned(lifted)) = lift_result(&judged, kept.form) {
                judged = lifted;
            }
        }
        let (judged, outcome) = check(&kept.contract, Part::Result, judged, self.options.results)
            .await
            .map_err(stopped)?;
        if let Some(refusal) = self.refusal(&outcome) {
            return Ok(refusal.into());
        }
        if let Value::Object(mut judged) = judged {
            result.structured_content = judged.remove(Structured::KEY);
            if let Some(Value::Object(meta)) = judged.remove("_meta") {
                result.meta = Some(MetaObject(meta));
            }
        }
        finish(&mut result, &admitted);
        Ok(result.into())
    }

    /// Reports what was found, and gives what to answer where the call is refused.
    fn refusal(&self, judged: &JudgedCall) -> Option<CallToolResult> {
        report(&judged.findings, self.options.listener.as_ref());
        judged.refusal.as_ref().map(|refusal| error(text_of(refusal)))
    }
}

/// Whether `result` says that it was projected before: then it is lifted before it is judged.
fn is_marked(result: &CallToolResult) -> bool {
    result.meta.as_ref().is_some_and(|meta| meta.0.contains_key(MARKER))
}

/// Gives `result` the shape that the revision of its request can carry.
fn finish(result: &mut CallToolResult, admitted: &Admitted) {
    let form = admitted.held.kept().map_or(Form::Undeclared, |kept| kept.form);
    if let Err(problem) = send(result, form, &admitted.revision) {
        tracing::error!(target: "toolpact", "result withheld: {problem}");
        *result = error(format!("the result was withheld: {problem}"));
    }
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
