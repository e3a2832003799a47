//! `#[toolbond::tools]`: what is listed and what comes back.
#![expect(clippy::pedantic, clippy::unwrap_used, reason = "tools for tests only")]

use std::collections::BTreeMap;

use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolbond::contract::Severity;
use toolbond::targets::{LintOptions, default_targets, lint_tools};
use toolbond::{Args, Text, ToolError, Tools};

use crate::server::{BOTH, NEW, OLD, connect};

#[derive(Clone)]
struct Weather;

/// One hour.
#[derive(Serialize, JsonSchema)]
struct Hour {
    hour: String,
    temp: f64,
    note: Option<String>,
}

/// How to sort.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// Smallest first.
    Rising,
    /// Largest first.
    Falling,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Query {
    Id { id: u32 },
    Name { name: String },
}

#[toolbond::tools(name = "weather", version = "1.2.3", instructions = "Ask about the weather.")]
impl Weather {
    /// Hourly forecast for a city.
    ///
    /// In local time.
    #[tool(
        read_only,
        title = "Forecast",
        icon = "https://example.org/sun.png",
        meta = r#"{"a":1}"#
    )]
    async fn forecast(
        &self,
        /// City name.
        city: String,
        #[schemars(range(min = 1, max = 24))] hours: Option<u8>,
        #[serde(default)] celsius: bool,
        order: Option<Order>,
    ) -> Result<Vec<Hour>, ToolError> {
        if city == "Atlantis" {
            return Err(ToolError::new("no such city").details(json!({ "city": city })));
        }
        let degree: f64 = if celsius { "20" } else { "68" }.parse()?;
        let mut hours: Vec<_> = (0..hours.unwrap_or(1))
            .map(|hour| Hour { hour: format!("{hour:02}:00"), temp: degree, note: None })
            .collect();
        if matches!(order, Some(Order::Falling)) {
            hours.reverse();
        }
        let _ = Order::Rising;
        Ok(hours)
    }

    #[tool]
    fn find(&self, Args(query): Args<Query>) -> Option<String> {
        match query {
            Query::Id { id: 1 } => Some("Ada".to_owned()),
            Query::Name { name } => Some(name),
            Query::Id { .. } => None,
        }
    }

    #[tool]
    fn broken(&self) -> Result<u8, std::num::ParseIntError> {
        "secret".parse()
    }

    fn helper() -> u8 {
        7
    }
}

async fn tool(name: &str) -> Value {
    let tools = connect(Weather, NEW).await.tools().await.unwrap();
    tools.into_iter().find(|tool| tool["name"] == name).unwrap()
}

/// What the macro writes passes where most people use it.
#[tokio::test]
async fn tools_suit_all_default_targets() {
    let tools = connect(Weather, OLD).await.tools().await.unwrap();
    let options = LintOptions::default().targets(default_targets().iter().copied());
    let report = lint_tools(json!({ "tools": tools }), &options);
    let bad = report.findings.iter().filter(|found| found.finding.severity > Severity::Info);
    let mut bad: Vec<_> =
        bad.map(|found| (found.finding.tool.as_deref(), found.finding.rule)).collect();
    // The author has to describe tools. Alternatives in place of parameters are what they are: model APIs refuse them.
    bad.retain(|(tool, rule)| {
        *rule != "tool-description" && !(*tool == Some("find") && rule.starts_with("root-"))
    });
    assert!(bad.is_empty(), "{bad:?}");
}

#[tokio::test]
async fn parameters_become_a_portable_input_schema() {
    let tool = tool("forecast").await;
    assert_eq!(Weather::helper(), 7);
    assert_eq!(tool["title"], "Forecast");
    assert_eq!(tool["description"], "Hourly forecast for a city.\n\nIn local time.");
    assert_eq!(tool["annotations"], json!({ "readOnlyHint": true }));
    assert_eq!(tool["icons"], json!([{ "src": "https://example.org/sun.png" }]));
    assert_eq!(tool["_meta"], json!({ "a": 1 }));
    assert_eq!(
        tool["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "city": { "description": "City name.", "type": "string" },
                "hours": { "type": "integer", "minimum": 1, "maximum": 24 },
                "celsius": { "type": "boolean", "default": false },
                "order": { "$ref": "#/$defs/Order" }
            },
            "required": ["city"],
            "additionalProperties": false,
            "$defs": { "Order": {
                "description": "How to sort.\nrising: Smallest first.\nfalling: Largest first.",
                "type": "string",
                "enum": ["rising", "falling"]
            } }
        })
    );
}

#[tokio::test]
async fn references_stand_for_types() {
    let forecast = tool("forecast").await;
    assert_eq!(forecast["outputSchema"]["items"], json!({ "$ref": "#/$defs/Hour" }));
    // What is serialised as `null` may be `null`.
    let note = &forecast["outputSchema"]["$defs"]["Hour"]["properties"]["note"];
    assert_eq!(note["type"], json!(["string", "null"]));
    let find = tool("find").await;
    assert_eq!(find["outputSchema"], json!({ "type": ["string", "null"] }));
    assert_eq!(find["inputSchema"]["type"], "object");
    assert_eq!(find["inputSchema"]["anyOf"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn calls_answer_with_what_methods_return() {
    let session = connect(Weather, NEW).await;
    assert_eq!(session.info()["instructions"], "Ask about the weather.");
    let hour = json!({ "hour": "00:00", "temp": 68.0, "note": null });
    for (name, arguments, value) in [
        ("forecast", json!({ "city": "Bern" }), json!([hour])),
        ("find", json!({ "id": 1 }), json!("Ada")),
        ("find", json!({ "id": 2 }), json!(null)),
    ] {
        let result = session.call_result(name, arguments).await.unwrap();
        assert_eq!(result.get("structuredContent"), Some(&value), "{name}: {result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn errors_tell_the_model_what_it_may_know() {
    let session = connect(Weather, NEW).await;
    let known = session.call_result("forecast", json!({ "city": "Atlantis" })).await.unwrap();
    assert_eq!(known["isError"], true);
    assert_eq!(known["content"][0]["text"], "no such city");
    assert_eq!(known["structuredContent"], json!({ "city": "Atlantis" }));
    let hidden = session.call_result("broken", json!({})).await.unwrap();
    assert_eq!(hidden["content"][0]["text"], "internal error");
    let misspelt = session.call_result("forecast", json!({ "citty": "Bern" })).await.unwrap();
    let text = misspelt["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("did you mean `city`"), "{text}");
}

#[test]
fn a_toolbox_is_described_once() {
    assert!(std::ptr::eq(Weather::toolbox(), Weather::toolbox()));
    assert_eq!(Weather::toolbox().tools().count(), 3);
}

/// A record by its kind.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Record {
    Person { name: String },
    City { people: u32 },
}

#[derive(Serialize, JsonSchema)]
struct Pair {
    left: i64,
    right: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the output schema names both, the tool makes one")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

/// Every kind of return type; its field shows that a type may have parameters.
#[derive(Clone)]
struct Kinds<T>(T);

#[toolbond::tools]
impl<T: Clone + Send + Sync + 'static> Kinds<T>
where
    T: Into<i64>,
{
    #[tool(icon(
        src = "https://example.org/a.svg",
        mime_type = "image/svg+xml",
        sizes = "48x48 any"
    ))]
    fn integer(&self) -> i64 {
        self.0.clone().into()
    }
    #[tool(name = "get-count", destructive = false)]
    fn count(&self) -> u64 {
        42
    }
    #[tool]
    fn shape(&self) -> Shape {
        Shape::Circle { radius: 1.0 }
    }
    #[tool]
    fn table(&self) -> BTreeMap<String, i32> {
        BTreeMap::from([("a".to_owned(), 1)])
    }
    #[tool]
    fn both(&self) -> Result<(Vec<ContentBlock>, bool), String> {
        Ok((vec![ContentBlock::text("true")], true))
    }
    #[tool]
    fn words(&self, context: RequestContext<RoleServer>) -> Text {
        format!("request {}", context.id).into()
    }
    #[tool]
    async fn unit(&self) {}
    #[tool]
    fn string(&self, #[serde(default)] text: String) -> String {
        text
    }
    #[tool]
    fn boolean(&self) -> bool {
        false
    }
    #[tool]
    fn float(&self) -> f32 {
        0.5
    }
    #[tool]
    fn object(&self) -> Pair {
        Pair { left: 1, right: None }
    }
    #[tool]
    fn tagged(&self) -> Result<Vec<Record>, String> {
        Ok(vec![Record::Person { name: "Ada".to_owned() }, Record::City { people: 7 }])
    }
    #[tool]
    fn nothing_or(&self) -> Option<Pair> {
        None
    }
    #[tool]
    fn anything(&self) -> Value {
        json!([1, "a", null])
    }
    #[tool]
    fn block(&self) -> ContentBlock {
        ContentBlock::text("block")
    }
    #[tool]
    fn blocks(&self) -> Result<Vec<ContentBlock>, ToolError> {
        Ok(vec![ContentBlock::text("one"), ContentBlock::text("two")])
    }
    #[tool]
    fn whole(&self) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text("whole")])
    }
    #[tool]
    fn nothing(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

#[tokio::test]
async fn every_return_type_arrives_in_both_eras() {
    let values = [
        ("integer", Some(json!(42))),
        ("get-count", Some(json!(42))),
        ("shape", Some(json!({ "radius": 1.0 }))),
        ("table", Some(json!({ "a": 1 }))),
        ("both", Some(json!(true))),
        ("words", None),
        ("unit", None),
        ("string", Some(json!(""))),
        ("boolean", Some(json!(false))),
        ("float", Some(json!(0.5))),
        ("object", Some(json!({ "left": 1, "right": null }))),
        (
            "tagged",
            Some(json!([{ "kind": "person", "name": "Ada" }, { "kind": "city", "people": 7 }])),
        ),
        ("nothing_or", Some(json!(null))),
        ("anything", Some(json!([1, "a", null]))),
        ("block", None),
        ("blocks", None),
        ("whole", None),
        ("nothing", None),
    ];
    for revision in BOTH {
        let session = connect(Kinds(42_i32), revision.clone()).await;
        let tools = session.tools().await.unwrap();
        assert_eq!(tools.len(), values.len());
        for ((name, value), tool) in values.iter().zip(&tools) {
            assert_eq!(tool["name"], *name);
            assert_eq!(tool.get("outputSchema").is_some(), value.is_some(), "{name}");
            let result = session.call_result(name, json!({})).await.unwrap();
            assert_ne!(result["isError"], true, "{name}: {result}");
            let expected = value.clone().map(|value| match value.is_object() {
                false if !revision.is_natural() => json!({ "result": value }),
                _ => value,
            });
            assert_eq!(result.get("structuredContent"), expected.as_ref(), "{name} {revision}");
            if let Some(value) = value {
                assert_eq!(result["content"][0]["text"], value.to_string(), "{name}");
            }
            match *name {
                "words" => assert!(result["content"][0]["text"].to_string().contains("request ")),
                "unit" | "nothing" => assert_eq!(result["content"], json!([])),
                _ => {}
            }
        }
        let (src, mime) = ("https://example.org/a.svg", "image/svg+xml");
        let icon = json!({ "src": src, "mimeType": mime, "sizes": ["48x48", "any"] });
        assert_eq!(tools[0]["icons"], json!([icon]));
        if revision.is_natural() {
            let schema = |index: usize| &tools[index]["outputSchema"];
            assert_eq!(*schema(1), json!({ "type": "integer", "minimum": 0 }));
            assert_eq!(schema(2)["anyOf"].as_array().unwrap().len(), 2);
            assert_eq!(schema(3)["type"], "object");
            assert_eq!(schema(3)["additionalProperties"]["type"], "integer");
            assert_eq!(*schema(4), json!({ "type": "boolean" }));
        }
    }
}

#[test]
fn types_with_parameters_have_a_toolbox_each() {
    assert!(std::ptr::eq(Kinds::<i32>::toolbox(), Kinds::<i32>::toolbox()));
    assert_eq!(Kinds::<u8>::toolbox().tools().count(), 18);
}

/// The crate under another name, as `renamed = { package = "toolbond", … }` gives it.
mod renamed_dependency {
    use serde_json::json;
    use toolbond as renamed;

    #[derive(Clone)]
    struct Sums;

    #[renamed::tools(crate = "renamed")]
    impl Sums {
        /// The sum.
        #[tool]
        fn sum(&self, #[serde(default)] a: f64, b: f64) -> f64 {
            a + b
        }
    }

    #[tokio::test]
    async fn tools_work_under_another_name_of_the_crate() {
        let server = renamed::enforce(Sums);
        let client = renamed::testing::connect(server, renamed::Revision::V2026_07_28);
        let result = client.await.unwrap().call_result("sum", json!({ "b": 2 })).await.unwrap();
        assert_eq!(result["structuredContent"], 2.0);
    }
}
