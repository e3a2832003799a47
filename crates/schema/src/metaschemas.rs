//! The official metaschemas, for callers that let schemas refer to them.

use referencing::meta;
use serde_json::Value;

/// Every metaschema of the five dialects, with its URI, to hand in through
/// [`Options::document`](crate::Options::document).
pub fn metaschemas() -> impl Iterator<Item = (&'static str, &'static Value)> {
    let all: [&'static Value; 19] = [
        &meta::DRAFT4,
        &meta::DRAFT6,
        &meta::DRAFT7,
        &meta::DRAFT201909,
        &meta::DRAFT201909_APPLICATOR,
        &meta::DRAFT201909_CONTENT,
        &meta::DRAFT201909_CORE,
        &meta::DRAFT201909_FORMAT,
        &meta::DRAFT201909_META_DATA,
        &meta::DRAFT201909_VALIDATION,
        &meta::DRAFT202012,
        &meta::DRAFT202012_CORE,
        &meta::DRAFT202012_APPLICATOR,
        &meta::DRAFT202012_UNEVALUATED,
        &meta::DRAFT202012_VALIDATION,
        &meta::DRAFT202012_META_DATA,
        &meta::DRAFT202012_FORMAT_ANNOTATION,
        &meta::DRAFT202012_FORMAT_ASSERTION,
        &meta::DRAFT202012_CONTENT,
    ];
    all.into_iter().filter_map(|schema| {
        let id = schema.get("$id").or_else(|| schema.get("id"))?;
        Some((id.as_str()?, schema))
    })
}
