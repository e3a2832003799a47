//! Results that a task delivers later are held to the contract of the call, and so are those that a client takes for final.

use serde_json::json;

use crate::contract::strict;
use crate::pair::{Pair, result};

const DAYS: &str = r#"[{"name":"days","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}]"#;

/// A result that asks for input.
const INPUT: &str = r#"{"resultType":"input_required","requestState":"s","content":[]}"#;

/// A guard that has carried a call, which `answer` made a task.
fn with_task(revision: &str, answer: &str) -> Pair {
    let mut pair = Pair::listed(strict(), revision, DAYS);
    call(&mut pair, answer);
    pair
}

/// A call whose client asks for a task.
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
    for (task, answer) in [("t", &wrong), (&*long, &wrong), ("t", &result(2, INPUT))] {
        pair.passes(&ask(task));
        assert_eq!(pair.tell(answer)["result"]["isError"], true, "{answer}");
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
    let unfinished = bad.replace(r#"{"content":[],"structuredContent":[7]}"#, INPUT);
    let messages = [r#""status":"working", "ttlMs":1e3"#, good, bad, &unfinished].map(asked);
    // The same, told unasked.
    for message in messages.into_iter().chain([good, bad, &unfinished].map(told)) {
        if message.contains("\"id\"") {
            pair.passes(r#"{"id":2,"method":"tasks/get","params":{"taskId":"t"}}"#);
        }
        if !message.contains("[7]") && !message.contains(INPUT) {
            pair.comes(&message);
            continue;
        }
        pair.server.send(&message);
        let answer = pair.client.line();
        assert!(answer.contains("withheld") && !answer.contains("[7]"), "{answer}");
        assert!(!answer.contains("input_required"), "{answer}");
        assert!(answer.contains(r#""status":"completed", "result":{"#), "{answer}");
        assert!(answer.contains(r#", "ttlMs":1e3"#), "{answer}");
    }
}

#[test]
fn the_result_of_a_task_is_judged_whatever_its_answer_says_of_the_task() {
    let mut pair =
        with_task("2026-07-28", r#"{"resultType":"task","taskId":"t","status":"working"}"#);
    for task in ["", r#""taskId":null,"#, r#""taskId":"other","#] {
        let bad = format!(r#"{{{task}"result":{{"content":[],"structuredContent":[7]}}}}"#);
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            for (id, instead) in [("t", "withheld"), ("unknown", "does not know this task")] {
                pair.passes(&format!(
                    r#"{{"id":2,"method":"{method}","params":{{"taskId":"{id}"}}}}"#
                ));
                let told = pair.tell(&result(2, &bad)).to_string();
                assert!(told.contains(instead) && !told.contains("[7]"), "{method} {bad}: {told}");
            }
        }
        // It is of no call that the guard knows, so nothing of it arrives.
        pair.server.send(&format!(r#"{{"method":"notifications/tasks","params":{bad}}}"#));
        pair.comes(r#"{"method":"notifications/tasks","params":{"taskId":"t"}}"#);
    }
}

#[test]
fn a_task_of_several_tools_is_unknown() {
    let tools = DAYS.replace(']', r#",{"name":"lax","inputSchema":{"type":"object"}}]"#);
    let calls = [
        ("days", "withheld"),
        ("lax", "does not know this task"),
        ("days", "does not know this task"),
    ];
    let mut pair = Pair::listed(strict(), "2026-07-28", &tools);
    for (name, instead) in calls {
        pair.passes(&format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"{name}","task":{{}}}}}}"#
        ));
        pair.comes(&result(1, r#"{"resultType":"task","taskId":"t","status":"working"}"#));
        pair.passes(r#"{"id":2,"method":"tasks/result","params":{"taskId":"t"}}"#);
        let told = pair.tell(&result(2, r#"{"content":[],"structuredContent":[7]}"#)).to_string();
        assert!(told.contains(instead) && !told.contains("[7]"), "{name}: {told}");
    }
}

#[test]
fn a_result_is_judged_unless_its_client_knows_that_it_is_not_final() {
    let typed = r#"{"resultType":"task","taskId":"t","status":"working"}"#;
    let task = r#"{"task":{"taskId":"t","status":"working"}}"#;
    let others = [
        r#"{"resultType":"Input_Required","requestState":"s","content":[]}"#,
        r#"{"resultType":["task"],"taskId":"t","content":[]}"#,
        r#"{"resultType":"input_required","content":[]}"#,
        r#"{"resultType":"later","content":[]}"#,
        r#"{"resulttype":"task","taskId":"t","content":[]}"#,
        // What no such result has.
        r#"{"resultType":"input_required","requestState":"s","content":[{"type":"text","text":"x"}]}"#,
        r#"{"resultType":"task","taskId":"t","content":[{"type":"text","text":"x"}]}"#,
        r#"{"task":{},"toolResult":{"n":1}}"#,
        r#"{"task":{"taskId":1}}"#,
    ];
    let plain = r#"{"id":1,"method":"tools/call","params":{"name":"days"}}"#;
    let asking = r#"{"id":1,"method":"tools/call","params":{"name":"days","task":{"ttl":1}}}"#;
    let known: [(_, _, &[&str]); 7] = [
        ("2024-11-05", plain, &[]),
        ("2025-06-18", plain, &[]),
        ("2025-06-18", asking, &[]),
        ("2025-11-25", plain, &[]),
        ("2025-11-25", asking, &[task]),
        ("2026-07-28", plain, &[INPUT]),
        ("2026-07-28", asking, &[INPUT, typed]),
    ];
    for (revision, call, known) in known {
        let mut pair = Pair::listed(strict(), revision, DAYS);
        for answer in [INPUT, typed, task].into_iter().chain(others) {
            pair.passes(call);
            if known.contains(&answer) {
                pair.comes(&result(1, answer));
            } else {
                let told = pair.tell(&result(1, answer));
                let refused = told["result"]["isError"] == true;
                assert!(refused, "{revision} {call}: {answer} became {told}");
            }
        }
    }
}

#[test]
fn a_client_of_2026_says_in_each_request_that_it_knows_tasks() {
    let typed = r#"{"resultType":"task","taskId":"t","status":"working"}"#;
    for (capabilities, knows) in [
        (r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, true),
        (r#"{"extensions":{"io.modelcontextprotocol/tasks":null}}"#, false),
        (r#"{"extensions":{},"tasks":{}}"#, false),
        ("{}", false),
    ] {
        let meta = format!(
            r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#
        );
        let mut pair = Pair::greeted(strict(), "2026-07-28");
        pair.passes(&format!(r#"{{"id":1,"method":"tools/list","params":{{{meta}}}}}"#));
        pair.tell(&result(1, &format!(r#"{{"tools":{DAYS}}}"#)));
        let call = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"days",{meta}}}}}"#);
        pair.passes(&call);
        if knows {
            pair.comes(&result(1, typed));
        } else {
            assert_eq!(pair.tell(&result(1, typed))["result"]["isError"], true, "{capabilities}");
        }
    }
}
