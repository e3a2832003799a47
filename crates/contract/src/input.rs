//! Input schemas: what a tool takes.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolpact_schema::{Measured, Options, Schema, Verdict};

use crate::{
    ContractError, ContractErrorKind, Side,
    json_type::{kind, show},
};

/// An input schema, admitted and compiled: a JSON object whose root says `type: "object"`.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::InputSchema;
///
/// // An author may leave the root `type` out; on the wire it has to be there.
/// let schema = json!({ "properties": { "city": { "type": "string" } }, "required": ["city"] });
/// let authored = InputSchema::authored(schema.clone())?;
/// assert_eq!(authored.value()["type"], "object");
/// assert!(authored.validate(&json!({ "city": "Bern" })).is_valid());
///
/// let error = InputSchema::received(schema).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "input schema #: expected `type: \"object\"` at the root, found none"
/// );
/// # Ok::<(), toolpact_contract::ContractError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputSchema {
    value: Arc<Value>,
    schema: Schema,
}

impl InputSchema {
    /// The schema of a tool's author: a missing root `type` is completed.
    ///
    /// Fails where `schema` is not a JSON object, where its root `type` is anything but `"object"`,
    /// and where it is not admitted ([`Schema::compile`]).
    pub fn authored(schema: Value) -> Result<Self, ContractError> {
        Self::authored_with(schema, &Options::default())
    }

    /// [`InputSchema::authored`] with other options.
    pub fn authored_with(mut schema: Value, options: &Options) -> Result<Self, ContractError> {
        if let Value::Object(map) = &mut schema {
            complete(map);
        }
        Self::received_with(schema, options)
    }

    /// A schema from the wire: nothing is added.
    ///
    /// Fails as [`InputSchema::authored`] does, and where the root has no `type`.
    pub fn received(schema: Value) -> Result<Self, ContractError> {
        Self::received_with(schema, &Options::default())
    }

    /// [`InputSchema::received`] with other options.
    pub fn received_with(schema: Value, options: &Options) -> Result<Self, ContractError> {
        let refuse = |kind| ContractError::root(Side::Input, kind);
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
        let compiled =
            options.compile(&schema).map_err(|error| ContractError::schema(Side::Input, error))?;
        Ok(Self { value: Arc::new(schema), schema: compiled })
    }

    /// The schema as it goes on the wire.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The compiled schema.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Validates the arguments of a call.
    pub fn validate(&self, arguments: &Value) -> Verdict {
        self.schema.validate(arguments)
    }

    /// Validates the arguments of a call, and says what it cost.
    pub fn measure(&self, arguments: &Value) -> Measured {
        self.schema.measure(arguments)
    }
}

/// Adds a missing root `type`.
pub(crate) fn complete(schema: &mut Map<String, Value>) {
    if !schema.contains_key("type") {
        schema.shift_insert(0, "type".to_owned(), Value::from("object"));
    }
}
