//! The headers of a call whose name or arguments change on their way.

use serde_json::Value;
use toolbond_contract::headers::{encode, param_headers};

/// A header whose argument changes.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderChange {
    /// Its name.
    pub name: String,
    /// What the client says in the body; a call without it has no such header.
    pub from: Option<Value>,
    /// The value of the header that the changed body asks for.
    pub to: Option<String>,
}

impl HeaderChange {
    /// The header `Mcp-Name` of a call of a view.
    pub fn of_name(view: &str, own: &str) -> Self {
        let (from, to) = (Some(view.into()), encode(&own.into()));
        Self { name: "Mcp-Name".to_owned(), from, to }
    }
}

/// The headers that `schema`, an input schema, asks for and that differ between two versions of the arguments.
pub fn header_changes(schema: &Value, before: Option<&Value>, after: &Value) -> Vec<HeaderChange> {
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
