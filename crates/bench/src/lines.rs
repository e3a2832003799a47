//! A process that is talked to one message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use memchr::memmem::find;
use toolbond_harness::mcp::INITIALIZED;
use toolbond_harness::process::Process;

/// A process and its standard streams.
pub(crate) struct Lines {
    pub(crate) process: Process,
    pub(crate) input: ChildStdin,
    pub(crate) output: Output,
}

/// What a process answers.
pub(crate) struct Output(BufReader<ChildStdout>);

impl Lines {
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(command);
        let streams = process.child.stdin.take().zip(process.child.stdout.take());
        let (input, output) = streams.context("no standard streams")?;
        let output = Output(BufReader::with_capacity(64 << 10, output));
        Ok(Self { process, input, output })
    }

    pub(crate) fn send(&mut self, message: &str) -> anyhow::Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes())?)
    }

    /// Sends a request and returns the next answer.
    pub(crate) fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>> {
        self.send(message)?;
        Ok(self.output.answer()?.1)
    }

    /// Begins with a handshake, where there is one.
    pub(crate) fn shake_hands(&mut self, hello: Option<String>) -> anyhow::Result<()> {
        if let Some(hello) = hello {
            self.ask(&hello).context("initialize")?;
            self.send(INITIALIZED)?;
        }
        Ok(())
    }
}

impl Output {
    /// The next answer, and the id of what it answers; other messages are passed over.
    pub(crate) fn answer(&mut self) -> anyhow::Result<(usize, Vec<u8>)> {
        let mut line = Vec::new();
        loop {
            line.clear();
            ensure!(self.0.read_until(b'\n', &mut line)? > 0, "it ended");
            if let Some(id) = answered(&line) {
                return Ok((id, line));
            }
        }
    }
}

/// The id of what a line answers: 0 for a batch, and for one that was refused as a whole.
fn answered(line: &[u8]) -> Option<usize> {
    if line.starts_with(b"[") {
        return Some(0);
    }
    let id = line[find(line, b"\"id\":")? + 5..].trim_ascii_start();
    if id.starts_with(b"null") {
        return Some(0);
    }
    let digits = id.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&id[..digits]).ok()?.parse().ok()
}
