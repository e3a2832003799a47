//! The span of a call, from its request to its answer.

use super::from_client::ClientPart;
use super::link::Link;
use super::state::Conversation;
use crate::audience::Audience;
use crate::contract::header_changes::HeaderChange;
use crate::environment::{CallSpan, CallStart};
use crate::message::{CallParams, Id};
use crate::trace::{HttpTrace, MetaTrace};

/// A call that is traced.
pub(super) struct TracedCall {
    pub(super) span: CallSpan,
    /// What changes in its text and its headers, so that the server continues the trace.
    pub(super) meta: Vec<(&'static str, String)>,
    pub(super) headers: Vec<HeaderChange>,
}

impl Conversation {
    /// Starts the span of a call; `None` where nothing is exported.
    ///
    /// The trace is the one that `_meta` names, else that of the HTTP headers, else a new one.
    pub(super) fn trace_call(
        &self,
        part: &ClientPart<'_>,
        id: &Id,
        params: &CallParams<'_>,
        audience: &Audience,
    ) -> Option<TracedCall> {
        let environment = self.server.environment();
        if !environment.is_tracing() {
            return None;
        }
        let meta = MetaTrace::read(part.text, part.envelope);
        let trace = part.told.trace.as_ref();
        let parents = [meta.fields(), trace.and_then(HttpTrace::fields)];
        let parents: Vec<_> = parents.into_iter().flatten().collect();
        let span = environment.start_call(&CallStart {
            parents: &parents,
            revision: &audience.revision,
            request_id: id.text(),
            session: trace.and_then(|trace| trace.session.as_deref()),
            is_pipe: self.link == Link::Pipe,
        })?;
        if let (true, Some(arguments)) =
            (self.server.rules().settings.show_values.in_spans, params.arguments)
        {
            span.set_arguments(arguments);
        }
        let fields = span.fields();
        let headers = fields.as_ref().zip(trace).map(|(fields, trace)| trace.changes(fields));
        Some(TracedCall {
            span,
            meta: fields.as_ref().map(|fields| meta.changes(fields)).unwrap_or_default(),
            headers: headers.into_iter().flatten().collect(),
        })
    }
}
