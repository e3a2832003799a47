//! What the code of `#[toolpact::tools]` names. Not part of the interface.

pub use rmcp;
use rmcp::{
    RoleServer,
    model::{Implementation, ServerCapabilities, ServerConfig},
    service::RequestContext,
};
pub use schemars;
pub use serde;
use serde_json::Value;

use crate::ToolError;
pub use crate::tools::{
    Carries, Fallible, Infallible, Input, IntoToolError, Output, Parameter, Returns, Route,
    StructuredOutput, Unnamed,
};

/// The context of a request to a server.
pub type Context = RequestContext<RoleServer>;

/// Adds a parameter to the input schema.
pub fn describe<P: Parameter<Named, Kind>, Named, Kind>(input: &mut Input) {
    P::describe(input);
}

/// The value of a parameter.
pub fn take<P: Parameter<Named, Kind>, Named, Kind>(
    arguments: &Value,
    context: &Context,
) -> Result<P, ToolError> {
    P::take(arguments, context)
}

/// The error of a tool.
pub fn tool_error<E: IntoToolError<Kind>, Kind>(error: E) -> ToolError {
    error.into_tool_error()
}

/// A server with tools.
#[must_use]
pub fn server_config(name: &str, version: &str) -> ServerConfig {
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new(name, version))
}
