//! The span of a call, from its request to its answer.

use toolbond_telemetry::{CallSpan, CallStart, Role, Transport};

use super::from_client::Part;
use super::{Conversation, Link};
use crate::audience::Audience;
use crate::contract::header_changes::HeaderChange;
use crate::json::edit::Span;
use crate::message::{CallParams, Id};
use crate::trace::MetaTrace;

/// A call that is traced.
pub(super) struct TracedCall {
    pub(super) span: CallSpan,
    /// What changes in its text and its headers, so that the server continues the trace.
    pub(super) edits: Vec<(Span, String)>,
    pub(super) headers: Vec<HeaderChange>,
}

impl Conversation {
    /// Starts the span of a call; `None` where nothing is exported.
    ///
    /// The trace is the one that `_meta` names, else that of the HTTP headers, else a new one.
    pub(super) fn trace_call(
        &self,
        part: &Part<'_>,
        id: &Id,
        params: &CallParams<'_>,
        audience: &Audience,
    ) -> Option<TracedCall> {
        let telemetry = self.server.telemetry()?;
        let meta = MetaTrace::read(part.params()?, params.meta);
        let trace = part.told.trace.as_ref();
        let parent = meta.context().or_else(|| trace?.context());
        let span = telemetry.start_call(&CallStart {
            role: Role::Server,
            parent: parent.as_ref(),
            server: Some(self.server.name()),
            revision: &audience.revision,
            request_id: Some(id.text()),
            session: trace.and_then(|trace| trace.session.as_deref()),
            transport: Some(if self.link == Link::Pipe { Transport::Pipe } else { Transport::Tcp }),
        });
        if let (true, Some(arguments)) =
            (self.server.rules().settings.export_values, params.arguments)
        {
            span.set_arguments(arguments);
        }
        let fields = span.fields();
        let edits = fields.as_ref().map(|fields| meta.edits(part.text, fields));
        let headers = fields.as_ref().zip(trace).map(|(fields, trace)| trace.changes(fields));
        Some(TracedCall {
            span,
            edits: edits.unwrap_or_default(),
            headers: headers.into_iter().flatten().collect(),
        })
    }
}
