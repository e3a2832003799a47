//! Methods that ask the client for input, answer with protocol errors, and write their schema by hand.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock, ElicitResult, InputRequiredResult},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use toolbond::{Answers, Args, Reply, Text, ToolError};

use crate::server::{NEW, OLD, connect};

#[derive(Clone)]
struct Desk;

#[toolbond::tools]
impl Desk {
    #[tool]
    fn greet(&self, answers: Answers) -> Result<CallToolResponse, ToolError> {
        match (answers.get::<ElicitResult>("name"), answers.state()) {
            (Some(answer), Some("asked")) => {
                let name =
                    answer.content.and_then(|content| Some(content["name"].as_str()?.to_owned()));
                let text = ContentBlock::text(format!("Hello, {}!", name.unwrap_or_default()));
                Ok(CallToolResult::success(vec![text]).into())
            }
            (None, Some(state)) if state != "asked" => {
                Err(ErrorData::invalid_params("not my state", Some(json!({ "state": state })))
                    .into())
            }
            _ => {
                let question = json!({ "name": { "method": "elicitation/create", "params": {
                    "mode": "form",
                    "message": "Who is there?",
                    "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } }
                } } });
                let requests = serde_json::from_value(question)?;
                Ok(InputRequiredResult::new(Some(requests), Some("asked".to_owned())).into())
            }
        }
    }

    #[tool]
    fn numbers(&self, answers: Answers) -> Reply<Vec<u8>> {
        match answers.get("count") {
            Some(count) => Reply::Complete(vec![7; count]),
            None => Reply::InputRequired(InputRequiredResult::from_request_state("waiting")),
        }
    }

    #[tool]
    fn closed(&self) -> Result<Text, ErrorData> {
        Err(ErrorData::invalid_request("closed on Sundays", None))
    }

    #[tool]
    fn reach(&self, Args(contact): Args<Contact>) -> Text {
        contact.phone.unwrap_or_default().into()
    }

    #[tool]
    fn route(&self, #[schemars(extend("x-mcp-header" = "Region"))] region: String) -> String {
        region
    }
}

#[derive(Deserialize)]
struct Contact {
    phone: Option<String>,
}

fn contact() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "number": { "$anchor": "number", "type": "string" } },
        "properties": { "phone": { "$ref": "#number" }, "email": { "type": "string" } },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "required": ["phone"] },
        "then": { "properties": { "email": false } },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}

impl JsonSchema for Contact {
    fn schema_name() -> Cow<'static, str> {
        "Contact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        contact().try_into().unwrap_or_else(|_| json_schema!({}))
    }
}

#[tokio::test]
async fn a_tool_asks_and_is_called_again_with_the_answers() {
    let session = connect(Desk, NEW).await;
    let first = session.call_result("greet", json!({})).await.unwrap();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"]["name"]["method"], "elicitation/create");
    let retry = |answer: Value, state: &str| {
        let params = json!({ "name": "greet", "arguments": {}, "requestState": state,
            "inputResponses": { "name": answer, "other": 1 } });
        session.request("tools/call", params)
    };
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let second = retry(answer.clone(), "asked").await.unwrap();
    assert_eq!(second["content"][0]["text"], "Hello, Ada!", "{second}");
    // What is no answer is as good as none.
    assert_eq!(retry(json!(12), "asked").await.unwrap()["resultType"], "input_required");
}

#[tokio::test]
async fn a_question_stands_beside_a_typed_result() {
    let session = connect(Desk, NEW).await;
    let tools = session.tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "numbers").unwrap();
    assert_eq!(tool["outputSchema"]["type"], "array", "{tool}");
    let first = session.call_result("numbers", json!({})).await.unwrap();
    assert_eq!(first["requestState"], "waiting", "{first}");
    let params = json!({ "name": "numbers", "inputResponses": { "count": 2 } });
    let second = session.request("tools/call", params).await.unwrap();
    assert_eq!(second["structuredContent"], json!([7, 7]), "{second}");
    // Before 2026-07-28 nobody can be asked this way.
    let session = connect(Desk, OLD).await;
    assert!(session.call_result("numbers", json!({})).await.is_err());
}

#[tokio::test]
async fn a_protocol_error_stays_one() {
    let session = connect(Desk, OLD).await;
    let error = session.call_result("closed", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("closed on Sundays"), "{error}");
    let session = connect(Desk, NEW).await;
    let params = json!({ "name": "greet", "arguments": {}, "requestState": "forged" });
    let error = session.request("tools/call", params).await.unwrap_err();
    assert!(error.to_string().contains("not my state"), "{error}");
}

#[tokio::test]
async fn schemas_go_out_as_they_were_written() {
    let session = connect(Desk, NEW).await;
    let tools = session.tools().await.unwrap();
    let schema =
        |name: &str| &tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"];
    assert_eq!(*schema("reach"), contact());
    assert_eq!(schema("route")["properties"]["region"]["x-mcp-header"], "Region");
    let both = session.call_result("reach", json!({ "phone": "1", "email": "x" })).await.unwrap();
    assert_eq!(both["isError"], true, "{both}");
    let one = session.call_result("reach", json!({ "phone": "1" })).await.unwrap();
    assert_eq!(one["content"][0]["text"], "1");
}
