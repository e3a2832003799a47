//! A line with a schema and a line with an instance: the same verdict and the same fuel, twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolbond_schema::{Limits, Schema};

const FUEL: u64 = 200_000;

fuzz_target!(|bytes: &[u8]| {
    let Some(split) = bytes.iter().position(|&byte| byte == b'\n') else { return };
    let Ok(schema) = serde_json::from_slice::<Value>(&bytes[..split]) else { return };
    let Ok(instance) = serde_json::from_slice::<Value>(&bytes[split..]) else { return };
    let mut limits = Limits::default();
    limits.fuel = FUEL;
    let Ok(schema) = Schema::options().limits(limits).compile(&schema) else { return };
    let measured = schema.measure(&instance);
    assert_eq!(schema.measure(&instance), measured, "two runs differ");
    assert_eq!(schema.is_valid(&instance), measured.verdict.is_valid(), "two ways differ");
});
