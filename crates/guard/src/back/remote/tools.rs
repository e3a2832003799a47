//! What a bridge learns from the answers of a server on HTTP.

use std::sync::Arc;

use ahash::AHashMap;
use bytestring::ByteString;
use memchr::memmem;
use serde_json::{Map, Value, json};

use toolbond_guard_core::json::members::{entries, members};
use toolbond_guard_core::json::object::Object;
use toolbond_guard_core::json::scan::elements;

/// The most tools whose arguments are repeated in headers.
const MAX_TOOLS: usize = 10_000;

/// The most bytes of what is kept of these schemas.
const MAX_TOOL_BYTES: usize = 1 << 20;

/// Annotations are not deeper than this.
const DEEPEST: usize = 32;

/// What is kept of the input schemas of tools whose arguments are repeated in headers.
#[derive(Default)]
pub(crate) struct KnownTools {
    schemas: AHashMap<String, KnownSchema>,
    /// The bytes of all.
    bytes: usize,
    /// How many pages of lists there were.
    pages: u64,
}

struct KnownSchema {
    schema: Arc<Value>,
    /// The bytes of its text and its name.
    bytes: usize,
    page: u64,
}

impl KnownTools {
    pub(crate) fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    /// What is kept of the input schema of the tool `name`.
    pub(crate) fn schema(&self, name: &str) -> Option<Arc<Value>> {
        self.schemas.get(name).map(|known| Arc::clone(&known.schema))
    }

    /// Takes the tools of a page of the list.
    pub(crate) fn add_page(&mut self, tools: Vec<LearnedTool>) {
        self.pages += 1;
        for LearnedTool { name, schema } in tools {
            if let Some(old) = self.schemas.remove(&name) {
                self.bytes -= old.bytes;
            }
            let Some(schema) = schema else { continue };
            let bytes = schema.to_string().len() + name.len();
            if !self.has_room(bytes) {
                // Those of earlier pages make room.
                self.schemas.retain(|_, known| known.page == self.pages);
                self.bytes = self.schemas.values().map(|known| known.bytes).sum();
            }
            if self.has_room(bytes) {
                self.bytes += bytes;
                let known = KnownSchema { schema: Arc::new(schema), bytes, page: self.pages };
                self.schemas.insert(name, known);
            }
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.schemas.len() < MAX_TOOLS && self.bytes + bytes <= MAX_TOOL_BYTES
    }
}

/// What later requests need of a result: the version of the session, and which arguments are repeated in headers.
#[derive(Default)]
pub(crate) struct Learned {
    pub(crate) version: Option<String>,
    pub(crate) tools: Vec<LearnedTool>,
}

/// A tool of a list.
pub(crate) struct LearnedTool {
    name: String,
    /// What of the input schema says which arguments are repeated in headers.
    schema: Option<Value>,
}

impl Learned {
    /// What is learned of a result. With `knows_tools` also lists without such tools are read, which may have lost them.
    pub(crate) fn of_result(result: &ByteString, knows_tools: bool) -> Self {
        // Results of calls have nothing to learn from, and are found faster than they are read. A name may be written
        // with escapes.
        let names = ["\"tools\"", "\"protocolVersion\"", "\\u"];
        if names.iter().all(|name| memmem::find(result.as_bytes(), name.as_bytes()).is_none()) {
            return Self::default();
        }
        let Ok(object) = Object::read(Some(result)) else { return Self::default() };
        let mut tools = Vec::new();
        // The name may be written with escapes.
        let may_say = |text: &&ByteString| text.contains("x-mcp-header") || text.contains("\\u");
        if let Some(text) = object.get("tools").filter(|tools| knows_tools || may_say(tools)) {
            let listed = elements(text).unwrap_or_default();
            for tool in listed.into_iter().take(MAX_TOOLS) {
                let tool = Object::read(Some(&text.slice_ref(tool))).unwrap_or_default();
                let Some(name) = tool.string("name") else { continue };
                let schema = tool.get("inputSchema").filter(may_say);
                let schema = schema.and_then(|schema| annotations(schema, 1));
                tools.push(LearnedTool { name, schema });
            }
        }
        Self { version: object.string("protocolVersion"), tools }
    }
}

/// What of an input schema says which arguments are repeated in headers, if anything does.
fn annotations(schema: &str, depth: usize) -> Option<Value> {
    const KEY: &str = "x-mcp-header";
    let [properties] = members(schema, ["properties"]).ok()?;
    let mut found = Map::new();
    for (name, _, property) in entries(properties?)? {
        let Ok([kind, header]) = members(property, ["type", KEY]) else { continue };
        let inner = if depth < DEEPEST { annotations(property, depth + 1) } else { None };
        let mut kept = inner.unwrap_or_else(|| json!({}));
        for (member, value) in [("type", kind), (KEY, header)] {
            let value = value.filter(|_| header.is_some());
            if let Some(Ok(value)) = value.map(serde_json::from_str::<Value>) {
                kept[member] = value;
            }
        }
        if kept != json!({}) {
            found.insert(name.into_owned(), kept);
        }
    }
    (!found.is_empty()).then(|| json!({ "properties": found }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{KnownTools, Learned, LearnedTool, MAX_TOOL_BYTES, MAX_TOOLS};

    #[test]
    fn what_is_kept_of_tools_is_bounded() {
        let mut known = KnownTools::default();
        let tool = |name: String, bytes: usize| LearnedTool {
            name,
            // With quotes.
            schema: (bytes > 0).then(|| "x".repeat(bytes - 2).into()),
        };
        known.add_page((0..MAX_TOOLS + 5).map(|n| tool(n.to_string(), 2)).collect());
        assert_eq!(known.schemas.len(), MAX_TOOLS);
        // Those of earlier pages make room, and those that are no more are forgotten.
        known.add_page(vec![tool("a".to_owned(), MAX_TOOL_BYTES / 2)]);
        known.add_page(vec![tool("b".to_owned(), MAX_TOOL_BYTES / 4)]);
        assert_eq!(known.schemas.len(), 2);
        let half = MAX_TOOL_BYTES / 2;
        known.add_page(vec![tool("c".to_owned(), half), tool("d".to_owned(), half)]);
        assert_eq!((known.schemas.len(), known.bytes), (1, half + 1));
        known.add_page(vec![tool("c".to_owned(), 0)]);
        assert_eq!((known.schemas.len(), known.bytes), (0, 0));
    }

    #[test]
    fn of_tools_their_annotations_are_learned_however_they_are_written() {
        let kept = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
        let nested = json!({ "properties": { "b": kept } });
        for (schema, expected) in [
            (r#"{"properties":{"a":{"x-mcp-header":"A","type":"string"},"b":{}}}"#, Some(&kept)),
            (r#"{"properties":{"a":{"type":"string","x-mcp-\u0068eader":"A"}}}"#, Some(&kept)),
            (
                r#"{"properties":{"b":{"type":"object","properties":{"c":true,"a":{"type":"string","x-mcp-header":"A","default":[0,0]}}}}}"#,
                Some(&nested),
            ),
            (r#"{"properties":{"a":{}}}"#, None),
        ] {
            let name = if expected.is_some() { "t\\u006fols" } else { "tools" };
            let list = format!(r#"{{"{name}":[{{"name":"t","inputSchema":{schema}}}]}}"#);
            let list = list.into();
            let learned = Learned::of_result(&list, true).tools;
            assert_eq!((learned.len(), learned[0].schema.as_ref()), (1, expected), "{schema}");
            let is_known = usize::from(expected.is_some());
            assert_eq!(Learned::of_result(&list, false).tools.len(), is_known);
        }
        // Escapes alone say nothing.
        let list =
            r#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"title":"\u00e9"}}}}]}"#;
        assert!(
            Learned::of_result(&list.into(), false).tools.iter().all(|tool| tool.schema.is_none())
        );
    }
}
