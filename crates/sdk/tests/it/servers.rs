//! The client against published servers of other SDKs, in each era that they speak.
#![expect(clippy::unwrap_used, reason = "connects for tests only")]

use rmcp::ClientServiceExt as _;
use serde_json::{Value, json};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolbond::Client;
use toolbond_harness::peers;

use crate::client::lifecycle;

/// The process of `program`, and the pipes to it.
fn spawn(program: &str) -> (Child, (ChildStdout, ChildStdin)) {
    let words = match program {
        EVERYTHING => vec!["node".to_owned(), peers::package(EVERYTHING)],
        program => peers::words(program),
    };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut process = command.kill_on_drop(true).spawn().unwrap();
    let pipes = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
    (process, pipes)
}

/// A client of `program`, and the process that it ends with.
async fn connect(program: &str, is_modern: bool) -> (Client<()>, Child) {
    let (process, pipes) = spawn(program);
    let client = ().serve_with_lifecycle(pipes, lifecycle(is_modern)).await.unwrap();
    let client = Client::new(client);
    assert_eq!(client.revision().is_natural(), is_modern, "{program}");
    (client, process)
}

/// Whatever the server puts around its results, the client gives what the author returned.
async fn gives_the_natural_values(program: &str) {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../../../peers/servers/shapes.json")).unwrap();
    for is_modern in [false, true] {
        let (client, _process) = connect(program, is_modern).await;
        assert_eq!(client.tools().await.unwrap().len(), 6);
        for case in &cases {
            let name = case["tool"].as_str().unwrap();
            let value = client.call_value(name, &case["arguments"]).await.unwrap();
            assert_eq!(value, case["value"], "{program}, modern: {is_modern}, {case}");
        }
    }
}

#[tokio::test]
async fn typescript_v2() {
    gives_the_natural_values("servers/shapes.mjs").await;
}

#[tokio::test]
async fn python_v2() {
    gives_the_natural_values("servers/shapes.py").await;
}

#[tokio::test]
async fn fastmcp() {
    gives_the_natural_values("servers/shapes_fast.py").await;
}

/// A server of 2025-11-25, which does not know `server/discover`.
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";

#[tokio::test]
async fn the_revision_need_not_be_known_before() {
    for (program, is_modern) in
        [(EVERYTHING, false), ("servers/shapes.mjs", true), ("servers/shapes.py", true)]
    {
        let (_process, pipes) = spawn(program);
        let client = Client::connect(pipes).await.unwrap();
        assert_eq!(client.revision().is_natural(), is_modern, "{program}");
        assert!(!client.tools().await.unwrap().is_empty(), "{program}");
    }
}

#[tokio::test]
async fn server_everything() {
    let (client, _process) = connect(EVERYTHING, false).await;
    assert!(client.tools().await.unwrap().len() > 5);
    let weather = client.call_value("get-structured-content", json!({ "location": "New York" }));
    let weather = weather.await.unwrap();
    assert!(weather["temperature"].is_number() && weather["conditions"].is_string(), "{weather}");
    let echo: String = client.call("echo", json!({ "message": "hi" })).await.unwrap();
    assert_eq!(echo, "Echo: hi");
    let wrong = client.call_value("get-sum", json!({ "a": "one", "b": 2 })).await.unwrap_err();
    assert!(wrong.to_string().contains("\na: expected number"), "{wrong}");
}
