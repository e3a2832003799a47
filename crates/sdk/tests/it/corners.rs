//! `#[toolbond::tools]` where types and attributes are less common.
#![expect(clippy::pedantic, reason = "tools for tests only")]

use std::{collections::HashMap, error::Error};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolbond::{Args, enforce};

use crate::server::{BOTH, NEW, connect, connect_with, names, noting};

#[derive(Clone)]
struct Corners;

fn five() -> Option<u8> {
    Some(5)
}

#[toolbond::tools]
impl Corners {
    #[tool]
    fn boxed(&self) -> Result<u8, Box<dyn Error + Send + Sync>> {
        Ok("secret".parse()?)
    }
    #[tool]
    fn anyhow(&self) -> anyhow::Result<u8> {
        anyhow::Context::context("secret".parse(), "secret")
    }
    #[tool]
    fn default(&self, #[serde(default = "five")] n: Option<u8>, m: Option<u8>) -> Vec<Option<u8>> {
        vec![n, m]
    }
    #[tool]
    fn borrowed(&self) -> &str {
        "borrowed"
    }
    #[cfg(not(test))]
    #[tool]
    fn conditional(&self) -> Missing {
        Missing
    }
    #[cfg(test)]
    #[tool]
    fn conditional(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn errors_of_any_type_stay_in_the_log() {
    let session = connect(Corners, NEW).await;
    for name in ["boxed", "anyhow"] {
        let result = session.call_result(name, json!({})).await.unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "internal error", "{name}");
    }
}

#[tokio::test]
async fn null_is_not_nothing_where_there_is_a_default() {
    let session = connect(Corners, NEW).await;
    for (arguments, seen) in [
        (json!({}), json!([5, null])),
        (json!({ "n": 7 }), json!([7, null])),
        (json!({ "n": null, "m": null }), json!([null, null])),
    ] {
        let result = session.call_result("default", arguments.clone()).await.unwrap();
        assert_eq!(result["structuredContent"], seen, "{arguments}: {result}");
    }
}

#[tokio::test]
async fn what_is_behind_its_contract_twice_is_as_if_it_was_once() {
    for revision in BOTH {
        let once = connect(Corners, revision.clone()).await;
        let twice = connect(enforce(Corners), revision).await;
        assert_eq!(twice.tools().await, once.tools().await);
        for name in ["boxed", "default", "borrowed", "conditional"] {
            for arguments in [json!({}), json!({ "n": "wrong" })] {
                let expected = once.call_result(name, arguments.clone()).await;
                assert_eq!(twice.call_result(name, arguments).await, expected);
            }
        }
    }
}

#[tokio::test]
async fn tools_are_there_under_their_conditions() {
    let session = connect(Corners, NEW).await;
    let list = session.request("tools/list", json!({})).await.unwrap();
    assert_eq!(list["tools"].as_array().unwrap().len(), 5);
    // A list that does not change may be kept.
    assert_eq!(list["ttlMs"], 300_000);
    for (name, value) in [("conditional", json!(true)), ("borrowed", json!("borrowed"))] {
        let result = session.call_result(name, json!({})).await.unwrap();
        assert_eq!(result["structuredContent"], value);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Numbers(Vec<u8>);

#[derive(Clone)]
struct Whole;

#[toolbond::tools]
impl Whole {
    #[tool]
    fn sum(&self, Args(Numbers(numbers)): Args<Numbers>) -> u8 {
        numbers.iter().sum()
    }
    #[tool]
    fn size(&self, Args(all): Args<HashMap<String, u8>>) -> usize {
        all.len()
    }
    #[tool]
    fn has(&self, Args(all): Args<Option<HashMap<String, u8>>>) -> bool {
        all.is_some()
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_reported() {
    let (options, found) = noting(|finding| finding.is_error().then(|| finding.to_string()));
    let session = connect_with(Whole, options, NEW).await;
    assert_eq!(names(&session.tools().await.unwrap()), ["size", "has"]);
    let problem = "error[input-root-type] sum #/inputSchema/type: expected `type: \"object\"` at the root, \
        found \"array\"; tool dropped";
    assert_eq!(*found.lock().unwrap(), [problem]);
    for (name, value) in [("size", json!(1)), ("has", json!(true))] {
        let called = session.call_result(name, json!({ "a": 1 })).await.unwrap();
        assert_eq!(called["structuredContent"], value);
    }
    let error = session.call_result("sum", json!({})).await.unwrap_err().to_string();
    assert_eq!(error, format!("error -32602: tool `sum` cannot be used: {problem}"));
}
