//! Converting schemas of older dialects to 2020-12, and back.
//!
//! [`to_2020_12`] converts a schema of draft-04, draft-06, draft-07 or 2019-09. [`convert_tool`] does so for both
//! schemas of a tool, and [`revert_tool`] undoes it. A value is valid under the converted schema, read as 2020-12,
//! exactly when it is valid under the original. A schema that cannot be converted is left as it is, with a finding.
//!
//! | in the original | in the converted schema |
//! | --- | --- |
//! | `$schema` | left out: without it a schema is 2020-12 for MCP, and a draft-07 reader does not mind |
//! | `definitions` | `$defs`, unless both are there |
//! | `items` with a list, `additionalItems` beside it | `prefixItems`, `items` |
//! | `dependencies`, up to draft-07 | `dependentRequired`, `dependentSchemas` |
//! | `exclusiveMinimum: true`, `exclusiveMaximum: true` beside a bound (draft-04) | the bound under that name |
//! | keywords beside `$ref`, up to draft-07 | the name with `x-` before it, so that they stay without effect |
//! | keywords that only a later dialect knows | the same |
//! | `id` at the root (draft-04) | `$id` |
//! | other `id`s and `$id`s, up to draft-07, names such as `$id: "#address"` included | the name with `x-` before it, and references as pointers |
//! | `$recursiveRef`, `$recursiveAnchor` | `$ref` where there is one resource, otherwise `$dynamicRef`, `$dynamicAnchor` |
//! | `contains`, where a schema has `unevaluatedItems` (2019-09) | inside of two `not`, where it evaluates no items |
//!
//! References lead to what they led to, wherever that went. Data in `const`, `enum`, `default` and `examples` stays as
//! it is. Documents that a schema refers to are not converted.
//!
//! `format`, `contentEncoding` and `contentMediaType` are annotations in 2020-12. Draft-04 takes `1.0` for a number that
//! is not an integer; later dialects, and all readers in JavaScript, take it for one.
//!
//! # The marker
//!
//! A converted tool carries a marker in `_meta`, under [`DIALECT_MARKER`]. For each converted schema it has a member,
//! `inputSchema` or `outputSchema`, which is one of
//!
//! - `{"$schema": …, "at": n}`: only `$schema`, which was the member number `n` (0 if absent), was left out;
//! - `{"original": …}`: the schema as it was.
//!
//! A tool that is converted and projected is lifted first, then restored.

mod convert;
pub(crate) mod edits;
mod tool;

pub(crate) use convert::check_references;
pub use convert::to_2020_12;
pub(crate) use tool::keep_object_type;
pub use tool::{ConvertedTool, DIALECT_MARKER, convert_tool, revert_tool};
