//! `toolbond wrap` and `unwrap` with real clients and servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::process::{self, Process, command};
use toolbond_harness::{mcp, peers};

use crate::command::texts;

/// The home folder of a user.
struct Home(Folder);

impl Home {
    fn new() -> Self {
        Self(Folder::new())
    }

    fn toolbond(&self, arguments: &[&str]) -> Command {
        let mut command = process::toolbond(arguments);
        command.current_dir(self.0.path()).env("HOME", self.0.path());
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// `program` with the environment of [`Self::toolbond`].
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, value) in self.toolbond(&[]).get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        let (code, out, err) = texts(self.toolbond(arguments).output().unwrap());
        assert_eq!(code, Some(0), "{arguments:?}: {out}{err}");
        out
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

/// Where Claude Desktop has its configuration, as far as `toolbond` runs on this system.
fn desktop() -> &'static str {
    if cfg!(target_os = "macos") {
        "Library/Application Support/Claude/claude_desktop_config.json"
    } else {
        ".config/Claude/claude_desktop_config.json"
    }
}

/// What the client calls with the server of this configuration.
fn calls(config: &Value, name: &str, calls: &Value) -> Vec<Value> {
    let server = &config["mcpServers"][name];
    let mut words = vec![server["command"].clone()];
    words.extend(server["args"].as_array().unwrap().clone());
    let mut client = command(
        &[peers::words("clients/typescript.mjs"), vec!["client-2.0.0-beta.5".to_owned()]].concat(),
    );
    let output = client.arg(json!([[words, calls]]).to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["calls"].as_array().unwrap().clone()
}

/// A program at `name` in the home folder: `toolbond` under another name.
fn program(home: &Home, name: &str) -> PathBuf {
    let path = home.0.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(process::program(), &path).unwrap();
    path.canonicalize().unwrap()
}

/// What `program` says, run as [`Home::run`] runs `toolbond`.
fn run(home: &Home, program: &Path, arguments: &[&str]) -> String {
    let mut command = home.command(program);
    let (code, out, err) = texts(command.args(arguments).output().unwrap());
    assert_eq!(code, Some(0), "{arguments:?}: {out}{err}");
    out
}

/// One guard, whatever the program is called, and none afterwards.
#[test]
fn a_program_of_any_name_recognises_its_guard() {
    let home = Home::new();
    let text = json!({ "mcpServers": { "a": { "command": "x", "args": ["y"] } } }).to_string();
    for name in ["toolbond2", "toolbond-0.1.0", "tb"] {
        home.write(desktop(), &text);
        let path = program(&home, &format!("bin/{name}"));
        run(&home, &path, &["wrap", "claude-desktop", "a"]);
        let once = home.read(desktop());
        let guarded: Value = serde_json::from_str(&once).unwrap();
        assert_eq!(guarded["mcpServers"]["a"]["command"], path.to_str().unwrap());
        let out = run(&home, &path, &["wrap", "claude-desktop", "a"]);
        assert!(out.contains("a: guarded already"), "{out}");
        assert_eq!(home.read(desktop()), once);
        // The client rewrote its file, so that the copy does not tell.
        home.write(desktop(), &format!("{once}\n"));
        run(&home, &path, &["unwrap", "claude-desktop"]);
        assert_eq!(home.read(desktop()), format!("{text}\n"));
    }
    // Another program knows it from what was kept.
    home.write(desktop(), &text);
    let path = program(&home, "bin/tb");
    run(&home, &path, &["wrap", "claude-desktop", "a"]);
    assert!(home.run(&["wrap", "claude-desktop", "a"]).contains("a: guarded already"));
    home.run(&["unwrap", "claude-desktop", "a"]);
    assert_eq!(home.read(desktop()), text);
}

/// The link in `PATH` stays when a new version comes.
#[test]
fn a_link_in_path_is_what_is_written() {
    let home = Home::new();
    home.write(desktop(), &json!({ "mcpServers": { "a": { "command": "x" } } }).to_string());
    let path = program(&home, "bin/toolbond-0.1.0");
    let link = path.with_file_name("toolbond");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut command = home.command(&link);
    command.env("PATH", link.parent().unwrap()).args(["wrap", "claude-desktop", "a"]);
    assert!(command.output().unwrap().status.success());
    let guarded: Value = serde_json::from_str(&home.read(desktop())).unwrap();
    assert_eq!(guarded["mcpServers"]["a"]["command"], link.to_str().unwrap());
}

/// A guard whose program is gone starts again, with its options.
#[test]
fn a_guard_whose_program_moved_starts_again() {
    let home = Home::new();
    let guard = |program: &str| {
        let args = ["guard", "--results", "enforce", "x"];
        json!({ "mcpServers": { "a": { "command": program, "args": args } } }).to_string()
    };
    home.write(desktop(), &guard("/nowhere/toolbond"));
    let out = home.run(&["wrap", "claude-desktop", "a"]);
    assert!(out.contains("a: guarded again: there is no /nowhere/toolbond any more"), "{out}");
    let program = process::program().canonicalize().unwrap();
    assert_eq!(home.read(desktop()), guard(program.to_str().unwrap()));
}

/// What a user changed between two runs of `unwrap` is not undone by the second.
#[test]
fn unwrapping_one_server_after_another_keeps_what_was_changed() {
    let home = Home::new();
    let config = |path: &str, b: Value| {
        let a = json!({ "command": "x", "args": [path] });
        format!("{:#}\n", json!({ "mcpServers": { "a": a, "b": b, "c": { "command": "z" } } }))
    };
    let guarded = json!({ "command": "toolbond", "args": ["guard", "y", "k"] });
    home.write(desktop(), &config("/home/ada", guarded.clone()));
    home.run(&["wrap", "--yes", "claude-desktop"]);
    home.write(desktop(), &home.read(desktop()).replace("/home/ada", "/srv"));
    home.run(&["unwrap", "claude-desktop", "c"]);
    let out = home.run(&["unwrap", "claude-desktop"]);
    assert_eq!(home.read(desktop()), config("/srv", guarded));
    // The guard that somebody wrote goes by name, and what the file was is kept.
    let before = home.read(desktop());
    assert!(out.contains("a copy with the guards: ~/"), "{out}");
    let out = home.run(&["unwrap", "claude-desktop", "b"]);
    let copy = out.split_once("a copy with the guards: ~/").unwrap().1.lines().next().unwrap();
    assert_eq!(home.read(copy), before);
    assert_eq!(home.read(desktop()), config("/srv", json!({ "command": "y", "args": ["k"] })));
}

/// A guard that was there before `wrap` stays: without a record, its server is not known without it.
#[test]
fn a_guard_written_by_hand_stays() {
    let home = Home::new();
    let text = json!({ "mcpServers": {
        "a": { "command": "npx", "args": ["x"] },
        "mine": { "command": "toolbond", "args": ["guard", "--", "y"] },
    } });
    let text = format!("{text:#}\n");
    home.write(desktop(), &text);
    for names in [&["a"][..], &[]] {
        home.run(&["wrap", "claude-desktop", "a"]);
        home.run(&[&["unwrap", "claude-desktop"], names].concat());
        assert_eq!(home.read(desktop()), text);
    }
}

/// Options that a user gave a guard go only if its server is named, which then is as it was.
#[test]
fn a_guard_with_options_stays_unless_it_is_named() {
    let home = Home::new();
    let (plain, guarded) = (r#"{"command":"x"}"#, r#""args":["guard","-q","--","x"]"#);
    let text = |b: &str| format!(r#"{{"mcpServers":{{"a":{plain},"b":{b}}}}}"#);
    home.write(desktop(), &text(r#"{"command":"y"}"#));
    home.run(&["wrap", "--yes", "claude-desktop"]);
    let wrapped = home.read(desktop()).replace(r#""args":["guard","--","x"]"#, guarded);
    home.write(desktop(), &wrapped);
    // Also if more is wrapped afterwards, and the file is as it was written then.
    home.run(&["unwrap", "claude-desktop", "b"]);
    home.run(&["wrap", "claude-desktop", "b"]);
    home.run(&["unwrap", "claude-desktop"]);
    let left = home.read(desktop());
    assert!(left.contains(guarded) && left.contains(r#""b":{"command":"y"}"#), "{left}");
    home.run(&["unwrap", "claude-desktop", "a"]);
    assert_eq!(home.read(desktop()), text(r#"{"command":"y"}"#));
}

/// The sentence of the README: the official filesystem server works again.
#[test]
fn the_filesystem_server_works_again() {
    let home = Home::new();
    home.write("files/a.txt", "in the file\n");
    let files = home.0.path().join("files").canonicalize().unwrap();
    let server =
        peers::node_modules().join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let config =
        json!({ "mcpServers": { "filesystem": { "command": "node", "args": [server, files] } } });
    let text = format!("{config:#}\n");
    home.write(desktop(), &text);
    let wanted = json!([["read_text_file", { "path": files.join("a.txt") }]]);
    // It is also what `doctor` says.
    let doctor = |code: i32| {
        let arguments = ["doctor", "--yes", "claude-desktop", "filesystem"];
        let (found, out, err) = texts(home.toolbond(&arguments).output().unwrap());
        assert_eq!(found, Some(code), "{out}{err}");
        out
    };
    let results = || {
        let config = serde_json::from_str(&home.read(desktop())).unwrap();
        calls(&config, "filesystem", &wanted)
    };
    let before = results();
    assert!(before[0]["failed"].as_str().unwrap().contains("unsupported dialect"), "{before:?}");
    let checked = doctor(1);
    assert!(checked.contains("the guard would convert the schemas of 14 tools"), "{checked}");
    assert!(checked.contains("→ toolbond wrap claude-desktop filesystem"), "{checked}");
    home.run(&["wrap", "claude-desktop", "filesystem"]);
    let checked = doctor(0);
    assert!(checked.contains("✓ filesystem: 14 tools"), "{checked}");
    assert_eq!(results()[0]["value"]["content"], "in the file\n");
    home.run(&["unwrap", "claude-desktop"]);
    assert_eq!(home.read(desktop()), text);
}

/// Each wraps its own server, and none undoes what another did.
#[test]
fn two_at_once_lose_nothing() {
    let home = Home::new();
    let names: Vec<_> = (0..6).map(|index| format!("s{index}")).collect();
    let servers: Value = names
        .iter()
        .map(|name| (name.clone(), json!({ "command": name })))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let text = json!({ "mcpServers": servers }).to_string();
    home.write(desktop(), &text);
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| home.run(&["wrap", "claude-desktop", name]));
        }
    });
    let guarded: Value = serde_json::from_str(&home.read(desktop())).unwrap();
    for name in &names {
        assert_eq!(guarded["mcpServers"][name]["args"], json!(["guard", "--", name]));
    }
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| home.run(&["unwrap", "claude-desktop", name]));
        }
    });
    assert_eq!(home.read(desktop()), text);
}

/// A server on HTTP that answers is wrapped if it is named, and its header is no word of a command line.
#[test]
fn a_server_on_http_is_wrapped_if_it_answers() {
    let home = Home::new();
    let mut words = peers::words("servers/bare.mjs");
    words.push("--http".to_owned());
    let (_open, open) = Process::listening(command(&words));
    words.push("--locked".to_owned());
    let (_locked, locked) = Process::listening(command(&words));
    let config = json!({ "mcpServers": {
        "open": { "type": "http", "url": mcp::url(open), "headers": { "X-Key": "secret-1" } },
        "locked": { "type": "http", "url": mcp::url(locked) },
    } });
    let text = format!("{config:#}\n");
    home.write(".claude.json", &text);
    let out = home.run(&["wrap", "--yes", "claude-code"]);
    assert!(out.contains("open: left as it is: it is on HTTP"), "{out}");
    assert_eq!(home.read(".claude.json"), text);
    let Output { status, stderr, .. } =
        home.toolbond(&["wrap", "claude-code", "locked"]).output().unwrap();
    let err = String::from_utf8_lossy(&stderr);
    assert!(status.code() == Some(2) && err.contains("the server wants a sign-in (401"), "{err}");
    assert_eq!(home.read(".claude.json"), text);
    home.run(&["wrap", "claude-code", "open"]);
    let guarded: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let server = &guarded["mcpServers"]["open"];
    assert_eq!(server["type"], "stdio");
    assert_eq!(
        server["args"],
        json!(["guard", "--upstream", mcp::url(open), "--header", "X-Key:$TOOLBOND_HEADER_X_KEY"])
    );
    assert_eq!(server["env"], json!({ "TOOLBOND_HEADER_X_KEY": "secret-1" }));
    home.run(&["unwrap", "claude-code"]);
    assert_eq!(home.read(".claude.json"), text);
}

/// `toolbond` on a terminal, where a shell runs `script` before the question is answered.
fn answered(home: &Home, script: &str, answer: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let words = [
        peers::words("readers/terminal.py"),
        ["[y/N]", script, answer].map(str::to_owned).to_vec(),
    ];
    let words = words.concat();
    let mut command = home.command(words[0].as_ref());
    command.args(&words[1..]).arg(process::program()).args(arguments);
    let (code, shown, err) = texts(command.output().unwrap());
    assert_eq!(err, "");
    (code, shown)
}

#[test]
fn all_servers_are_wrapped_after_asking() {
    let home = Home::new();
    let text =
        json!({ "mcpServers": { "a": { "command": "x" }, "b": { "command": "y" } } }).to_string();
    home.write(".cursor/mcp.json", &text);
    let (code, shown) = answered(&home, "", "", &["wrap", "cursor"]);
    assert!(code == Some(0) && shown.contains("~/.cursor/mcp.json: a, b\n"), "{shown}");
    assert!(shown.contains("nothing was written"), "{shown}");
    assert_eq!(home.read(".cursor/mcp.json"), text);
    let (code, shown) = answered(&home, "", "YES", &["wrap", "cursor"]);
    assert!(code == Some(0) && shown.contains("a: guarded now"), "{shown}");
    assert_ne!(home.read(".cursor/mcp.json"), text);
}

/// What would be started is shown before, without secrets.
#[test]
fn doctor_says_what_it_would_start() {
    let home = Home::new();
    let config = json!({ "mcpServers": {
        "a": { "command": "x y", "args": ["--token", "sk-12345", "\u{1b}[2J"] },
        "b": { "url": "https://ada:sk-12345@b.example/mcp" },
        "off": { "command": "z", "disabled": true },
    } });
    home.write(".cursor/mcp.json", &config.to_string());
    let (code, shown) = answered(&home, "", "", &["doctor", "cursor"]);
    assert_eq!(code, Some(0));
    let expected = r"~/.cursor/mcp.json
  a: 'x y' --token [secret] '\u{1b}[2J'
  b: on HTTP at b.example
Start";
    assert!(shown.replace('\r', "").contains(expected), "{shown}");
}

/// A client may write its configuration at any time.
#[test]
fn a_file_that_is_changed_meanwhile_stays() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }");
    let (code, shown) = answered(&home, "echo ' ' >> .cursor/mcp.json", "y", &["wrap", "cursor"]);
    assert_eq!(code, Some(2), "{shown}");
    let expected = "~/.cursor/mcp.json: the file was changed meanwhile; nothing was written";
    assert!(shown.contains(expected), "{shown}");
    assert_eq!(
        home.read(".cursor/mcp.json"),
        "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } } \n"
    );
}

/// What the file was is known only as long as it is as it was written.
#[test]
fn a_file_that_its_client_rewrites_keeps_what_the_client_wrote() {
    let home = Home::new();
    let config = json!({ "numStartups": 1, "mcpServers": { "a": { "command": "x" } } });
    home.write(".claude.json", &config.to_string());
    home.run(&["wrap", "--yes", "claude-code"]);
    let mut written: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    written["numStartups"] = json!(2);
    home.write(".claude.json", &format!("{written:#}"));
    // A second server comes, and is wrapped too.
    written["mcpServers"]["b"] = json!({ "command": "y", "args": [] });
    home.write(".claude.json", &format!("{written:#}"));
    home.run(&["wrap", "--yes", "claude-code"]);
    home.run(&["unwrap", "claude-code"]);
    let expected = json!({
        "numStartups": 2, "mcpServers": { "a": { "command": "x" }, "b": { "command": "y", "args": [] } }
    });
    assert_eq!(home.read(".claude.json"), format!("{expected:#}"));
}
