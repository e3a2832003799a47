//! The server behind everything that is measured: plain `rmcp`, JSON answers, no delay.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{
    Json, ServerHandler, ServiceExt as _, handler::server::wrapper::Parameters, tool, tool_handler,
    tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Clone, Serialize, JsonSchema)]
struct Hour {
    of_day: u32,
    celsius: f64,
    sky: String,
    wind: Wind,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Wind {
    speed: f64,
    from: String,
}

#[derive(Deserialize, JsonSchema)]
struct City {
    #[expect(dead_code, reason = "every city has the same weather")]
    city: String,
    #[schemars(range(min = 1, max = 48))]
    hours: Option<u32>,
}

#[derive(Clone, Default)]
struct Weather {
    /// Speaks no revision before 2026-07-28.
    is_modern_only: bool,
}

fn hour(hour: u32) -> Hour {
    let wind = Wind { speed: 3.5 + f64::from(hour), from: "north-west".into() };
    Hour { of_day: hour, celsius: 18.25 - f64::from(hour), sky: "scattered clouds".into(), wind }
}

#[expect(clippy::unused_self, reason = "tools are methods")]
#[tool_router]
impl Weather {
    #[tool(description = "The weather of some hours: an array")]
    fn forecast(&self, Parameters(city): Parameters<City>) -> Json<Vec<Hour>> {
        Json((0..city.hours.unwrap_or(20)).map(hour).collect())
    }
}

/// The same in an object, for peers that carry nothing else.
#[derive(Clone)]
struct Objects;

#[derive(Serialize, JsonSchema)]
struct Report {
    hours: Vec<Hour>,
}

#[expect(clippy::unused_self, reason = "tools are methods")]
#[tool_router]
impl Objects {
    #[tool(description = "The weather of some hours: an object")]
    fn report(&self, Parameters(city): Parameters<City>) -> Json<Report> {
        Json(Report { hours: (0..city.hours.unwrap_or(20)).map(hour).collect() })
    }
}

#[tool_handler]
impl ServerHandler for Objects {}

#[tool_handler]
impl ServerHandler for Weather {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        if self.is_modern_only {
            return Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]);
        }
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}

/// What a server offers.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Offers {
    /// A tool that gives an array.
    Arrays,
    /// The same tool, in no revision before 2026-07-28.
    Modern,
    /// The same in an object.
    Objects,
}

/// Serves on standard input and output until they end.
pub(crate) fn on_stdio(offers: Offers) -> anyhow::Result<()> {
    match offers {
        Offers::Arrays => serve_stdio(Weather::default()),
        Offers::Modern => serve_stdio(Weather { is_modern_only: true }),
        Offers::Objects => serve_stdio(Objects),
    }
}

fn serve_stdio<H: ServerHandler>(handler: H) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        handler.serve(stdio()).await?.waiting().await?;
        anyhow::Ok(())
    })
}

/// Serves on a free port of this machine, which it prints, until the process is ended.
pub(crate) fn on_http(offers: Offers) -> anyhow::Result<()> {
    match offers {
        Offers::Arrays => serve_http(Weather::default()),
        Offers::Modern => serve_http(Weather { is_modern_only: true }),
        Offers::Objects => serve_http(Objects),
    }
}

fn serve_http<H: ServerHandler + Clone>(handler: H) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_legacy_session_mode(false);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?.port())?;
        stdout.flush()?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service),
            );
        }
    })
}
