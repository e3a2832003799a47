//! Results in the form for a protocol revision.

use std::borrow::Cow;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};
use toolbond_contract::{Form, ProjectError, Revision, project_result};

/// Adds a text block with the structured content where a client needs one, and converts the structured content to the
/// form for `revision`. `form` is the form of the tool's output.
///
/// Fails if the structured content is nested too deeply; `result` has then lost it.
pub(super) fn send(
    result: &mut CallToolResult,
    form: Form,
    revision: &Revision,
) -> Result<(), ProjectError> {
    if result.structured_content.is_none() {
        return Ok(());
    }
    // The common case: the result has text already.
    if result.content.iter().any(|block| matches!(block, ContentBlock::Text(_))) {
        if revision.is_natural() {
            return Ok(());
        }
        if result.is_error != Some(true)
            && result.meta.is_none()
            && let Some(value) = result.structured_content.take()
        {
            let (value, meta) = form.project_value(value, revision)?;
            result.structured_content = Some(value);
            result.meta = meta.map(MetaObject);
            return Ok(());
        }
    }
    let parts = take_parts(result);
    let blocks = result.content.len();
    let sent = project_result(Cow::Owned(parts), form, revision)?.into_owned();
    let Value::Object(mut sent) = sent else { return Ok(()) };
    result.structured_content = sent.remove("structuredContent");
    if let Some(Value::Object(meta)) = sent.remove("_meta") {
        result.meta = Some(MetaObject(meta));
    }
    let added = sent.get("content").and_then(|content| content.get(blocks)?.get("text")?.as_str());
    result.content.extend(added.map(ContentBlock::text));
    Ok(())
}

/// Returns the parts of `result` that decide its form, and takes the structured content and `_meta` out of it.
/// Of content blocks only the type counts; of an error also the text, which may repeat the structured content.
fn take_parts(result: &mut CallToolResult) -> Value {
    let is_error = result.is_error == Some(true);
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) if is_error => json!({ "type": "text", "text": text.text }),
        ContentBlock::Text(_) => json!({ "type": "text" }),
        _ => json!({ "type": "other" }),
    };
    let mut parts = Map::new();
    parts.insert("content".to_owned(), result.content.iter().map(block).collect());
    if let Some(value) = result.structured_content.take() {
        parts.insert("structuredContent".to_owned(), value);
    }
    parts.insert("isError".to_owned(), is_error.into());
    if let Some(MetaObject(meta)) = result.meta.take() {
        parts.insert("_meta".to_owned(), meta.into());
    }
    Value::Object(parts)
}
