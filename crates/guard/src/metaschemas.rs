//! The metaschemas, compiled before the first tool list comes.

use std::thread;

use serde_json::json;
use toolbond_schema::{Dialect, Options};

/// Compiles the metaschemas of the usual dialects on a thread of its own, while servers start. Without it the first list
/// waits for that: it takes several times as long as judging ten tools.
pub fn compile_metaschemas() {
    thread::spawn(|| {
        for dialect in [Dialect::Draft202012, Dialect::Draft7] {
            // The schema is valid, and compiling it compiles its metaschema.
            let _ = Options::default().dialect(dialect).compile(&json!({ "type": "object" }));
        }
    });
}
