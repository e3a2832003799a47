//! JSON Schema validation with a hard bound on cost.
//!
//! A schema is *admitted* against [`Limits`] before it is compiled, and every validation has a budget of *fuel*. A
//! validation that runs out of fuel is [`Verdict::Unfinished`], which never counts as valid. This crate never reads a
//! file or opens a connection, whatever a schema refers to.
//!
//! ```
//! use serde_json::json;
//! use toolbond_schema::{Schema, Verdict};
//!
//! let schema = Schema::compile(&json!({
//!     "type": "object",
//!     "properties": { "hours": { "type": "integer", "maximum": 24 } }
//! }))?;
//!
//! assert!(schema.is_valid(&json!({ "hours": 3 })));
//! let Verdict::Invalid(violations) = schema.validate(&json!({ "hours": 30 })) else { panic!() };
//! assert_eq!(violations.to_string(), "#/hours: expected a number ≤ 24, found 30");
//! # Ok::<(), toolbond_schema::SchemaError>(())
//! ```

mod admission;
mod compile;
mod dialect;
mod engine;
mod error;
mod explain;
mod limits;
mod metaschemas;
mod options;
mod pointer;
mod schema;
mod source;
mod subschemas;
mod text;
mod verdict;
mod violation;

pub use dialect::Dialect;
pub use engine::{
    ElementsRef, Instance, InstanceError, InstanceErrorKind, MembersRef, ValueRef,
    string_end_or_special,
};
pub use error::{SchemaError, SchemaErrorKind};
pub use limits::{Limits, UnknownLimit};
pub use metaschemas::metaschemas;
pub use options::Options;
pub use pointer::Pointer;
pub use schema::{Measured, Schema};
pub use subschemas::Subschemas;
pub use verdict::{NotValid, Unfinished, Verdict};
pub use violation::{Mistake, Violation, Violations};
