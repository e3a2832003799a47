//! Calling a tool.

use std::{any::type_name, borrow::Cow};

use rmcp::{
    RoleClient, Service,
    model::{CallToolRequestParams, CallToolResult, ContentBlock, MetaObject},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use toolbond_contract::{Form, JudgedCall, Mode, Structured, lift_result};

use super::{Client, ClientError};
use crate::check::{CallPart, check, refusal_text};
use crate::{text, trace};

impl<S: Service<RoleClient>> Client<S> {
    /// Calls the tool `name` and deserializes its structured content in the natural shape. If there is none, reads the
    /// only text: a string is the text as it is, anything else is read as JSON. Without content the value is `null`.
    ///
    /// # Errors
    ///
    /// The same as [`Client::call_result`]; also fails if the value is not a `T`, or if the tool returns other content,
    /// such as images or several texts. That error contains it.
    pub async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<T, ClientError> {
        let result = self.call_result(name, arguments).await?;
        let value = match (&result.structured_content, result.content.as_slice()) {
            (Some(value), _) => T::deserialize(value),
            (None, []) => T::deserialize(Value::Null),
            (None, [ContentBlock::Text(block)]) => text::read(&block.text),
            _ => return Err(other_content(name, result)),
        };
        value.map_err(|source| {
            let found = match &result.structured_content {
                Some(value) => value.to_string(),
                None => join_texts(&result.content),
            };
            let (tool, found) = (name.to_owned(), text::shorten(&found));
            ClientError::Type { tool, expected: type_name::<T>(), found, source }
        })
    }

    /// [`Client::call`] for a value of any type. A text that is not JSON is a string.
    ///
    /// # Errors
    ///
    /// The same as [`Client::call_result`]; also fails if the tool returns other content, such as images or several
    /// texts. The error contains it.
    pub async fn call_value(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Value, ClientError> {
        let mut result = self.call_result(name, arguments).await?;
        match (result.structured_content.take(), result.content.as_slice()) {
            (Some(value), _) => Ok(value),
            (None, []) => Ok(Value::Null),
            (None, [ContentBlock::Text(block)]) => Ok(text::value(&block.text)),
            _ => Err(other_content(name, result)),
        }
    }

    /// Calls the tool `name` and returns the whole result, with its structured content in the natural shape.
    ///
    /// # Errors
    ///
    /// Fails if there is no such tool, the arguments or the result break the contract, the tool answers with an error,
    /// or the server does not answer in time.
    pub async fn call_result(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        let call = self.check_and_call(name, arguments);
        #[cfg(feature = "otel")]
        let call = trace::client_call(self.revision(), Box::pin(call), ClientError::failure);
        call.await
    }

    async fn check_and_call(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        let unknown = || ClientError::UnknownTool { tool: name.to_owned() };
        let checks = &self.options.checks;
        let tools = self.list().await?;
        let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(unknown)?;
        let contract = tool.contract.as_ref().ok_or_else(unknown)?;
        trace::set_tool(name, true);
        let arguments = serde_json::to_value(arguments)
            .map_err(|source| ClientError::Arguments { tool: name.to_owned(), source })?;
        let (arguments, judged) =
            check(contract, CallPart::Arguments, arguments, checks.argument_terms()).await?;
        self.accept(&judged).map_err(|problem| ClientError::InvalidArguments { problem })?;
        let mut request = CallToolRequestParams::new(name.to_owned());
        request.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            Value::Null => None,
            // Only an object can be sent, in every mode.
            _ => {
                let problem = format!("invalid arguments for tool `{name}`:\nexpected an object");
                return Err(ClientError::InvalidArguments { problem });
            }
        };
        #[cfg(feature = "otel")]
        {
            request.meta = trace::request_meta();
        }
        let mut result = self.wait(self.service.call_tool(request)).await?;
        if result.is_error == Some(true) {
            let result = Box::new(lift_error(result, tool.form));
            let (tool, message) = (name.to_owned(), join_texts(&result.content));
            return Err(ClientError::Tool { tool, message, result });
        }
        let parts = take_parts(&mut result, checks.results);
        let lifted = lift_result(&parts, tool.form).map(Cow::into_owned).map_err(|error| {
            ClientError::InvalidResult { problem: format!("the result of tool `{name}`: {error}") }
        })?;
        let (lifted, judged) =
            check(contract, CallPart::Result, lifted, checks.results.into()).await?;
        self.accept(&judged).map_err(|problem| ClientError::InvalidResult { problem })?;
        if let Value::Object(mut lifted) = lifted {
            result.structured_content = lifted.remove(Structured::KEY);
            if let Some(Value::Object(meta)) = lifted.remove("_meta") {
                result.meta = Some(MetaObject(meta));
            }
        }
        Ok(result)
    }

    /// Reports the findings. Fails with the text of the refusal if the call is refused.
    fn accept(&self, judged: &JudgedCall) -> Result<(), String> {
        self.options.checks.report(&judged.findings);
        judged.refusal.as_ref().map_or(Ok(()), |refusal| Err(refusal_text(refusal).to_owned()))
    }
}

/// Takes the parts out of `result` that lifting, validation and, under `mode`, repairs need.
fn take_parts(result: &mut CallToolResult, mode: Mode) -> Value {
    let mut parts = Map::new();
    let is_absent = result.structured_content.as_ref().is_none_or(Value::is_null);
    let content = if mode == Mode::Repair && is_absent {
        serde_json::to_value(&result.content).ok()
    } else {
        None
    };
    parts.insert("content".to_owned(), content.unwrap_or_else(|| Value::Array(Vec::new())));
    parts.extend(result.structured_content.take().map(|value| (Structured::KEY.to_owned(), value)));
    parts.extend(result.meta.take().map(|meta| ("_meta".to_owned(), meta.0.into())));
    Value::Object(parts)
}

/// Moves the details of an error from the text that carries them before 2026-07-28 to structured content.
fn lift_error(result: CallToolResult, form: Form) -> CallToolResult {
    let lifted = || {
        let whole = serde_json::to_value(&result).ok()?;
        serde_json::from_value(lift_result(&whole, form).ok()?.into_owned()).ok()
    };
    lifted().unwrap_or(result)
}

fn other_content(tool: &str, result: CallToolResult) -> ClientError {
    ClientError::Content { tool: tool.to_owned(), result: Box::new(result) }
}

/// Joins the texts of `content` with line breaks.
fn join_texts(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
