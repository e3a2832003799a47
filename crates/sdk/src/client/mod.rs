//! A client that checks what it sends and can trust what it gets.

mod changes;
mod error;
mod known;

use std::{borrow::Cow, mem::take, sync::Arc, time::Duration};

use changes::Changes;
pub use error::ClientError;
use known::Known;
use rmcp::{
    RoleClient, Service,
    model::{
        CallToolRequestParams, CallToolResult, ContentBlock, MetaObject, PaginatedRequestParams,
        Tool,
    },
    service::{ClientCacheConfig, RunningService, ServiceError},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use toolpact_contract::{Contract, Form, JudgedCall, Revision, Structured, lift_result};

use crate::{
    Options,
    check::{Part, check, text_of},
    report::report,
};

/// How long a tool list without `ttlMs` is taken for fresh, unless the server says that it changed.
const LIST_TTL: Duration = Duration::from_secs(300);

/// How long the server may take to answer, unless [`Client::timeout`] says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Pages of a tool list that are read.
const PAGES: usize = 1_000;

/// Tools of a server.
const TOOLS: usize = 10_000;

/// A client over an `rmcp` client of either era.
///
/// Tools are judged each alone and lifted to their natural shape. Arguments are checked before they are
/// sent, results are lifted and validated before they are returned, both under a budget: no schema of a
/// server can keep this client busy, and none makes it fetch anything. Tool lists are kept as long as their
/// `ttlMs` says (five minutes where a server says nothing) and until the server says that they changed, which this
/// client subscribes to where that has to be asked for.
///
/// Servers put results that are no objects into an envelope `{"result": …}`, and the client takes them out:
///
/// | what says that it is an envelope | before 2026-07-28 | from 2026-07-28 on |
/// | --- | --- | --- |
/// | the mark of toolpact or of `FastMCP` | opened | opened |
/// | the title that the Python SDK gives it, such as `countOutput` for the tool `count` | opened | opened: that SDK wraps in every revision |
/// | only its exact shape, around what is no object (the TypeScript and C# SDKs) | opened: a server had no other way to send what is inside | left: it is its author's own |
/// | only its exact shape, around an object | left: no SDK wraps those | left |
///
/// [`Options::projection`] may say otherwise.
///
/// What becomes of wrong arguments and results is a matter of [`Options`], as on a server: refused unless set. Tools
/// that cannot be used as they are, are repaired, each alone.
///
/// It is made of what `rmcp` gives for a transport: a pipe as here, a process (`TokioChildProcess`), or HTTP
/// (`StreamableHttpClientTransport`), each with the feature of `rmcp` it needs.
///
/// ```
/// use serde_json::json;
/// use toolpact::{Client, rmcp::ServiceExt as _};
///
/// # struct Weather;
/// # #[toolpact::tools]
/// # impl Weather {
/// #     #[tool]
/// #     fn forecast(&self, city: String) -> Vec<f64> { vec![f64::from(city.len() as u8); 2] }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (pipe, end) = tokio::io::duplex(4096);
/// tokio::spawn(async { toolpact::enforce(Weather).serve(end).await.unwrap().waiting().await });
/// let client = Client::new(().serve(pipe).await?).await;
/// let hours: Vec<f64> = client.call("forecast", json!({ "city": "Bern" })).await?;
/// assert_eq!(hours, [4.0, 4.0]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Client<S: Service<RoleClient>> {
    service: RunningService<RoleClient, S>,
    known: Known,
    options: Options,
    timeout: Duration,
    _changes: Option<Changes>,
}

impl<S: Service<RoleClient>> Client<S> {
    /// A client over `service`, which is connected.
    pub async fn new(service: RunningService<RoleClient, S>) -> Self {
        Self::with(service, Options::default()).await
    }

    /// A client over `service` with other options; those about serving have no effect.
    pub async fn with(service: RunningService<RoleClient, S>, options: Options) -> Self {
        service
            .peer()
            .set_response_cache_config(ClientCacheConfig::default().with_default_ttl(LIST_TTL))
            .await;
        let changes = match revision_of(&service) {
            revision if revision.is_natural() => Changes::of(service.peer()).await,
            _ => None,
        };
        Self { service, known: Known::default(), options, timeout: TIMEOUT, _changes: changes }
    }

    /// Waits `limit` for each answer of the server, 60 seconds unless set; what a tool asks the client meanwhile is in
    /// it. A request that takes longer is cancelled.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// The `rmcp` client inside, for everything that is not about tools.
    pub const fn service(&self) -> &RunningService<RoleClient, S> {
        &self.service
    }

    /// The `rmcp` client inside, to close it or wait for its end.
    pub fn into_service(self) -> RunningService<RoleClient, S> {
        self.service
    }

    /// The revision that was agreed on.
    pub fn revision(&self) -> Revision {
        revision_of(&self.service)
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

    /// Calls the tool `name` and reads what [`Client::call_value`] gives as `T`.
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

    /// Calls the tool `name` and gives its structured content in the natural shape; of a tool that answers with one
    /// text alone, that text, read as JSON where it is; `null` for no content.
    ///
    /// # Errors
    ///
    /// As [`Client::call_result`], and where a tool answers with other content, such as images or several texts: the
    /// error has it.
    pub async fn call_value(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Value, ClientError> {
        let mut result = self.call_result(name, arguments).await?;
        if let Some(value) = result.structured_content.take() {
            return Ok(value);
        }
        match result.content.as_mut_slice() {
            [] => Ok(Value::Null),
            [ContentBlock::Text(one)] => {
                let text = take(&mut one.text);
                Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
            }
            _ => Err(ClientError::Content { tool: name.to_owned(), result: Box::new(result) }),
        }
    }

    /// Calls the tool `name` and gives the whole result, with its structured content in the natural shape.
    ///
    /// # Errors
    ///
    /// Where there is no such tool, the arguments or the result break the contract, the tool answers with an
    /// error, or the server does not answer in time.
    pub async fn call_result(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        let unknown = || ClientError::UnknownTool { tool: name.to_owned() };
        let tools = self.list().await?;
        let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(unknown)?;
        let contract = tool.contract.as_ref().ok_or_else(unknown)?;
        let arguments = serde_json::to_value(arguments)
            .map_err(|source| ClientError::Arguments { tool: name.to_owned(), source })?;
        let (arguments, judged) =
            check(contract, Part::Arguments, arguments, self.options.arguments).await?;
        self.accept(&judged).map_err(|problem| ClientError::InvalidArguments { problem })?;
        let mut request = CallToolRequestParams::new(name.to_owned());
        request.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            Value::Null => None,
            // Only an object can be sent, whatever the mode.
            _ => {
                let problem =
                    format!("invalid arguments for tool `{name}`:\n#: expected an object");
                return Err(ClientError::InvalidArguments { problem });
            }
        };
        let mut result = self.answer(self.service.call_tool(request)).await?;
        if result.is_error == Some(true) {
            let result = Box::new(lift_error(result, tool.form));
            let (tool, message) = (name.to_owned(), text(&result.content));
            return Err(ClientError::Tool { tool, message, result });
        }
        let lifted =
            lift_result(&wire(&mut result), tool.form).map(Cow::into_owned).map_err(|error| {
                ClientError::InvalidResult {
                    problem: format!("the result of tool `{name}`: {error}"),
                }
            })?;
        let (lifted, judged) = check(contract, Part::Result, lifted, self.options.results).await?;
        self.accept(&judged).map_err(|problem| ClientError::InvalidResult { problem })?;
        if let Value::Object(mut lifted) = lifted {
            result.structured_content = lifted.remove(Structured::KEY);
            if let Some(Value::Object(meta)) = lifted.remove("_meta") {
                result.meta = Some(MetaObject(meta));
            }
        }
        Ok(result)
    }

    /// The answer to `request`, if it comes in time. `rmcp` cancels a request that is not waited for any more.
    async fn answer<T>(
        &self,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ClientError> {
        let limit = self.timeout;
        let answer = tokio::time::timeout(limit, request).await;
        answer.map_err(|_| ClientError::Timeout { limit })?.map_err(|error| Box::new(error).into())
    }

    /// Reports what was found, and says what is wrong where the call ends here.
    fn accept(&self, judged: &JudgedCall) -> Result<(), String> {
        report(&judged.findings, self.options.listener.as_ref());
        judged.refusal.as_ref().map_or(Ok(()), |refusal| Err(text_of(refusal).to_owned()))
    }

    /// All tools, judged; those that were judged before are found again by content.
    async fn list(&self) -> Result<Arc<Vec<known::Judged>>, ClientError> {
        let mut tools: Vec<Tool> = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let mut request = PaginatedRequestParams::default();
            request.cursor = cursor;
            let page = self.answer(self.service.list_tools(Some(request))).await?;
            tools.extend(page.tools);
            if tools.len() > TOOLS {
                return Err(ClientError::TooManyTools { found: tools.len(), limit: TOOLS });
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return self.judge(tools).await;
            }
        }
        Err(ClientError::TooManyPages { limit: PAGES })
    }

    async fn judge(&self, tools: Vec<Tool>) -> Result<Arc<Vec<known::Judged>>, ClientError> {
        if let Some(same) = self.known.find(&tools) {
            return Ok(same);
        }
        let (revision, options) = (self.revision(), self.options.clone());
        let judge = move || known::judge(&tools, &revision, &options);
        let judged = tokio::task::spawn_blocking(judge).await.map_err(|_| ClientError::Stopped)?;
        Ok(self.known.keep(judged))
    }
}

fn revision_of<S: Service<RoleClient>>(service: &RunningService<RoleClient, S>) -> Revision {
    let info = service.peer_info();
    Revision::named(info.as_ref().map(|info| info.protocol_version.as_str()))
}

/// The parts of a result that its shape and its judgement depend on, taken out of it.
fn wire(result: &mut CallToolResult) -> Value {
    let mut wire = Map::new();
    wire.insert("content".to_owned(), Value::Array(Vec::new()));
    wire.extend(result.structured_content.take().map(|value| (Structured::KEY.to_owned(), value)));
    wire.extend(result.meta.take().map(|meta| ("_meta".to_owned(), meta.0.into())));
    Value::Object(wire)
}

/// An error with its details out of the text that carries them before 2026-07-28.
fn lift_error(result: CallToolResult, form: Form) -> CallToolResult {
    let lifted = || {
        let whole = serde_json::to_value(&result).ok()?;
        serde_json::from_value(lift_result(&whole, form).ok()?.into_owned()).ok()
    };
    lifted().unwrap_or(result)
}

/// The texts of `content`, each on lines of its own.
fn text(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
