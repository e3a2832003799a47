//! The status page: one HTML document that loads nothing else.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::clock::utc;
use crate::server::GuardedServer;
use crate::status::{FailedCall, OTHER, OutputSchema, Snapshot, Tool};
use toolbond_guard_core::environment::ToolStatus;

const STYLE: &str = "
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .2rem 0; } .dim { opacity: .7; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
th { font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } td.n, td.time { white-space: nowrap; } td:first-child { min-width: 7rem; }
.kept { color: #1a7f37; } .changed { color: #9a6700; } .dropped, .bad { color: #cf222e; font-weight: 600; }
@media (prefers-color-scheme: dark) { .kept { color: #3fb950; } .changed { color: #d29922; } .dropped, .bad { color: #f85149; } }
ul { margin: .2rem 0; padding-left: 1.1rem; } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
";

/// Renders the status of `servers`.
pub(super) fn render(servers: &[Arc<GuardedServer>]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="5";
                meta name="viewport" content="width=device-width";
                title { "toolbond guard" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "toolbond guard" }
                p.dim {
                    "Since the guard started; times are in UTC. Also available as " a href="/status.json" { "JSON" }
                    " and as " a href="/metrics" { "metrics" } "."
                }
                @let shown: Vec<_> =
                    servers.iter().map(|server| (server.name(), server.status().snapshot())).collect();
                @if shown.len() > 1 {
                    table {
                        @for (name, status) in &shown {
                            tr { td.time { (printable(name)) } td { (state(status)) } }
                        }
                    }
                }
                @for (name, status) in &shown { (section(name, status)) }
            }
        }
    };
    page.into_string()
}

fn section(name: &str, status: &Snapshot) -> Markup {
    let revisions: Vec<_> = status.revisions.iter().map(String::as_str).collect();
    let revisions = if revisions.is_empty() { "unknown".to_owned() } else { revisions.join(", ") };
    let calls: u64 = status.tools.values().map(|tool| tool.calls).sum();
    let tools = status.tools.keys().filter(|name| *name != OTHER).count();
    let changed: Vec<_> = status.tools.iter().filter(|(_, tool)| tool.is_changed()).collect();
    html! {
        h2 { (printable(name)) }
        p { (state(status)) }
        @if status.server.is_some() {
            p.dim {
                "revision " (printable(&revisions)) " · " (tools) " tools · " (calls)
                " calls"
            }
        }
        @if !status.failed_calls.is_empty() {
            h3 { "Calls that failed" }
            div.wide {
                table {
                    tr { th { "time" } th { "tool" } th { "client" } th { "request" } th { "why" } }
                    @for call in &status.failed_calls { (failed_call(call)) }
                }
            }
        }
        @if !changed.is_empty() {
            h3 { "Tools that clients do not get as the server lists them" }
            div.wide {
                table {
                    tr { th { "tool" } th { "clients get" } th { "why" } }
                    @for (name, tool) in changed { (changed_tool(name, tool)) }
                }
            }
        }
        (notices(status))
        @if !status.tools.is_empty() {
            h3 { "Tools" }
            div.wide {
                table {
                    tr {
                        th { "tool" }
                        @for title in ["calls", "repaired arguments", "wrong arguments", "wrong results", "unfinished checks"] {
                            th.n { (title) }
                        }
                    }
                    @for (name, tool) in &status.tools { (row(name, tool)) }
                }
            }
        }
        @if !status.slowest.is_empty() {
            h3 { "What checks cost" }
            div.wide {
                table {
                    tr { th { "tool" } th.n { "fuel" } th.n { "time" } }
                    @for (name, tool) in &status.tools { (cost(name, tool)) }
                }
            }
            h3 { "Slowest checks" }
            div.wide {
                table {
                    tr { th { "tool" } th { "of" } th.n { "fuel" } th.n { "time" } }
                    @for slow in &status.slowest {
                        tr {
                            td { code { (printable(&slow.tool)) } }
                            td { (slow.side) }
                            td.n { (slow.fuel) }
                            td.n { (format_time(slow.time)) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether the server is connected, or why not.
fn state(status: &Snapshot) -> Markup {
    html! {
        @match (&status.server, &status.trouble) {
            (None, None) => span.dim { "not connected yet: no client has asked for it" }
            (None, Some(trouble)) => { span.bad { "not connected: " } code { (printable(trouble)) } }
            (Some(server), None) => { span.kept { "connected: " } (printable(server)) }
            (Some(server), Some(trouble)) => {
                span.changed { "connected to " (printable(server)) ", and then: " }
                code { (printable(trouble)) }
            }
        }
    }
}

/// A time of day and its date, to the second.
fn time(time: SystemTime) -> String {
    let text = utc(time);
    text.get(..19).unwrap_or(&text).replace('T', " ")
}

fn notices(status: &Snapshot) -> Markup {
    html! {
        @if !status.last_notices.is_empty() {
            h3 { "Notices" }
            div.wide {
                table {
                    @for notice in &status.last_notices {
                        tr {
                            td.time { (time(notice.time)) }
                            td { (notice.severity) }
                            td { code { (printable(&notice.message)) } }
                        }
                    }
                }
            }
        }
    }
}

fn failed_call(call: &FailedCall) -> Markup {
    html! {
        tr {
            td.time { (time(call.time)) }
            td.time { code { (printable(&call.tool)) } }
            td.time { (printable(call.client.as_deref().unwrap_or_default())) }
            td { code { (printable(call.request.as_deref().unwrap_or_default())) } }
            td { code { (printable(&call.message)) } }
        }
    }
}

fn changed_tool(name: &str, tool: &Tool) -> Markup {
    let (class, text) = match tool.verdict {
        ToolStatus::Dropped => ("dropped", "nothing: it was dropped"),
        ToolStatus::Hidden => ("dropped", "nothing: it is hidden"),
        ToolStatus::Changed => ("changed", "it, changed"),
        ToolStatus::Unknown | ToolStatus::Kept => ("kept", "it, with another output schema"),
    };
    html! {
        tr {
            td { code { (printable(name)) } }
            td class=(class) { (text) }
            td {
                @if tool.verdict == ToolStatus::Hidden { div { "the configuration hides it" } }
                @for finding in &tool.findings { div { code { (printable(finding)) } } }
                @match tool.output_schema {
                    OutputSchema::Kept => {}
                    OutputSchema::Relaxed => div { "the server breaks its output schema, which is relaxed for clients" }
                    OutputSchema::Dropped => div { "the server breaks its output schema, which clients do not get" }
                }
            }
        }
    }
}

fn row(name: &str, tool: &Tool) -> Markup {
    let (arguments, results) = (&tool.arguments, &tool.results);
    let failures = [arguments.invalid, results.invalid, arguments.unfinished + results.unfinished];
    html! {
        tr {
            td { code { (printable(name)) } }
            td.n { (tool.calls) }
            td.n { (arguments.repaired) }
            @for count in failures { td.n.bad[count > 0] { (count) } }
        }
    }
}

fn cost(name: &str, tool: &Tool) -> Markup {
    let (arguments, results) = (&tool.arguments, &tool.results);
    html! {
        tr {
            td { code { (printable(name)) } }
            td.n { (arguments.fuel.saturating_add(results.fuel)) }
            td.n { (format_time(arguments.time + results.time)) }
        }
    }
}

fn format_time(time: Duration) -> String {
    match time.as_micros() {
        micros @ 0..1000 => format!("{micros} µs"),
        micros @ 1000..1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// Replaces control characters and those that change the direction of text. `maud` escapes the rest.
fn printable(text: &str) -> String {
    let is_unsafe =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.replace(is_unsafe, "\u{fffd}")
}
