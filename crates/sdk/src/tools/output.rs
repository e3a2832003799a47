//! Return types: what becomes the output schema, and what becomes the result.
//!
//! Which of the traits below applies to a return type is decided by the compiler, by the number of
//! references that a method call has to add; see `expand.rs` of the macro for the calls.

use std::marker::PhantomData;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Text, ToolError, portable};

/// A return type, without a value of it.
#[derive(Debug)]
pub struct Returns<T>(PhantomData<fn() -> T>);

impl<T> Returns<T> {
    /// The return type `T`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Return types with an error: `Result<T, E>`.
pub trait Fallible {
    /// What is returned where all is well.
    type Success;
    /// What is returned otherwise.
    type Error;
    /// The type of success.
    fn success(&self) -> Returns<Self::Success>;
    /// The value, one way or the other.
    fn split(
        &self,
        value: Result<Self::Success, Self::Error>,
    ) -> Result<Self::Success, Self::Error>;
}

impl<T, E> Fallible for Returns<Result<T, E>> {
    type Success = T;
    type Error = E;

    fn success(&self) -> Returns<T> {
        Returns::new()
    }

    fn split(&self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

/// Return types without an error: all others.
pub trait Infallible<T> {
    /// The type itself.
    fn success(&self) -> Returns<T>;
    /// The value.
    fn split(&self, value: T) -> Result<T, ToolError>;
}

impl<T> Infallible<T> for &Returns<T> {
    fn success(&self) -> Returns<T> {
        Returns::new()
    }

    fn split(&self, value: T) -> Result<T, ToolError> {
        Ok(value)
    }
}

/// Return types that are content or a result already, and the unit type.
pub trait Output<T> {
    /// The output schema.
    fn schema(&self) -> Option<Map<String, Value>> {
        None
    }
    /// The response.
    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError>;
}

impl Output<()> for Returns<()> {
    fn respond(&self, (): ()) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

impl Output<Text> for Returns<Text> {
    fn respond(&self, value: Text) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(vec![ContentBlock::text(value.0)]).into())
    }
}

impl Output<ContentBlock> for Returns<ContentBlock> {
    fn respond(&self, value: ContentBlock) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(vec![value]).into())
    }
}

impl Output<Vec<ContentBlock>> for Returns<Vec<ContentBlock>> {
    fn respond(&self, value: Vec<ContentBlock>) -> Result<CallToolResponse, ToolError> {
        Ok(CallToolResult::success(value).into())
    }
}

impl Output<CallToolResult> for Returns<CallToolResult> {
    fn respond(&self, value: CallToolResult) -> Result<CallToolResponse, ToolError> {
        Ok(value.into())
    }
}

impl Output<CallToolResponse> for Returns<CallToolResponse> {
    fn respond(&self, value: CallToolResponse) -> Result<CallToolResponse, ToolError> {
        Ok(value)
    }
}

impl<T: Serialize + JsonSchema> Output<(Vec<ContentBlock>, T)> for Returns<(Vec<ContentBlock>, T)> {
    fn schema(&self) -> Option<Map<String, Value>> {
        Some(schema_of::<T>())
    }

    fn respond(&self, value: (Vec<ContentBlock>, T)) -> Result<CallToolResponse, ToolError> {
        let (content, value) = value;
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(serde_json::to_value(value)?);
        Ok(result.into())
    }
}

/// Return types that are data: their schema is the output schema, their value the structured content.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a tool",
    note = "data implements `serde::Serialize` and `schemars::JsonSchema`; text is `toolpact::Text`"
)]
pub trait StructuredOutput<T> {
    /// The output schema.
    fn schema(&self) -> Option<Map<String, Value>>;
    /// The response.
    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError>;
}

impl<T: Serialize + JsonSchema> StructuredOutput<T> for &Returns<T> {
    fn schema(&self) -> Option<Map<String, Value>> {
        Some(schema_of::<T>())
    }

    fn respond(&self, value: T) -> Result<CallToolResponse, ToolError> {
        let text = ContentBlock::text(serde_json::to_string(&value)?);
        let mut result = CallToolResult::success(vec![text]);
        result.structured_content = Some(serde_json::to_value(value)?);
        Ok(result.into())
    }
}

/// The output schema of `T`, portable.
fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    portable::output(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        // `true`: anything; nothing that can be returned has the schema `false`.
        _ => Map::new(),
    }
}
