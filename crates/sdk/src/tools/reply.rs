//! A result, or a request for input.

use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Output, ReturnType, StructuredOutput as _, ToolError, portable};

/// The return type of a tool that may ask the client for input first; see [`Answers`](crate::Answers).
///
/// The output schema is that of `T`. Clients of every revision are asked, if they can be; others get a protocol error.
#[derive(Clone, Debug)]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// The input that the tool asks for.
    InputRequired(InputRequiredResult),
}

impl<T> Reply<T> {
    /// Asks the user to fill in the form `F`: a struct of strings, numbers, booleans and enumerations. After that the
    /// tool is called again, and [`Answers::form`](super::Answers::form) has the answer under `key`.
    ///
    /// # Errors
    ///
    /// Fails if `F` is no such form.
    pub fn ask<F: JsonSchema>(key: &str, message: impl Into<String>) -> Result<Self, ToolError> {
        let schema = ElicitationSchema::from_json_schema(form_schema::<F>())?;
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
