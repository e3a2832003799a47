//! What clients of two revisions see of the demo server, and which input is refused.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use serde_json::{Map, Value, json};
use toolbond::Revision;
use toolbond::testing::{self, TestClient};
use toolbond_contract::{Finding, JudgeOptions, Severity, judge_tools};
use toolbond_schema::{Schema, Verdict};

use crate::server::DemoServer;

const BAD: Style = AnsiColor::BrightRed.on_default().bold();
const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// One valid call of each tool.
const VALID_CALLS: [(&str, &str); 7] = [
    ("get-weather-forecast", r#"{"city":"Oslo","hours":2}"#),
    ("get-count", r#"{"collection":"users"}"#),
    ("find-by-id-or-name", r#"{"name":"database"}"#),
    ("get-owner", r#"{"id":"res-002"}"#),
    ("locate", r#"{"id":"res-001"}"#),
    ("list-folders", "{}"),
    ("json_schema_2020_12_tool", r#"{"name":"Ada","email":"ada@example.org"}"#),
];

/// Calls whose arguments break the input schema.
const INVALID_CALLS: [(&str, &str); 2] = [
    ("get-weather-forecast", r#"{"citty":"Oslo","hours":30}"#),
    ("find-by-id-or-name", r#"{"id":"res-001","name":"database"}"#),
];

/// The longest line in characters, with its indentation.
const WIDTH: usize = 98;

/// A connected client and the tool list that it received.
struct DemoClient {
    revision: &'static str,
    client: TestClient,
    tools: Vec<Value>,
}

impl DemoClient {
    /// Connects to a demo server in this process.
    async fn connect(name: &'static str, revision: Revision) -> anyhow::Result<Self> {
        let client = testing::connect(toolbond::enforce(DemoServer), revision).await?;
        let tools = client.tools().await?;
        Ok(Self { revision: name, client, tools })
    }

    /// Returns the structured content of a call, or the text of its error.
    async fn call(&self, name: &str, arguments: &str) -> anyhow::Result<Result<Value, String>> {
        let result = self.client.call_result(name, serde_json::from_str(arguments)?).await?;
        if result["isError"] != true {
            let value = result.get("structuredContent").context("no structured content")?;
            return Ok(Ok(value.clone()));
        }
        Ok(Err(result["content"][0]["text"].as_str().unwrap_or_default().to_owned()))
    }
}

/// Writes the whole demo, which fits on one screen.
pub(crate) async fn write_tour(out: &mut dyn Write) -> anyhow::Result<()> {
    let clients = [
        DemoClient::connect("2025-11-25", Revision::V2025_11_25).await?,
        DemoClient::connect("2026-07-28", Revision::V2026_07_28).await?,
    ];
    write_title(out, "One server, two clients: each gets the form that its MCP revision allows")?;
    for (name, arguments) in VALID_CALLS {
        writeln!(out, "{name} {DIM}{arguments}{DIM:#}")?;
        for client in &clients {
            let tool = client.tools.iter().find(|tool| tool["name"] == name);
            let schema = tool.and_then(|tool| tool["outputSchema"].as_object());
            let schema = schema.context("no output schema")?;
            let value = client.call(name, arguments).await?.map_err(anyhow::Error::msg)?;
            let shape = cut(&describe(schema, schema), 26);
            let value = cut(&value.to_string(), WIDTH - 41);
            writeln!(out, "  {}  {DIM}{shape:26}{DIM:#} {}", client.revision, value)?;
        }
    }
    write_title(out, "\nAn invalid call never reaches the tool; the model reads what to fix")?;
    for (name, arguments) in INVALID_CALLS {
        writeln!(out, "{name} {DIM}{arguments}{DIM:#}")?;
        let refused = clients[0].call(name, arguments).await?;
        let refused = refused.err().context("the call was not refused")?;
        // The first line repeats the name of the tool.
        for line in refused.lines().skip(1) {
            writeln!(out, "  {BAD}×{BAD:#} {line}")?;
        }
    }
    write_title(out, "\nA hostile schema is refused; the other tools keep working")?;
    write_hostile(out)?;
    writeln!(
        out,
        "\n{DIM}serve the same tools: toolbond demo --stdio, toolbond demo --http localhost:8080{DIM:#}"
    )?;
    Ok(())
}

fn write_title(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(out, "{bold}{text}{bold:#}")
}

/// Checks a tool list with hostile schemas, and a hostile value.
fn write_hostile(out: &mut dyn Write) -> anyhow::Result<()> {
    let tool = |name: &str, schema: Value| json!({ "name": name, "description": "A tool.", "inputSchema": schema });
    let list = json!({ "tools": [
        tool("doubling", doubling(60)),
        tool("fetching", json!({ "type": "object", "$ref": "http://127.0.0.1:1/x.json" })),
        tool("good", json!({ "type": "object" })),
    ] });
    let judged = judge_tools(list, &JudgeOptions::default());
    for finding in &judged.findings {
        write_finding(out, finding)?;
    }
    for contract in &judged.contracts {
        writeln!(out, "  {GOOD}✓{GOOD:#} {}: kept", contract.name())?;
    }
    let values: Vec<_> = (0..5000).map(|n| json!({ "n": n })).collect();
    let items = Value::from(vec![json!({ "n": 4999 }); 5000]);
    let schema = Schema::compile(&json!({ "items": { "enum": values } }))?;
    if let Verdict::Unfinished(limit) = schema.validate(&items) {
        writeln!(out, "  {BAD}×{BAD:#} 5000 × 5000 objects: {limit}")?;
    }
    Ok(())
}

/// Writes one line with a mark for the severity.
fn write_finding(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let (style, mark) = match finding.severity {
        Severity::Error => (BAD, '×'),
        Severity::Warning => (DIM, '!'),
        Severity::Info => (DIM, 'i'),
    };
    let tool = finding.tool.as_deref().unwrap_or_default();
    let line = format!("{tool} {}: {}", finding.pointer, finding.message);
    writeln!(out, "  {style}{mark}{style:#} {}", cut(&line, WIDTH - 4))
}

/// A schema with `levels` definitions, each of which refers to the next one twice.
fn doubling(levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        definitions.insert(level.to_string(), json!({ "allOf": [next, next] }));
    }
    definitions.insert(levels.to_string(), json!({ "type": "string" }));
    json!({ "type": "object", "$ref": "#/$defs/0", "$defs": definitions })
}

/// Describes the outer shape of `schema` in a few words.
fn describe(schema: &Map<String, Value>, root: &Map<String, Value>) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some((1, Some(Value::Object(inside)))) =
        properties.map(|properties| (properties.len(), properties.get("result")))
    {
        return format!("{{\"result\": {}}}", describe(inside, root));
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let at = reference.trim_start_matches('#').split('/').skip(1);
        let target = at.fold(None, |place: Option<&Value>, name| match place {
            None => root.get(name),
            Some(value) => value.get(name),
        });
        return target
            .and_then(Value::as_object)
            .map_or("any".to_owned(), |target| describe(target, root));
    }
    let arms = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        _ => String::new(),
    };
    let arms = arms.map(|arms| {
        let arms = arms.iter().filter_map(Value::as_object).map(|arm| describe(arm, root));
        arms.collect::<Vec<_>>().join(" | ")
    });
    match (arms, name.as_str()) {
        (Some(arms), "") => arms,
        (Some(arms), name) => format!("{name}: {arms}"),
        (None, "") => "any".to_owned(),
        (None, _) => name,
    }
}

/// Shortens `text` to `width` characters.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbond_contract::{JudgeOptions, Policy, judge_tools};

    use super::write_finding;

    #[test]
    fn the_mark_of_a_finding_tells_its_severity() {
        let list = json!([
            { "name": "no space", "description": "A tool.", "inputSchema": { "type": "object" } },
            { "name": "none", "description": "A tool.",
              "inputSchema": { "type": "object", "$ref": "http://127.0.0.1:1/x" } },
            { "name": "any", "description": "A tool.", "inputSchema": { "type": "object" },
              "outputSchema": true },
        ]);
        let judged = judge_tools(list, &JudgeOptions::default().policy(Policy::Repair));
        let mut out = Vec::new();
        for finding in &judged.findings {
            write_finding(&mut anstream::StripStream::new(&mut out), finding).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        let starts: Vec<_> = text.lines().map(|line| line.split_at(8).0).collect();
        assert_eq!(starts, ["  ! no s", "  × non", "  i any "], "{text}");
    }
}
