//! Output schemas without formats: nothing else changes, and Ajv takes what the schema accepts.

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::relax::{OUTPUT_MARKER, without_formats};
use toolbond_harness::{corpus, trials::skipped};
use toolbond_schema::Schema;

use crate::project::reader::{Question, agrees, ajv_as};
use crate::{assert_same, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("results/formats/what_is_data_stays", data),
        Trial::test("results/formats/ajv", ajv),
        Trial::ignorable_test("results/formats/corpus", published),
    ]
}

fn tool(schema: &Value) -> Value {
    json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema })
}

fn data() {
    let format = json!({ "format": "date" });
    let schema = json!({
        "properties": { "format": { "type": "string", "format": "date", "formatMinimum": "2026-01-01" } },
        "default": format, "const": format, "enum": [format], "examples": [format],
        "$defs": { "unknown": { "format": "colour" }, "any": { "format": "password" } },
        "allOf": [{ "format": "uri" }],
        "x-other": format
    });
    let mut expected = schema.clone();
    expected["properties"]["format"] = json!({ "type": "string" });
    expected["allOf"][0] = json!({});
    let before = tool(&schema);
    let after = without_formats(&before);
    assert_same(&after["outputSchema"], &expected, "without formats");
    assert_eq!(after["_meta"][OUTPUT_MARKER], json!({ "formats": ["date", "uri"] }));
    assert_same(&without_formats(&after), &after, "twice");
}

/// All formats that `ajv-formats` knows, in a schema that it refuses values for.
fn ajv() -> Result<(), Failed> {
    let formats = "date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname \
        ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double \
        password binary";
    let names: Vec<&str> = formats.split_whitespace().collect();
    let properties = names.iter().map(|name| ((*name).to_owned(), json!({ "format": name })));
    let schema = json!({ "properties": properties.collect::<Map<_, _>>() });
    let wrong = names.iter().map(|name| ((*name).to_owned(), json!("%\u{0}[ no {\n")));
    let numbers = names.iter().map(|name| ((*name).to_owned(), json!(1e300)));
    let values = [wrong.collect::<Map<_, _>>().into(), numbers.collect::<Map<_, _>>().into()];
    let question = |schema: &Value, valid| Question {
        name: "formats".to_owned(),
        schema: schema.clone(),
        values: values.iter().map(|value: &Value| (value.clone(), valid)).collect(),
    };
    let before = tool(&schema);
    let stripped = &without_formats(&before)["outputSchema"];
    let questions = [question(&schema, false), question(stripped, true)];
    agrees(ajv_as("draft-07"), &questions, std::collections::BTreeSet::new())
}

fn published() -> Result<Completion, Failed> {
    let servers = match corpus::servers() {
        Ok(servers) => servers,
        Err(reason) => return skipped(&reason),
    };
    let mut changed = 0;
    for server in servers {
        for tool in server.tools().iter().filter(|tool| tool.get("outputSchema").is_some()) {
            let after = without_formats(tool);
            if *after == *tool {
                continue;
            }
            changed += 1;
            let is_usable = Schema::compile(&tool["outputSchema"]).is_ok();
            assert_eq!(Schema::compile(&after["outputSchema"]).is_ok(), is_usable);
        }
    }
    assert!(changed > 10, "{changed} tools with formats");
    Ok(Completion::Completed)
}
