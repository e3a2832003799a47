//! `toolbond lint` with what is meant to do harm: many tools, hostile names, large baselines.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;

use crate::command::{texts, toolbond};

/// What a name or a text would do if it were not escaped: to a terminal, to a log of GitHub, to Markdown and XML.
const HOSTILE: &str =
    "\u{1b}[31mx\r\n::error file=a::b\n##[error]c %0A | <b>`*_[a](b)@all]]>\u{202e}\u{9b}1m";

const FORMATS: [&str; 8] =
    ["full", "github", "markdown", "concise", "json", "sarif", "gitlab", "junit"];

/// Formats for people, whose size does not grow with what is found.
const SHORT: [&str; 2] = ["full", "markdown"];

fn lint(arguments: &[&str], format: &str, folder: &Folder) -> (Option<i32>, String, String) {
    let mut command = toolbond(&["lint", "--format", format]);
    texts(command.args(arguments).current_dir(folder.path()).output().unwrap())
}

/// No control character is left, and each line is one of ours.
fn check(format: &str, out: &str, err: &str) {
    for text in [out, err] {
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad), "{format}: {:?}", text.chars().find(|c| bad(*c)));
        let starts = |line: &&str| line.starts_with("::") || line.starts_with("##[");
        let commands: Vec<_> = text.lines().filter(starts).collect();
        if format == "github" {
            for line in commands {
                let ours = ["::error title=", "::warning title=", "::notice title="];
                assert!(ours.iter().any(|start| line.starts_with(start)), "{line}");
                // The properties end at the first `::`, which a name cannot write.
                let rest = line.trim_start_matches(':').split_once("::").unwrap();
                assert!(!rest.0.contains("file=a::"), "{line}");
            }
        } else {
            assert_eq!(commands, Vec::<&str>::new(), "{format}");
        }
    }
}

#[test]
fn ten_thousand_hostile_tools_are_told_in_few_lines() {
    let tool = |number: usize| {
        json!({
            "name": format!("{HOSTILE}{number}"),
            "title": HOSTILE,
            "description": HOSTILE,
            "inputSchema": {
                "type": "object",
                "properties": { HOSTILE: { "type": "array", "description": HOSTILE, "default": HOSTILE } },
                "required": [HOSTILE, "missing"],
            }
        })
    };
    let folder = Folder::new();
    let mut written = 0;
    for format in FORMATS {
        // Some seconds without optimization: once is enough, and the others write what they find one by one.
        let count = if format == "full" { 10_000 } else { 200 };
        if count != written {
            let tools: Vec<_> = (0..count).map(tool).collect();
            folder.write("tools.json", json!({ "tools": tools }).to_string());
            written = count;
        }
        let (code, out, err) = lint(&["tools.json"], format, &folder);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{format}");
        check(format, &out, &err);
        let lines = out.lines().count();
        assert!(!SHORT.contains(&format) || lines < 300, "{format}: {lines} lines");
    }
    // The last and short list is enough for these.
    for option in ["--statistics", "--quiet"] {
        let output = toolbond(&["lint", option, "tools.json"]).current_dir(folder.path()).output();
        let (code, out, err) = texts(output.unwrap());
        assert_eq!((code, err.as_str()), (Some(1), ""), "{option}");
        check("full", &out, "");
        assert!(out.lines().count() < 200, "{option}");
    }
}

#[test]
fn a_baseline_of_a_hundred_thousand_entries_is_told_in_few_lines() {
    let folder = Folder::new();
    let good = json!({ "name": "a", "description": "A.", "inputSchema": { "type": "object", "properties": {} } });
    folder.write("tools.json", good.to_string());
    let mut entries = String::new();
    for number in 0..100_000 {
        let entry = json!({ "fingerprint": format!("{number:012x}"), "rule": "a", "tool": HOSTILE, "place": "#" });
        let comma = if number == 0 { "" } else { "," };
        write!(entries, "{comma}{entry}").unwrap();
    }
    let text = format!("{{\"version\":1,\"findings\":[{entries}]}}");
    // Within the limit on files.
    assert!(text.len() < 16 << 20, "{}", text.len());
    folder.write("known.json", text);
    for format in FORMATS {
        let (code, out, err) = lint(&["--baseline", "known.json", "tools.json"], format, &folder);
        assert_eq!(code, Some(1), "{format}: {err}");
        if format != "json" && format != "junit" {
            check(format, &out, &err);
            let lines = out.lines().count() + err.lines().count();
            assert!(lines < 60, "{format}: {lines} lines");
            let said = format!("{out}{err}");
            assert!(said.contains("99980 more entries no longer occur"), "{format}: {said}");
            assert!(said.replace('\\', "").contains("--write-baseline updates it"), "{said}");
        }
    }
    let (code, _, err) =
        lint(&["--baseline", "known.json", "--write-baseline", "tools.json"], "concise", &folder);
    assert_eq!(code, Some(0), "{err}");
    let after = std::fs::read_to_string(folder.join("known.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&after).unwrap()["findings"], json!([]));
}
