//! Results that a task delivers later are held to the contract of the call.

use serde_json::json;

use crate::contract::strict;
use crate::pair::{Pair, result};

const DAYS: &str = r#"[{"name":"days","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}]"#;

/// A guard that has carried a call, which `answer` made a task.
fn with_task(revision: &str, answer: &str) -> Pair {
    let mut pair = Pair::listed(strict(), revision, DAYS);
    call(&mut pair, answer);
    pair
}

fn call(pair: &mut Pair, answer: &str) {
    pair.passes(r#"{"id":1,"method":"tools/call","params":{"name":"days","task":{"ttl":1000}}}"#);
    pair.comes(&result(1, answer));
}

#[test]
fn the_answer_to_tasks_result_is_judged_and_shaped() {
    let mut pair = with_task("2025-11-25", r#"{"task":{"taskId":"t","status":"working"}}"#);
    let long = "t".repeat(2000);
    call(&mut pair, &format!(r#"{{"task":{{"taskId":"{long}"}}}}"#));
    let ask = |task: &str| {
        format!(r#"{{"id":2,"method":"tasks/result","params":{{"taskId":"{task}"}}}}"#)
    };
    pair.passes(&ask("t"));
    let text = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":["m"]}"#;
    let answer = pair.tell(&result(2, text));
    assert_eq!(answer["result"]["structuredContent"], json!({ "result": ["m"] }));

    let wrong = result(2, r#"{"content":[],"structuredContent":[7]}"#);
    for task in ["t", &long] {
        pair.passes(&ask(task));
        assert_eq!(pair.tell(&wrong)["result"]["isError"], true);
    }
    // A task of which the guard knows nothing: under `enforce`, its result is withheld.
    pair.passes(&ask("other"));
    let withheld = pair.tell(&wrong);
    assert!(withheld["error"]["message"].as_str().unwrap().contains("does not know this task"));
}

#[test]
fn the_result_inside_of_a_task_is_judged_and_shaped() {
    let task = r#"{"resultType":"task","taskId":"t","status":"working"}"#;
    let mut pair = with_task("2026-07-28", task);
    let good = r#""status":"completed","result":{"content":[{"type":"text","text":"x"}],"structuredContent":[ "m" ]}"#;
    let bad =
        r#""status":"completed", "result":{"content":[],"structuredContent":[7]}, "ttlMs":1e3"#;
    let asked =
        |rest: &str| result(2, &format!(r#"{{"resultType":"complete","taskId":"t",{rest}}}"#));
    let told = |rest: &str| {
        format!(r#"{{"method":"notifications/tasks","params":{{"taskId":"t",{rest}}}}}"#)
    };
    let messages = [asked(r#""status":"working", "ttlMs":1e3"#), asked(good), asked(bad)];
    // The same, told unasked.
    for message in messages.into_iter().chain([told(good), told(bad)]) {
        if message.contains("\"id\"") {
            pair.passes(r#"{"id":2,"method":"tasks/get","params":{"taskId":"t"}}"#);
        }
        if !message.contains("[7]") {
            pair.comes(&message);
            continue;
        }
        pair.server.send(&message);
        let answer = pair.client.line();
        assert!(answer.contains("withheld") && !answer.contains("[7]"), "{answer}");
        assert!(answer.contains(r#""status":"completed", "result":{"#), "{answer}");
        assert!(answer.contains(r#", "ttlMs":1e3"#), "{answer}");
    }
}
