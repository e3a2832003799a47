//! `wrk`, a load generator that others wrote.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::load::{HttpLoad, Measured, Speaks};
use super::peers::Installed;

/// How long a round takes; `wrk` knows no shorter time.
const SECONDS: u64 = 1;

/// `wrk` with one call.
pub(crate) struct Wrk {
    program: PathBuf,
    script: PathBuf,
    installed: Installed,
}

impl Wrk {
    /// Prepares calls of `forecast`, each of which has to be answered with `answer`, byte for byte.
    pub(crate) fn checking(answer: &str) -> anyhow::Result<Self> {
        let check = format!(
            "expected = [==[{answer}]==]\nresponse = function(status, headers, body)\n\
             \x20 if status ~= 200 or body ~= expected then wrong = wrong + 1 end\nend\n"
        );
        let installed = Installed::new();
        let program = installed.program("wrk", "usr/bin/wrk")?;
        let script = installed.folder("wrk")?.join(format!("{}.lua", std::process::id()));
        let body = Speaks::Natural.call(1, "forecast");
        let text = format!(
            "wrk.method = \"POST\"\nwrk.body = [==[{body}]==]\n\
             wrk.headers[\"content-type\"] = \"application/json\"\n\
             wrk.headers[\"accept\"] = \"application/json, text/event-stream\"\n\
             wrk.headers[\"mcp-protocol-version\"] = \"2026-07-28\"\n\
             wrk.headers[\"mcp-method\"] = \"tools/call\"\n\
             wrk.headers[\"mcp-name\"] = \"forecast\"\n\
             wrong = 0\n{check}setup = function(thread) caller = thread end\n\
             done = function(summary, latency, requests)\n\
             \x20 local e = summary.errors\n\
             \x20 io.write(string.format(\"result %d %d %d %d %d %d %d %d\\n\", summary.requests,\n\
             \x20   summary.duration, summary.bytes, e.connect + e.read + e.write + e.timeout,\n\
             \x20   e.status, latency:percentile(50), latency:percentile(99), caller:get(\"wrong\")))\nend\n"
        );
        fs::write(&script, text)?;
        Ok(Self { program, script, installed })
    }

    /// Lets so many clients call what listens at the port of `load`.
    pub(crate) fn run(&self, load: &HttpLoad, clients: usize) -> anyhow::Result<Measured> {
        let mut command = Command::new(&self.program);
        self.installed.with_libraries(&mut command);
        command.args(["-t", "1", "-c", &clients.to_string(), "-d", &format!("{SECONDS}s")]);
        command.arg("-s").arg(&self.script);
        command.arg(format!("http://127.0.0.1:{}{}", load.port, load.path));
        let output = command.output().context("cannot run wrk")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("result "));
        let line = line.with_context(|| format!("wrk printed no result: {text}"))?;
        let numbers: Vec<u64> =
            line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let &[calls, micros, bytes, broken, refused, p50, p99, wrong] = numbers.as_slice() else {
            anyhow::bail!("wrk printed {line}");
        };
        ensure!(broken == 0, "{broken} connections of wrk were broken");
        ensure!(refused == 0, "{refused} of {calls} calls of wrk were refused");
        ensure!(wrong == 0, "{wrong} of {calls} calls of wrk had a wrong answer");
        ensure!(calls > 0 && bytes / calls > 1000, "wrk read short answers: {line}");
        #[expect(clippy::cast_precision_loss, reason = "counts of one run")]
        let per_second = calls as f64 / (micros as f64 / 1e6);
        let micros = Duration::from_micros;
        let calls = usize::try_from(calls)?;
        Ok(Measured { p50: micros(p50), p99: micros(p99), per_second, calls })
    }
}

impl Drop for Wrk {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.script);
    }
}
