//! The input and output schema of a tool.

use std::sync::Arc;

use serde_json::{Value, json};
use toolbond_schema::{Options, Schema, Verdict};

use crate::{
    ContractError, ContractErrorKind,
    json_type::{kind, show},
    role::{Role, complete},
};

/// The input or output schema of a tool, admitted and compiled.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{Role, ToolSchema};
///
/// // An author may omit the root `type` of an input schema. On the wire it is required.
/// let schema = json!({ "properties": { "city": { "type": "string" } }, "required": ["city"] });
/// let input = ToolSchema::authored(Role::Input, schema.clone())?;
/// assert_eq!(input.value()["type"], "object");
/// assert!(input.validate(&json!({ "city": "Bern" })).is_valid());
/// assert_eq!(
///     ToolSchema::received(Role::Input, schema).unwrap_err().to_string(),
///     "input schema #: expected `type: \"object\"` at the root, found none"
/// );
///
/// // An output schema may describe any value.
/// let hours = json!({ "type": "array", "items": { "type": "integer" } });
/// let output = ToolSchema::authored(Role::Output, hours)?;
/// assert!(output.validate(&json!([9, 10])).is_valid());
///
/// // Booleans go on the wire as objects.
/// assert_eq!(*ToolSchema::authored(Role::Output, json!(true))?.value(), json!({}));
/// # Ok::<(), toolbond_contract::ContractError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSchema {
    role: Role,
    value: Arc<Value>,
    schema: Schema,
}

impl ToolSchema {
    /// Compiles the schema of a tool's author, and completes a missing root `type`.
    ///
    /// An input schema gets `type: "object"`. So does an output schema that has `properties` and no other keyword
    /// that decides what its root allows.
    ///
    /// # Errors
    ///
    /// Fails if the root is not allowed for `role`, or if the schema is not admitted ([`Schema::compile`]).
    pub fn authored(role: Role, schema: Value) -> Result<Self, ContractError> {
        Self::authored_with(role, schema, &Options::default())
    }

    /// The same as [`ToolSchema::authored`], with other options.
    ///
    /// # Errors
    ///
    /// The same as [`ToolSchema::authored`].
    pub fn authored_with(
        role: Role,
        mut schema: Value,
        options: &Options,
    ) -> Result<Self, ContractError> {
        if let Value::Object(map) = &mut schema {
            complete(role, map);
        }
        Self::received_with(role, schema, options)
    }

    /// Compiles a schema from the wire. Adds nothing, but replaces a boolean output schema with the object that means
    /// the same.
    ///
    /// # Errors
    ///
    /// The same as [`ToolSchema::authored`]; also fails if the root of an input schema has no `type`.
    pub fn received(role: Role, schema: Value) -> Result<Self, ContractError> {
        Self::received_with(role, schema, &Options::default())
    }

    /// The same as [`ToolSchema::received`], with other options.
    ///
    /// # Errors
    ///
    /// The same as [`ToolSchema::received`].
    pub fn received_with(
        role: Role,
        schema: Value,
        options: &Options,
    ) -> Result<Self, ContractError> {
        let schema = match role {
            Role::Input => check_input_root(schema)?,
            Role::Output => write_as_object(schema)?,
        };
        let compiled =
            options.compile(&schema).map_err(|error| ContractError::schema(role, error))?;
        Ok(Self { role, value: Arc::new(schema), schema: compiled })
    }

    /// What the schema describes.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The schema in its natural shape.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The compiled schema.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Validates arguments, or structured content in its natural shape.
    pub fn validate(&self, value: &Value) -> Verdict {
        self.schema.validate(value)
    }
}

fn check_input_root(schema: Value) -> Result<Value, ContractError> {
    let refuse = |kind| ContractError::root(Role::Input, kind);
    let Value::Object(map) = &schema else {
        return Err(refuse(ContractErrorKind::InputRoot { found: kind(&schema) }));
    };
    if map.get("type").and_then(Value::as_str) != Some("object") {
        let found = map.get("type").map_or_else(|| "none".to_owned(), show);
        let mut error = refuse(ContractErrorKind::InputType { found });
        if map.contains_key("type") {
            error.pointer.push("type");
        }
        return Err(error);
    }
    Ok(schema)
}

/// Replaces a boolean output schema with the object that means the same.
fn write_as_object(schema: Value) -> Result<Value, ContractError> {
    match schema {
        Value::Bool(true) => Ok(json!({})),
        Value::Bool(false) => Ok(json!({ "not": {} })),
        Value::Object(_) => Ok(schema),
        other => {
            let kind = ContractErrorKind::OutputRoot { found: kind(&other) };
            Err(ContractError::root(Role::Output, kind))
        }
    }
}
