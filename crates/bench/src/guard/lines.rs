//! A process that is talked to one message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A process and its standard streams.
pub(crate) struct Lines {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<usize>,
    method: Option<IgnoredAny>,
}

impl Lines {
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = streams.context("no standard streams")?;
        Ok(Self { child, stdin, stdout: BufReader::with_capacity(64 << 10, stdout) })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &str) -> anyhow::Result<()> {
        Ok(self.stdin.write_all(format!("{message}\n").as_bytes())?)
    }

    /// The next answer, and the id of what it answers; other messages are passed over.
    pub(crate) fn answer(&mut self) -> anyhow::Result<(usize, Vec<u8>)> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.stdout.read_until(b'\n', &mut line)? == 0 {
                bail!("it ended");
            }
            let answer = serde_json::from_slice::<Answer>(&line);
            if let Ok(Answer { id: Some(id), method: None }) = answer {
                return Ok((id, line));
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
