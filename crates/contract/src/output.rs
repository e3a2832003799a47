//! Output schemas: what a tool gives.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolpact_schema::{Measured, Options, Schema, Verdict};

use crate::{ContractError, ContractErrorKind, Side, json_type::kind};

/// An output schema, admitted and compiled: any schema, booleans included.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::OutputSchema;
///
/// let hours = OutputSchema::authored(json!({ "type": "array", "items": { "type": "integer" } }))?;
/// assert!(hours.validate(&json!([9, 10])).is_valid());
///
/// // The `properties`-only shorthand is completed, and nothing else is.
/// let shorthand = OutputSchema::authored(json!({ "properties": { "n": {} } }))?;
/// assert_eq!(shorthand.value()["type"], "object");
/// assert_eq!(*OutputSchema::authored(json!({}))?.value(), json!({}));
///
/// // Booleans go on the wire as objects.
/// assert_eq!(*OutputSchema::authored(json!(true))?.value(), json!({}));
/// assert_eq!(*OutputSchema::authored(json!(false))?.value(), json!({ "not": {} }));
///
/// assert_eq!(
///     OutputSchema::received(json!(null)).unwrap_err().to_string(),
///     "output schema #: expected a schema (an object or a boolean), found null"
/// );
/// # Ok::<(), toolpact_contract::ContractError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OutputSchema {
    value: Arc<Value>,
    schema: Schema,
}

impl OutputSchema {
    /// The schema of a tool's author: the `properties`-only shorthand is completed with
    /// `type: "object"`. A root that decides what it allows in any other way is left as it is.
    ///
    /// Fails where `schema` is neither a JSON object nor a boolean, and where it is not admitted
    /// ([`Schema::compile`]).
    pub fn authored(schema: Value) -> Result<Self, ContractError> {
        Self::authored_with(schema, &Options::default())
    }

    /// [`OutputSchema::authored`] with other options.
    pub fn authored_with(mut schema: Value, options: &Options) -> Result<Self, ContractError> {
        if let Value::Object(map) = &mut schema {
            complete(map);
        }
        Self::received_with(schema, options)
    }

    /// A schema from the wire: nothing is added; a boolean is written as the object that means the
    /// same.
    ///
    /// Fails as [`OutputSchema::authored`] does.
    pub fn received(schema: Value) -> Result<Self, ContractError> {
        Self::received_with(schema, &Options::default())
    }

    /// [`OutputSchema::received`] with other options.
    pub fn received_with(schema: Value, options: &Options) -> Result<Self, ContractError> {
        let schema = match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({ "not": {} }),
            Value::Object(_) => schema,
            other => {
                let kind = ContractErrorKind::OutputRoot { found: kind(&other) };
                return Err(ContractError::root(Side::Output, kind));
            }
        };
        let compiled =
            options.compile(&schema).map_err(|error| ContractError::schema(Side::Output, error))?;
        Ok(Self { value: Arc::new(schema), schema: compiled })
    }

    /// The schema as it goes on the wire of a natural revision.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The compiled schema.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Validates structured content in its natural shape.
    pub fn validate(&self, content: &Value) -> Verdict {
        self.schema.validate(content)
    }

    /// Validates structured content in its natural shape, and says what it cost.
    pub fn measure(&self, content: &Value) -> Measured {
        self.schema.measure(content)
    }
}

/// Keywords that decide what the root allows, beside `properties`: with one of them in place
/// `type: "object"` would change the schema.
const DECIDING: [&str; 34] = [
    "type",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "const",
    "enum",
    // About arrays, strings and numbers: whoever writes these expects more than objects.
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "nullable",
];

/// Adds `type: "object"` to a `properties`-only root.
fn complete(schema: &mut Map<String, Value>) {
    let decided = DECIDING.iter().any(|keyword| schema.contains_key(*keyword));
    if schema.contains_key("properties") && !decided {
        schema.shift_insert(0, "type".to_owned(), Value::from("object"));
    }
}
