//! The client that the official conformance suite asks for: `conformance_client URL`.
//!
//! It lists the tools and calls each of them; where a scenario asks for more, that too. The tests of the
//! crate run the suite against it.

use std::{env, error::Error};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams,
    },
    service::RequestContext,
    transport::StreamableHttpClientTransport,
};
use serde_json::{Map, Value, json};
use toolbond::Client;

type Failure = Box<dyn Error>;

/// A user who takes what is suggested.
#[derive(Clone)]
struct User;

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("toolbond-conformance", "0.1.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let fields = request["requestedSchema"]["properties"].as_object().cloned();
        let suggested =
            |(name, field): (String, Value)| Some((name, field.get("default")?.clone()));
        let content: Map<_, _> =
            fields.unwrap_or_default().into_iter().filter_map(suggested).collect();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content.into()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = env::args().nth(1).ok_or("expected the URL of a server")?;
    let lifecycle = match env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").as_deref() {
        Ok("2025-11-25") => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = Client::new(User.serve_with_lifecycle(transport, lifecycle).await?);
    match env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default().as_str() {
        "http-custom-headers" => call_as_told(&client).await,
        "http-standard-headers" => {
            call_all(&client).await?;
            read_all(&client).await
        }
        "json-schema-2020-12-preservation" => echo_schema(&client).await,
        _ => call_all(&client).await,
    }
}

/// Calls every tool that can be used, with what its schema requires.
async fn call_all(client: &Client<User>) -> Result<(), Failure> {
    for tool in client.tools().await? {
        let schema = tool.input().value();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for name in required.iter().filter_map(Value::as_str) {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("number" | "integer") => json!(5),
                Some("boolean") => json!(true),
                _ => json!("test"),
            };
            arguments.insert(name.to_owned(), value);
        }
        client.call_value(tool.name(), &arguments).await?;
    }
    Ok(())
}

/// Makes the calls that the scenario names.
async fn call_as_told(client: &Client<User>) -> Result<(), Failure> {
    let mut told: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    let Some(Value::Array(calls)) = told.get_mut("toolCalls").map(Value::take) else {
        return Err("expected `toolCalls`".into());
    };
    for mut call in calls {
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        if let Some(arguments) = call["arguments"].as_object_mut() {
            // `null` stands for an argument that is not given.
            arguments.retain(|_, value| !value.is_null());
        }
        client.call_value(&name, &call["arguments"]).await?;
    }
    Ok(())
}

/// Reads every resource and every prompt.
async fn read_all(client: &Client<User>) -> Result<(), Failure> {
    let service = client.service();
    for resource in service.list_resources(None).await?.resources {
        service.read_resource(ReadResourceRequestParams::new(resource.uri)).await?;
    }
    for prompt in service.list_prompts(None).await?.prompts {
        service.get_prompt(GetPromptRequestParams::new(prompt.name)).await?;
    }
    Ok(())
}

/// Sends the schema of one tool back as an argument of another.
async fn echo_schema(client: &Client<User>) -> Result<(), Failure> {
    let tools = client.tools().await?;
    let tool = tools.iter().find(|tool| tool.name() == "json_schema_2020_12_tool");
    let schema = tool.ok_or("expected the tool with the schema")?.input().value();
    client.call_value("json_schema_echo", json!({ "schema": schema })).await?;
    Ok(())
}
