//! Fixes for what targets refuse.

use std::borrow::Cow;

use serde_json::json;
use toolbond_contract::{Contract, Pointer, Role, dialect::to_2020_12};

use super::{Edit, Fix};
use crate::checks::Tool;

/// The output schema of `tool` as 2020-12, if it is of another dialect and can be converted.
pub(crate) fn modern_output(tool: &Tool<'_>) -> Option<Fix> {
    // A schema that is refused has other problems.
    tool.contract.and_then(Contract::output)?;
    let member = Role::Output.member();
    let Ok(Cow::Owned(value)) = to_2020_12(tool.value.get(member)?) else { return None };
    let edits = vec![Edit::Set { pointer: Pointer::root().join(member), value }];
    Some(Fix::safe(format!("write `{member}` as 2020-12, without `$schema`"), edits))
}

/// `properties` for an input schema without any.
pub(crate) fn empty_properties(tool: &Tool<'_>) -> Option<Fix> {
    let member = Role::Input.member();
    let schema = tool.value.get(member)?.as_object()?;
    let pointer = Pointer::root().join(member).join("properties");
    let edits = vec![Edit::Set { pointer, value: json!({}) }];
    (!schema.contains_key("properties")).then(|| Fix::safe("add `\"properties\": {}`", edits))
}
