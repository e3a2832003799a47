//! What the core needs of the system: time, random numbers, threads, documents, and those who listen.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolbond_contract::{Finding, judge::CallCheck};
use toolbond_fetch::{PendingBundle, ToolBundles, explain};
use toolbond_guard_core::environment::{
    Bundle, CallSpan, CallStart, Documents, Environment, Record, Span, TraceFields,
};
use toolbond_guard_core::event::{Event, Listener};
use toolbond_telemetry::{CallRole, Telemetry, TraceContext, Transport};

use crate::parallel;
use crate::random::random;
use crate::status::Status;

/// The environment of one guarded server.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) name: String,
    pub(crate) listener: Arc<dyn Listener>,
    pub(crate) status: Arc<Status>,
    /// Where spans go, if anything is exported.
    pub(crate) telemetry: Option<Telemetry>,
}

impl Environment for Surroundings {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn random(&self) -> Option<u128> {
        random()
    }

    fn report(&self, event: Event) {
        self.status.record_event(&event);
        self.listener.on_event(event);
    }

    fn record(&self, record: &Record<'_>) {
        self.status.record(record);
        if self.listener.wants_details()
            && let Some(text) = detail(record)
        {
            self.listener.on_event(Event::Detail(text));
        }
        if let (Some(telemetry), Record::Check { tool, check, span }) = (&self.telemetry, record) {
            telemetry.count_check(Some(&self.name), tool, check);
            if let Some(span) = span {
                span.add_check(check);
            }
        }
    }

    fn is_tracing(&self) -> bool {
        self.telemetry.is_some()
    }

    fn start_call(&self, call: &CallStart<'_>) -> Option<CallSpan> {
        let telemetry = self.telemetry.as_ref()?;
        let read = |it: &TraceFields| TraceContext::read(&it.traceparent, it.tracestate.as_deref());
        let parent = call.parents.iter().find_map(read);
        let span = telemetry.start_call(&toolbond_telemetry::CallStart {
            role: CallRole::Server,
            parent: parent.as_ref(),
            server: Some(&self.name),
            revision: call.revision,
            request_id: Some(call.request_id.clone()),
            session: call.session,
            transport: Some(if call.is_pipe { Transport::Pipe } else { Transport::Tcp }),
        });
        Some(Arc::new(ExportedSpan(span)))
    }

    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        parallel::for_each(count, work);
    }

    fn explain_references(
        &self,
        findings: &mut [Finding],
        tool: &Value,
        bundle: Option<&dyn Bundle>,
    ) {
        let bundle = bundle.and_then(fetched).map(|bundle| &bundle.0);
        explain(findings, tool, bundle, |prefix| {
            format!(
                "`--allow-fetch {prefix}`, or `allow` in `[fetch]` of the file, lets the guard fetch it"
            )
        });
    }
}

/// What a record says to those who want details.
fn detail(record: &Record<'_>) -> Option<String> {
    Some(match record {
        Record::Handshake { server, revision } => {
            let name = server.as_deref().unwrap_or("unnamed");
            let revision = revision.map_or_else(String::new, |it| format!(", revision {it}"));
            format!("server: connected to {name}{revision}")
        }
        Record::Call { tool, source, .. } => match tool {
            Some(tool) => format!("client: called `{tool}`{source}"),
            None => format!("client: called a tool that is not listed{source}"),
        },
        Record::Check { tool, check, .. } => {
            let micros = check.time.as_micros();
            let outcome = format!("{:?}", check.outcome).to_lowercase();
            format!("{} of `{tool}`: {outcome}, {micros} µs", check.side)
        }
        Record::Failed { tool, source, message } => {
            format!("call of `{tool}` failed: {message}{source}")
        }
        Record::Tool { .. } | Record::BrokenOutput { .. } => return None,
    })
}

/// A span that is exported.
#[derive(Debug)]
struct ExportedSpan(toolbond_telemetry::CallSpan);

impl Span for ExportedSpan {
    fn fields(&self) -> Option<TraceFields> {
        let fields = self.0.fields()?;
        Some(TraceFields { traceparent: fields.traceparent, tracestate: fields.tracestate })
    }

    fn set_tool(&self, name: &str, listed: bool) {
        self.0.set_tool(name, listed);
    }

    fn report(&self, findings: &[Finding], report: &mut dyn FnMut()) {
        for finding in findings {
            self.0.add_finding(finding);
        }
        let _context = self.0.attach();
        report();
    }

    fn set_refused(&self) {
        self.0.set_refused();
    }

    fn set_withheld(&self) {
        self.0.set_withheld();
    }

    fn set_projected(&self) {
        self.0.set_projected();
    }

    fn set_tool_error(&self) {
        self.0.set_tool_error();
    }

    fn set_arguments(&self, text: &str) {
        self.0.set_arguments(text);
    }

    fn set_result(&self, text: &str) {
        self.0.set_result(text);
    }

    fn add_check(&self, check: &CallCheck) {
        self.0.add_check(check);
    }

    fn end_result(&self) {
        self.0.end_result();
    }

    fn end_error(&self, code: i64) {
        self.0.end_error(code);
    }

    fn end_cancelled(&self) {
        self.0.end_cancelled();
    }
}

/// Documents that are fetched.
pub(crate) struct Fetched(pub(crate) Arc<ToolBundles>);

impl Documents for Fetched {
    fn bundle(&self, text: &str, tool: &Value, used: &mut usize) -> Option<Arc<dyn Bundle>> {
        let bundle = self.0.get(text, tool)?.within_list(used);
        Some(Arc::new(FetchedBundle(bundle)))
    }
}

#[derive(Debug)]
struct FetchedBundle(toolbond_fetch::Bundle);

impl Bundle for FetchedBundle {
    fn ready(&self) -> Option<(&Value, usize)> {
        match &self.0 {
            toolbond_fetch::Bundle::Ready(tool, bytes) => Some((tool, *bytes)),
            _ => None,
        }
    }

    fn is_pending(&self) -> bool {
        matches!(self.0, toolbond_fetch::Bundle::Pending(_))
    }
}

fn fetched(bundle: &dyn Bundle) -> Option<&FetchedBundle> {
    (bundle as &dyn Any).downcast_ref()
}

/// Those of `bundles` whose documents are being fetched.
pub(crate) fn pending(bundles: &[Arc<dyn Bundle>]) -> Vec<PendingBundle> {
    let pending = |bundle: &Arc<dyn Bundle>| match &fetched(&**bundle)?.0 {
        toolbond_fetch::Bundle::Pending(pending) => Some(pending.clone()),
        _ => None,
    };
    bundles.iter().filter_map(pending).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use serde_json::json;
    use toolbond_contract::Revision;
    use toolbond_fetch::Policy;
    use toolbond_guard_core::contract::catalog::Catalog;
    use toolbond_guard_core::contract::list::{CheckedPage, PageCheck, PageOutcome};
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::lock::lock;
    use toolbond_guard_core::settings::Settings;
    use toolbond_harness::files::Folder;
    use toolbond_harness::wait::wait_until;
    use toolbond_targets::UsedNames;
    use toolbond_telemetry::{CallRole, CallStart, Telemetry, TraceContext};

    use crate::server::GuardedServer;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn check(server: &GuardedServer, tools: &[&str]) -> CheckedPage {
        let check = PageCheck {
            server,
            rules: &server.rules(),
            request: Catalog::default().request_page(None, Instant::now()),
            others: &UsedNames::default(),
            audience: &Revision::V2025_11_25.into(),
            may_wait: false,
            memory: usize::MAX,
        };
        check.check(&format!("{{\"tools\":[{}]}}", tools.join(",")))
    }

    #[test]
    fn a_bundled_tool_stays_when_two_others_get_one_name() {
        let folder = Folder::new();
        folder.write("a.json", "{}");
        let documents = format!("https://a.example/={}", folder.path().display());
        let fetch = Policy::default().documents(&documents).unwrap();
        let server = GuardedServer::new("a", Settings::default(), Arc::new(|_: Event| {}));
        let server = server.with_fetch(Some(fetch));
        let book =
            r#"{"name":"book","inputSchema":{"$ref":"https://a.example/a.json","type":"object"}}"#;
        let has_book = |others: &[&str]| {
            let page = check(&server, &[&[book][..], others].concat());
            matches!(page.outcome, PageOutcome::Replaced(text) if text.contains("book"))
        };
        let a = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
        wait_until("the tool is bundled", || has_book(&[a]));
        assert!(lock(&server.rules().tools).get(book).is_some());
        assert!(has_book(&[a, a]) && has_book(&[a]));
    }

    #[test]
    fn a_span_without_a_tracer_changes_nothing() {
        let (telemetry, revision) = (Telemetry::global(), toolbond_contract::Revision::default());
        let parent = TraceContext::read(PARENT, None).unwrap();
        let span = telemetry.start_call(&CallStart {
            role: CallRole::Server,
            parent: Some(&parent),
            server: None,
            revision: &revision,
            request_id: Some(json!(1).to_string()),
            session: None,
            transport: None,
        });
        assert_eq!(span.fields(), None);
    }
}
