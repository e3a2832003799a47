//! What the code of `#[toolpact::tools]` names. Not part of the interface.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

pub use rmcp;
use rmcp::model::{Implementation, ListToolsResult, ServerCapabilities, ServerConfig};
pub use schemars;
pub use serde;
use serde_json::Value;

pub use crate::tools::{
    Carries, Context, Fallible, Fit, Infallible, Input, IntoToolError, Misfit, Otherwise, Output,
    Parameter, Returns, Route, StructuredOutput, Taken, Unnamed,
};
use crate::{ToolError, Toolbox, Tools};

/// Refuses a parameter that does not fit.
pub const fn fits<T: Fit>(_: &T) {}

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

/// The toolbox of a type with parameters, built once for each set of them.
pub fn toolbox<S: Send + Sync + 'static>(build: fn() -> Toolbox<S>) -> &'static Toolbox<S> {
    type Built = RwLock<HashMap<TypeId, &'static (dyn Any + Send + Sync)>>;
    static BUILT: LazyLock<Built> = LazyLock::new(Built::default);
    let id = TypeId::of::<S>();
    let known = |boxes: &HashMap<_, &'static (dyn Any + Send + Sync)>| {
        boxes.get(&id).and_then(|toolbox| toolbox.downcast_ref::<Toolbox<S>>())
    };
    if let Some(toolbox) = known(&BUILT.read().unwrap_or_else(PoisonError::into_inner)) {
        return toolbox;
    }
    let mut boxes = BUILT.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(toolbox) = known(&boxes) {
        return toolbox;
    }
    // Lives as long as the program, like a static.
    let toolbox: &'static Toolbox<S> = Box::leak(Box::new(build()));
    boxes.insert(id, toolbox);
    toolbox
}

/// How long clients may keep the list of tools that do not change while the server runs, in milliseconds. Without it
/// a client of 2026-07-28 asks for the list before every call.
const KEPT: u64 = 300_000;

/// The answer to `tools/list` of a server whose tools are those of its type.
#[must_use]
pub fn fixed_list<S: Tools>() -> ListToolsResult {
    let mut list = S::toolbox().list();
    list.ttl_ms = Some(KEPT);
    list
}

/// A server with tools.
#[must_use]
pub fn server_config(name: &str, version: &str) -> ServerConfig {
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new(name, version))
}
