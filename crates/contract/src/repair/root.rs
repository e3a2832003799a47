//! Input schemas with a wrong root that can mean only one thing.

use serde_json::{Value, json};
use toolbond_schema::Pointer;

use super::idiom::Extent;
use super::nullable::NULLABLE;
use crate::{
    Finding, Side,
    json_type::{kind, show},
    role::{Role, complete},
    rules::{input_root::INPUT_ROOT, input_root_type::INPUT_ROOT_TYPE},
};

/// Finds what is wrong with the root, if [`fix`] can repair it. Includes fatal findings if `fatal` is set.
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

/// Repairs the root. Arguments are always an object, so the same arguments stay valid.
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

/// Whether the type is a list that contains `"object"`, or `null`, which some serialisers write for a missing type.
fn names_object(types: &Value) -> bool {
    match types {
        Value::Array(types) => types.iter().any(|name| name == "object"),
        types => types.is_null(),
    }
}

/// Whether the schema is `null`, `true`, or an empty object as PHP encodes it.
fn allows_any(schema: &Value) -> bool {
    match schema {
        Value::Null | Value::Bool(true) => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
