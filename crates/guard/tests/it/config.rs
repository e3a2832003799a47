//! `toolbond.toml`: every example loads and is valid by the schema, which is the committed one.

use std::fs;
use std::path::{Path, PathBuf};

use toolbond_guard::config::Config;
use toolbond_schema::Schema;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn examples() -> Vec<PathBuf> {
    let files = fs::read_dir(here().join("examples")).unwrap();
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect()
}

#[test]
fn every_example_loads_and_is_valid() {
    let schema = Schema::compile(&Config::json_schema()).unwrap();
    let examples = examples();
    assert!(examples.len() >= 3);
    for path in examples {
        let text = fs::read_to_string(&path).unwrap();
        // Not `read`: the examples name files that do not exist here.
        let config = Config::parse(&path, &text).unwrap();
        assert!(config.server_names().next().is_some());
        let value: serde_json::Value = toml::from_str(&text).unwrap();
        assert!(schema.is_valid(&value), "{}: {:?}", path.display(), schema.validate(&value));
    }
    let wrong = serde_json::json!({ "servers": { "a": { "comand": "x" } } });
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn the_schema_is_the_committed_one() {
    let path = here().join("toolbond.schema.json");
    let committed = fs::read_to_string(path).unwrap();
    let now = format!("{:#}\n", Config::json_schema());
    assert!(
        committed == now,
        "write it anew: cargo run -- guard --config-schema > crates/guard/toolbond.schema.json"
    );
}
