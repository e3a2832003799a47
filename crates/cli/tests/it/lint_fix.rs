//! `toolbond lint --fix`: what it changes, and what stays byte for byte.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use toolbond_harness::{corpus, files::Folder, skip};

use crate::command::{texts, toolbond, toolbond_with};

const WRITTEN: &str = "{\r\n\t\"tools\" : [ {\"name\":\"a\",   \"description\":\"\u{e4} 1e2 1.50\", \"x\": 1E5,\r\n\t\t\"inputSchema\" : {\r\n\t\t\t\"properties\": {},\r\n\t\t\t\"required\": null\r\n\t\t}} ]\r\n}\r\n\r\n";
const FIXED: &str = "{\r\n\t\"tools\" : [ {\"name\":\"a\",   \"description\":\"\u{e4} 1e2 1.50\", \"x\": 1E5,\r\n\t\t\"inputSchema\" : {\r\n\t\t\t\"properties\": {},\r\n\t\t\t\"type\": \"object\"\r\n\t\t}} ]\r\n}\r\n\r\n";

fn fix(path: &str) -> (Option<i32>, String, String) {
    let arguments = ["lint", "--fix", "--target", "none", "--format", "concise", path];
    texts(toolbond(&arguments).output().unwrap())
}

#[test]
fn fixes_a_file_and_keeps_the_rest() {
    let folder = Folder::new();
    for mark in ["", "\u{feff}"] {
        let path = folder.write("tools.json", format!("{mark}{WRITTEN}"));
        let (code, out, err) = fix(&path);
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
        assert!(err.starts_with("fixed: ") && err.contains("tools.json: a: "), "{err}");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{mark}{FIXED}"));
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(fix(&path), (Some(0), String::new(), String::new()), "the second time");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    }
}

#[test]
fn fixes_lines_of_json_lines() {
    let folder = Folder::new();
    let good = r#"{ "name": "a", "description": "A.", "inputSchema": { "type": "object" } }"#;
    let bad = r#"{ "name": "b", "description": "B.", "inputSchema": { "properties": {} } }"#;
    let path = folder.write("tools.jsonl", format!("{good}\r\n\n{bad}\n{good}"));
    assert_eq!(fix(&path).0, Some(0));
    let fixed = bad.replace("{} }", "{}, \"type\": \"object\" }");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{good}\r\n\n{fixed}\n{good}"));
}

#[test]
fn writes_a_fixed_list_to_standard_output() {
    let arguments = ["lint", "--fix", "--target", "none", "--format", "concise", "-"];
    let (code, out, err) = texts(toolbond_with(&arguments, WRITTEN));
    assert_eq!((code, out.as_str()), (Some(0), FIXED));
    assert!(err.starts_with("fixed: stdin: a: "), "{err}");
}

#[test]
fn leaves_what_is_fine_or_no_json() {
    let folder = Folder::new();
    let fine =
        r#"[{"name":"a","description":"A.","inputSchema":{"type":"object","properties":{}}}]"#;
    let yaml = "name: a\ndescription: A.\ninputSchema: { properties: {} }\n";
    for (name, written) in [("fine.json", fine), ("tool.yaml", yaml)] {
        let path = folder.write(name, written);
        fix(&path);
        assert_eq!(fs::read_to_string(&path).unwrap(), written);
    }
}

/// Published lists change in few lines, and a second time in none.
#[test]
fn fixing_published_lists_is_idempotent() {
    let corpus = corpus::folder();
    let Ok(files) = fs::read_dir(&corpus) else {
        return skip(&format!("no published tool lists at {}", corpus.display()));
    };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort_unstable();
    let mut command = toolbond(&["lint", "--target", "none", "--format", "json"]);
    let (_, found, _) = texts(command.args(files.iter().step_by(2)).output().unwrap());
    let folder = Folder::new();
    let mut lists = Vec::new();
    for line in found.lines() {
        let list: Value = serde_json::from_str(line).unwrap();
        let findings = list["findings"].as_array().unwrap();
        let safe = findings.iter().filter(|finding| finding["fix"]["safe"] == true).count();
        if safe > 0 {
            let written = fs::read_to_string(list["list"].as_str().unwrap()).unwrap();
            lists.push((folder.write(&format!("{}.json", lists.len()), &written), written, safe));
        }
    }
    assert!(lists.len() > 2, "{}", lists.len());
    let fix = || {
        let mut command = toolbond(&["lint", "--fix", "--target", "none", "--format", "concise"]);
        texts(command.args(lists.iter().map(|(path, ..)| path)).output().unwrap()).2
    };
    let read = || -> Vec<String> {
        lists.iter().map(|(path, ..)| fs::read_to_string(path).unwrap()).collect()
    };
    let said = fix();
    let fixed = read();
    assert!(said.lines().all(|line| line.starts_with("fixed: ")), "{said}");
    for ((path, written, fixes), fixed) in lists.iter().zip(&fixed) {
        let told = said.lines().filter(|line| line.contains(path)).count();
        let lines: BTreeSet<_> = written.lines().collect();
        let changed = fixed.lines().filter(|line| !lines.contains(line)).count();
        assert!(told >= *fixes && changed > 0 && changed <= 20 * fixes, "{changed} lines: {said}");
    }
    assert_eq!(fix(), "");
    assert_eq!(read(), fixed);
}
