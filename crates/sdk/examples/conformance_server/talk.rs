//! Tools that talk to the client while they run: logs, progress, questions, changes.

use std::{sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{
        CreateMessageRequestParams, ElicitResult, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam, SamplingMessage,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::time::sleep;
use toolpact::{Text, ToolError};

use crate::{model, subscribers::Subscribers};

/// Between two messages, so that they arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// The tools.
#[derive(Clone)]
pub(crate) struct Talk {
    subscribers: Arc<Subscribers>,
}

impl Talk {
    pub(crate) const fn new(subscribers: Arc<Subscribers>) -> Self {
        Self { subscribers }
    }
}

#[toolpact::tools(tools_only)]
impl Talk {
    /// Logs three messages.
    #[tool]
    async fn test_tool_with_logging(&self, peer: Peer<RoleServer>) -> Result<Text, ToolError> {
        log(&peer, "Tool execution started").await?;
        sleep(PAUSE).await;
        log(&peer, "Tool processing data").await?;
        sleep(PAUSE).await;
        log(&peer, "Tool execution completed").await?;
        Ok("logged".into())
    }

    /// Logs for requests that asked for it.
    #[tool]
    async fn test_logging_tool(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<Text, ToolError> {
        if context.meta.log_level().is_some() {
            log(&context.peer, "as asked for").await?;
        }
        Ok("done".into())
    }

    /// Reports progress from 0 to 100.
    #[tool]
    async fn test_tool_with_progress(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<Text, ToolError> {
        let token = context.meta.get_progress_token();
        for progress in [0.0, 50.0, 100.0] {
            if let Some(token) = &token {
                let report = ProgressNotificationParam::new(token.clone(), progress);
                context.peer.notify_progress(report.with_total(100.0)).await?;
            }
            sleep(PAUSE).await;
        }
        Ok("done".into())
    }

    /// Asks the client's model.
    #[tool]
    async fn test_sampling(
        &self,
        /// What to ask.
        prompt: String,
        peer: Peer<RoleServer>,
    ) -> Result<Text, ToolError> {
        let question = vec![SamplingMessage::user_text(prompt)];
        let answer = peer.create_message(CreateMessageRequestParams::new(question, 100)).await?;
        let answer = serde_json::to_value(answer.message.content)?;
        let text = answer.get("text").or_else(|| answer.get(0)?.get("text"));
        Ok(format!("LLM response: {}", text.and_then(Value::as_str).unwrap_or_default()).into())
    }

    /// Asks the user for a name and an address.
    #[tool]
    async fn test_elicitation(
        &self,
        /// What to tell the user.
        message: String,
        peer: Peer<RoleServer>,
    ) -> Result<Text, ToolError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" }
            },
            "required": ["username", "email"]
        });
        let answer = elicit(&peer, &message, schema).await?;
        Ok(format!("User response: {answer}").into())
    }

    /// Asks the user with a default for each kind of value.
    #[tool]
    async fn test_elicitation_sep1034_defaults(
        &self,
        peer: Peer<RoleServer>,
    ) -> Result<Text, ToolError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active"
                },
                "verified": { "type": "boolean", "default": true }
            },
            "required": []
        });
        let answer = elicit(&peer, "Check these values", schema).await?;
        Ok(format!("Elicitation completed: {answer}").into())
    }

    /// Asks the user to choose, in each of the ways there are.
    #[tool]
    async fn test_elicitation_sep1330_enums(
        &self,
        peer: Peer<RoleServer>,
    ) -> Result<Text, ToolError> {
        let titled = |word: &str| {
            json!([
                { "const": "value1", "title": format!("First {word}") },
                { "const": "value2", "title": format!("Second {word}") },
                { "const": "value3", "title": format!("Third {word}") }
            ])
        };
        let options = json!(["option1", "option2", "option3"]);
        let schema = json!({
            "type": "object",
            "properties": {
                "untitledSingle": { "type": "string", "enum": options },
                "titledSingle": { "type": "string", "oneOf": titled("Option") },
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"]
                },
                "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
                "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } }
            },
            "required": []
        });
        let answer = elicit(&peer, "Choose", schema).await?;
        Ok(format!("Elicitation completed: {answer}").into())
    }

    /// Takes a while, so that a client can come back for the answer.
    #[tool]
    async fn test_reconnection(&self) -> Text {
        sleep(PAUSE).await;
        "Reconnection test completed".into()
    }

    /// Says that the list of tools has changed.
    #[tool]
    async fn test_trigger_tool_change(&self) -> Text {
        for listener in self.subscribers.all() {
            // Those that did not ask for it are not told.
            _ = listener.notify_tool_list_changed().await;
        }
        "done".into()
    }

    /// Says that the list of prompts has changed.
    #[tool]
    async fn test_trigger_prompt_change(&self) -> Text {
        for listener in self.subscribers.all() {
            _ = listener.notify_prompt_list_changed().await;
        }
        "done".into()
    }
}

async fn log(peer: &Peer<RoleServer>, text: &str) -> Result<(), ToolError> {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, text.into());
    Ok(peer.notify_logging_message(message).await?)
}

/// What the user did, in words.
async fn elicit(
    peer: &Peer<RoleServer>,
    message: &str,
    schema: Value,
) -> Result<String, ToolError> {
    let question = model(json!({ "mode": "form", "message": message, "requestedSchema": schema }))?;
    let ElicitResult { action, content, .. } = peer.create_elicitation(question).await?;
    let action = serde_json::to_value(action)?;
    let content = content.unwrap_or_default();
    Ok(format!("action={}, content={content}", action.as_str().unwrap_or_default()))
}
