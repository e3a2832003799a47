//! Tools that are bundled in the background.

use std::sync::{Arc, mpsc};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use toolbond_fetch::{Attempt, Bundle, PendingBundle, Policy, ToolBundles, wait_a_little};

use crate::server::{json as document, start, stuck};
use crate::{at, limited};

fn tool(name: &str, uri: &str) -> (String, Value) {
    let tool = json!({ "name": name, "inputSchema": { "type": "object", "properties": { "a": { "$ref": uri } } } });
    (tool.to_string(), tool)
}

fn bundles(policy: Policy) -> Arc<ToolBundles> {
    Arc::new(ToolBundles::new(policy, |_| {}, |_| {}).unwrap())
}

fn pending(bundle: Option<Bundle>) -> PendingBundle {
    match bundle {
        Some(Bundle::Pending(pending)) => pending,
        other => panic!("{other:?}"),
    }
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn a_list_waits_in_vain_once() {
    let server = start([("/a", stuck("")), ("/b", document("{}"))]);
    let bundles = bundles(at(&server));
    let get = |name: &str, path: &str| {
        let (text, tool) = tool(name, &server.url(path));
        bundles.get(&text, &tool)
    };
    // There is something to do for now.
    let (done, work) = mpsc::channel::<()>();
    spawn_blocking(move || work.recv());
    wait_a_little(&[pending(get("fast", "/b"))]).await;
    assert!(matches!(get("fast", "/b"), Some(Bundle::Ready(..))));
    drop(done);
    wait_a_little(&[pending(get("stuck", "/a"))]).await;
    assert!(matches!(get("stuck", "/a"), Some(Bundle::Pending(_))));
    // Whatever comes on later pages is not waited for.
    let more = pending(get("stuck, too", "/a"));
    assert_eq!(wait_a_little(&[more]).now_or_never(), Some(()));
    let late = pending(get("late", "/b"));
    assert!(late.finish().await);
    assert!(matches!(get("late", "/b"), Some(Bundle::Ready(..))));
}

#[tokio::test]
async fn tools_that_are_being_bundled_have_a_limited_size() {
    let server = start([("/a", stuck(""))]);
    let bundles = bundles(at(&server));
    let long = "x".repeat(1 << 20);
    let get = |number: usize| {
        let (text, tool) = tool(&format!("{number}{long}"), &server.url("/a"));
        bundles.get(&text, &tool)
    };
    let count =
        (0..64).take_while(|number| matches!(get(*number), Some(Bundle::Pending(_)))).count();
    assert_eq!(count, 32);
    let Some(Bundle::Failed(error, _)) = get(64) else { panic!() };
    assert!(error.to_string().contains("too many tools"), "{error}");
    assert!(server.connections() <= 8);
}

#[tokio::test]
async fn a_tool_that_refers_to_nothing_is_not_touched() {
    let bundles = bundles(Policy::default());
    let (text, tool) = tool("a", "#/properties/b");
    let mut tool = tool;
    tool["inputSchema"]["properties"]["b"] = json!({});
    assert!(bundles.get(&text, &tool).is_none());
}

#[tokio::test]
async fn a_tool_that_is_too_large_with_its_documents_fails() {
    let body = format!("{{\"title\":\"{}\"}}", "x".repeat(9 << 20));
    let server = start([("/a", document(&body))]);
    let large = |limits: &mut toolbond_fetch::FetchLimits| {
        (limits.document_bytes, limits.total_bytes) = (16 << 20, 16 << 20);
    };
    let bundles = bundles(limited(&server, large));
    let (text, tool) = tool("a", &server.url("/a"));
    assert!(!pending(bundles.get(&text, &tool)).finish().await);
    let Some(Bundle::Failed(error, _)) = bundles.get(&text, &tool) else { panic!() };
    assert!(error.to_string().contains("exceed 8388608 bytes"), "{error}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_panic_while_a_tool_is_bundled_ends_in_a_failure() {
    let server = start([("/a", document("{}"))]);
    let panicking = |_: &Attempt| panic!("an observer panics, as this test wants");
    let bundles = Arc::new(ToolBundles::new(at(&server), panicking, |_| {}).unwrap());
    let (text, tool) = tool("a", &server.url("/a"));
    assert!(!pending(bundles.get(&text, &tool)).finish().await);
    let Some(Bundle::Failed(error, _)) = bundles.get(&text, &tool) else { panic!() };
    assert!(error.to_string().contains("internal error"), "{error}");
}

#[tokio::test]
async fn panics_take_no_room_from_other_tools() {
    let server = start([("/a", document("{}"))]);
    let panicking = |_: &Attempt| panic!("an observer panics, as this test wants");
    let bundles = Arc::new(ToolBundles::new(at(&server), panicking, |_| {}).unwrap());
    let long = "x".repeat(1 << 20);
    for number in 0..64 {
        let (text, tool) = tool(&format!("{number}{long}"), &server.url("/a"));
        assert!(!pending(bundles.get(&text, &tool)).finish().await, "{number}");
    }
}
