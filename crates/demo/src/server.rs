//! The demo server: one tool for each shape of result.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolbond::{Args, ToolError};

/// A server with one tool for each shape of result.
#[derive(Clone, Debug)]
pub(crate) struct DemoServer;

/// The weather of one hour.
#[derive(Serialize, JsonSchema)]
struct Forecast {
    hour: String,
    temp: f64,
    conditions: &'static str,
}

/// A collection to count.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Collection {
    Users,
    Resources,
    Sessions,
    Logs,
}

/// An id or a name: `oneOf` in the input schema.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum IdOrName {
    Id(String),
    Name(String),
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Resource {
    id: &'static str,
    name: &'static str,
}

const RESOURCES: [Resource; 2] =
    [Resource { id: "res-001", name: "database" }, Resource { id: "res-002", name: "cache" }];

#[derive(Serialize, JsonSchema)]
struct Owner {
    name: &'static str,
    email: &'static str,
}

/// A location: one of two objects that `kind` tells apart.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Place {
    Point { lat: f64, lon: f64 },
    Address { street: &'static str, city: &'static str },
}

/// A folder with folders in it: a recursive schema.
#[derive(Serialize, JsonSchema)]
struct Folder {
    name: &'static str,
    folders: Vec<Folder>,
}

/// A person to contact. Its rules are more than a Rust type can express, so its schema is handwritten. The conformance
/// suite expects exactly this schema in the tool list.
#[derive(Deserialize)]
struct Contact {
    name: Option<String>,
    phone: Option<String>,
    email: Option<String>,
}

impl JsonSchema for Contact {
    fn schema_name() -> Cow<'static, str> {
        "Contact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"]
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        })
    }
}

#[toolbond::tools(name = "toolbond-demo")]
impl DemoServer {
    /// Hourly weather forecast for a city: an array.
    #[tool(name = "get-weather-forecast", read_only)]
    fn forecast(
        &self,
        /// City name.
        #[schemars(length(min = 1))]
        city: String,
        /// How many hours.
        #[schemars(range(min = 1, max = 24))]
        hours: Option<u8>,
    ) -> Result<Vec<Forecast>, ToolError> {
        if city == "Atlantis" {
            return Err(ToolError::new("there is no weather in Atlantis"));
        }
        let sky = ["sunny", "cloudy", "rain"];
        let hour = |at: u8| Forecast {
            hour: format!("{:02}:00", (9 + at) % 24),
            temp: 18.5 + f64::from(at),
            conditions: sky[usize::from(at) % sky.len()],
        };
        Ok((0..hours.unwrap_or(2)).map(hour).collect())
    }

    /// Number of entries in a collection: a number.
    #[tool(name = "get-count", read_only)]
    fn count(&self, collection: Collection) -> u64 {
        match collection {
            Collection::Users => 3,
            Collection::Resources => 2,
            Collection::Sessions => 1,
            Collection::Logs => 0,
        }
    }

    /// Finds a resource by its id or by its name: an object.
    #[tool(name = "find-by-id-or-name", read_only)]
    fn find(&self, Args(wanted): Args<IdOrName>) -> Result<Resource, ToolError> {
        let found = RESOURCES.into_iter().find(|resource| match &wanted {
            IdOrName::Id(id) => resource.id == id,
            IdOrName::Name(name) => resource.name == name,
        });
        found.ok_or_else(|| ToolError::new("no such resource"))
    }

    /// Owner of a resource: an object, or null if there is none.
    #[tool(name = "get-owner", read_only)]
    fn owner(&self, id: String) -> Option<Owner> {
        (id == "res-001").then_some(Owner { name: "Ada", email: "ada@example.org" })
    }

    /// Location of a resource: one of two objects.
    #[tool(name = "locate", read_only)]
    fn locate(&self, id: String) -> Place {
        match id.as_str() {
            "res-001" => Place::Address { street: "Storgata 1", city: "Oslo" },
            _ => Place::Point { lat: 59.9, lon: 10.7 },
        }
    }

    /// Nested folders: a recursive type.
    #[tool(name = "list-folders", read_only)]
    fn folders(&self) -> Vec<Folder> {
        let leaf = |name| Folder { name, folders: Vec::new() };
        vec![Folder { name: "src", folders: vec![leaf("demo"), leaf("verbs")] }, leaf("tests")]
    }

    /// Says how to contact a person, with a schema that uses keywords of 2020-12: a text.
    #[tool(name = "json_schema_2020_12_tool", read_only)]
    fn contact(&self, Args(contact): Args<Contact>) -> String {
        let who = contact.name.as_deref().unwrap_or("somebody");
        match (contact.phone, contact.email) {
            (Some(phone), _) => format!("call {who} at {phone}"),
            (None, email) => format!("write to {who} at {}", email.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};
    use toolbond::Tools as _;

    use super::{Contact, DemoServer, JsonSchema as _};

    fn input(name: &str) -> Value {
        let tool = DemoServer::toolbox().tool(name).unwrap();
        Value::Object(tool.input_schema.as_ref().clone())
    }

    #[test]
    fn a_schema_written_by_hand_is_listed_in_full() {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let written = Contact::json_schema(&mut generator).to_value();
        assert_eq!(input("json_schema_2020_12_tool"), written);
    }

    #[test]
    fn an_enum_of_arguments_is_one_of_objects() {
        let arm = |name: &str| {
            json!({
                "type": "object",
                "properties": { name: { "type": "string" } },
                "required": [name],
                "additionalProperties": false
            })
        };
        let input = input("find-by-id-or-name");
        assert_eq!(input["type"], "object");
        assert_eq!(input["oneOf"], json!([arm("id"), arm("name")]));
    }
}
