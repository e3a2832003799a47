//! Bundling: one schema of a schema and the documents that it refers to.
//!
//! [`missing`] tells which documents a schema refers to and are not at hand. A caller gets them, from wherever it may,
//! and asks again, because documents refer to documents. [`bundle`] then embeds them, as JSON Schema 2020-12 describes
//! it: under `$defs`, each with its URI as `$id`. The result refers to nothing outside itself.
//!
//! ```
//! use serde_json::json;
//! use toolbond_contract::bundle::{Document, bundle, missing};
//!
//! let schema = json!({
//!     "$id": "https://example.com/order.json",
//!     "properties": { "to": { "$ref": "address.json" } }
//! });
//! let missing = missing(&schema, None, &[])?;
//! assert_eq!(missing[0].uri, "https://example.com/address.json");
//!
//! let documents = [Document::new(&missing[0].uri, json!({ "required": ["city"] }))];
//! assert_eq!(
//!     *bundle(&schema, None, &documents)?,
//!     json!({
//!         "$id": "https://example.com/order.json",
//!         "properties": { "to": { "$ref": "address.json" } },
//!         "$defs": {
//!             "address": { "$id": "https://example.com/address.json", "required": ["city"] }
//!         }
//!     })
//! );
//! # Ok::<(), toolbond_contract::bundle::BundleError>(())
//! ```
//!
//! # Which documents
//!
//! A reference is read wherever admission reads one: under the keywords of any dialect, at whatever a pointer leads to,
//! and in definitions that nothing uses. `const`, `enum`, `default` and `examples` are data. What a reference names is
//! looked for
//!
//! 1. in the document of the reference, with its embedded resources (schemas with an `$id`);
//! 2. in the schema itself;
//! 3. among the documents, by the URI that they were asked for, by the one they were found at, and by their `$id`;
//! 4. among the resources that are embedded in them;
//! 5. among the metaschemas of the five dialects, which are always at hand.
//!
//! A document without `$schema` is read in the dialect of the schema.
//!
//! # What changes
//!
//! | in the document | in the bundle |
//! | --- | --- |
//! | its `$id` (`id` in draft-04), or none | the same as an absolute URI, or the URI at which the document was found |
//! | `true`, `false` | `{"$id": …}`, `{"$id": …, "not": {}}` |
//! | `$ref` at the top | in `allOf`: up to draft-07, `$id` has no effect beside it, and Ajv never ends reading both |
//! | keywords beside this `$ref`, up to draft-07 | the name with `x-` before it, so that they stay without effect |
//! | `$id: "#name"` at the top, up to draft-07 | replaced; references by this name lead to the top without it |
//! | a reference to a document by another URI than its `$id` | a reference by its `$id` |
//! | a reference of the schema that is relative to `base` | an absolute reference |
//!
//! Every other reference stays as written. The schema itself gets no `$id`: many tools may have the same schema. If it
//! has none, and a document refers back to it by `base`, it is embedded once more, as one of the documents.
//!
//! The bundle is read again before it is returned. If a reference does not lead to what it led to, bundling fails.
//!
//! Admission limits the paths through embedded resources ([`Limits::scopes`](toolbond_schema::Limits::scopes)). It
//! refuses bundles of many documents that refer to each other, as it does if the documents are handed in.
//!
//! # The flat form
//!
//! Model APIs and hosts do not know `$id` inside of a schema. [`flatten`] makes the references of a bundle pointers, such
//! as `#/$defs/address`, and leaves out the names. Not every bundle has this form: what a `$dynamicRef` leads to may
//! depend on the way to it.

mod at_hand;
mod document;
mod embed;
mod error;
mod flatten;
mod name;
mod search;
mod unit;
mod verify;

use std::borrow::Cow;

use serde_json::Value;

use search::Search;

pub use document::{Document, Missing};
pub use error::{BundleError, BundleErrorKind};
pub use flatten::{FlatTool, flatten, flatten_tool};

/// Returns every document that `schema` refers to, directly or through `documents`, and that is not at hand: each once,
/// in order of discovery.
///
/// `base` is the URI that relative references of a schema without an absolute `$id` are relative to.
///
/// # Errors
///
/// Fails if a reference cannot be resolved, a document cannot be read, or a limit is exceeded ([`BundleErrorKind`]).
pub fn missing(
    schema: &Value,
    base: Option<&str>,
    documents: &[Document],
) -> Result<Vec<Missing>, BundleError> {
    if !refers_elsewhere(schema) {
        return Ok(Vec::new());
    }
    Ok(Search::run(schema, base, documents)?.missing)
}

/// Returns a schema that means the same as `schema` with `documents`, and refers to nothing outside itself. See the
/// [module](self).
///
/// Returns `schema` itself if it refers to nothing outside. Leaves out documents that nothing refers to.
///
/// # Errors
///
/// Fails if a document is missing, for the reasons of [`missing`], and if a reference would not lead to the same place
/// in the bundle.
pub fn bundle<'a>(
    schema: &'a Value,
    base: Option<&str>,
    documents: &[Document],
) -> Result<Cow<'a, Value>, BundleError> {
    if !refers_elsewhere(schema) {
        return Ok(Cow::Borrowed(schema));
    }
    let search = Search::run(schema, base, documents)?;
    if let Some(missing) = search.missing.first().cloned() {
        let kind = BundleErrorKind::Missing { uri: missing.uri };
        return Err(BundleError { document: missing.from, pointer: missing.pointer, kind });
    }
    if search.is_complete() {
        return Ok(Cow::Borrowed(schema));
    }
    let bundle = embed::embed(&search)?;
    verify::check_references(&search, &bundle)?;
    Ok(Cow::Owned(bundle.schema))
}

/// Whether anything looks like a reference to another resource. What is found may be data.
fn refers_elsewhere(schema: &Value) -> bool {
    let mut stack = vec![schema];
    while let Some(value) = stack.pop() {
        match value {
            Value::Array(list) => stack.extend(list),
            Value::Object(map) => {
                for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                    if map.get(keyword).and_then(Value::as_str).is_some_and(|r| !r.starts_with('#'))
                    {
                        return true;
                    }
                }
                stack.extend(map.values());
            }
            _ => {}
        }
    }
    false
}
