//! Calls over Streamable HTTP on loopback, connections kept.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service as _;

use super::{
    request::Era,
    rounds::{Connection, is_answer},
};

/// Serves `server` as long as the runtime lives.
pub(crate) async fn serve<H: ServerHandler + Clone>(server: H) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let factory = move || Ok::<_, std::io::Error>(server.clone());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(factory, sessions, config);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            _ = stream.set_nodelay(true);
            let service = service.clone();
            let answer = service_fn(move |request: Request<Incoming>| {
                let mut service = service.clone();
                async move { service.call(request).await }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    Ok(address)
}

/// A client with a connection of its own.
pub(crate) struct Post {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    era: Era,
    tool: &'static str,
    session: Option<String>,
    body: Bytes,
}

impl Post {
    /// Connects to the server at `address`.
    pub(crate) async fn open(
        address: SocketAddr,
        era: Era,
        tool: &'static str,
    ) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let body = era.call(tool).into();
        let mut post = Self { sender, host: address.to_string(), era, tool, session: None, body };
        for message in era.hello() {
            post.send(message.to_string().into()).await?;
        }
        Ok(post)
    }

    async fn send(&mut self, body: Bytes) -> anyhow::Result<Bytes> {
        let mut request = Request::post("/mcp")
            .header("host", &self.host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if self.era == Era::Modern {
            request = request.header("mcp-method", "tools/call").header("mcp-name", self.tool);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.era == Era::Modern || self.session.is_some() {
            request = request.header("mcp-protocol-version", self.era.revision());
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Full::new(body))?).await?;
        ensure!(response.status().is_success(), "status {}", response.status());
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.to_str()?.to_owned());
        }
        Ok(response.into_body().collect().await?.to_bytes())
    }
}

impl Connection for Post {
    async fn call(&mut self) -> anyhow::Result<()> {
        let answer = self.send(self.body.clone()).await?;
        is_answer(&answer).with_context(|| String::from_utf8_lossy(&answer).into_owned())
    }
}
