//! The server as clients of each revision see it.

use serde_json::json;
use toolbond::{Revision, enforce, testing};

use crate::task::{Priority, Task};
use crate::tasks::Tasks;

#[tokio::test]
async fn tasks_are_shared_between_clients() {
    let server = enforce(Tasks::default());
    for (count, revision) in (1..).zip(Revision::PUBLISHED) {
        let client = testing::connect(server.clone(), revision).await.unwrap();
        let repeat = json!({ "every_days": 7 });
        let arguments = json!({ "title": "sweep", "priority": "high", "repeat": repeat });
        let added: Task = client.call("add", arguments).await.unwrap();
        assert_eq!((added.id, added.priority, added.due), (count, Priority::High, None));
        let open: Vec<Task> = client.call("open", json!({})).await.unwrap();
        assert_eq!(open.len(), count as usize);
    }
}

#[tokio::test]
async fn null_clears_a_day_and_nothing_keeps_it() {
    let client = testing::connect(enforce(Tasks::default()), Revision::V2025_06_18).await.unwrap();
    let added = json!({ "title": "bake", "due": "2026-12-24" });
    client.call::<Task>("add", added).await.unwrap();
    let kept: Task = client.call("reschedule", json!({ "id": 1 })).await.unwrap();
    assert_eq!(kept.due.as_deref(), Some("2026-12-24"));
    let arguments = json!({ "id": 1, "due": null, "repeat": { "every_days": 1 } });
    let cleared: Task = client.call("reschedule", arguments).await.unwrap();
    assert_eq!((cleared.due, cleared.repeat.unwrap().every_days), (None, 1));
}

#[tokio::test]
async fn the_model_reads_what_to_fix() {
    let client = testing::connect(enforce(Tasks::default()), Revision::V2026_07_28).await.unwrap();
    for (tool, arguments, message) in [
        ("add", json!({ "title": "" }), "title: expected at least 1 character"),
        ("add", json!({ "title": "x", "repeat": { "every_days": 0 } }), "repeat.every_days: "),
        ("wait", json!({ "id": 7 }), "no task 7"),
    ] {
        let result = client.call_result(tool, arguments).await.unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(message), "{text}");
    }
}

#[tokio::test]
async fn waiting_reports_progress() {
    let client = testing::connect(enforce(Tasks::default()), Revision::V2025_11_25).await.unwrap();
    client.call::<Task>("add", json!({ "title": "bake" })).await.unwrap();
    let wait = json!({ "name": "wait", "arguments": { "id": 1 }, "_meta": { "progressToken": 1 } });
    let finish = async {
        let progress = client.next_notification().await.unwrap();
        assert_eq!(progress["params"]["message"], "waiting for bake");
        client.call::<Task>("finish", json!({ "id": 1 })).await.unwrap()
    };
    let (waited, finished) = tokio::join!(client.request("tools/call", wait), finish);
    assert_eq!(waited.unwrap()["structuredContent"]["done_by"], "me");
    assert_eq!(finished.done_by.as_deref(), Some("me"));
}
