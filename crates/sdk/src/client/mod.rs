//! A client that checks what it sends and can trust what it gets.

mod error;
mod known;

use std::{sync::Arc, time::Duration};

pub use error::ClientError;
use known::Known;
use rmcp::{
    RoleClient, Service,
    model::{CallToolRequestParams, CallToolResult, ContentBlock, PaginatedRequestParams, Tool},
    service::{ClientCacheConfig, RunningService},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use toolpact_contract::{
    Contract, JudgeOptions, Mode, Revision, Structured, judge_arguments, judge_result, lift_result,
};

/// How long a tool list without `ttlMs` is taken for fresh, unless the server says that it changed.
const LIST_TTL: Duration = Duration::from_secs(300);

/// Pages of a tool list that are read.
const PAGES: usize = 1_000;

/// A client over an `rmcp` client of either era.
///
/// Tools are judged each alone and lifted to their natural shape. Arguments are checked before they are
/// sent, results are lifted and validated before they are returned, both under a budget: no schema of a
/// server can keep this client busy, and none makes it fetch anything. Tool lists are kept as long as their
/// `ttlMs` says (five minutes where a server says nothing) and until the server says that they changed.
///
/// An envelope `{"result": …}` without a mark is opened before 2026-07-28, where a server had no other way
/// to send what is inside, and is its author's own shape from then on.
///
/// ```no_run
/// # async fn run(running: rmcp::service::RunningService<rmcp::RoleClient, ()>) -> Result<(), toolpact::ClientError> {
/// let client = toolpact::Client::new(running).await;
/// let hours: Vec<f64> = client.call("forecast", serde_json::json!({ "city": "Bern" })).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Client<S: Service<RoleClient>> {
    service: RunningService<RoleClient, S>,
    known: Known,
}

impl<S: Service<RoleClient>> Client<S> {
    /// A client over `service`, which is connected.
    pub async fn new(service: RunningService<RoleClient, S>) -> Self {
        service
            .peer()
            .set_response_cache_config(ClientCacheConfig::default().with_default_ttl(LIST_TTL))
            .await;
        Self { service, known: Known::default() }
    }

    /// The `rmcp` client inside, for everything that is not about tools.
    pub const fn service(&self) -> &RunningService<RoleClient, S> {
        &self.service
    }

    /// The revision that was agreed on.
    pub fn revision(&self) -> Revision {
        let info = self.service.peer_info();
        Revision::named(info.as_ref().map(|info| info.protocol_version.as_str()))
    }

    /// The contracts of the tools that can be used, in their natural shape, all pages of them.
    ///
    /// # Errors
    ///
    /// Where the server does not answer or answers with an error.
    pub async fn tools(&self) -> Result<Vec<Contract>, ClientError> {
        let known = self.list().await?;
        Ok(known.iter().filter_map(|tool| tool.contract.clone()).collect())
    }

    /// Calls the tool `name` and reads its structured content as `T`; a tool without an output schema may
    /// answer with one text that is read as JSON, or as a string.
    ///
    /// # Errors
    ///
    /// As [`Client::call_value`], and where the answer is no `T`.
    pub async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<T, ClientError> {
        let value = self.call_value(name, arguments).await?;
        serde_json::from_value(value)
            .map_err(|source| ClientError::Type { tool: name.to_owned(), source })
    }

    /// Calls the tool `name` and gives its structured content in the natural shape.
    ///
    /// # Errors
    ///
    /// Where there is no such tool, the arguments or the result break the contract, the tool answers with an
    /// error, or the server does not answer.
    pub async fn call_value(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Value, ClientError> {
        let unknown = || ClientError::UnknownTool { tool: name.to_owned() };
        let tools = self.list().await?;
        let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(unknown)?;
        let contract = tool.contract.clone().ok_or_else(unknown)?;
        let form = tool.form;
        let arguments = serde_json::to_value(arguments)
            .map_err(|source| ClientError::Arguments { tool: name.to_owned(), source })?;
        let (contract, arguments) = aside(move || {
            let judged = judge_arguments(&contract, Some(&arguments), Mode::Enforce);
            judged.refusal.map_or(Ok((contract, arguments)), |refusal| Err(text_of(&refusal)))
        })
        .await?
        .map_err(|problem| ClientError::InvalidArguments { problem })?;
        let mut request = CallToolRequestParams::new(name.to_owned());
        if let Value::Object(arguments) = arguments {
            request.arguments = Some(arguments);
        }
        let result = self.service.call_tool(request).await.map_err(Box::new)?;
        let texts = texts(&result);
        if result.is_error == Some(true) {
            return Err(ClientError::Tool { tool: name.to_owned(), message: texts.join("\n") });
        }
        let wire = wire(result);
        let result = aside(move || {
            let lifted = lift_result(&wire, form).map_err(|error| error.to_string())?.into_owned();
            let judged = judge_result(&contract, &lifted, Mode::Enforce);
            judged.refusal.map_or(Ok(lifted), |refusal| Err(text_of(&refusal)))
        })
        .await?
        .map_err(|problem| ClientError::InvalidResult { problem })?;
        if let Some(value) = Structured::of(&result).value() {
            return Ok(value.clone());
        }
        match texts.as_slice() {
            [text] => Ok(serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())),
            _ => Ok(Value::Null),
        }
    }

    /// All tools, judged; those that were judged before are found again by content.
    async fn list(&self) -> Result<Arc<Vec<known::Judged>>, ClientError> {
        let mut tools: Vec<Tool> = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let mut request = PaginatedRequestParams::default();
            request.cursor = cursor;
            let page = self.service.list_tools(Some(request)).await.map_err(Box::new)?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        if let Some(same) = self.known.find(&tools) {
            return Ok(same);
        }
        let revision = self.revision();
        let options = JudgeOptions::default().ignore_headers(true);
        let judged = aside(move || known::judge(&tools, &revision, &options)).await?;
        Ok(self.known.keep(judged))
    }
}

/// Runs `work` off the event loop: it may take as long as its limits allow.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ClientError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ClientError::Stopped)
}

/// The parts of a result that its shape and its judgement depend on.
fn wire(result: CallToolResult) -> Value {
    let mut wire = Map::new();
    wire.insert("content".to_owned(), Value::Array(Vec::new()));
    wire.extend(result.structured_content.map(|value| (Structured::KEY.to_owned(), value)));
    wire.extend(result.meta.map(|meta| ("_meta".to_owned(), meta.0.into())));
    Value::Object(wire)
}

fn texts(result: &CallToolResult) -> Vec<String> {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    result.content.iter().filter_map(text).collect()
}

fn text_of(refusal: &Map<String, Value>) -> String {
    let text = refusal.get("content").and_then(|content| content.get(0)?.get("text")?.as_str());
    text.unwrap_or_default().to_owned()
}
