//! Input schemas whose root is not what it has to be, but can only mean one thing.

use serde_json::{Value, json};
use toolpact_schema::Pointer;

use super::{Extent, nullable::NULLABLE};
use crate::{
    Finding, Side,
    json_type::{kind, show},
    rules::{input_root::INPUT_ROOT, input_root_type::INPUT_ROOT_TYPE},
    tool_schema::{Role, complete},
};

/// What is wrong with the root, where [`fix`] can mend it; what is `fatal` only where the schema was
/// not admitted.
pub(super) fn find(schema: &Value, fatal: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if fatal {
        findings.extend(find_type(schema));
    }
    if is_nullable(schema) {
        findings.push(
            NULLABLE
                .finding("expected no `nullable` (arguments are always an object), found true")
                .at(Pointer::from("/inputSchema/nullable"))
                .side(Side::Input),
        );
    }
    findings
}

fn find_type(schema: &Value) -> Option<Finding> {
    let at = Pointer::root().join("inputSchema");
    let finding = match schema {
        Value::Object(map) => match map.get("type") {
            None => INPUT_ROOT_TYPE
                .finding("expected `type: \"object\"` at the root, found none")
                .at(at),
            Some(list) if names_object(list) => INPUT_ROOT_TYPE
                .finding(format!("expected `type: \"object\"` at the root, found {}", show(list)))
                .at(at.join("type")),
            Some(_) => return None,
        },
        other if allows_any(other) => INPUT_ROOT
            .finding(format!("expected a schema (an object), found {}", kind(other)))
            .at(at),
        _ => return None,
    };
    Some(finding.side(Side::Input))
}

/// Completes or narrows the root; arguments are always an object, so the same ones stay valid.
pub(super) fn fix(schema: &mut Value, extent: Extent) {
    if extent != Extent::Fatal
        && is_nullable(schema)
        && let Value::Object(map) = schema
    {
        map.shift_remove("nullable");
    }
    if extent == Extent::Legal {
        return;
    }
    match schema {
        Value::Object(map) => {
            complete(Role::Input, map);
            if map.get("type").is_some_and(names_object) {
                map.insert("type".to_owned(), "object".into());
            }
        }
        other if allows_any(other) => *other = json!({ "type": "object" }),
        _ => {}
    }
}

fn is_nullable(schema: &Value) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true))
}

/// A list of types with `"object"` among them, or the `null` some serialisers write for no type.
fn names_object(types: &Value) -> bool {
    match types {
        Value::Array(types) => types.iter().any(|name| name == "object"),
        types => types.is_null(),
    }
}

/// `null`, `true`, and an empty object as PHP encodes it.
fn allows_any(schema: &Value) -> bool {
    match schema {
        Value::Null | Value::Bool(true) => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
