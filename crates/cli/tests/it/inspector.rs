//! MCP Inspector, the command line client, through the guard.

use std::fs;
use std::process::Command;

use serde_json::json;
use toolbond_harness::peers;

/// What the command line client of MCP Inspector prints.
fn inspect(arguments: &[&str], server: &[&str]) -> String {
    let launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let config = place.join(format!("inspector-{}.json", std::process::id()));
    let server = json!({ "command": server[0], "args": server[1..] });
    fs::write(&config, json!({ "mcpServers": { "one": server } }).to_string()).unwrap();
    let mut inspector = Command::new("node");
    inspector.args([&peers::package(launcher), "--cli", "--config"]).arg(&config);
    inspector.args(["--server", "one"]);
    let output = inspector.args(arguments).output().unwrap();
    fs::remove_file(config).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn mcp_inspector_works_through_the_guard() {
    let everything = peers::package("@modelcontextprotocol/server-everything/dist/index.js");
    let everything = ["node", &everything];
    // The list of this server declares draft-07, which the guard converts unless told otherwise.
    let guard = [env!("CARGO_BIN_EXE_toolbond"), "guard", "--keep-dialects", "--"];
    let guarded = [&guard, &everything[..]].concat();
    let sum = ["--method", "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"];
    for arguments in [&["--method", "tools/list"][..], &sum, &["--method", "resources/list"]] {
        let direct = inspect(arguments, &everything);
        assert!(direct.starts_with('{'), "{direct}");
        assert_eq!(direct, inspect(arguments, &guarded));
    }
}
