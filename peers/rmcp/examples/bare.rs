//! A plain `rmcp` server without toolbond, to compare with: `cargo run -p toolbond-peers --example bare [-- --http ADDR]`.
//!
//! Its tools return what they naturally return, and nobody shapes or checks it. Over HTTP the address goes to standard error.

use std::{env, error::Error, sync::Arc};

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    Json, ServerHandler, ServiceExt as _,
    handler::server::wrapper::Parameters,
    schemars::JsonSchema,
    tool, tool_handler, tool_router,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Serialize, JsonSchema)]
struct Day {
    day: String,
    high: f64,
}

#[derive(Serialize, JsonSchema)]
struct Person {
    id: u32,
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Shape {
    Circle { radius: f64 },
    Box { width: f64, height: f64 },
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ranged {
    #[schemars(range(min = 1, max = 10))]
    n: i64,
    #[schemars(regex(pattern = r"^[a-z]{3}$"))]
    code: String,
}

/// Says in its schema that it is a number, and is text.
#[derive(JsonSchema)]
struct Lie {
    #[expect(dead_code, reason = "only its schema is used")]
    n: i64,
}

impl Serialize for Lie {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "n": "not a number" }).serialize(serializer)
    }
}

#[derive(Clone)]
struct Bare;

#[expect(clippy::unused_self, reason = "tools are methods")]
#[tool_router]
impl Bare {
    #[tool(description = "An object")]
    fn today(&self) -> Json<Day> {
        Json(Day { day: "monday".into(), high: 20.5 })
    }

    #[tool(description = "An array")]
    fn forecast(&self) -> Json<Vec<Day>> {
        let days = [("monday", 20.5), ("tuesday", 18.0)];
        Json(days.map(|(day, high)| Day { day: day.into(), high }).into())
    }

    #[tool(description = "A number")]
    fn count(&self) -> Json<i64> {
        Json(42)
    }

    #[tool(description = "An object or null")]
    fn find_person(&self, Parameters(Id { id }): Parameters<Id>) -> Json<Option<Person>> {
        Json((id == 1).then(|| Person { id, name: "Ada".into() }))
    }

    #[tool(description = "A union of objects")]
    fn shape(&self, Parameters(Id { id }): Parameters<Id>) -> Json<Shape> {
        Json(match id {
            1 => Shape::Circle { radius: 2.0 },
            _ => Shape::Box { width: 2.0, height: 3.0 },
        })
    }

    #[tool(description = "A value without a schema")]
    fn undeclared(&self) -> rmcp::model::CallToolResult {
        rmcp::model::CallToolResult::structured(Value::from(vec![1, 2, 3]))
    }

    #[tool(description = "An input with a range and a pattern")]
    fn ranged(&self, Parameters(input): Parameters<Ranged>) -> Json<Ranged> {
        Json(input)
    }

    #[tool(description = "A result that breaks its own schema")]
    fn lying(&self) -> Json<Lie> {
        Json(Lie { n: 0 })
    }
}

#[tool_handler]
impl ServerHandler for Bare {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            Bare.serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        ["--http", address] => http(TcpListener::bind(address).await?).await,
        _ => Err("usage: bare [--http ADDR]".into()),
    }
}

/// Any path is the server's.
async fn http(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    let service = StreamableHttpService::new(
        || Ok(Bare),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let server = http1::Builder::new();
            if let Err(error) = server.serve_connection(TokioIo::new(stream), service).await {
                eprintln!("{error}");
            }
        });
    }
}
