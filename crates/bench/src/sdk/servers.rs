//! The same two tools, written with the macros of `rmcp` and with ours.

use rmcp::{Json, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Serialize;

/// One of the items of the array.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct Hour {
    time: String,
    temperature: f64,
    humidity: u32,
    conditions: Conditions,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Conditions {
    Sunny,
    Cloudy,
}

/// Twenty items.
fn hours() -> Vec<Hour> {
    let hour = |at: u32| Hour {
        time: format!("{at:02}:00"),
        temperature: 20.5 + f64::from(at),
        humidity: 40 + at,
        conditions: if at.is_multiple_of(3) { Conditions::Cloudy } else { Conditions::Sunny },
    };
    (0..20).map(hour).collect()
}

/// Written with the macros of `rmcp`.
#[derive(Clone)]
pub(crate) struct Bare;

#[tool_router]
impl Bare {
    /// Hourly forecast.
    #[tool]
    async fn forecast(&self) -> Json<Vec<Hour>> {
        Json(hours())
    }

    /// How many there are.
    #[tool]
    async fn count(&self) -> Json<i64> {
        Json(42)
    }
}

#[tool_handler]
impl ServerHandler for Bare {}

/// Written with ours.
#[derive(Clone)]
pub(crate) struct Ours;

#[toolbond::tools]
impl Ours {
    /// Hourly forecast.
    #[tool]
    async fn forecast(&self) -> Vec<Hour> {
        hours()
    }

    /// How many there are.
    #[tool]
    async fn count(&self) -> i64 {
        42
    }
}
