//! MCP Inspector, the command line client, through the guard.

use std::process::Command;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::peers;
use toolbond_harness::process::program;

use crate::command::texts;

/// What the command line client of MCP Inspector prints.
fn inspect(arguments: &[&str], server: &[&str]) -> String {
    let launcher =
        peers::package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let folder = Folder::new();
    let server = json!({ "command": server[0], "args": server[1..] });
    let config = json!({ "mcpServers": { "one": server } });
    let config = folder.write("inspector.json", config.to_string());
    let mut inspector = Command::new("node");
    inspector.args([&launcher, "--cli", "--config", &config, "--server", "one"]).args(arguments);
    let (code, printed, said) = texts(inspector.output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    printed
}

#[test]
fn mcp_inspector_works_through_the_guard() {
    let everything = peers::package("@modelcontextprotocol/server-everything/dist/index.js");
    let everything = ["node", &everything];
    let program = program();
    // The list of this server declares draft-07, which the guard converts unless told otherwise.
    let guard =
        [program.to_str().unwrap(), "guard", "--results-file", "none", "--keep-dialects", "--"];
    let guarded = [&guard, &everything[..]].concat();
    let sum = ["--method", "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"];
    for arguments in [&["--method", "tools/list"][..], &sum] {
        let direct = inspect(arguments, &everything);
        assert!(direct.starts_with('{'), "{direct}");
        assert_eq!(direct, inspect(arguments, &guarded));
    }
}
