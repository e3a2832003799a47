//! A server whose tools fail in every way there is, to see what a client gets to know of it:
//! `cargo run -p toolbond-peers --example faulty [-- --http 127.0.0.1:8080]`.
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use toolbond::ToolError;

#[derive(Clone)]
struct Faulty;

/// Says that it is an integer, and is not.
#[derive(Serialize)]
struct Lie(&'static str);

impl JsonSchema for Lie {
    fn schema_name() -> Cow<'static, str> {
        "Lie".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

#[toolbond::tools]
impl Faulty {
    /// The only one without a fault.
    #[tool]
    fn twice(&self, #[schemars(range(max = 10))] number: u8) -> u8 {
        number * 2
    }

    /// Breaks its own schema.
    #[tool]
    fn lying(&self) -> Lie {
        Lie("secret")
    }

    /// Panics.
    #[tool]
    async fn panicking(&self) -> u8 {
        panic!("secret")
    }

    /// Fails with an error that is none of the client's business.
    #[tool]
    fn failing(&self) -> Result<u8, ToolError> {
        Ok("secret".parse()?)
    }

    /// Answers a moment after a signal to end, so that the call is under way when the server hears of it.
    #[cfg(unix)]
    #[tool]
    async fn slow(&self) -> std::io::Result<bool> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        eprintln!("taking my time");
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        Ok(true)
    }
}

#[tokio::main]
async fn main() -> Result<(), toolbond::ServeError> {
    toolbond::serve_cli(Faulty).await
}
