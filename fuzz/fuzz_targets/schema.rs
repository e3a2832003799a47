//! Bytes as a schema: admitted or refused, never a panic, never a hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolbond_schema::Schema;

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = serde_json::from_slice::<Value>(bytes) else { return };
    if let Err(error) = Schema::compile(&schema) {
        assert!(!error.to_string().contains('\n'), "an error is one line: {error}");
    }
});
