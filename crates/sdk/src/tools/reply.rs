//! A result, or a request for input.

use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, PrimitiveSchemaDefinition,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize as _, Serialize};
use serde_json::{Map, Value};

use super::{Output, ReturnType, StructuredOutput as _, ToolError, portable};

/// The return type of a tool that may ask the client for input first; see [`Answers`](crate::Answers).
///
/// The output schema is that of `T`. Clients of every revision are asked, if they can be. Others get an error: that of the
/// protocol since 2026-07-28, and before that one for the model.
#[derive(Clone, Debug)]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// The input that the tool asks for.
    InputRequired(InputRequiredResult),
}

impl<T> Reply<T> {
    /// Asks the user to fill in the form `F`: a struct whose fields are strings, numbers, booleans, enumerations without
    /// data, lists of such an enumeration (`Vec<Enum>`), or an `Option` of one of these. After that the tool is called again, and [`Answers::form`](super::Answers::form) has the answer under `key`.
    ///
    /// # Errors
    ///
    /// Fails if `F` is no such form.
    pub fn ask<F: JsonSchema>(key: &str, message: impl Into<String>) -> Result<Self, ToolError> {
        let schema = form_schema::<F>();
        let problem = form_problem(&schema);
        let schema = ElicitationSchema::from_json_schema(schema).map_err(|error| {
            let problem = problem.unwrap_or_else(|| error.to_string());
            let problem = format!("form `{}`: {problem}", F::schema_name());
            ToolError::new(problem.clone()).caused_by(problem)
        })?;
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema: schema,
        };
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests = InputRequests::from([(key.to_owned(), request)]);
        Ok(Self::InputRequired(InputRequiredResult::from_input_requests(requests)))
    }
}

/// What no form may have in `schema`, if that is known.
fn form_problem(schema: &Map<String, Value>) -> Option<String> {
    let Some(Value::Object(fields)) = schema.get("properties") else {
        return Some("expected a struct with named fields".to_owned());
    };
    let is_field = |field: &Value| PrimitiveSchemaDefinition::deserialize(field).is_ok();
    let (name, _) = fields.iter().find(|(_, field)| !is_field(field))?;
    let allowed = "a string, a number, a boolean, an enum without data or a list of such an enum";
    Some(format!("`{name}`: expected {allowed}"))
}

/// Generates the schema of a form, which has no references and no `null`.
fn form_schema<F: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<F>().to_value();
    portable::rewrite(&mut schema);
    let Value::Object(mut schema) = schema else { return Map::new() };
    schema.shift_remove("$schema");
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            portable::drop_null(field);
            field.retain(|keyword, value| keyword != "default" || !value.is_null());
        }
    }
    schema
}

impl<T: Serialize + JsonSchema> Output<Reply<T>> for &&ReturnType<Reply<T>> {
    fn schema(&self) -> Option<Map<String, Value>> {
        (&ReturnType::<T>::new()).schema()
    }

    fn respond(&self, value: Reply<T>) -> Result<CallToolResponse, ToolError> {
        match value {
            Reply::Complete(value) => (&ReturnType::<T>::new()).respond(value),
            Reply::InputRequired(input) => Ok(input.into()),
        }
    }
}
