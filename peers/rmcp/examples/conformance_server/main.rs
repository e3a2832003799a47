//! The server that the official conformance suite asks for, its tools written with `#[toolbond::tools]`.
//!
//! `cargo run -p toolbond-peers --example conformance_server -- --http 127.0.0.1:3000` serves it; the tests of the
//! crate run the suite against it. With `CONFORMANCE_ERA=modern` it speaks only 2026-07-28, with
//! `CONFORMANCE_ERA=legacy` only what was before.
#![expect(deprecated, reason = "the suite also asks for what older revisions have")]

mod ask;
mod content;
mod prompts;
mod resources;
mod rounds;
mod subscribers;
mod talk;

use std::borrow::Cow;
use std::sync::Arc;

use content::Content;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use rounds::Rounds;
use serde::de::DeserializeOwned;
use serde_json::Value;
use subscribers::Subscribers;
use talk::Talk;
use toolbond::Tools as _;

type Context = RequestContext<RoleServer>;

/// Tools of three kinds, and what `rmcp` has handlers for.
#[derive(Clone)]
struct Server {
    talk: Talk,
    rounds: Rounds,
    subscribers: Arc<Subscribers>,
}

/// `value` as a part of the protocol.
fn model<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolbond-conformance", "0.1.0"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let all = ProtocolVersion::KNOWN_VERSIONS;
        let is_modern = |version: &&ProtocolVersion| **version >= ProtocolVersion::V_2026_07_28;
        let (modern, legacy): (Vec<_>, Vec<_>) = all.iter().partition(is_modern);
        match std::env::var("CONFORMANCE_ERA").as_deref() {
            Ok("modern") => modern.into_iter().cloned().collect(),
            Ok("legacy") => legacy.into_iter().cloned().collect(),
            _ => all.into(),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = Content::toolbox().tool(name).or_else(|| Talk::toolbox().tool(name));
        tool.or_else(|| Rounds::toolbox().tool(name)).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = Content::toolbox().tools().chain(Talk::toolbox().tools());
        let tools = tools.chain(Rounds::toolbox().tools()).cloned().collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let response = self.call(request.clone(), context.clone()).await?;
            let CallToolResponse::InputRequired(asked) = &response else { return Ok(response) };
            let Some(answers) = ask::answers(asked, &context).await? else { return Ok(response) };
            request.input_responses = Some(answers);
            request.request_state.clone_from(&asked.request_state);
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list()
    }

    async fn get_prompt(
        &self,
        mut request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        loop {
            let response = prompts::get(&request)?;
            let GetPromptResponse::InputRequired(asked) = &response else { return Ok(response) };
            let Some(answers) = ask::answers(asked, &context).await? else { return Ok(response) };
            request.input_responses = Some(answers);
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list()
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::templates()
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let words = ["paris", "park", "party", "test"];
        let fitting = words.iter().filter(|word| word.starts_with(&request.argument.value));
        let fitting = CompletionInfo::new(fitting.map(ToString::to_string).collect());
        Ok(CompleteResult::new(fitting.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.subscribers.expect();
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscribers.keep(context).await;
        Ok(())
    }
}

impl Server {
    async fn call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if Content::toolbox().tool(&request.name).is_some() {
            Content::toolbox().call(&Content, request, context).await
        } else if Talk::toolbox().tool(&request.name).is_some() {
            Talk::toolbox().call(&self.talk, request, context).await
        } else {
            Rounds::toolbox().call(&self.rounds, request, context).await
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), toolbond::ServeError> {
    let subscribers = Arc::new(Subscribers::default());
    let talk = Talk::new(Arc::clone(&subscribers));
    toolbond::serve_cli(Server { talk, rounds: Rounds::default(), subscribers }).await
}
