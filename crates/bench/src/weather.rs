//! The tools that are called, written with the macros of `rmcp` and with ours.

use std::borrow::Cow;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ProtocolVersion, Tool};
use rmcp::{Json, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the items of an array.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct Hour {
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

/// So many hours; twenty unless told otherwise.
pub(crate) fn forecast(hours: Option<u32>) -> Vec<Hour> {
    let hour = |hour| {
        let wind = Wind { speed: 3.5 + f64::from(hour), from: "north-west".into() };
        let celsius = 18.25 - f64::from(hour);
        Hour { of_day: hour, celsius, sky: "scattered clouds".into(), wind }
    };
    (0..hours.unwrap_or(20)).map(hour).collect()
}

#[derive(Deserialize, JsonSchema)]
struct City {
    #[expect(dead_code, reason = "every city has the same weather")]
    city: String,
    #[schemars(range(min = 1, max = 48))]
    hours: Option<u32>,
}

/// Written with the macros of `rmcp`.
#[derive(Clone, Default)]
pub(crate) struct Bare {
    /// Speaks no revision before 2026-07-28.
    pub(crate) is_modern_only: bool,
}

#[expect(clippy::unused_self, reason = "tools are methods")]
#[tool_router]
impl Bare {
    /// The tools, as they are listed.
    pub(crate) fn listed() -> Vec<Tool> {
        Self::tool_router().list_all()
    }

    #[tool(description = "The weather of some hours: an array")]
    fn forecast(&self, Parameters(city): Parameters<City>) -> Json<Vec<Hour>> {
        Json(forecast(city.hours))
    }

    #[tool(description = "How many there are")]
    fn count(&self) -> Json<i64> {
        Json(42)
    }
}

#[tool_handler]
impl ServerHandler for Bare {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        if self.is_modern_only {
            return Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]);
        }
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}

/// The forecast in an object, for peers that carry nothing else.
#[derive(Clone)]
pub(crate) struct Objects;

#[derive(Serialize, JsonSchema)]
struct Report {
    hours: Vec<Hour>,
}

#[expect(clippy::unused_self, reason = "tools are methods")]
#[tool_router]
impl Objects {
    /// The tools, as they are listed.
    pub(crate) fn listed() -> Vec<Tool> {
        Self::tool_router().list_all()
    }

    #[tool(description = "The weather of some hours: an object")]
    fn report(&self, Parameters(city): Parameters<City>) -> Json<Report> {
        Json(Report { hours: forecast(city.hours) })
    }
}

#[tool_handler]
impl ServerHandler for Objects {}

/// Written with ours.
#[derive(Clone)]
pub(crate) struct Ours;

#[toolbond::tools]
impl Ours {
    /// The weather of some hours: an array
    #[tool]
    fn forecast(
        &self,
        #[expect(unused_variables, reason = "every city has the same weather")] city: String,
        #[schemars(range(min = 1, max = 48))] hours: Option<u32>,
    ) -> Vec<Hour> {
        forecast(hours)
    }

    /// How many there are
    #[tool]
    fn count(&self) -> i64 {
        42
    }
}
