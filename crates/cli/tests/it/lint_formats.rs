//! The formats of `toolbond lint`, as the programs read them that they are for.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::peers;
use toolbond_harness::process::{program, run};
use toolbond_schema::Schema;

use crate::command::{texts, toolbond};

const FILES: [&str; 3] = ["lint/shop.tools.json", "tools.json", "lint/folder"];

/// What `toolbond lint` writes about several lists.
fn lint(format: &str) -> String {
    let mut command = toolbond(&["lint", "--target", "all", "--format", format]);
    let (code, out, err) = texts(command.args(FILES).output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    out
}

/// All findings with the name of their list.
fn findings() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for line in lint("json").lines() {
        let list: Value = serde_json::from_str(line).unwrap();
        for finding in list["findings"].as_array().unwrap() {
            all.push((list["list"].as_str().unwrap().to_owned(), finding.clone()));
        }
    }
    assert!(all.len() > 10);
    all
}

fn output_of(command: Command, input: &str) -> String {
    let (code, out, err) = texts(run(command, input));
    assert_eq!(code, Some(0), "{err}");
    out
}

/// The schema of OASIS, which the crate `serde-sarif` contains.
fn sarif_schema() -> Value {
    let rustc = texts(Command::new("rustc").arg("-vV").output().unwrap()).1;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // Without the platform, `cargo` asks for packages that were never downloaded.
    let arguments = ["metadata", "--format-version", "1", "--offline", "--filter-platform", host];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments);
    let metadata: Value = serde_json::from_str(&output_of(cargo, "")).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let schema = std::fs::read(manifest.with_file_name("src").join("schema.json")).unwrap();
    let mut schema: Value = serde_json::from_slice(&schema).unwrap();
    // Not a regular expression by ECMA-262 with the flag `u`, as JSON Schema recommends: a lone `]`.
    for part in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][part]["properties"]["language"];
        assert_eq!(language["pattern"], "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        language.as_object_mut().unwrap().remove("pattern");
    }
    schema
}

#[test]
fn sarif_is_valid_by_its_schema() {
    let schema = Schema::compile(&sarif_schema()).unwrap();
    let log: Value = serde_json::from_str(&lint("sarif")).unwrap();
    assert!(schema.is_valid(&log), "{:?}", schema.validate(&log));
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["level"] = json!("fatal");
    assert!(!schema.is_valid(&wrong));

    let _: serde_sarif::sarif::Sarif = serde_json::from_value(log.clone()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let findings = findings();
    assert_eq!(results.len(), findings.len());
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for (result, (_, finding)) in results.iter().zip(&findings) {
        assert_eq!(result["ruleId"], finding["rule"]);
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], finding["rule"]);
        assert_eq!(result["partialFingerprints"]["toolbond/v1"], finding["fingerprint"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], finding["line"]);
    }
}

/// A live server has no file.
#[test]
fn sarif_of_a_live_server_is_valid_by_its_schema() {
    let schema = Schema::compile(&sarif_schema()).unwrap();
    let program = program();
    let server = [program.to_str().unwrap(), "demo", "--stdio"];
    let mut lint = toolbond(&["lint", "--format", "sarif", "--target", "gemini", "--"]);
    let log: Value = serde_json::from_slice(&lint.args(server).output().unwrap().stdout).unwrap();
    assert!(schema.is_valid(&log), "{:?}", schema.validate(&log));
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert!(result["locations"][0].get("physicalLocation").is_none());
        let name = &result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
        assert!(name.as_str().unwrap().starts_with("toolbond-demo/"), "{name}");
    }
}

/// A fix in SARIF changes the text to what `--fix` writes.
#[test]
fn fixes_in_sarif_change_what_they_say() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/lint/shop.tools.json");
    let written = std::fs::read_to_string(file).unwrap();
    let log: Value = serde_json::from_str(&lint("sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let fixes: Vec<_> = results
        .iter()
        .filter_map(|result| result["fixes"][0]["artifactChanges"][0].as_object())
        .filter(|change| change["artifactLocation"]["uri"] == "lint/shop.tools.json")
        .map(|change| change["replacements"][0].clone())
        .collect();
    assert!(!fixes.is_empty());
    for fix in fixes {
        let offset = |line: &str, column: &str| {
            let number = |name: &str| {
                usize::try_from(fix["deletedRegion"][name].as_u64().unwrap()).unwrap() - 1
            };
            let before: usize =
                written.split_inclusive('\n').take(number(line)).map(str::len).sum();
            before + number(column)
        };
        let (start, end) = (offset("startLine", "startColumn"), offset("endLine", "endColumn"));
        let inserted = fix["insertedContent"]["text"].as_str().unwrap();
        let after = format!("{}{inserted}{}", &written[..start], &written[end..]);
        let _: Value = serde_json::from_str(&after).unwrap();
    }
}

#[test]
fn junit_is_read_by_junitparser() {
    let reader = peers::command("readers/junit.py");
    let suites: Value = serde_json::from_str(&output_of(reader, &lint("junit"))).unwrap();
    let mut failing: BTreeMap<&str, usize> = BTreeMap::new();
    let findings = findings();
    for (list, _) in findings.iter().filter(|(_, finding)| finding["severity"] != "info") {
        *failing.entry(list).or_default() += 1;
    }
    let suites = suites.as_array().unwrap();
    for suite in suites {
        let cases = suite["cases"].as_array().unwrap();
        assert_eq!(suite["tests"], cases.len());
        let failed = |case: &&Value| !case["failures"].as_array().unwrap().is_empty();
        assert_eq!(suite["failures"], cases.iter().filter(failed).count());
        let failures: usize =
            cases.iter().map(|case| case["failures"].as_array().unwrap().len()).sum();
        let name = suite["name"].as_str().unwrap();
        assert_eq!(failures, failing.get(name).copied().unwrap_or_default(), "{name}");
    }
    let names: Vec<_> =
        suites[0]["cases"].as_array().unwrap().iter().map(|case| &case["name"]).collect();
    // An attribute has no line breaks, and XML no control characters.
    assert_eq!(names[2], "50%, a:b <c> & \"d\" | e\\u{a}f\\u{1}\\u{202e}");
    assert_eq!(names.len(), 4);
}

/// The commands are those that `@actions/core` writes for the same annotations.
#[test]
fn annotations_are_those_of_actions_core() {
    let written = lint("github");
    let annotations: Vec<_> = written.lines().map(annotation).collect();
    let findings = findings();
    let shown = findings.iter().filter(|(_, finding)| finding["severity"] != "info");
    assert_eq!(annotations.len(), shown.count());
    let node = peers::command("readers/annotations.mjs");
    let theirs = output_of(node, &json!(annotations).to_string());
    assert_eq!(written, theirs);
}

/// Reads a workflow command: `::NAME KEY=VALUE,…::MESSAGE`, with `%25`, `%0D`, `%0A`, and in values `%3A` and `%2C`.
fn annotation(line: &str) -> Value {
    let decode = |text: &str| {
        let text = text.replace("%0D", "\r").replace("%0A", "\n");
        text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    };
    let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
    let (command, properties) = head.split_once(' ').unwrap();
    let mut read = json!({});
    for property in properties.split(',') {
        let (name, value) = property.split_once('=').unwrap();
        let (name, value) = match name {
            "line" => ("startLine", json!(value.parse::<u64>().unwrap())),
            "col" => ("startColumn", json!(value.parse::<u64>().unwrap())),
            name => (name, json!(decode(value))),
        };
        read[name] = value;
    }
    json!({ "command": command, "message": decode(message), "properties": read })
}

/// The form that GitLab documents: a description, a name, a unique fingerprint, a severity and a place.
#[test]
fn the_code_quality_report_has_the_form_of_gitlab() {
    let report: Value = serde_json::from_str(&lint("gitlab")).unwrap();
    let report = report.as_array().unwrap();
    assert_eq!(report.len(), findings().len());
    let mut fingerprints = std::collections::BTreeSet::new();
    for issue in report {
        let word = |name: &str| issue[name].as_str().filter(|text| !text.is_empty()).unwrap();
        word("description");
        word("check_name");
        assert!(fingerprints.insert(word("fingerprint")), "{issue}");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&word("severity")));
        assert!(issue["location"]["path"].is_string());
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
    }
}

/// No line of the report for people is wider than 100 columns before its messages.
#[test]
fn the_matrix_fits_100_columns() {
    let written = lint("full");
    let head = written.split("\n\n").next().unwrap();
    assert!(head.lines().all(|line| line.chars().count() <= 100), "{head}");
}
