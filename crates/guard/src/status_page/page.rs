//! The status page: one HTML document that needs nothing else.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use crate::server::GuardedServer;
use crate::status::{Checks, Snapshot, Standing, Tool};

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"5\">
<meta name=\"viewport\" content=\"width=device-width\"><title>toolpact guard</title><style>
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .2rem 0; } .dim { opacity: .7; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
th { font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } td.n { white-space: nowrap; } td:first-child { min-width: 14rem; }
.kept { color: #1a7f37; } .changed { color: #9a6700; } .dropped, .bad { color: #cf222e; font-weight: 600; }
@media (prefers-color-scheme: dark) { .kept { color: #3fb950; } .changed { color: #d29922; } .dropped, .bad { color: #f85149; } }
ul { margin: .2rem 0; padding-left: 1.1rem; } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
</style></head><body><h1>toolpact guard</h1>
<p class=\"dim\">Since the guard started. The same as <a href=\"/status.json\">JSON</a>, and as <a href=\"/metrics\">metrics</a>.</p>\n";

/// The page about `servers`.
pub(super) fn page(servers: &[Arc<GuardedServer>]) -> String {
    let mut out = HEAD.to_owned();
    for guarded in servers {
        server(&mut out, guarded.name(), &guarded.status().snapshot());
    }
    out.push_str("</body></html>\n");
    out
}

fn server(out: &mut String, name: &str, status: &Snapshot) {
    let is = status.server.as_deref().unwrap_or("not connected yet");
    let revisions: Vec<_> = status.revisions.iter().map(String::as_str).collect();
    let calls: u64 = status.tools.values().map(|tool| tool.calls).sum();
    let broken = |checks: &Checks| checks.invalid + checks.unfinished;
    let violations: u64 =
        status.tools.values().map(|tool| broken(&tool.arguments) + broken(&tool.results)).sum();
    let _ = write!(
        out,
        "<h2>{}</h2><p class=\"dim\">{} · revision {} · {calls} calls · {violations} violations · {} notices</p>",
        escape(name),
        escape(is),
        escape(if revisions.is_empty() { "unknown" } else { "" }) + &escape(&revisions.join(", ")),
        status.notices,
    );
    if !status.tools.is_empty() {
        out.push_str("<div class=\"wide\"><table><tr><th>tool</th><th>verdict</th><th class=\"n\">calls</th><th class=\"n\">wrong arguments</th><th class=\"n\">wrong results</th><th class=\"n\">unfinished</th><th class=\"n\">fuel</th><th class=\"n\">time</th></tr>");
        for (name, tool) in &status.tools {
            row(out, name, tool);
        }
        out.push_str("</table></div>");
    }
    if !status.slowest.is_empty() {
        out.push_str("<h3>Slowest validations</h3><div class=\"wide\"><table><tr><th>tool</th><th>of</th><th class=\"n\">time</th><th class=\"n\">fuel</th></tr>");
        for slow in &status.slowest {
            let _ = write!(
                out,
                "<tr><td><code>{}</code></td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escape(&slow.tool),
                slow.side,
                time(slow.time),
                slow.fuel,
            );
        }
        out.push_str("</table></div>");
    }
}

fn row(out: &mut String, name: &str, tool: &Tool) {
    let verdict = match tool.verdict {
        Standing::Unknown => "unknown",
        Standing::Kept => "kept",
        Standing::Changed => "changed",
        Standing::Dropped => "dropped",
    };
    let (arguments, results) = (&tool.arguments, &tool.results);
    let _ = write!(
        out,
        "<tr><td><code>{}</code>{}</td><td class=\"{verdict}\">{verdict}</td><td class=\"n\">{}</td>{}{}{}<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        escape(name),
        findings(&tool.findings),
        tool.calls,
        count(arguments.invalid),
        count(results.invalid),
        count(arguments.unfinished + results.unfinished),
        arguments.fuel.saturating_add(results.fuel),
        time(arguments.time + results.time),
    );
}

fn findings(findings: &[String]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut items = String::from("<ul>");
    for finding in findings {
        let _ = write!(items, "<li><code>{}</code></li>", escape(finding));
    }
    items + "</ul>"
}

fn count(n: u64) -> String {
    format!("<td class=\"n{}\">{n}</td>", if n > 0 { " bad" } else { "" })
}

fn time(time: Duration) -> String {
    match time.as_micros() {
        micros @ 0..1000 => format!("{micros} µs"),
        micros @ 1000..1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// `text` where it cannot be taken for anything but text.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}
