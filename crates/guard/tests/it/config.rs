//! `toolpact.toml`: every example loads and is valid by the schema, which is the committed one.

use std::fs;
use std::path::{Path, PathBuf};

use toolpact_contract::{Mode, Policy};
use toolpact_guard::config::Config;
use toolpact_schema::Schema;

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

/// The example at `path`, which names files that are not there.
fn parse(path: &Path) -> Config {
    Config::parse(path, &fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_example_loads_and_is_valid() {
    let schema = Schema::compile(&Config::json_schema()).unwrap();
    let examples = examples();
    assert!(examples.len() >= 3);
    for path in examples {
        let config = parse(&path);
        assert!(!config.servers.is_empty());
        let text = fs::read_to_string(&path).unwrap();
        let value: serde_json::Value = toml::from_str(&text).unwrap();
        assert!(schema.is_valid(&value), "{}: {:?}", path.display(), schema.validate(&value));
    }
    let wrong = serde_json::json!({ "servers": { "a": { "comand": "x" } } });
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn the_schema_is_the_committed_one() {
    let path = here().join("toolpact.schema.json");
    let committed = fs::read_to_string(path).unwrap();
    let now = format!("{:#}\n", Config::json_schema());
    assert!(
        committed == now,
        "write it anew: cargo run -- guard --config-schema > crates/guard/toolpact.schema.json"
    );
}

#[test]
fn what_a_server_says_goes_before_what_all_say() {
    let config = parse(&here().join("examples/several.toml"));
    let (memory, search) = (config.settings("memory"), config.settings("search"));
    assert_eq!((memory.tools, memory.results), (Some(Policy::Repair), Mode::Enforce));
    assert_eq!((search.tools, search.results), (Some(Policy::Repair), Mode::Warn));
    let memory = config.servers["memory"].get_ref();
    assert_eq!(memory.cwd.as_deref(), Some(&*here().join("examples/data")));

    let config = parse(&here().join("examples/tools.toml"));
    let files = config.settings("files");
    assert_eq!(files.arguments_mode("search"), Mode::Warn);
    assert_eq!(files.results_mode("search"), Mode::Off);
    assert_eq!(files.arguments_mode("another"), Mode::Enforce);
    assert!(files.is_hidden("delete_everything") && !files.is_hidden("search"));
}
