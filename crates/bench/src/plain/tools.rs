//! The tools of the plain server, and what they answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolbond_harness::corpus;
use toolbond_harness::hostile::{self, End};

use super::{Reply, answer, failure};

/// A tool that costs more than any budget, and what to call it with.
#[derive(Clone, Debug)]
pub(crate) struct Costly {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Arguments of the tools that take numbers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Numbers {
    milliseconds: u64,
    count: usize,
    bytes: usize,
}

/// The list, and the prepared results, each without the end that depends on the revision.
pub(super) struct Tools {
    list: String,
    /// Whether the list has [`PATH`] in it.
    has_path: bool,
    results: HashMap<String, String>,
    /// Made at the first call: it is long.
    zeros: OnceLock<String>,
}

/// Stands for the path of the server in a list.
const PATH: &str = "@path@";

/// The result of `tools/list`. The members that 2026-07-28 adds are ignored by readers of earlier revisions.
fn list_result(tools: &[Value]) -> String {
    let (kind, scope) = ("complete", "public");
    json!({ "tools": tools, "resultType": kind, "ttlMs": 60_000, "cacheScope": scope }).to_string()
}

/// The hours of a forecast: twenty.
pub(crate) fn forecast() -> Value {
    (0..20)
        .map(|hour| {
            let wind = json!({ "speed": 3.5 + f64::from(hour), "from": "north-west" });
            let celsius = 18.25 - f64::from(hour);
            json!({ "of_day": hour, "celsius": celsius, "sky": "scattered clouds", "wind": wind })
        })
        .collect()
}

/// The text of an array of zeros with about so many bytes.
pub(crate) fn zeros(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 2);
    text.push('[');
    while text.len() + 2 < bytes {
        text.push_str("0,");
    }
    text.push_str("0]");
    text
}

/// Tools whose results or arguments cost more than any budget.
pub(crate) fn costly() -> Vec<Costly> {
    let mut all = Vec::new();
    for (name, schema, value) in costly_cases() {
        if is_nestable(&schema) {
            let arguments = json!({ "value": value });
            all.push(Costly { name: format!("{name}_input"), arguments });
        }
        all.push(Costly { name, arguments: json!({}) });
    }
    all
}

/// The most bytes of a schema, and of a value: beyond, what costs is carrying them.
const MOST: usize = 64 << 10;

/// Cases of the hostile corpus that cost more than any budget: name, schema and value of each.
fn costly_cases() -> Vec<(String, serde_json::Map<String, Value>, Value)> {
    let plain = hostile::cases().into_iter().filter(|case| {
        case.ends == End::Unfinished && case.limits.is_empty() && !case.assert_formats
    });
    let small = plain.filter_map(|case| {
        let read = |value: Value| {
            let text = value.to_string();
            let is_small = text.len() <= MOST;
            // What is nested too deeply to be read is refused before it costs anything.
            is_small.then(|| serde_json::from_str::<Value>(&text).ok()).flatten()
        };
        let (schema, value) = (read(case.schema())?, read(case.instance())?);
        let Value::Object(schema) = schema else { return None };
        Some((case.name.replace('/', "_"), schema, value))
    });
    small.collect()
}

/// Whether a schema means the same inside another one.
fn is_nestable(schema: &serde_json::Map<String, Value>) -> bool {
    let text = Value::Object(schema.clone()).to_string();
    !["$ref", "$dynamicRef", "$recursiveRef", "$id", "$schema"].iter().any(|key| text.contains(key))
}

/// The result of `initialize`, in the revision that the client asks for.
pub(super) fn welcome(params: &str) -> String {
    let params: Value = serde_json::from_str(params).unwrap_or_default();
    let version = params["protocolVersion"].as_str().unwrap_or("2025-11-25");
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {}, "logging": {} },
        "serverInfo": { "name": "plain", "version": "1" },
    })
    .to_string()
}

impl Tools {
    pub(super) fn new(with_costly: bool) -> Self {
        let hour = json!({
            "type": "object",
            "properties": {
                "of_day": { "type": "integer", "minimum": 0 },
                "celsius": { "type": "number" },
                "sky": { "type": "string" },
                "wind": {
                    "type": "object",
                    "properties": { "speed": { "type": "number" }, "from": { "type": "string" } },
                    "required": ["speed", "from"],
                },
            },
            "required": ["of_day", "celsius", "sky", "wind"],
        });
        let city = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string" },
                "hours": { "type": "integer", "minimum": 1, "maximum": 48 },
            },
            "required": ["city"],
        });
        let integers = json!({ "type": "array", "items": { "type": "integer" } });
        let count = json!({
            "type": "object",
            "properties": { "count": { "type": "integer" } },
            "required": ["count"],
        });
        let any = json!({ "type": "object" });
        let values = json!({
            "type": "object",
            "properties": { "values": integers },
            "required": ["values"],
        });
        let hours = json!({ "type": "array", "items": hour });
        let one = json!({ "count": 1 });
        let mut entries: Vec<(String, Value, Value, Option<Value>)> = vec![
            ("forecast".into(), city.clone(), hours.clone(), Some(forecast())),
            ("wrong".into(), any.clone(), count.clone(), Some(json!({ "count": "many" }))),
            ("count".into(), values, count.clone(), Some(one.clone())),
            ("zeros".into(), any.clone(), integers, None),
            ("slow".into(), any.clone(), hours, Some(forecast())),
            ("notify".into(), any.clone(), count.clone(), Some(one.clone())),
            ("deafen".into(), any.clone(), count.clone(), Some(one.clone())),
        ];
        for (name, schema, value) in with_costly.then(costly_cases).into_iter().flatten() {
            if is_nestable(&schema) {
                let input = json!({ "type": "object", "properties": { "value": schema } });
                let name = format!("{name}_input");
                entries.push((name, input, count.clone(), Some(one.clone())));
            }
            entries.push((name, any.clone(), Value::Object(schema), Some(value)));
        }
        let mut results = HashMap::new();
        let mut tools = Vec::new();
        for (name, input, output, value) in entries {
            tools.push(json!({
                "name": name,
                "description": "a tool of the bench",
                "inputSchema": input,
                "outputSchema": output,
            }));
            if let Some(value) = value {
                let text = Value::String(value.to_string());
                let result = format!(
                    r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{value}"#
                );
                results.insert(name, result);
            }
        }
        let list = list_result(&tools);
        Self { list, has_path: false, results, zeros: OnceLock::new() }
    }

    /// Takes the list of a server of the corpus in place of its own.
    pub(super) fn take_list(&mut self, server: &str) -> anyhow::Result<()> {
        let files = corpus::files().map_err(|reason| anyhow!("{reason}"))?;
        let file = files.into_iter().find(|file| file.name == server);
        let server = file.with_context(|| format!("no `{server}` in the corpus"))?.read();
        self.list = json!({ "tools": server.tools() }).to_string();
        Ok(())
    }

    /// Takes so many tools of the corpus, of different servers, in place of its own.
    pub(super) fn take_published(&mut self, count: usize) -> anyhow::Result<()> {
        let servers = corpus::servers().map_err(|reason| anyhow!("{reason}"))?;
        let mut by_name = BTreeMap::new();
        for mut tool in servers.flat_map(|server| server.tools().to_vec()) {
            let Some(name) = tool["name"].as_str().map(str::to_owned) else { continue };
            let description = tool["description"].as_str().unwrap_or_default();
            tool["description"] = format!("{description} Of the server at {PATH}.").into();
            by_name.entry(name).or_insert(tool);
        }
        let step = (by_name.len() / count).max(1);
        let tools: Vec<_> = by_name.into_values().step_by(step).take(count).collect();
        self.list = list_result(&tools);
        self.has_path = true;
        Ok(())
    }

    /// The result of `tools/list` at `path`.
    pub(super) fn list(&self, path: &str) -> Cow<'_, str> {
        if self.has_path { self.list.replace(PATH, path).into() } else { (&self.list).into() }
    }

    /// What becomes of a call with these parameters.
    pub(super) fn call(&self, id: &str, params: &str) -> Reply {
        let Ok(call) = serde_json::from_str::<Call<'_>>(params) else {
            return Reply::Answer(failure(id, -32602, "no name"));
        };
        let natural = b"\"io.modelcontextprotocol/protocolVersion\"";
        let is_natural = memmem::find(params.as_bytes(), natural).is_some();
        let end = if is_natural { r#","resultType":"complete"}"# } else { "}" };
        let name = call.name.as_ref();
        if name == "zeros" {
            let zeros = self.zeros.get_or_init(|| {
                let zeros = zeros((16 << 20) - 4096);
                format!(
                    r#"{{"content":[{{"type":"text","text":"zeros"}}],"structuredContent":{zeros}"#
                )
            });
            return Reply::Answer(answer(id, &[zeros, end]));
        }
        let Some(result) = self.results.get(name) else {
            return Reply::Answer(failure(id, -32602, "no such tool"));
        };
        let answer = answer(id, &[result, end]);
        let numbers = || -> Numbers {
            let arguments = call.arguments.map_or("{}", RawValue::get);
            serde_json::from_str(arguments).unwrap_or_default()
        };
        match name {
            "slow" => Reply::Later(Duration::from_millis(numbers().milliseconds), answer),
            "notify" => {
                let Numbers { count, bytes, .. } = numbers();
                Reply::Notices { count, notice: notice(bytes), answer }
            }
            "deafen" => Reply::Deaf(answer),
            _ => Reply::Answer(answer),
        }
    }
}

/// A notification with about so many bytes.
pub(super) fn notice(bytes: usize) -> bytes::Bytes {
    let data = "x".repeat(bytes);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{data}"}}}}"#
    )
    .into()
}
