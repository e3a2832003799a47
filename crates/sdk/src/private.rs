//! Items that the code of `#[toolbond::tools]` uses. Not part of the public interface.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

pub use rmcp;
use rmcp::model::{Implementation, ListToolsResult, ServerCapabilities, ServerConfig};
pub use schemars;
pub use serde;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

pub use crate::tools::{
    AllowedParameter, ArgsOfNonObject, Context, Fallible, Infallible, InputSchemaBuilder,
    IntoToolError, IsAllowed, OfOption, OfOther, OtherOutput, Output, Parameter, ParameterType,
    ReturnType, Route, SingleField, StructuredOutput, Unnamed,
};
use crate::{ToolError, Toolbox, Tools, protocol::request_revision};

/// Does not compile for a parameter that is not allowed.
pub const fn assert_allowed<T: IsAllowed>(_: &T) {}

/// Adds a parameter to the input schema.
pub fn describe<P: Parameter<Named, Kind>, Named, Kind>(input: &mut InputSchemaBuilder) {
    P::describe(input);
}

/// Extracts the value of a parameter.
pub fn extract<P: Parameter<Named, Kind>, Named, Kind>(
    arguments: &Value,
    named: &[Option<&str>],
    context: &Context,
) -> Result<P, ToolError> {
    P::extract(arguments, named, context)
}

/// Returns the name of the argument that a parameter is, if it is one.
#[must_use]
pub const fn argument_name<P: Parameter<Named, Kind>, Named, Kind>() -> Option<&'static str> {
    P::NAME
}

/// Deserializes an argument that is there: `null` is a value of it, not the same as no argument.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

/// Converts the error of a tool.
pub fn tool_error<E: IntoToolError<Kind>, Kind>(error: E) -> ToolError {
    error.into_tool_error()
}

/// Returns the toolbox of a generic type, built once for each set of parameters.
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
    // Leaked on purpose: it lives as long as the program, like a static.
    let toolbox: &'static Toolbox<S> = Box::leak(Box::new(build()));
    boxes.insert(id, toolbox);
    toolbox
}

/// How long clients may cache the tool list, in milliseconds: it does not change while the server runs. Without it a
/// client of 2026-07-28 asks for the list before every call.
const LIST_TTL_MS: u64 = 300_000;

/// Returns the answer to `tools/list` of a server whose tools are those of its type.
#[must_use]
pub fn fixed_list<S: Tools>(context: &Context) -> ListToolsResult {
    let mut list = S::toolbox().list();
    list.ttl_ms = request_revision(context).is_natural().then_some(LIST_TTL_MS);
    list
}

/// Returns the configuration of a server with tools.
#[must_use]
pub fn server_config(name: &str, version: &str) -> ServerConfig {
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new(name, version))
}
