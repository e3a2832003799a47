//! A plain `rmcp` server of one era or both, for the matrix of SDKs: `era_server modern|legacy|dual [--http]`.
//!
//! On standard input and output, or with `--http` on a free port, which it prints.
#![expect(deprecated, reason = "legacy clients are asked as older revisions say")]

use std::{
    borrow::Cow,
    collections::HashMap,
    env,
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceError, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        InputRequiredResult, ListPromptsResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter,
    },
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Context = RequestContext<RoleServer>;

/// What all clients share.
#[derive(Default)]
struct State {
    added: Vec<String>,
    /// What became of calls that run until they are cancelled.
    calls: HashMap<String, &'static str>,
    /// Subscriptions that were accepted. `rmcp` tells the client so before it calls `listen`.
    accepted: usize,
    listeners: Vec<SubscriptionSink>,
}

impl State {
    const fn is_complete(&self) -> bool {
        self.listeners.len() == self.accepted
    }
}

#[derive(Clone)]
struct Server {
    versions: Cow<'static, [ProtocolVersion]>,
    state: Arc<Mutex<State>>,
}

/// `value` as a part of the protocol.
fn model<T: DeserializeOwned>(value: impl Serialize) -> Result<T, ErrorData> {
    let value = serde_json::to_value(value).and_then(serde_json::from_value);
    value.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn failed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::internal_error(error.to_string(), None),
    }
}

/// Method and parameters of what a tool asks the client.
fn request(tool: &str) -> Value {
    let name = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let question = json!({ "type": "text", "text": "What is six times seven?" });
    match tool {
        "ask_name" => json!({ "method": "elicitation/create", "params": {
            "mode": "form", "message": "What is your name?", "requestedSchema": name
        } }),
        "ask_model" => json!({ "method": "sampling/createMessage", "params": {
            "messages": [{ "role": "user", "content": question }], "maxTokens": 10
        } }),
        _ => json!({ "method": "roots/list" }),
    }
}

impl Server {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's answer; nothing where the client is to call again with it.
    async fn ask(
        &self,
        call: &CallToolRequestParams,
        context: &Context,
    ) -> Result<Option<Value>, ErrorData> {
        if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
            let is_mine = call.request_state.as_deref() == Some("asked");
            let answers = call.input_responses.as_ref().filter(|_| is_mine);
            return Ok(answers.and_then(|answers| answers.get("answer").cloned()));
        }
        let params = request(&call.name)["params"].take();
        let answer = match &*call.name {
            "ask_name" => context.peer.create_elicitation(model(params)?).await.map(model),
            "ask_model" => context.peer.create_message(model(params)?).await.map(model),
            _ => context.peer.list_roots().await.map(model),
        };
        answer.map_err(failed)?.map(Some)
    }

    /// Runs until the call is cancelled.
    async fn wait(&self, token: String, context: &Context) {
        self.state().calls.insert(token.clone(), "running");
        context.ct.cancelled().await;
        self.state().calls.insert(token, "cancelled");
    }

    async fn add_tool(&self, name: String, context: &Context) -> Result<(), ErrorData> {
        self.state().added.push(name);
        while !self.state().is_complete() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let listeners = self.state().listeners.clone();
        for listener in listeners {
            // Those that are gone are not told.
            _ = listener.notify_tool_list_changed().await;
        }
        if context.protocol_version().is_none_or(|version| version.has_initialize()) {
            context.peer.notify_tool_list_changed().await.map_err(failed)?;
        }
        Ok(())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp", "1"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.versions.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let object = |names: &[&str], kind: &str| {
            let properties: serde_json::Map<_, _> =
                names.iter().map(|name| ((*name).to_owned(), json!({ "type": kind }))).collect();
            json!({ "type": "object", "properties": properties, "required": names })
        };
        let tool = |name: &str| {
            let schema = match name {
                "add" => object(&["a", "b"], "number"),
                "count_up" | "release" | "wait" | "state" => object(&["token"], "string"),
                "add_tool" => object(&["name"], "string"),
                _ => object(&[], "string"),
            };
            json!({ "name": name, "description": name, "inputSchema": schema })
        };
        let names = "add ask_name ask_model ask_roots count_up release wait state log add_tool";
        let mut tools: Vec<_> = names.split(' ').map(tool).collect();
        tools.extend(self.state().added.iter().map(|name| tool(name)));
        Ok(ListToolsResult::with_all_items(model(tools)?))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::from(call.arguments.clone().unwrap_or_default());
        let word = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let text = match &*call.name {
            "add" => {
                let number = |name: &str| arguments[name].as_f64().unwrap_or_default();
                (number("a") + number("b")).to_string()
            }
            "ask_name" | "ask_model" | "ask_roots" => {
                let Some(answer) = self.ask(&call, &context).await? else {
                    let requests = model(json!({ "answer": request(&call.name) }))?;
                    return Ok(
                        InputRequiredResult::new(Some(requests), Some("asked".into())).into()
                    );
                };
                let told =
                    |pointer| answer.pointer(pointer).and_then(Value::as_str).unwrap_or("nothing");
                match &*call.name {
                    "ask_name" => format!("Hello, {}", told("/content/name")),
                    "ask_model" => format!("The model said: {}", told("/content/text")),
                    _ => told("/roots/0/uri").to_owned(),
                }
            }
            "count_up" => {
                for (token, progress) in context
                    .meta
                    .get_progress_token()
                    .into_iter()
                    .flat_map(|token| [1.0, 2.0, 3.0].map(|progress| (token.clone(), progress)))
                {
                    let report = ProgressNotificationParam::new(token, progress).with_total(3.0);
                    context.peer.notify_progress(report).await.map_err(failed)?;
                }
                while self.state().calls.get(&word("token")) != Some(&"released") {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                "done".into()
            }
            "release" => {
                self.state().calls.insert(word("token"), "released");
                "done".into()
            }
            "wait" => {
                self.wait(word("token"), &context).await;
                "cancelled".into()
            }
            "state" => (*self.state().calls.get(&word("token")).unwrap_or(&"unknown")).into(),
            "log" => {
                let message = LoggingMessageNotificationParam::new(
                    LoggingLevel::Warning,
                    "a line of the log".into(),
                );
                context.peer.notify_logging_message(message).await.map_err(failed)?;
                "done".into()
            }
            "add_tool" => {
                self.add_tool(word("name"), &context).await?;
                "done".into()
            }
            _ => "added".into(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        model(json!({ "resources": [{ "name": "greeting", "uri": "test://greeting" }] }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = json!([{ "uri": request.uri, "text": "Hello from a resource" }]);
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(model(contents)?)))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = json!({ "name": "name", "required": true });
        model(json!({ "prompts": [{ "name": "greet", "arguments": [argument] }] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request.arguments.as_ref().and_then(|arguments| arguments["name"].as_str());
        let text = format!("Greet {}", name.unwrap_or("nobody"));
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        Ok(GetPromptResponse::Complete(GetPromptResult::new(vec![model(message)?])))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.state().accepted += 1;
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.state().listeners.push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let versions = match words.first().map(String::as_str) {
        Some("modern") => &[ProtocolVersion::V_2026_07_28],
        Some("legacy") => ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25),
        Some("dual") => ProtocolVersion::KNOWN_VERSIONS,
        _ => return Err("usage: era_server modern|legacy|dual [--http]".into()),
    };
    let server = Server { versions: versions.into(), state: Arc::default() };
    if words.iter().any(|word| word == "--http") {
        return http(server).await;
    }
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}

/// Any path is the server's.
async fn http(server: Server) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    #[expect(clippy::print_stdout, reason = "the test reads it")]
    {
        println!("{}", listener.local_addr()?.port());
    }
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // A client that breaks off is no failure of the server.
            _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
