//! Tools that answer at once, with every kind of content.

use std::borrow::Cow;

use rmcp::model::{ContentBlock, ResourceContents};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use toolbond::{Args, Text, ToolError};

/// A grey pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/// Two samples of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// The tools.
pub(crate) struct Content;

#[toolbond::tools(tools_only)]
impl Content {
    /// Answers with text.
    #[tool]
    fn test_simple_text(&self) -> Text {
        "This is a simple text response for testing.".into()
    }

    /// Answers with an image.
    #[tool]
    fn test_image_content(&self) -> ContentBlock {
        ContentBlock::image(PNG, "image/png")
    }

    /// Answers with sound.
    #[tool]
    fn test_audio_content(&self) -> ContentBlock {
        ContentBlock::audio(WAV, "audio/wav")
    }

    /// Answers with a resource inside.
    #[tool]
    fn test_embedded_resource(&self) -> ContentBlock {
        ContentBlock::resource(ResourceContents::text(
            "This is an embedded resource content.",
            "test://embedded-resource",
        ))
    }

    /// Answers with text, an image and a resource.
    #[tool]
    fn test_multiple_content_types(&self) -> Vec<ContentBlock> {
        let data = r#"{"test":"data","value":123}"#;
        let resource = ResourceContents::text(data, "test://mixed-content-resource");
        vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(resource.with_mime_type("application/json")),
        ]
    }

    /// Fails.
    #[tool]
    fn test_error_handling(&self) -> Result<Text, ToolError> {
        Err(ToolError::new("This tool intentionally returns an error for testing"))
    }

    /// Takes a region that clients repeat in a header.
    #[tool]
    fn test_custom_header(
        &self,
        /// Where to run.
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
    ) -> Text {
        format!("ran in {region}").into()
    }

    /// Takes a contact whose schema uses what JSON Schema 2020-12 has.
    #[tool]
    fn json_schema_2020_12_tool(&self, Args(contact): Args<Contact>) -> Text {
        let way = contact.phone.or(contact.email).unwrap_or_default();
        format!("{} via {way}", contact.name.unwrap_or_default()).into()
    }
}

/// Whom to reach, and how.
#[derive(Deserialize)]
struct Contact {
    name: Option<String>,
    phone: Option<String>,
    email: Option<String>,
}

/// Written by hand: no Rust type says all of this.
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
