//! Published clients against the demo server, and against a plain `rmcp` server as `docs/hosts.md` says.

use serde_json::{Value, json};
use toolbond_harness::peers;
use toolbond_harness::process::{self, Process};

/// A program of `peers/clients`, as one client.
pub(crate) struct Client {
    /// Its name in the table.
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) mode: &'static str,
    /// Whether it speaks 2026-07-28 to a server that does.
    pub(crate) is_natural: bool,
}

/// One test, one client.
macro_rules! clients {
    ($($test:ident: $name:expr, $program:expr, $mode:expr, $is_natural:expr;)*) => {$(
        #[test]
        fn $test() {
            let client =
                Client { name: $name, program: $program, mode: $mode, is_natural: $is_natural };
            client.fares_as_expected();
        }
    )*};
}

clients! {
    typescript_v1: "TypeScript SDK v1", "typescript.mjs", "v1", false;
    typescript_v2_default: "TypeScript SDK v2, default", "typescript.mjs", "legacy", false;
    typescript_v2_modern: "TypeScript SDK v2, 2026-07-28", "typescript.mjs", "modern", true;
    python_v1: "Python SDK 1.x", "python_v1.py", "legacy", false;
    python_v2_legacy: "Python SDK 2.x, legacy", "python_v2.py", "legacy", false;
    python_v2_auto: "Python SDK 2.x, auto", "python_v2.py", "auto", true;
    fastmcp_legacy: "FastMCP, legacy", "fastmcp_v4.py", "legacy", false;
    fastmcp_auto: "FastMCP, auto", "fastmcp_v4.py", "auto", true;
}

impl Client {
    /// Each server over standard input and output, and over HTTP.
    fn fares_as_expected(&self) {
        let cases = data("demo");
        let pair = |case: &Value| json!([case["tool"], case["arguments"]]);
        let calls: Value = cases.as_array().unwrap().iter().map(pair).collect();
        let demo = env!("CARGO_BIN_EXE_toolbond");
        let bare = peers::words("rmcp/bare").remove(0);
        let bare = bare.as_str();
        let (_demo, demo_url) = listen(&[demo, "demo"]);
        let (_bare, bare_url) = listen(&[bare]);
        let reports = self.visit(&json!([
            [[demo, "demo", "--stdio"], calls],
            [[demo_url], calls],
            [[bare], data("bare")],
            [[bare_url], data("bare")],
        ]));
        let [over_stdio, over_http, bare_over_stdio, bare_over_http] = reports.as_slice() else {
            panic!("{}: {reports:?}", self.name)
        };
        for report in [over_stdio, over_http] {
            self.reads_the_demo_server(cases.as_array().unwrap(), report);
        }
        for report in [bare_over_stdio, bare_over_http] {
            self.fares_as_documented_without_toolbond(report);
        }
    }

    fn reads_the_demo_server(&self, cases: &[Value], report: &Value) {
        let mut tools: Vec<&Value> = cases.iter().map(|case| &case["tool"]).collect();
        tools.dedup();
        assert_eq!(report["tools"], json!(tools), "{}", self.name);
        for (case, seen) in cases.iter().zip(report["calls"].as_array().unwrap()) {
            self.compare(case, seen);
        }
    }

    /// Holds what came of a call against the expectation.
    fn compare(&self, case: &Value, seen: &Value) {
        let Some(value) = case.get("value") else {
            let told = seen["error"].as_str().unwrap_or_default();
            assert!(told.contains(case["error"].as_str().unwrap()), "{}: {seen}", self.name);
            return;
        };
        let wrapped = !self.is_natural && case.get("envelope").is_some();
        let expected = if wrapped { json!({ "result": value }) } else { value.clone() };
        assert_eq!(seen.get("value"), Some(&expected), "{}: {case}", self.name);
        if let Some(data) = seen.get("data") {
            assert_eq!(*data, expected, "{}: {case}", self.name);
        }
    }

    fn fares_as_documented_without_toolbond(&self, report: &Value) {
        let mut cells = vec![if report["tools"].is_array() { "ok" } else { "fails" }];
        let results = report["calls"].as_array().unwrap();
        for (call, result) in data("bare").as_array().unwrap().iter().zip(results) {
            let is_wrong = ["ranged", "lying"].iter().any(|name| call[0] == *name);
            cells.push(match result.get("value") {
                None => "fails",
                Some(_) if is_wrong => "wrong data",
                Some(_) => "ok",
            });
        }
        let row = format!("| {} | {} |", self.name, cells.join(" | "));
        let page = include_str!("../../../../docs/hosts.md");
        assert!(page.contains(&row), "`docs/hosts.md` does not have\n{row}");
    }

    /// What the client reports of each server.
    pub(crate) fn visit(&self, visits: &Value) -> Vec<Value> {
        let mut command = peers::command(&format!("clients/{}", self.program));
        command.arg(self.mode).arg(visits.to_string());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.name);
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

/// Starts `server` on a free port: the process and its URL.
pub(crate) fn listen(server: &[&str]) -> (Process, String) {
    let mut command = process::command(server);
    command.args(["--http", "127.0.0.1:0"]);
    let (process, port) = Process::listening(command);
    (process, format!("http://127.0.0.1:{port}/mcp"))
}

pub(crate) fn data(name: &str) -> Value {
    let data: Value =
        serde_json::from_str(include_str!("../../../../peers/clients/calls.json")).unwrap();
    data[name].clone()
}
