//! Arguments as the types of their author: numbers in every notation, names, `Args` beside other parameters.
#![expect(clippy::unwrap_used, reason = "tools for tests only")]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolbond::{Args, Context, Tools as _};

use crate::server::{BOTH, NEW, OLD, connect};

#[derive(Clone)]
struct Desk;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    limit: u8,
    context: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Move {
    steps: Vec<i64>,
    speed: Option<f64>,
}

/// What the schema allows and the type does not.
#[derive(Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    even: u64,
}

fn even<'de, D: serde::Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    let value = u64::deserialize(value)?;
    let is_even = value.is_multiple_of(2);
    is_even.then_some(value).ok_or_else(|| serde::de::Error::custom("an odd number"))
}

#[toolbond::tools]
impl Desk {
    #[tool]
    fn small(&self, n: u8, to: Move) -> String {
        format!("{n} {:?} {:?}", to.steps, to.speed)
    }
    #[tool]
    fn number(&self, id: u32, offset: Option<i32>) -> i64 {
        i64::from(id) + i64::from(offset.unwrap_or_default())
    }
    #[tool]
    fn large(&self, other: bool, id: u64) -> u64 {
        if other { id } else { 0 }
    }
    #[tool]
    fn even(&self, #[serde(deserialize_with = "even")] n: u64, m: u64) -> u64 {
        n + m
    }
    #[tool]
    fn all_even(&self, Args(all): Args<Even>) -> u64 {
        all.even
    }
    #[tool]
    fn unused(&self, _unit: Option<String>, #[serde(rename = "_own")] _as_is: u8) {}
    #[tool]
    fn strict(&self, Args(query): Args<Query>, m: u8, context: Context) -> String {
        let _ = context;
        format!("{} {m} {}", query.limit, query.context.unwrap_or_default())
    }
    #[tool]
    fn twice(&self, Args(query): Args<Query>, limit: String) -> String {
        format!("{limit} {}", query.limit)
    }
    #[tool]
    fn nothing(&self) {}
    #[tool]
    fn only_context(&self, _: Context) {}
}

/// The text of the result of a call.
async fn text(tool: &str, arguments: Value) -> String {
    let result = connect(Desk, NEW).await.call_result(tool, arguments).await.unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_number_without_a_fraction_is_an_integer_in_every_notation() {
    for n in ["2", "2.0", "2e0", "\"2.0\"", "0.2e1"] {
        let call = format!(r#"{{ "n": {n}, "to": {{ "steps": [-1e3, 7.0], "speed": 1.0 }} }}"#);
        let text = text("small", serde_json::from_str(&call).unwrap()).await;
        assert_eq!(text, r#""2 [-1000, 7] Some(1.0)""#, "{n}");
    }
}

#[tokio::test]
async fn what_the_type_of_an_argument_refuses_is_named() {
    let refused = |tool: &str, what: &str| format!("invalid arguments for tool `{tool}`:\n{what}");
    let expected = refused("number", "id: expected a number ≤ 4294967295, found 4294967296");
    assert_eq!(text("number", json!({ "id": 4_294_967_296_u64 })).await, expected);
    let expected = refused("number", "offset: expected a number ≥ -2147483648, found -2147483649");
    assert_eq!(text("number", json!({ "id": 1, "offset": -2_147_483_649_i64 })).await, expected);
    let expected =
        refused("large", "id: invalid type: floating point `1.8446744073709552e+19`, expected u64");
    let huge: Value =
        serde_json::from_str(r#"{ "other": true, "id": 18446744073709551616 }"#).unwrap();
    assert_eq!(text("large", huge).await, expected);
    // The place is the one that is wrong after numbers are written as integers.
    let expected = refused("even", "n: an odd number");
    assert_eq!(text("even", json!({ "m": 2.0, "n": 3.0 })).await, expected);
    let expected = refused("all_even", "even: an odd number");
    assert_eq!(text("all_even", json!({ "even": 5, "more": 1 })).await, expected);
}

#[tokio::test]
async fn an_argument_has_the_name_of_its_parameter_without_underscores() {
    let schema = json!(Desk::toolbox().tool("unused").unwrap().input_schema);
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["unit", "_own"]);
    let session = connect(Desk, NEW).await;
    session.call::<()>("unused", json!({ "unit": "m", "_own": 1 })).await.unwrap();
}

#[tokio::test]
async fn args_are_those_that_no_other_parameter_names() {
    // `context` is no argument of its own.
    let text = text("strict", json!({ "limit": 1, "context": "here", "m": 2 })).await;
    assert_eq!(text, "\"1 2 here\"");
}

#[test]
fn a_tool_with_one_argument_in_two_parameters_is_left_out() {
    assert!(Desk::toolbox().tool("twice").is_none());
    assert!(Desk::toolbox().tools().all(|tool| tool.name != "twice"));
}

#[tokio::test]
async fn a_tool_without_arguments_takes_none() {
    for revision in BOTH {
        let tools = connect(Desk, revision).await.tools().await.unwrap();
        for name in ["nothing", "only_context", "small"] {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        }
    }
}

#[tokio::test]
async fn lists_say_how_long_they_hold_where_the_protocol_has_that() {
    for (revision, has) in [(OLD, false), (NEW, true)] {
        let list = connect(Desk, revision).await.request("tools/list", json!({})).await.unwrap();
        assert_eq!(list.get("ttlMs").is_some(), has, "{list}");
    }
}
