//! The servers that are called, each a process of this program.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use clap::ValueEnum;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::net::TcpListener;
use tokio::runtime;
use toolbond_harness::process::{Process, command};

use crate::plain;
use crate::weather::{Bare, Objects};

/// What a server is.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Made with `rmcp`, with a tool that gives an array.
    Arrays,
    /// The same in no revision before 2026-07-28.
    Modern,
    /// The same in an object.
    Objects,
    /// Answers from prepared text, and misbehaves on request.
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// On a free port, which is printed.
    Http,
    /// On standard input and output.
    Stdio,
}

/// A server.
#[derive(clap::Args)]
pub(crate) struct Options {
    kind: Kind,
    transport: Transport,
    #[command(flatten)]
    plain: plain::Options,
}

/// Has the plain server speak both eras, so that the guard has nothing to translate.
pub(crate) const BOTH_ERAS: [&str; 2] = ["--eras", "both"];

/// The words that start a server on standard input and output.
pub(crate) fn words(arguments: &[&str]) -> anyhow::Result<Vec<String>> {
    let program = std::env::current_exe()?.into_os_string().into_string();
    let program = program.ok().context("the path of this program is not text")?;
    let words = [program.as_str(), "serve"].into_iter().chain(arguments.iter().copied());
    Ok(words.map(str::to_owned).collect())
}

/// Starts a server on HTTP, on a free port.
pub(crate) fn on_http(kind: &str, options: &[&str]) -> anyhow::Result<(Process, u16)> {
    let words = words(&[&[kind, "http"], options].concat())?;
    Ok(Process::listening(command(&words)))
}

impl Options {
    /// Serves until the process is ended, or its input ends.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let is_http = self.transport == Transport::Http;
        match self.kind {
            Kind::Arrays => serve(is_http, Bare::default()),
            Kind::Modern => serve(is_http, Bare { is_modern_only: true }),
            Kind::Objects => serve(is_http, Objects),
            Kind::Plain if is_http => plain::on_http(&self.plain),
            Kind::Plain => plain::on_stdio(&self.plain),
        }
    }
}

fn serve<H: ServerHandler + Clone>(is_http: bool, handler: H) -> anyhow::Result<()> {
    if is_http {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
        return runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            say_port(listener.local_addr()?.port())?;
            answer(listener, handler, false).await
        });
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        handler.serve(stdio()).await?.waiting().await?;
        anyhow::Ok(())
    })
}

/// Tells whoever started this process where it listens.
pub(crate) fn say_port(port: u16) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{port}")?;
    Ok(stdout.flush()?)
}

/// Answers clients with JSON, those of 2025-11-25 with sessions or without.
pub(crate) async fn answer<H: ServerHandler + Clone>(
    listener: TcpListener,
    handler: H,
    with_sessions: bool,
) -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(with_sessions);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        let server = hyper::server::conn::http1::Builder::new();
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
}
