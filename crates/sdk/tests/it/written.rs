//! What authors write about `null` stays: in schemas of their own, and in types that tell it from an absent value.
#![expect(clippy::pedantic, reason = "tools for tests only")]

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use toolbond::{Args, Tools as _};

use crate::server::{BOTH, connect};

#[derive(Clone)]
struct Tasks;

/// A date that is kept, cleared or set.
type Due = Option<Option<String>>;

fn say(due: Due) -> String {
    match due {
        None => "keep".to_owned(),
        Some(None) => "clear".to_owned(),
        Some(Some(date)) => date,
    }
}

fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Due, D::Error> {
    Option::deserialize(value).map(Some)
}

fn nullable(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "format": "date", "title": "null clears it" })
}

/// All arguments, with a schema that was written by hand.
#[derive(Deserialize)]
struct Update {
    #[serde(default, deserialize_with = "present")]
    due: Due,
}

fn update() -> Value {
    json!({
        "title": "Update",
        "type": "object",
        "properties": {
            "due": { "type": ["string", "null"], "default": null, "description": "null clears it" },
            "rank": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
            "size": { "type": "integer", "format": "int32" }
        },
        "additionalProperties": false
    })
}

impl JsonSchema for Update {
    fn schema_name() -> Cow<'static, str> {
        "Update".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        update().try_into().expect("an object")
    }
}

#[derive(Deserialize, JsonSchema)]
struct Change {
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable")]
    due: Due,
    note: Option<String>,
}

/// A type of its own for `null`, whose schema stands where it is used.
#[derive(Deserialize)]
struct Clearable(Option<String>);

impl JsonSchema for Clearable {
    fn schema_name() -> Cow<'static, str> {
        "Clearable".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        nullable(generator)
    }
}

#[toolbond::tools]
impl Tasks {
    #[tool]
    fn whole(&self, Args(update): Args<Update>) -> String {
        say(update.due)
    }
    #[tool]
    fn nested(&self, change: Change) -> String {
        say(change.due) + &change.note.unwrap_or_default()
    }
    #[tool]
    fn all_nested(&self, Args(change): Args<Change>) -> String {
        say(change.due)
    }
    #[tool]
    fn with(
        &self,
        #[serde(default, deserialize_with = "present")]
        #[schemars(schema_with = "nullable")]
        due: Option<Option<String>>,
    ) -> String {
        say(due)
    }
    #[tool]
    fn double(&self, due: Option<Option<String>>) -> String {
        say(due)
    }
    #[tool]
    fn own(&self, #[serde(default)] due: Option<Clearable>) -> String {
        due.and_then(|due| due.0).unwrap_or_else(|| "none".to_owned())
    }
    #[tool]
    fn single(&self, due: Option<String>) -> String {
        due.unwrap_or_else(|| "none".to_owned())
    }
}

fn input(name: &str) -> &'static Value {
    let tool = Tasks::toolbox().tool(name).expect("a tool");
    Box::leak(Box::new(json!(tool.input_schema)))
}

#[test]
fn a_schema_stays_as_its_author_wrote_it() {
    assert_eq!(*input("whole"), update());
    let mut nullable =
        json!({ "type": ["string", "null"], "format": "date", "title": "null clears it" });
    assert_eq!(input("own")["properties"]["due"], nullable);
    // What the derive adds for `#[serde(default)]`.
    nullable["default"] = Value::Null;
    assert_eq!(input("nested")["$defs"]["Change"]["properties"]["due"], nullable);
    assert_eq!(input("all_nested")["properties"]["due"], nullable);
    assert_eq!(input("with")["properties"]["due"], nullable);
    assert_eq!(input("double")["properties"]["due"], json!({ "type": ["string", "null"] }));
    // Nobody has written this one: an argument that may be left out need not be `null`.
    assert_eq!(input("single")["properties"]["due"], json!({ "type": "string" }));
    for name in ["with", "double", "own", "single"] {
        assert_eq!(input(name).get("required"), None, "{name}");
    }
}

#[tokio::test]
async fn a_call_tells_null_from_nothing_where_the_type_does() {
    for revision in BOTH {
        let session = connect(Tasks, revision).await;
        for name in ["whole", "nested", "all_nested", "with", "double"] {
            for (due, said) in [
                (json!({}), "keep"),
                (json!({ "due": null }), "clear"),
                (json!({ "due": "2027-01-01" }), "2027-01-01"),
            ] {
                let arguments = if name == "nested" { json!({ "change": due }) } else { due };
                let answer: String = session.call(name, arguments).await.unwrap();
                assert_eq!(answer, said, "{name}");
            }
        }
        for name in ["own", "single"] {
            for due in [json!({}), json!({ "due": null })] {
                assert_eq!(session.call::<String>(name, due).await.unwrap(), "none", "{name}");
            }
        }
    }
}
