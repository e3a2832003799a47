//! A plain `rmcp` client of one era or both, for the matrix of SDKs: `era_client modern|legacy|dual VISITS`.
//!
//! `VISITS` is JSON: `[[name, [URL] or [command, argument, …]], …]`. It takes the same steps with each server, and prints one
//! JSON line for each: `visit`, `step` and, where the step failed, `error`.
#![expect(deprecated, reason = "servers also ask for what older revisions have")]

use std::{env, error::Error, process::Stdio, sync::Arc, time::Duration};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
        ClientRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, GetPromptRequestParams, Implementation, ListRootsResult, LoggingLevel,
        LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
        ReadResourceRequestParams, RequestMetaObject, SetLevelRequestParams, SubscriptionFilter,
    },
    service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    sync::{Mutex, mpsc},
    time::{sleep, timeout},
};

type Failure = Box<dyn Error + Send + Sync>;
type Outcome = Result<(), Failure>;

/// How long a step may take; connecting may take three times as long.
const LIMIT: Duration = Duration::from_secs(60);
const TOOLS: &str = "add ask_name ask_model ask_roots count_up release wait state log add_tool";
const STEPS: &str = "list answer elicit sample progress cancel read prompt change roots log";

/// `value` as a part of the protocol.
fn model<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// What the server tells without being asked.
#[derive(Debug, PartialEq)]
enum Told {
    Progress(f64),
    Changed,
    Logged(Value),
}

/// A user called Ada.
#[derive(Clone)]
struct User(mpsc::UnboundedSender<Told>);

impl User {
    fn told(&self, told: Told) {
        // Nobody waits for it after the last step.
        _ = self.0.send(told);
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let can = ClientCapabilities::builder();
        let can = can.enable_elicitation().enable_sampling().enable_roots().build();
        ClientConfig::new(can, Implementation::new("rmcp", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        model(json!({ "action": "accept", "content": { "name": "Ada" } }))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let content = json!({ "type": "text", "text": "42" });
        model(json!({ "role": "assistant", "content": content, "model": "none" }))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        model(json!({ "roots": [{ "uri": "file:///home/ada" }] }))
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.told(Told::Progress(report.progress));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.told(Told::Changed);
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.told(Told::Logged(message.data));
    }
}

/// A connection to a server.
struct Peer {
    service: Arc<RunningService<RoleClient, User>>,
    told: Mutex<mpsc::UnboundedReceiver<Told>>,
    is_modern: bool,
    /// It is killed with the connection.
    _process: Option<Child>,
}

impl Peer {
    async fn connect(mode: &str, target: &[String]) -> Result<Self, Failure> {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let lifecycle = match mode {
            "modern" => ClientLifecycleMode::Discover { preferred_versions },
            "legacy" => ClientLifecycleMode::Initialize,
            _ => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        };
        let (sender, told) = mpsc::unbounded_channel();
        let user = User(sender);
        let (service, process) = if target[0].starts_with("http:") {
            let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
            (user.serve_with_lifecycle(transport, lifecycle).await?, None)
        } else {
            let mut command = Command::new(&target[0]);
            command.args(&target[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut process = command.stderr(Stdio::null()).kill_on_drop(true).spawn()?;
            let pipes = process.stdout.take().zip(process.stdin.take()).ok_or("no pipes")?;
            (user.serve_with_lifecycle(pipes, lifecycle).await?, Some(process))
        };
        let info = service.peer().peer_info().ok_or("no information about the server")?;
        let is_modern = !info.protocol_version.has_initialize();
        Ok(Self {
            service: Arc::new(service),
            told: Mutex::new(told),
            is_modern,
            _process: process,
        })
    }

    async fn step(&self, step: &str) -> Outcome {
        match step {
            "list" => {
                let names = self.tools().await?;
                let missing: Vec<_> = TOOLS
                    .split(' ')
                    .filter(|tool| !names.iter().any(|name| name == tool))
                    .collect();
                same(&missing, &Vec::new())
            }
            "answer" => self.gives("add", json!({ "a": 2, "b": 3 }), "5").await,
            "elicit" => self.gives("ask_name", json!({}), "Hello, Ada").await,
            "sample" => self.gives("ask_model", json!({}), "The model said: 42").await,
            "roots" => self.gives("ask_roots", json!({}), "file:///home/ada").await,
            "progress" => self.progress().await,
            "cancel" => self.cancel().await,
            "read" => {
                let request = ReadResourceRequestParams::new("test://greeting");
                let result = serde_json::to_value(self.service.read_resource(request).await?)?;
                same(&result["contents"][0]["text"], &"Hello from a resource".into())
            }
            "prompt" => {
                let request = model::<GetPromptRequestParams>(
                    json!({ "name": "greet", "arguments": { "name": "Bo" } }),
                )?;
                let result = serde_json::to_value(self.service.get_prompt(request).await?)?;
                same(&result["messages"][0]["content"]["text"], &"Greet Bo".into())
            }
            "change" => self.change().await,
            _ => self.log().await,
        }
    }

    async fn progress(&self) -> Outcome {
        let token = fresh(self.is_modern, "progress");
        let release = async {
            let mut seen = Vec::new();
            while seen.len() < 3 {
                if let Told::Progress(progress) = self.next().await? {
                    seen.push(progress);
                }
            }
            self.call("release", json!({ "token": token })).await?;
            // `rmcp` handles each notification in a task of its own.
            seen.sort_by(f64::total_cmp);
            same(&seen, &vec![1.0, 2.0, 3.0])
        };
        let (released, counted) =
            tokio::join!(release, self.gives("count_up", json!({ "token": token }), "done"));
        released.and(counted)
    }

    async fn cancel(&self) -> Outcome {
        let token = fresh(self.is_modern, "cancel");
        let mut params = CallToolRequestParams::new("wait");
        params.arguments = json!({ "token": token }).as_object().cloned();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let waiting = self.service.peer().send_request_with_option(request, options).await?;
        self.becomes(&token, "running").await?;
        waiting.cancel(Some("changed my mind".to_owned())).await?;
        self.becomes(&token, "cancelled").await
    }

    async fn becomes(&self, token: &str, state: &str) -> Outcome {
        while self.call("state", json!({ "token": token })).await? != state {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn change(&self) -> Outcome {
        let name = fresh(self.is_modern, "added");
        let add = self.gives("add_tool", json!({ "name": name }), "done");
        if self.is_modern {
            let filter = model::<SubscriptionFilter>(json!({ "toolsListChanged": true }))?;
            let mut subscription = self.service.peer().listen(filter).await?;
            add.await?;
            subscription.next().await?.ok_or("the subscription ended")?;
        } else {
            add.await?;
            while self.next().await? != Told::Changed {}
        }
        same(&self.tools().await?.contains(&name), &true)
    }

    async fn log(&self) -> Outcome {
        let mut call = CallToolRequestParams::new("log");
        if self.is_modern {
            let level = json!({ "io.modelcontextprotocol/logLevel": "info" });
            call.meta = Some(model::<RequestMetaObject>(level)?);
        } else {
            self.service.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await?;
        }
        text(&self.service.call_tool(call).await?)?;
        loop {
            if let Told::Logged(line) = self.next().await? {
                return same(&line, &"a line of the log".into());
            }
        }
    }

    async fn next(&self) -> Result<Told, Failure> {
        self.told.lock().await.recv().await.ok_or_else(|| "the connection was closed".into())
    }

    async fn tools(&self) -> Result<Vec<String>, Failure> {
        let tools = self.service.list_tools(None).await?.tools;
        Ok(tools.into_iter().map(|tool| tool.name.into_owned()).collect())
    }

    async fn call(&self, name: &'static str, arguments: Value) -> Result<String, Failure> {
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments.as_object().cloned();
        text(&self.service.call_tool(params).await?)
    }

    async fn gives(&self, name: &'static str, arguments: Value, expected: &str) -> Outcome {
        same(&self.call(name, arguments).await?, &expected.to_owned())
    }
}

/// A name that no other step and no other client uses.
fn fresh(is_modern: bool, step: &str) -> String {
    let era = if is_modern { "modern" } else { "legacy" };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{step}_{era}_{}_{}", std::process::id(), now.unwrap_or_default().as_nanos())
}

/// The text of a result, or its failure.
fn text(result: &CallToolResult) -> Result<String, Failure> {
    let value = serde_json::to_value(result)?;
    let text = value["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    if result.is_error == Some(true) { Err(text.into()) } else { Ok(text) }
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}, found {found:?}").into())
}

/// What `work` gives within `limit`.
async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    timeout(limit, work).await.unwrap_or_else(|_| Err("timed out".into()))
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn tell(visit: &str, step: &str, error: Option<&Failure>) {
    let mut line = json!({ "visit": visit, "step": step });
    if let Some(error) = error {
        line["error"] = error.to_string().chars().take(500).collect::<String>().into();
    }
    println!("{line}");
}

#[tokio::main]
async fn main() -> Outcome {
    let words: Vec<String> = env::args().skip(1).collect();
    let [mode, visits] = words.as_slice() else {
        return Err("usage: era_client modern|legacy|dual VISITS".into());
    };
    for (visit, target) in serde_json::from_str::<Vec<(String, Vec<String>)>>(visits)? {
        match within(3 * LIMIT, Peer::connect(mode, &target)).await {
            Err(error) => tell(&visit, "connect", Some(&error)),
            Ok(peer) => {
                for step in STEPS.split(' ') {
                    let outcome = within(LIMIT, Box::pin(peer.step(step))).await;
                    tell(&visit, step, outcome.err().as_ref());
                }
            }
        }
    }
    Ok(())
}
