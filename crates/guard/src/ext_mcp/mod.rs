//! The contract as a service for agentgateway: it sends MCP requests and results here, one at a time.

mod headers;
mod list;
mod metadata;
mod reply;
mod rpc;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use toolbond_contract::Revision;

use self::headers::{mutation, read_headers};
use self::metadata::{CallNote, Note};
use self::reply::{failure, pass, refusal, verdict};
use self::rpc::Rpc;
use self::wire::{Code, McpRequest, McpRequestResult, McpResponse, McpResponseResult, Verdict};
use crate::core::Called;
use crate::event::Event;
use crate::fleet::Fleet;
use crate::grpc;
use crate::http::named_revision;
use crate::message::{ListParams, Task};
use crate::proxy::{CheckedCall, Expected, Proxy};

/// The most messages that are checked at a time, over all connections of gateways.
const MAX_CALLS: usize = 16_384;

/// Why the tool of a result is not known.
const NO_METADATA: &str = "the gateway does not say which tool it is of; its configuration has to send the metadata `toolbond`";

/// Why the tool of a task is not known.
const TASK: &str = "it is of a task, and the gateway does not say which tool that is of";

/// Serves the servers of a configuration to agentgateway.
#[derive(Clone, Debug)]
pub struct ExtMcp {
    fleet: Arc<Fleet>,
    calls: Arc<Semaphore>,
}

/// A server and the name that the gateway has for it.
struct NamedServer {
    name: String,
    proxy: Arc<Proxy>,
}

impl ExtMcp {
    /// Serves the servers of `fleet`, which are on HTTP.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>) -> Self {
        Self { fleet, calls: Arc::new(Semaphore::new(MAX_CALLS)) }
    }

    /// Answers gateways on `listener`. After `end`, the health check says so for the time `drain`, so that gateways send
    /// new messages elsewhere; then the listener closes, and messages that are being checked have ten seconds.
    ///
    /// Fails if the listener does.
    pub async fn serve(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()>,
        drain: Duration,
    ) -> Result<(), tonic::transport::Error> {
        let fleet = Arc::clone(&self.fleet);
        grpc::serve(Rpc::new(self), fleet, listener, end, drain).await
    }

    /// Checks a request.
    async fn check_request(&self, request: McpRequest) -> McpRequestResult {
        let Ok(_permit) = self.calls.try_acquire() else { return full().into() };
        let checked = match request.method.as_str() {
            "tools/call" => self.check_call(request).await,
            "tools/list" => self.check_list_request(request),
            _ => Ok(pass().into()),
        };
        checked.unwrap_or_else(Into::into)
    }

    /// Checks a result.
    async fn check_response(&self, response: McpResponse) -> McpResponseResult {
        let Ok(_permit) = self.calls.try_acquire() else { return full().into() };
        let note = Note::read(response.metadata_context.as_ref());
        let checked = match response.method.as_str() {
            "tools/list" => self.check_list(&response, note).await,
            "tools/call" => self.check_result(&response, note).await,
            "tasks/result" | "tasks/get" => self.check_task(&response, note).await,
            _ => Ok(pass()),
        };
        checked.unwrap_or_else(|refused| refused).into()
    }

    async fn check_call(&self, request: McpRequest) -> Result<McpRequestResult, Verdict> {
        let server = self.only_server(&request.service_names)?;
        if !server.is_inspecting() {
            return Ok(pass().into());
        }
        let Some(params) = request.mcp_request else {
            return Err(refusal(Code::Invalid, "`tools/call` needs `params`"));
        };
        server.proxy.keep_watching();
        let headers = read_headers(request.headers);
        let checked = server.proxy.check_call(headers.clone(), params).await;
        match checked.map_err(|unread| failure(&unread, "the call"))? {
            CheckedCall::Answered(answer) => Err(reply::answered(answer)),
            CheckedCall::Sent { params, headers: after, call } => {
                let note = call.map(|(called, revision)| server.note(&called, &revision));
                Ok(McpRequestResult {
                    result: Some(params.map_or_else(pass, Verdict::Mutated)),
                    header_mutation: mutation(&headers, &after),
                    metadata: note.map(Note::write),
                })
            }
        }
    }

    /// Notes the revision of the client, which the list has to fit.
    fn check_list_request(&self, request: McpRequest) -> Result<McpRequestResult, Verdict> {
        self.servers(&request.service_names)?;
        let revision = request_revision(request.mcp_request.as_ref(), request.headers)?;
        let note = Note { revision, call: None };
        Ok(McpRequestResult { metadata: Some(note.write()), ..pass().into() })
    }

    async fn check_list(&self, response: &McpResponse, note: Note) -> Result<Verdict, Verdict> {
        let servers = self.servers(&response.service_names)?;
        let revision = note.revision.unwrap_or_default();
        list::check(&servers, &revision, response.mcp_response.clone()).await
    }

    async fn check_result(&self, response: &McpResponse, note: Note) -> Result<Verdict, Verdict> {
        let server = self.only_server(&response.service_names)?;
        if !server.is_inspecting() {
            return Ok(pass());
        }
        let revision = note.revision.unwrap_or_default();
        let called = match note.call.filter(|call| call.server == server.name) {
            Some(CallNote { definition: Some(definition), .. }) => {
                let judged = server.proxy.judge_definition(definition, revision.clone()).await;
                judged.map_or(Called::Unknown("its tool is not offered"), Called::Tool)
            }
            Some(CallNote { is_unlisted: true, .. }) => Called::Unlisted,
            _ => Called::Unknown(NO_METADATA),
        };
        server.check_result(called, revision, response.mcp_response.clone()).await
    }

    /// Checks what a server says about a task, which may be the result of a call.
    async fn check_task(&self, response: &McpResponse, note: Note) -> Result<Verdict, Verdict> {
        let server = self.only_server(&response.service_names)?;
        let text = std::str::from_utf8(&response.mcp_response).unwrap_or_default();
        let is_running = response.method == "tasks/get"
            && matches!(Task::read(text), Ok(Some(Task { result: None, .. })));
        if is_running || !server.is_inspecting() {
            return Ok(pass());
        }
        let refuses = server.proxy.server().rules().settings.may_refuse_results();
        if response.method == "tasks/get" && !refuses {
            return Ok(pass());
        }
        let revision = note.revision.unwrap_or_default();
        server.check_result(Called::Unknown(TASK), revision, response.mcp_response.clone()).await
    }

    /// The servers with these names. Fails if there is none, or if one is not in the configuration.
    fn servers(&self, names: &[String]) -> Result<Vec<NamedServer>, Verdict> {
        if names.is_empty() {
            return Err(refusal(Code::Invalid, "expected the name of a server, found none"));
        }
        let server = |name: &String| match self.fleet.proxy(name) {
            Some(proxy) => Ok(NamedServer { name: name.clone(), proxy }),
            None => {
                let name: String = name.chars().take(64).collect();
                let reason = format!(
                    "no server for the backend `{name}`: expected [servers.{name}] with a url in the configuration"
                );
                self.fleet.report(Event::error(reason.clone()));
                Err(refusal(Code::Unknown, &reason))
            }
        };
        names.iter().map(server).collect()
    }

    fn only_server(&self, names: &[String]) -> Result<NamedServer, Verdict> {
        let found = names.len();
        match <[NamedServer; 1]>::try_from(self.servers(names)?) {
            Ok([server]) => Ok(server),
            Err(_) => {
                let reason = format!("expected the name of one server, found {found}");
                Err(refusal(Code::Invalid, &reason))
            }
        }
    }
}

impl NamedServer {
    fn is_inspecting(&self) -> bool {
        self.proxy.server().rules().settings.is_inspecting()
    }

    /// What whoever checks the result of a call needs.
    fn note(&self, called: &Called, revision: &Revision) -> Note {
        let call = CallNote::new(&self.name, called);
        if let Err(too_large) = &call {
            self.proxy.server().report_event_once(Event::warning(too_large.clone()));
        }
        Note { revision: Some(revision.clone()), call: call.ok() }
    }

    async fn check_result(
        &self,
        called: Called,
        revision: Revision,
        result: Bytes,
    ) -> Result<Verdict, Verdict> {
        if let Called::Unknown(reason) = called {
            let text = format!("server: could not check a result: {reason}");
            self.proxy.server().report_event_once(Event::warning(text));
        }
        let checked = self.proxy.check_result(Expected::Call(called, revision), result).await;
        checked.map(verdict).map_err(|unread| failure(&unread, "the result"))
    }
}

/// The revision that a request or its headers name.
fn request_revision(
    params: Option<&Bytes>,
    headers: Vec<wire::McpHeader>,
) -> Result<Option<Revision>, Verdict> {
    let text = params.map(|params| std::str::from_utf8(params)).transpose();
    let wrong =
        |error: &dyn std::error::Error| refusal(Code::Invalid, &format!("#/params: {error}"));
    let text = text.map_err(|error| wrong(&error))?;
    let params = ListParams::read(text).map_err(|error| wrong(&error))?;
    let headers: HeaderMap = read_headers(headers);
    Ok(params.client.revision.or_else(|| named_revision(&headers)))
}

/// The answer when too many messages are being checked.
fn full() -> Verdict {
    let reason = format!("{MAX_CALLS} messages are being checked, which is the limit");
    refusal(Code::ResourceExhausted, &reason)
}

impl From<Verdict> for McpRequestResult {
    fn from(verdict: Verdict) -> Self {
        Self { result: Some(verdict), header_mutation: None, metadata: None }
    }
}

impl From<Verdict> for McpResponseResult {
    fn from(verdict: Verdict) -> Self {
        Self { result: Some(verdict) }
    }
}
