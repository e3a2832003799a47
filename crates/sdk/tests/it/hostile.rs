//! The hostile corpus through both sides: neither a server nor a client is held up, and others go on.
#![expect(clippy::unwrap_used, reason = "connects for tests only")]

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};
use toolbond::{ClientError, ClientOptions, ServerOptions};
use toolbond_harness::hostile::{self, Case, End};
use toolbond_schema::{Limits, Schema};

use crate::client;
use crate::server::{OLD, Plain, connect_with, structured, taking, tool};

/// Far longer than any case takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Deeper values are refused by whoever reads JSON, long before they get here.
const READABLE: usize = 100;

/// Larger ones take their time in `rmcp`, which reads every message several times; `toolbond-schema` has them all.
const BYTES: usize = 2 * 1024 * 1024;

fn options(case: &Case) -> (Limits, toolbond_schema::Options) {
    let mut limits = Limits::default();
    for (name, limit) in &case.limits {
        limits.set(name, limit.as_u64().unwrap()).unwrap();
    }
    (limits, Schema::options().assert_formats(case.assert_formats))
}

fn depth(value: &Value) -> usize {
    let (mut level, mut depth) = (vec![value], 0);
    while !level.is_empty() {
        depth += 1;
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(members) => members.values().collect(),
                _ => Vec::new(),
            })
            .collect();
    }
    depth
}

/// The cases that can be sent as the schema of a tool: a JSON object that a reader of JSON takes. One that leaves
/// no fuel at all leaves none for other tools.
fn cases() -> impl Iterator<Item = (Case, Value, Value)> {
    let cases = hostile::cases().into_iter().filter(|case| case.name != "limit/fuel-none");
    let all = cases.map(|case| {
        let (schema, instance) = (case.schema(), case.instance());
        (case, schema, instance)
    });
    all.filter(|(_, schema, instance)| {
        let fits = |value: &Value| depth(value) < READABLE && value.to_string().len() < BYTES;
        schema.is_object() && fits(schema) && fits(instance)
    })
}

/// Runs `work` for every case, a few at a time, and gives what went wrong.
async fn each<F: Future<Output = Result<(), String>> + Send + 'static>(
    work: impl Fn(Case, Value, Value) -> F,
) {
    let mut running = JoinSet::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for (case, schema, instance) in cases() {
        count += 1;
        let name = case.name.clone();
        let work = timeout(PATIENCE, work(case, schema, instance));
        running.spawn(async move {
            match work.await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(problem)) => Err(format!("{name}: {problem}")),
                Err(_) => Err(format!("{name}: no answer")),
            }
        });
        if running.len() >= 4 {
            wrong.extend(running.join_next().await.unwrap().unwrap().err());
        }
    }
    while let Some(ended) = running.join_next().await {
        wrong.extend(ended.unwrap().err());
    }
    assert!(count > 200, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a server sends: its output schema, and a result for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_cannot_hold_up_a_client() {
    each(|case, schema, instance| async move {
        let server = Plain::new(json!([
            tool("hostile", schema, structured(instance.clone())),
            tool("quick", json!({ "type": "integer" }), structured(json!(1))),
        ]));
        let (limits, schema) = options(&case);
        let options = ClientOptions::default().limits(limits).schema(schema);
        let client = client::connect_with(server, true, options).await;
        let call = client.call_value("hostile", json!({})).await;
        let quick = client.call_value("quick", json!({})).await;
        if !matches!(quick, Ok(value) if value == 1) {
            return Err("the other tool does not answer".to_owned());
        }
        match (case.ends, call) {
            // Refused: the tool works without its output schema.
            (End::Valid | End::Refused, Ok(value)) if value == instance => Ok(()),
            (End::Invalid | End::Unfinished, Err(ClientError::InvalidResult { .. })) => Ok(()),
            (ends, call) => Err(format!("{ends:?}, but {}", brief(&call))),
        }
    })
    .await;
}

/// What a client sends: arguments for an input schema that is expensive to hold them to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_cannot_hold_up_a_server() {
    each(|case, schema, instance| async move {
        // A resource of its own, so that its references stay what they were.
        let mut inner = schema;
        inner.as_object_mut().unwrap().entry("$id").or_insert_with(|| "urn:hostile".into());
        let input = json!({ "type": "object", "properties": { "value": inner } });
        let quick = tool("quick", json!({ "type": "integer" }), structured(json!(1)));
        let (limits, schema) = options(&case);
        let options = ServerOptions::default().limits(limits).schema(schema);
        let server = Plain::new(json!([taking("hostile", input), quick]));
        let session = connect_with(server, options, OLD).await;
        session.tools().await.map_err(|error| error.to_string())?;
        let (call, quick) = tokio::join!(
            session.call_result("hostile", json!({ "value": instance })),
            session.call_result("quick", json!({}))
        );
        let quick = quick.map_err(|error| error.to_string())?;
        if quick["structuredContent"] != json!({ "result": 1 }) {
            return Err(format!("the other tool answers {quick}"));
        }
        // Inside of another schema it may be refused, or take more fuel; what is wrong stays wrong.
        match (case.ends, call) {
            (End::Invalid | End::Unfinished, Ok(result)) if result["isError"] != true => {
                Err(format!("{:?}, but the handler was called", case.ends))
            }
            _ => Ok(()),
        }
    })
    .await;
}

fn brief(call: &Result<Value, ClientError>) -> String {
    let text = match call {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    text.chars().take(120).collect()
}
