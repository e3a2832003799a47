//! Tools that ask the client for input and are called again with it.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, InputRequiredResult,
        RequestStateCodec,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use toolbond::{Answers, Text, ToolError};

use crate::model;

type Response = Result<CallToolResponse, ToolError>;

/// The tools.
#[derive(Clone)]
pub(crate) struct Rounds {
    /// Tells whether a state is one that this server gave out.
    codec: Arc<RequestStateCodec>,
}

impl Default for Rounds {
    fn default() -> Self {
        // A server that trusts its states keeps its key secret; this one is for tests.
        Self { codec: Arc::new(RequestStateCodec::new(*b"a key that everyone can read here")) }
    }
}

#[toolbond::tools(tools_only)]
impl Rounds {
    /// Asks for a name and greets.
    #[tool]
    fn test_input_required_result_elicitation(&self, answers: Answers) -> Response {
        match answers.get::<Value>("user_name").and_then(|answer| content(&answer, "name")) {
            Some(name) => text(format!("Hello, {name}!")),
            None => ask(json!({ "user_name": form("What is your name?", "name", "string") }), None),
        }
    }

    /// Asks the client's model.
    #[tool]
    fn test_input_required_result_sampling(&self, answers: Answers) -> Response {
        match answers.get::<Value>("capital_question").and_then(|answer| spoken(&answer)) {
            Some(answer) => text(answer),
            None => ask(
                json!({ "capital_question": sampling("What is the capital of France?", 100) }),
                None,
            ),
        }
    }

    /// Asks the client's model what it is told to ask.
    #[tool]
    fn test_sampling(
        &self,
        /// What to ask.
        prompt: String,
        answers: Answers,
    ) -> Response {
        match answers.get::<Value>("answer").and_then(|answer| spoken(&answer)) {
            Some(answer) => text(format!("LLM response: {answer}")),
            None => ask(json!({ "answer": sampling(&prompt, 100) }), None),
        }
    }

    /// Asks the user for a name and an address.
    #[tool]
    fn test_elicitation(
        &self,
        /// What to tell the user.
        message: String,
        answers: Answers,
    ) -> Response {
        let schema = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" }
            },
            "required": ["username", "email"]
        });
        elicit(&answers, &message, &schema, "User response")
    }

    /// Asks the user with a default for each kind of value.
    #[tool]
    fn test_elicitation_sep1034_defaults(&self, answers: Answers) -> Response {
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
        elicit(&answers, "Check these values", &schema, "Elicitation completed")
    }

    /// Asks the user to choose, in each of the ways there are.
    #[tool]
    fn test_elicitation_sep1330_enums(&self, answers: Answers) -> Response {
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
        elicit(&answers, "Choose", &schema, "Elicitation completed")
    }

    /// Asks for the client's roots.
    #[tool]
    fn test_input_required_result_list_roots(&self, answers: Answers) -> Response {
        match answers
            .get::<Value>("client_roots")
            .and_then(|answer| Some(answer.get("roots")?.to_string()))
        {
            Some(roots) => text(format!("roots: {roots}")),
            None => ask(json!({ "client_roots": roots() }), None),
        }
    }

    /// Asks for a confirmation, and for its own state back.
    #[tool]
    fn test_input_required_result_request_state(&self, answers: Answers) -> Response {
        if self.opened(&answers)?.as_deref() == Some("confirm") {
            return text("state-ok");
        }
        let request = json!({ "confirm": form("Please confirm", "ok", "boolean") });
        ask(request, Some(self.codec.seal(b"confirm")))
    }

    /// Asks for three things at once.
    #[tool]
    fn test_input_required_result_multiple_inputs(&self, answers: Answers) -> Response {
        let keys = ["user_name", "greeting", "client_roots"];
        let complete = keys.iter().all(|key| answers.get::<Value>(key).is_some());
        if self.opened(&answers)?.is_some() && complete {
            return text("all there");
        }
        let requests = json!({
            "user_name": form("What is your name?", "name", "string"),
            "greeting": sampling("Generate a greeting", 50),
            "client_roots": roots()
        });
        ask(requests, Some(self.codec.seal(b"three")))
    }

    /// Asks twice, one after the other.
    #[tool]
    fn test_input_required_result_multi_round(&self, answers: Answers) -> Response {
        let first = form("Step 1: What is your name?", "name", "string");
        let second = form("Step 2: What is your favorite color?", "color", "string");
        let step = |key| answers.get::<Value>(key).is_some();
        match self.opened(&answers)?.as_deref() {
            Some("1") if step("step1") => {
                ask(json!({ "step2": second }), Some(self.codec.seal(b"2")))
            }
            Some("2") if step("step2") => text("both there"),
            _ => ask(json!({ "step1": first }), Some(self.codec.seal(b"1"))),
        }
    }

    /// Refuses a state that is not its own.
    #[tool]
    fn test_input_required_result_tampered_state(&self, answers: Answers) -> Response {
        if self.opened(&answers)?.is_some() {
            return text("state-ok");
        }
        let request = json!({ "confirm": form("Please confirm", "ok", "boolean") });
        ask(request, Some(self.codec.seal(b"confirm")))
    }

    /// Asks for no more than the client can do.
    #[tool]
    fn test_input_required_result_capabilities(
        &self,
        answers: Answers,
        context: RequestContext<RoleServer>,
    ) -> Response {
        let can = context.client_capabilities().unwrap_or_default();
        let mut requests = json!({});
        if ["greeting", "user_name"].iter().any(|key| answers.get::<Value>(key).is_some()) {
            return text("done");
        }
        if can.sampling.is_some() {
            requests["greeting"] = sampling("Generate a greeting", 50);
        }
        if can.elicitation.is_some() {
            requests["user_name"] = form("What is your name?", "name", "string");
        }
        ask(requests, None)
    }

    /// Asks on the stream of its own answer.
    #[tool]
    fn test_streaming_elicitation(&self, answers: Answers) -> Response {
        if answers.get::<Value>("user_name").is_some() {
            return text("done");
        }
        ask(json!({ "user_name": form("What is your name?", "name", "string") }), None)
    }

    /// Works with clients that have a model only.
    #[tool]
    fn test_missing_capability(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<Text, ErrorData> {
        if context.client_capabilities().is_some_and(|can| can.sampling.is_some()) {
            return Ok("done".into());
        }
        let needed = ClientCapabilities::builder().enable_sampling().build();
        Err(ErrorData::missing_required_client_capability(needed))
    }
}

impl Rounds {
    /// The state that came back; a protocol error where it is not what was sent.
    fn opened(&self, answers: &Answers) -> Result<Option<String>, ErrorData> {
        let Some(state) = answers.state() else { return Ok(None) };
        let opened = self.codec.open(state);
        let opened = opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(Some(String::from_utf8_lossy(&opened).into_owned()))
    }
}

/// An answer that is complete.
#[expect(clippy::unnecessary_wraps, reason = "ends tools that can fail")]
fn text(text: impl Into<String>) -> Response {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// An answer that asks for more.
fn ask(requests: Value, state: Option<String>) -> Response {
    Ok(InputRequiredResult::new(Some(model(requests)?), state).into())
}

/// Asks the user what `schema` describes, then tells what the user did, after `words`.
fn elicit(answers: &Answers, message: &str, schema: &Value, words: &str) -> Response {
    let Some(answer) = answers.get::<Value>("answer") else {
        return ask(json!({ "answer": question(message, schema) }), None);
    };
    let action = answer["action"].as_str().unwrap_or_default();
    text(format!("{words}: action={action}, content={}", answer["content"]))
}

/// A question for one value to the user.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field]
    });
    question(message, &schema)
}

/// A question to the user.
fn question(message: &str, schema: &Value) -> Value {
    json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema }
    })
}

fn sampling(question: &str, tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": question } }],
        "maxTokens": tokens
    } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// A field of what the user entered.
pub(crate) fn content(answer: &Value, field: &str) -> Option<String> {
    Some(answer.get("content")?.get(field)?.as_str()?.to_owned())
}

/// What a model said.
fn spoken(answer: &Value) -> Option<String> {
    let content = answer.get("content")?;
    Some(content.get("text").or_else(|| content.get(0)?.get("text"))?.as_str()?.to_owned())
}
