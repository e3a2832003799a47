//! The `Mcp-Param-*` headers of a call whose arguments are repaired.

use serde_json::Value;
use toolpact_contract::headers::{encode, param_headers};

/// A header whose argument changes.
#[derive(Debug, PartialEq)]
pub(crate) struct HeaderChange {
    /// Its name.
    pub(crate) name: String,
    /// The argument as the client sent it; a call without it has no such header.
    pub(crate) from: Option<Value>,
    /// The value of the header that the repaired arguments ask for.
    pub(crate) to: Option<String>,
}

/// The headers that `schema`, an input schema, asks for and that differ between two versions of the arguments.
pub(crate) fn header_changes(
    schema: &Value,
    before: Option<&Value>,
    after: &Value,
) -> Vec<HeaderChange> {
    let before = param_headers(schema, before);
    let after = param_headers(schema, Some(after));
    before
        .into_iter()
        .zip(after)
        .filter(|(old, new)| old.value != new.value)
        .map(|(old, new)| HeaderChange {
            name: old.name,
            from: old.value.cloned(),
            to: new.value.and_then(encode),
        })
        .collect()
}
