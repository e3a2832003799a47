//! `#[toolpact::tools]` where types and attributes are less common.
#![expect(clippy::pedantic, reason = "tools for tests only")]

use std::error::Error;

use serde_json::json;
use toolpact::{Revision, enforce, testing};

#[derive(Clone)]
struct Corners;

fn five() -> Option<u8> {
    Some(5)
}

#[toolpact::tools]
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
    let session = testing::connect(enforce(Corners), Revision::V2026_07_28).await.unwrap();
    for name in ["boxed", "anyhow"] {
        let result = session.call(name, json!({})).await.unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "internal error", "{name}");
    }
}

#[tokio::test]
async fn null_is_not_nothing_where_there_is_a_default() {
    let session = testing::connect(enforce(Corners), Revision::V2026_07_28).await.unwrap();
    for (arguments, seen) in [
        (json!({}), json!([5, null])),
        (json!({ "n": 7 }), json!([7, null])),
        (json!({ "n": null, "m": null }), json!([null, null])),
    ] {
        let result = session.call("default", arguments.clone()).await.unwrap();
        assert_eq!(result["structuredContent"], seen, "{arguments}: {result}");
    }
}

#[tokio::test]
async fn lists_that_do_not_change_may_be_kept() {
    let session = testing::connect(enforce(Corners), Revision::V2026_07_28).await.unwrap();
    assert_eq!(session.request("tools/list", json!({})).await.unwrap()["ttlMs"], 300_000);
}

#[tokio::test]
async fn tools_are_there_under_their_conditions() {
    let session = testing::connect(enforce(Corners), Revision::V2026_07_28).await.unwrap();
    assert_eq!(session.tools().await.unwrap().len(), 5);
    for (name, value) in [("conditional", json!(true)), ("borrowed", json!("borrowed"))] {
        let result = session.call(name, json!({})).await.unwrap();
        assert_eq!(result["structuredContent"], value);
    }
}
