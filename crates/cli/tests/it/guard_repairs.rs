//! Arguments as real hosts send them, through the guard to servers of both official SDKs.

use serde_json::{Value, json};

use crate::guard_peers::{peers, visit};

/// What hosts were seen to send, and what the server has to get.
const WIRE_FORMS: &str = include_str!("data/wire_forms.json");

/// Makes every call directly and through a guard with its defaults.
fn compare(command: &[&str]) {
    let forms: Vec<Value> = serde_json::from_str(WIRE_FORMS).unwrap();
    let calls: Value = forms.iter().map(|form| json!(["take", form["arguments"]])).collect();
    let direct = visit(None, &calls, command);
    let guarded = visit(Some(&[]), &calls, command);
    for (index, form) in forms.iter().enumerate() {
        let result = |report: &Value| report["calls"][index].clone();
        let fails = |result: &Value| result.get("failed").is_some() || result["isError"] == true;
        assert!(fails(&result(&direct)), "{form}: {}", result(&direct));
        assert!(!fails(&result(&guarded)), "{form}: {}", result(&guarded));
        let text = result(&guarded)["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), form["arrives"], "{form}");
    }
}

#[test]
fn typescript_gets_what_hosts_mean() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/takes.mjs");
    let place = peers().join(format!("takes-{}.mjs", std::process::id()));
    std::fs::copy(server, &place).unwrap();
    compare(&["node", place.to_str().unwrap()]);
    std::fs::remove_file(place).unwrap();
}

#[test]
fn python_gets_what_hosts_mean() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/takes.py");
    let folders = ["peers-v1", "peers"].map(|name| peers().join("../../python").join(name));
    let path = std::env::join_paths(folders).unwrap();
    let path = format!("PYTHONPATH={}", path.to_str().unwrap());
    compare(&["env", &path, "python3", server]);
}
