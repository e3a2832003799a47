//! Results that a task delivers later are held to the contract of the call.

use serde_json::json;
use toolbond_contract::Mode;
use toolbond_guard::Settings;

use crate::pair::Pair;

const DAYS: &str = r#"[{"name":"days","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}]"#;

fn strict() -> Settings {
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    settings
}

async fn call(pair: &mut Pair, id: u32, answer: &str) {
    let params = json!({ "name": "days", "task": { "ttl": 1000 } });
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    pair.passes(&call.to_string()).await;
    pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#)).await;
}

#[tokio::test]
async fn the_answer_to_tasks_result_is_judged_and_shaped() {
    let mut pair = Pair::new(strict());
    pair.initialize("2025-11-25").await;
    pair.list(DAYS).await;
    call(&mut pair, 1, r#"{"task":{"taskId":"t","status":"working"}}"#).await;
    let long = "t".repeat(2000);
    call(&mut pair, 2, &format!(r#"{{"task":{{"taskId":"{long}"}}}}"#)).await;
    let ask = |id: u32, task: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tasks/result","params":{{"taskId":"{task}"}}}}"#
        )
    };
    pair.passes(&ask(2, "t")).await;
    pair.server
        .send(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":["m"]}}"#)
        .await;
    let answer = pair.client.json().await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "result": ["m"] }));

    let wrong = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":[7]}}"#;
    for task in ["t", &long] {
        pair.passes(&ask(3, task)).await;
        pair.server.send(wrong).await;
        assert_eq!(pair.client.json().await["result"]["isError"], true);
    }
    // A task of which the guard knows nothing.
    pair.passes(&ask(3, "other")).await;
    pair.comes(wrong).await;
}

#[tokio::test]
async fn the_result_inside_of_a_task_is_judged_and_shaped() {
    let mut pair = Pair::new(strict());
    pair.initialize("2026-07-28").await;
    pair.list(DAYS).await;
    call(&mut pair, 1, r#"{"resultType":"task","taskId":"t","status":"working"}"#).await;
    let ask = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tasks/get","params":{{"taskId":"t"}}}}"#)
    };
    let state = |id: u32, rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","taskId":"t",{rest}}}}}"#
        )
    };
    pair.passes(&ask(2)).await;
    pair.comes(&state(2, r#""status":"working", "ttlMs":1e3"#)).await;
    pair.passes(&ask(3)).await;
    let good = r#""status":"completed","result":{"content":[{"type":"text","text":"x"}],"structuredContent":[ "m" ]}"#;
    pair.comes(&state(3, good)).await;
    pair.passes(&ask(4)).await;
    let bad =
        r#""status":"completed", "result":{"content":[],"structuredContent":[7]}, "ttlMs":1e3"#;
    pair.server.send(&state(4, bad)).await;
    let answer = pair.client.line().await;
    assert!(answer.contains("withheld") && !answer.contains("[7]"), "{answer}");
    assert!(answer.contains(r#""status":"completed", "result":{"#), "{answer}");
    assert!(answer.contains(r#", "ttlMs":1e3"#), "{answer}");
    // The same, told unasked.
    let told = |rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{"taskId":"t",{rest}}}}}"#
        )
    };
    pair.comes(&told(good)).await;
    pair.server.send(&told(bad)).await;
    let answer = pair.client.line().await;
    assert!(answer.contains("withheld") && !answer.contains("[7]"), "{answer}");
}
