//! Results as a revision can carry them.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};
use toolpact_contract::{Form, ProjectError, Revision, send_result_owned, send_structured};

/// Mirrors the structured content of `result` as text where a reader needs that, and gives it the shape
/// that `revision` can carry; `form` is that of its tool.
///
/// Fails where the structured content is nested too deeply to be written; `result` then lost it.
pub(super) fn send(
    result: &mut CallToolResult,
    form: Form,
    revision: &Revision,
) -> Result<(), ProjectError> {
    if result.structured_content.is_none() {
        return Ok(());
    }
    // A result that says all in text already: the common case.
    if result.content.iter().any(|block| matches!(block, ContentBlock::Text(_))) {
        if revision.is_natural() {
            return Ok(());
        }
        if result.is_error != Some(true)
            && result.meta.is_none()
            && let Some(value) = result.structured_content.take()
        {
            let (value, meta) = send_structured(value, form, revision)?;
            result.structured_content = Some(value);
            result.meta = meta.map(MetaObject);
            return Ok(());
        }
    }
    let outline = outline(result);
    let blocks = result.content.len();
    let Value::Object(mut sent) = send_result_owned(outline, form, revision)? else {
        return Ok(());
    };
    result.structured_content = sent.remove("structuredContent");
    if let Some(Value::Object(meta)) = sent.remove("_meta") {
        result.meta = Some(MetaObject(meta));
    }
    let added = sent.get("content").and_then(|content| content.get(blocks)?.get("text")?.as_str());
    result.content.extend(added.map(ContentBlock::text));
    Ok(())
}

/// The parts of `result` that its shape depends on, its structured content and `_meta` taken from it.
/// Of the blocks it is the type; the text too where the result is an error, which may say the same twice.
fn outline(result: &mut CallToolResult) -> Value {
    let is_error = result.is_error == Some(true);
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) if is_error => json!({ "type": "text", "text": text.text }),
        ContentBlock::Text(_) => json!({ "type": "text" }),
        _ => json!({ "type": "other" }),
    };
    let mut outline = Map::new();
    outline.insert("content".to_owned(), result.content.iter().map(block).collect());
    if let Some(value) = result.structured_content.take() {
        outline.insert("structuredContent".to_owned(), value);
    }
    outline.insert("isError".to_owned(), is_error.into());
    if let Some(MetaObject(meta)) = result.meta.take() {
        outline.insert("_meta".to_owned(), meta.into());
    }
    Value::Object(outline)
}
