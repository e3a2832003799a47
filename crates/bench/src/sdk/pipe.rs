//! Calls over a pipe in the same process.

use std::time::{Duration, Instant};

use anyhow::ensure;
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::runtime::{self, Runtime};
use toolbond_harness::mcp::INITIALIZED;

use crate::load::{Call, Load, Measured, Right};

/// A connection to a server in this process, on one thread with it: nothing but their own work counts.
pub(super) struct Pipe {
    runtime: Runtime,
    stream: Stream,
    call: Call,
    right: Right,
}

struct Stream(BufReader<DuplexStream>);

impl Stream {
    async fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>> {
        self.0.write_all(format!("{message}\n").as_bytes()).await?;
        let mut line = Vec::new();
        let bytes = self.0.read_until(b'\n', &mut line).await?;
        ensure!(bytes > 0, "the server closed the pipe");
        Ok(line)
    }
}

impl Pipe {
    /// Runs `server`, connects to it and sees a right answer.
    pub(super) fn open(server: impl ServerHandler, call: Call) -> anyhow::Result<Box<dyn Load>> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (near, far) = tokio::io::duplex(64 * 1024);
        runtime.spawn(async move {
            if let Ok(running) = server.serve(far).await {
                _ = running.waiting().await;
            }
        });
        let mut stream = Stream(BufReader::new(near));
        let right = runtime.block_on(async {
            if let Some(hello) = call.era.hello() {
                stream.ask(&hello).await?;
                stream.0.write_all(format!("{INITIALIZED}\n").as_bytes()).await?;
            }
            call.check(stream.ask(&call.message(1)).await?)
        })?;
        Ok(Box::new(Self { runtime, stream, call, right }))
    }
}

impl Load for Pipe {
    /// There is one client, whatever is asked for.
    fn connect(&mut self, _clients: usize) -> anyhow::Result<()> {
        Ok(())
    }

    fn run(&mut self, time: Duration) -> anyhow::Result<Measured> {
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < time {
            let asked = Instant::now();
            let message = self.call.message(times.len() + 2);
            let answer = self.runtime.block_on(self.stream.ask(&message))?;
            times.push(asked.elapsed());
            self.right.check(&answer)?;
        }
        Measured::new(times, start.elapsed())
    }
    fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>> {
        self.runtime.block_on(self.stream.ask(message))
    }
}
