//! Calls over a pipe in the same process.

use anyhow::{Context as _, ensure};
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use super::{
    request::Era,
    rounds::{Connection, is_answer},
};

/// A connection to a server in this process.
pub(crate) struct Pipe {
    stream: BufReader<DuplexStream>,
    request: String,
    line: Vec<u8>,
}

impl Pipe {
    /// Runs `server` and connects to it.
    pub(crate) async fn open(
        server: impl ServerHandler,
        era: Era,
        tool: &str,
    ) -> anyhow::Result<Self> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(far).await {
                _ = running.waiting().await;
            }
        });
        let request = format!("{}\n", era.call(tool));
        let mut pipe = Self { stream: BufReader::new(near), request, line: Vec::new() };
        for message in era.hello() {
            pipe.stream.write_all(format!("{message}\n").as_bytes()).await?;
            if message.get("id").is_some() {
                pipe.read().await?;
            }
        }
        Ok(pipe)
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        self.line.clear();
        let bytes = self.stream.read_until(b'\n', &mut self.line).await?;
        ensure!(bytes > 0, "the server closed the pipe");
        Ok(())
    }
}

impl Connection for Pipe {
    async fn call(&mut self) -> anyhow::Result<()> {
        self.stream.write_all(self.request.as_bytes()).await?;
        self.read().await?;
        is_answer(&self.line).with_context(|| String::from_utf8_lossy(&self.line).into_owned())
    }
}
