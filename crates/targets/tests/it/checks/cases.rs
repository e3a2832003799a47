//! The cases of `tests/cases/checks.json`.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::trials::check_all;
use toolbond_targets::{LintFinding, LintOptions, compare_order, fix_tools, lint_tools};

/// A case names a `rule` and has a `tool`, a `list`, an `input` schema, an `output` schema, or two `lists`. It says at
/// which places the rule `finds` something, and may say what its `message` is and what its fixes make of it (`fixed`).
///
/// `{"repeat": text, "times": n}` stands for a long text, and `{"many": tool, "times": n}` for many tools.
pub(crate) struct Case(pub(crate) Value);

/// All cases.
pub(crate) fn read() -> Vec<Case> {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../cases/checks.json")).expect("cases are JSON");
    cases.iter().map(|case| Case(expand(case))).collect()
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("checks/cases", || {
        let named = |case: Case| (format!("{}/{}", case.rule(), case.name()), case);
        check_all(read().into_iter().map(named), run)
    })]
}

impl Case {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().expect("a case has a name")
    }

    pub(crate) fn rule(&self) -> &str {
        self.0["rule"].as_str().expect("a case names a rule")
    }

    /// The document to check, unless the case is about two.
    pub(crate) fn document(&self) -> Option<Value> {
        let whole = self.0.get("tool").or_else(|| self.0.get("list")).cloned();
        whole.or_else(|| {
            let side = if self.0.get("input").is_some() { "input" } else { "output" };
            Some(with_schema(side, self.0.get(side)?))
        })
    }

    /// What the fixes make of the document.
    fn fixed(&self) -> Option<Value> {
        let fixed = self.0.get("fixed")?;
        let side = ["input", "output"].into_iter().find(|side| self.0.get(side).is_some());
        Some(side.map_or_else(|| fixed.clone(), |side| with_schema(side, fixed)))
    }
}

/// A tool with `schema` as its input or output schema.
fn with_schema(side: &str, schema: &Value) -> Value {
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    tool[format!("{side}Schema")] = schema.clone();
    tool
}

fn run(case: &Case) -> Result<(), Failed> {
    let options = LintOptions::default().select(case.rule())?;
    let findings: Vec<LintFinding> = match (case.document(), &case.0["lists"]) {
        (Some(document), _) => lint_tools(document, &options).findings,
        (None, lists) => compare_order(&lists[0], &lists[1]).into_iter().collect(),
    };
    let found: Vec<_> = findings.iter().filter(|one| one.finding.rule == case.rule()).collect();
    let places: Value = found.iter().map(|one| json!(one.finding.pointer)).collect();
    assert_eq!(places, case.0["finds"], "{findings:#?}");
    let first = found.first().map(|one| &one.finding);
    if let Some(message) = case.0.get("message") {
        assert_eq!(message.as_str(), first.map(|first| first.message.as_str()));
    }
    if let (Some(severity), Some(first)) = (case.0.get("severity"), first) {
        assert_eq!(*severity, json!(first.severity));
    }
    if let (Some(mut document), Some(fixed)) = (case.document(), case.fixed()) {
        fix_tools(&mut document, &options);
        if document != fixed {
            return Err(format!("expected {fixed}, found {document}").into());
        }
    }
    Ok(())
}

fn expand(value: &Value) -> Value {
    let times =
        || value["times"].as_u64().and_then(|times| usize::try_from(times).ok()).unwrap_or(0);
    match value {
        Value::Object(map) if map.contains_key("repeat") => {
            value["repeat"].as_str().unwrap_or_default().repeat(times()).into()
        }
        Value::Object(map) if map.contains_key("many") => {
            let tool = expand(&value["many"]);
            let named = |index: usize| {
                let mut tool = tool.clone();
                tool["name"] = format!("t{index}").into();
                tool
            };
            (0..times()).map(named).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), expand(value))).collect()
        }
        Value::Array(items) => items.iter().map(expand).collect(),
        value => value.clone(),
    }
}
