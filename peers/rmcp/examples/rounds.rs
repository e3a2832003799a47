//! A plain `rmcp` client that lists and calls in rounds: `rounds MODE VISITS`; see `peers/clients/rounds.mjs`. MODE is
//! `legacy` or `modern`.

use std::{env, error::Error, process::Stdio, time::Duration};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
    },
    service::RunningService,
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

/// What to start or a URL; for each round, whether to list, and the tools to call.
type Visit = (Vec<String>, Vec<(bool, Vec<String>)>);
type Failure = Box<dyn Error + Send + Sync>;
type Client = RunningService<RoleClient, ClientConfig>;

/// How long a server may take to end.
const LIMIT: Duration = Duration::from_secs(5);

/// A client, and the process of its server, which is killed with it.
async fn connect(mode: &str, target: &[String]) -> Result<(Client, Option<Child>), Failure> {
    let lifecycle = match mode {
        "modern" => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let name = env::var("CLIENT_NAME").unwrap_or_else(|_| "rmcp".to_owned());
    let info = ClientConfig::new(ClientCapabilities::default(), Implementation::new(name, "1"));
    if target[0].starts_with("http:") {
        let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
        return Ok((info.serve_with_lifecycle(transport, lifecycle).await?, None));
    }
    let mut command = Command::new(&target[0]);
    command.args(&target[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.stderr(Stdio::inherit()).kill_on_drop(true).spawn()?;
    let pipes = process.stdout.take().zip(process.stdin.take()).ok_or("no pipes")?;
    Ok((info.serve_with_lifecycle(pipes, lifecycle).await?, Some(process)))
}

/// What a model can get of a call.
async fn call(client: &Client, name: String) -> Result<Value, Failure> {
    let result = client.call_tool(CallToolRequestParams::new(name)).await?;
    let result = serde_json::to_value(result)?;
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<_> = blocks.map(|block| &block["text"]).collect();
    let is_error = result["isError"] == true;
    Ok(json!({ "texts": texts, "structured": result["structuredContent"], "isError": is_error }))
}

fn thrown(failure: &Failure) -> Value {
    json!({ "thrown": failure.to_string() })
}

async fn visit(mode: &str, target: &[String], rounds: Vec<(bool, Vec<String>)>) -> Value {
    let (client, mut process) = match connect(mode, target).await {
        Ok(connected) => connected,
        Err(failure) => {
            let none = |(_, names): &(bool, Vec<String>)| vec![thrown(&failure); names.len()];
            return rounds.iter().map(none).collect();
        }
    };
    let mut seen = Vec::new();
    for (lists, names) in rounds {
        let failed =
            if lists { client.list_tools(None).await.map_err(Failure::from).err() } else { None };
        let mut round = Vec::new();
        for name in names {
            round.push(match &failed {
                Some(failure) => thrown(failure),
                None => call(&client, name).await.unwrap_or_else(|failure| thrown(&failure)),
            });
        }
        seen.push(Value::from(round));
    }
    // The server may have something to finish.
    _ = client.cancel().await;
    if let Some(process) = &mut process {
        _ = timeout(LIMIT, process.wait()).await;
    }
    seen.into()
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the test reads it")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [mode, visits] = words.as_slice() else {
        return Err("usage: rounds legacy|modern VISITS".into());
    };
    for (target, rounds) in serde_json::from_str::<Vec<Visit>>(visits)? {
        println!("{}", visit(mode, &target, rounds).await);
    }
    Ok(())
}
