//! The tools of the plain server, and what they answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use memchr::memmem::find;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolbond_harness::corpus;
use toolbond_harness::hostile::{self, End};

use super::{Options, Reply, answer, failure};
use crate::weather::{Bare, Objects, forecast};

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

/// The list, and the prepared results.
pub(super) struct Tools {
    list: String,
    results: HashMap<String, String>,
    /// Made at the first call: it is long.
    zeros: OnceLock<String>,
}

/// Stands for the path of the server in a list.
const PATH: &str = "@path@";

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
    pub(super) fn new(options: &Options) -> anyhow::Result<Self> {
        let hours = json!(forecast(None));
        let weather = json!(Bare::listed().into_iter().find(|tool| tool.name == "forecast"));
        let integers = json!({ "type": "array", "items": { "type": "integer" } });
        let object = |name: &str, schema: &Value| json!({ "type": "object", "properties": { name: schema }, "required": [name] });
        let count = object("count", &json!({ "type": "integer" }));
        let (any, one) = (json!({ "type": "object" }), json!({ "count": 1 }));
        let mut tools = Vec::new();
        let mut results = HashMap::new();
        let mut add = |name: &str, input: &Value, output: &Value, value: &Value| {
            tools.push(json!({
                "name": name,
                "description": "a tool of the bench",
                "inputSchema": input,
                "outputSchema": output,
            }));
            results.insert(name.to_owned(), result(&value.to_string(), value));
        };
        let [city, array] = ["inputSchema", "outputSchema"].map(|side| &weather[side]);
        add("forecast", city, array, &hours);
        let report = json!(Objects::listed().into_iter().next());
        add("report", city, &report["outputSchema"], &json!({ "hours": hours }));
        add("slow", &any, array, &hours);
        add("wrong", &any, &count, &json!({ "count": "many" }));
        add("count", &object("values", &integers), &count, &one);
        add("notify", &any, &count, &one);
        add("deafen", &any, &count, &one);
        // The result is made at the first call: it is long.
        add("zeros", &any, &integers, &json!([]));
        for (name, schema, value) in options.costly.then(costly_cases).into_iter().flatten() {
            if is_nestable(&schema) {
                let input = json!({ "type": "object", "properties": { "value": schema } });
                add(&format!("{name}_input"), &input, &count, &one);
            }
            add(&name, &any, &Value::Object(schema), &value);
        }
        if options.published > 0 {
            tools = published(options.published)?;
        } else if let Some(name) = &options.list {
            let files = corpus::files().map_err(|reason| anyhow!("{reason}"))?;
            let file = files.into_iter().find(|file| file.name == *name);
            tools =
                file.with_context(|| format!("no `{name}` in the corpus"))?.read().tools().to_vec();
        }
        // The members that 2026-07-28 adds are ignored by readers of earlier revisions.
        let (kind, scope) = ("complete", "public");
        let list =
            json!({ "tools": tools, "resultType": kind, "ttlMs": 60_000, "cacheScope": scope });
        Ok(Self { list: list.to_string(), results, zeros: OnceLock::new() })
    }

    /// The result of `tools/list` at `path`.
    pub(super) fn list(&self, path: &str) -> Cow<'_, str> {
        match find(self.list.as_bytes(), PATH.as_bytes()) {
            Some(_) => self.list.replace(PATH, path).into(),
            None => (&self.list).into(),
        }
    }

    /// What becomes of a call with these parameters.
    pub(super) fn call(&self, id: &str, params: &str, is_modern: bool) -> Reply {
        let Ok(call) = serde_json::from_str::<Call<'_>>(params) else {
            return failure(id, -32602, "no name");
        };
        let end = if is_modern { r#","resultType":"complete"}"# } else { "}" };
        let result = match call.name.as_ref() {
            "zeros" => Some(self.zeros.get_or_init(|| result("zeros", zeros((16 << 20) - 4096)))),
            name => self.results.get(name),
        };
        let Some(result) = result else { return failure(id, -32602, "no such tool") };
        let mut reply = Reply::from(answer(id, &[result, end]));
        let arguments = call.arguments.map_or("{}", RawValue::get);
        match call.name.as_ref() {
            "slow" | "notify" => {
                let numbers: Numbers = serde_json::from_str(arguments).unwrap_or_default();
                reply.delay = Duration::from_millis(numbers.milliseconds);
                reply.notices = (numbers.count, numbers.bytes);
            }
            name => reply.is_last = name == "deafen",
        }
        reply
    }
}

/// A result without its end, which depends on the revision.
fn result(text: &str, value: impl Display) -> String {
    let text = Value::from(text);
    format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{value}"#)
}

/// So many tools of the corpus, of different servers.
fn published(count: usize) -> anyhow::Result<Vec<Value>> {
    let servers = corpus::servers().map_err(|reason| anyhow!("{reason}"))?;
    let mut by_name = BTreeMap::new();
    for mut tool in servers.flat_map(|server| server.tools().to_vec()) {
        let Some(name) = tool["name"].as_str().map(str::to_owned) else { continue };
        let description = tool["description"].as_str().unwrap_or_default();
        tool["description"] = format!("{description} Of the server at {PATH}.").into();
        by_name.entry(name).or_insert(tool);
    }
    let step = (by_name.len() / count).max(1);
    Ok(by_name.into_values().step_by(step).take(count).collect())
}

/// A notification with about so many bytes.
pub(super) fn notice(bytes: usize) -> String {
    let data = "x".repeat(bytes);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{data}"}}}}"#
    )
}
