//! MCP Inspector, the command line client, through the guard.

use std::process::Command;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::mcp::url;
use toolbond_harness::peers;
use toolbond_harness::process::{Process, command, own_cache, program};

use crate::command::texts;

/// The command line client of MCP Inspector.
fn inspector() -> Command {
    let launcher =
        peers::package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut inspector = Command::new("node");
    inspector.args([&launcher, "--cli"]);
    inspector
}

/// What it prints.
fn printed(mut inspector: Command) -> String {
    let (code, printed, said) = texts(inspector.output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    printed
}

/// What it prints of a server in its configuration.
fn inspect(arguments: &[&str], server: &[&str]) -> String {
    let folder = Folder::new();
    let server = json!({ "command": server[0], "args": server[1..] });
    let config = json!({ "mcpServers": { "one": server } });
    let config = folder.write("inspector.json", config.to_string());
    let mut inspector = inspector();
    inspector.args(["--config", &config, "--server", "one"]).args(arguments);
    printed(inspector)
}

/// What it prints of the server that `words` of its command line start.
fn inspect_words(words: &[&str], arguments: &[&str]) -> String {
    let mut inspector = inspector();
    inspector.args(words).args(arguments).envs([own_cache()]);
    printed(inspector)
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

#[test]
fn mcp_inspector_works_through_a_guard_on_its_command_line() {
    let program = program();
    let program = program.to_str().unwrap();
    let list = ["--method", "tools/list"];
    let server = peers::words("eras/server-v1.mjs");
    let server: Vec<&str> = server.iter().map(String::as_str).chain(["legacy"]).collect();
    let direct = inspect_words(&server, &list);
    assert!(direct.starts_with('{'), "{direct}");
    // It takes the `--` out.
    for dashes in [&["--"][..], &[]] {
        let guard = [&[program, "guard", "--keep-dialects"], dashes, &server].concat();
        assert_eq!(inspect_words(&guard, &list), direct, "{dashes:?}");
    }
    let mut on_http = command(&server);
    on_http.arg("--http");
    let (_server, port) = Process::listening(on_http);
    let url = url(port);
    let guard = [program, "guard", "--keep-dialects", "--upstream", &url];
    assert_eq!(inspect_words(&guard, &list), direct);
}
