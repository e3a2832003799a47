//! A server and a client whose calls are traced: `traced [--http ADDR]` serves, and
//! `traced --call modern|legacy ARGUMENTS TARGET…` calls the tool `greet` of the server that is at the URL `TARGET` or
//! that this command starts, and prints the result or the error.

use std::{env, error::Error, process::Stdio};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, model::ProtocolVersion,
    service::RunningService, transport::StreamableHttpClientTransport,
};
use serde_json::Value;
use tokio::process::{Child, Command};
use toolbond::opentelemetry::{
    global,
    trace::{Span as _, Tracer as _},
};
use toolbond::{Client, ServeError};

#[derive(Clone)]
struct Greeter;

#[toolbond::tools]
impl Greeter {
    /// Greets someone.
    #[tool]
    fn greet(&self, name: String, password: Option<String>) -> Result<String, toolbond::ToolError> {
        global::tracer("greeter").start("compose").end();
        match password {
            Some(password) if name.is_empty() => {
                Err(toolbond::ToolError::new(format!("nobody has the password {password}")))
            }
            _ => Ok(format!("Hello, {name}")),
        }
    }
}

type Failure = Box<dyn Error + Send + Sync>;

async fn connect(
    era: &str,
    target: &[String],
) -> Result<(RunningService<RoleClient, ()>, Option<Child>), Failure> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match era {
        "modern" => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Initialize,
    };
    if target[0].starts_with("http:") {
        let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
        return Ok((().serve_with_lifecycle(transport, lifecycle).await?, None));
    }
    let mut command = Command::new(&target[0]);
    command.args(&target[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn()?;
    let pipes = process.stdout.take().zip(process.stdin.take()).ok_or("no pipes")?;
    Ok((().serve_with_lifecycle(pipes, lifecycle).await?, Some(process)))
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
async fn call(era: &str, arguments: &str, target: &[String]) -> Result<(), Failure> {
    let export = toolbond::export_from_env("caller");
    let (service, process) = connect(era, target).await?;
    let client = Client::new(service);
    match client.call_value("greet", serde_json::from_str::<Value>(arguments)?).await {
        Ok(value) => println!("{value}"),
        Err(error) => println!("{error}"),
    }
    client.into_service().cancel().await?;
    if let Some(mut process) = process {
        process.wait().await?;
    }
    if let Some(export) = export {
        tokio::task::spawn_blocking(move || export.shutdown()).await?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.as_slice() {
        [first, era, arguments, target @ ..] if first == "--call" => {
            call(era, arguments, target).await
        }
        _ => Ok(toolbond::serve_cli(Greeter).await.map_err(|error: ServeError| Box::new(error))?),
    }
}
