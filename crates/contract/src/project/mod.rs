//! Projecting tools and results to what a revision can carry, and lifting them back.
//!
//! | natural output schema | to a natural revision | to a legacy revision |
//! | --- | --- | --- |
//! | root `type: "object"` | unchanged | unchanged |
//! | only objects satisfy it (through `$ref`, `anyOf`, `oneOf`, `allOf`, `const`, `enum`) | unchanged | the same with `type: "object"` at the root |
//! | anything else | unchanged | `{"type":"object","properties":{"result":S},"required":["result"]}` |
//!
//! For every schema and value: the value is valid under the schema exactly when the projected value
//! is valid under the projected schema; lifting gives back what was projected, to the order of its
//! members; projecting twice is projecting once. What cannot be kept is refused with a
//! [`ProjectError`].
//!
//! # Lift, then judge
//!
//! A projected schema is larger and deeper than the natural one: the envelope takes two levels, a veil
//! two more each, and a marker may hold the natural schema a second time. One that is just within the
//! [limits](toolbond_schema::Limits) can be beyond them when projected. So a receiver lifts what it reads,
//! then judges it; what it passes on to a legacy peer it projects last. A limit
//! on the depth of projected tools keeps them readable for everyone else.
//!
//! # References
//!
//! The envelope moves the natural schema to `#/properties/result`, and every reference still leads to
//! what it led to. A root with an `$id` keeps it and stays the base of its references. Without one,
//! pointers get the prefix; names (`#anchor`, `$dynamicAnchor`) stay, because the envelope and the
//! schema are one resource. `$recursiveRef` can only say `#`: it becomes `$ref` where the document is
//! one resource, and otherwise the schema gets an `$id`. `$schema` moves to the envelope. What stands
//! in `const`, `enum`, `default` and `examples` is data.
//!
//! # Draft-07 readers
//!
//! Legacy readers are mostly draft-07 readers, whatever `$schema` says. Toward a legacy revision these
//! get a form that the schema's own dialect reads the same:
//!
//! | construct | a draft-07 reader | form |
//! | --- | --- | --- |
//! | `items: false` beside `prefixItems` | refuses every item | `maxItems` |
//! | `items` beside `prefixItems` | applies it to every item | `unevaluatedItems`, or the veil beside keywords that evaluate items |
//! | `contains` beside `items` under `not`, `if` or `oneOf` | Ajv takes an empty array for a full one | `minItems: 1` with it |
//! | `contains` with `minContains: 0` | wants one | the veil |
//! | `not`, `if` or `oneOf` over a keyword it ignores (`prefixItems`, `unevaluated…`, `dependent…`, `minContains`, `maxContains`, `$dynamicRef`, `$recursiveRef`) | inverts the gap | the veil |
//! | `if` in draft-06; `$id`, `const`, `contains`, `propertyNames`, `if` in draft-04; `$anchor` and `$dynamicAnchor` before their time; keywords beside `$ref` up to draft-07 | acts upon what the dialect ignores | the name with `x-` before it |
//! | `$async`, `formatMinimum`, `formatMaximum`, `formatExclusive…` | Ajv acts upon what no dialect knows | the name with `x-` before it |
//! | boolean `exclusiveMinimum`, `exclusiveMaximum` of draft-04 | gives up on the schema | `not` with the opposite bound |
//! | `id` | gives up on the schema | `x-id`, and references written as pointers in draft-04 |
//! | `nullable` without `type`, other than a boolean, or `false` beside the type `null` | Ajv gives up on the schema | `x-nullable` |
//! | `nullable: true` under `not`, `if` or `oneOf` | Ajv inverts the `null` it accepts | `x-nullable` |
//! | `$ref` beside `$id` from 2019-09 on | Ajv never ends reading the schema | `$ref` in `allOf` |
//! | `properties` and `required` that name members of every JavaScript object (`constructor`, `toString`, …) | finds them everywhere | `patternProperties` |
//! | `dependencies` that name such members | as above | a schema that says the same with `patternProperties` |
//! | `format` | asserts it | kept, or dropped with [`Formats::Dropped`] |
//!
//! A `$ref` to another document makes such a reader give up on the schema, and there is no form that
//! every reader of the schema's own dialect follows and this one ignores. Toolbond admits such a schema
//! only where an operator hands the document in.
//!
//! Two more cannot be helped: Ajv divides in binary floating point, so that it refuses 19.99 for
//! `multipleOf: 0.01`; and it has a schema of its own under the name of the draft-07 metaschema.
//!
//! The *veil* is `{"anyOf":[S,N]}` where nothing satisfies `N`, by a `$dynamicRef` (2019-09: a
//! `$recursiveRef`) to `{"not":{}}` that a draft-07 reader ignores.

pub(crate) mod bounds;
mod draft07;
pub(crate) mod edit;
mod envelope;
mod error;
pub(crate) mod error_text;
mod fastmcp;
mod form;
mod inherited;
pub(crate) mod marker;

mod projection;
mod rebuild;
mod relink;
mod resolve;
mod result;
pub(crate) mod schema_map;
mod tool;
pub(crate) mod uri;

pub(crate) use envelope::is_envelope;
pub use error::{ProjectError, ProjectErrorKind};
pub use form::Form;
pub(crate) use form::is_objects_only;
pub use marker::MARKER;
pub use projection::{Formats, Nullable, Projection, Unmarked};
pub use result::{lift_result, project_result};
pub use tool::{Shaped, lift_tool, project_tool};
