//! Return types of tools: their output schema and how a value becomes a result.
//!
//! The compiler selects one of the traits below by the number of references that a method call has to add (autoref
//! specialization). `expand.rs` of the macro has the calls.

use std::marker::PhantomData;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Text, ToolError, portable};

/// Stands for the return type `T` without a value of it.
#[derive(Debug)]
pub struct ReturnType<T>(PhantomData<fn() -> T>);

impl<T> ReturnType<T> {
    /// Stands for `T`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Return types that are a `Result<T, E>`.
pub trait Fallible {
    /// The success type.
    type Success;
    /// The error type.
    type Error;
    /// Stands for the success type.
    fn success(&self) -> ReturnType<Self::Success>;
    /// The value itself.
    fn split(
        &self,
        value: Result<Self::Success, Self::Error>,
    ) -> Result<Self::Success, Self::Error>;
}

impl<T, E> Fallible for ReturnType<Result<T, E>> {
    type Success = T;
    type Error = E;

    fn success(&self) -> ReturnType<T> {
        ReturnType::new()
    }

    fn split(&self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

/// All other return types.
pub trait Infallible<T> {
    /// Stands for the type itself.
    fn success(&self) -> ReturnType<T>;
    /// The value as a success.
    fn split(&self, value: T) -> Result<T, ToolError>;
}

impl<T> Infallible<T> for &ReturnType<T> {
    fn success(&self) -> ReturnType<T> {
        ReturnType::new()
    }

    fn split(&self, value: T) -> Result<T, ToolError> {
        Ok(value)
    }
}

/// Return types that are content or a result, and the unit type.
pub trait Output<T> {
    /// The output schema.
    fn schema(&self) -> Option<Map<String, Value>> {
        None
    }
    /// Converts a value to a response.
    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError>;
}

impl Output<()> for &&ReturnType<()> {
    fn respond(&self, (): ()) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

impl Output<Text> for &&ReturnType<Text> {
    fn respond(&self, value: Text) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(vec![ContentBlock::text(value.0)]).into())
    }
}

impl Output<ContentBlock> for &&ReturnType<ContentBlock> {
    fn respond(&self, value: ContentBlock) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(vec![value]).into())
    }
}

impl Output<Vec<ContentBlock>> for &&ReturnType<Vec<ContentBlock>> {
    fn respond(&self, value: Vec<ContentBlock>) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(value).into())
    }
}

impl Output<CallToolResult> for &&ReturnType<CallToolResult> {
    fn respond(&self, value: CallToolResult) -> Result<CallToolResponse, ToolError> {
        Ok(value.into())
    }
}

impl Output<CallToolResponse> for &&ReturnType<CallToolResponse> {
    fn respond(&self, value: CallToolResponse) -> Result<CallToolResponse, ToolError> {
        Ok(value)
    }
}

impl<T: Serialize + JsonSchema> Output<(Vec<ContentBlock>, T)>
    for &&ReturnType<(Vec<ContentBlock>, T)>
{
    fn schema(&self) -> Option<Map<String, Value>> {
        Some(output_schema::<T>())
    }

    fn respond(&self, value: (Vec<ContentBlock>, T)) -> Result<CallToolResponse, ToolError> {
        let (content, value) = value;
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(serde_json::to_value(value)?);
        Ok(result.into())
    }
}

/// Return types that are data: their schema becomes the output schema, their value the structured content.
pub trait StructuredOutput<T> {
    /// The output schema.
    fn schema(&self) -> Option<Map<String, Value>>;
    /// Converts a value to a response.
    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError>;
}

impl<T: Serialize + JsonSchema> StructuredOutput<T> for &ReturnType<T> {
    fn schema(&self) -> Option<Map<String, Value>> {
        Some(output_schema::<T>())
    }

    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError> {
        let text = ContentBlock::text(serde_json::to_string(&value)?);
        let mut result = CallToolResult::success(vec![text]);
        result.structured_content = Some(serde_json::to_value(value)?);
        Ok(result.into())
    }
}

/// Matches every other type: it cannot be returned.
pub trait OtherOutput<T> {
    /// Does not compile.
    fn schema(&self) -> Option<Map<String, Value>>
    where
        T: Returnable,
    {
        None
    }

    /// Stands in for the conversion to a response.
    fn respond(&self, _: T) -> Result<CallToolResponse, ToolError> {
        Err(ToolError::new("cannot be returned"))
    }
}

impl<T> OtherOutput<T> for ReturnType<T> {}

/// Implemented for no type that [`OtherOutput`] matches, so that the compiler says what is missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a tool",
    label = "not a return type of a tool",
    note = "data implements `serde::Serialize` and `schemars::JsonSchema`; text is `toolbond::Text`"
)]
pub trait Returnable {}

/// Generates a portable output schema for `T`.
fn output_schema<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    portable::output(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        // `true` allows anything. No type that can be returned has the schema `false`.
        _ => Map::new(),
    }
}
