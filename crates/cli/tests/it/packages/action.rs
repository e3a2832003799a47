//! The GitHub Action: its steps, run as GitHub runs them; and what a checker says of it and of the workflows.

use std::fs;
use std::process::Command;

use serde_json::Value;
use toolbond_harness::files::root;
use toolbond_harness::http::HttpServer;
use toolbond_harness::peers;

use super::fresh::Fresh;
use super::{VERSION, npm_packages, registry};
use crate::command::texts;

/// A runner of GitHub, as far as the steps of an action see it.
struct Runner {
    fresh: Fresh,
    registry: HttpServer,
    action: Value,
}

impl Runner {
    fn new() -> Self {
        let fresh = Fresh::new();
        let registry = registry::serve(&npm_packages(&fresh.folder));
        let text = fs::read_to_string(root().join("action.yml")).unwrap();
        let action = serde_saphyr::from_str(&text).unwrap();
        Self { fresh, registry, action }
    }

    /// Runs all steps with these inputs: the exit code of the last one, what all print, and the outcome.
    fn run(&self, inputs: &[(&str, &str)]) -> (i32, String, String) {
        let (mut code, mut log) = (0, String::new());
        for name in ["added_output", "added_path"] {
            self.fresh.folder.write(name, "");
        }
        for step in self.action["runs"]["steps"].as_array().unwrap() {
            let (its, said) = self.step(step, inputs);
            (code, log) = (its, log + &said);
            if code != 0 {
                break;
            }
        }
        let output = fs::read_to_string(self.fresh.folder.join("added_output")).unwrap();
        let outcome = output.trim().strip_prefix("outcome=").unwrap_or("failed");
        (code, log, outcome.to_owned())
    }

    fn step(&self, step: &Value, inputs: &[(&str, &str)]) -> (i32, String) {
        assert_eq!(step["shell"], "bash");
        let script = self.fresh.folder.write("script.sh", step["run"].as_str().unwrap());
        let shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", &script];
        let mut command = self.fresh.command(&shell);
        let added = fs::read_to_string(self.fresh.folder.join("added_path")).unwrap();
        let old = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap();
        let path = format!("{}:{}", added.trim().replace('\n', ":"), old.to_str().unwrap());
        command.env("PATH", path.trim_start_matches(':'));
        command.env("RUNNER_TEMP", self.fresh.folder.join("temp"));
        command.env("GITHUB_OUTPUT", self.fresh.folder.join("added_output"));
        command.env("GITHUB_PATH", self.fresh.folder.join("added_path"));
        command.env("npm_config_registry", format!("http://127.0.0.1:{}/", self.registry.port));
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, self.evaluate(value.as_str().unwrap(), inputs));
        }
        if let Some(folder) = step["working-directory"].as_str() {
            command.current_dir(self.fresh.folder.path().join(self.evaluate(folder, inputs)));
        }
        let (code, printed, said) = texts(command.output().unwrap());
        (code.unwrap(), printed + &said)
    }

    /// The expressions that the action uses.
    fn evaluate(&self, expression: &str, inputs: &[(&str, &str)]) -> String {
        let name = expression.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
        match name.unwrap_or_else(|| panic!("{expression}")) {
            "github.action_path" => root().canonicalize().unwrap().to_str().unwrap().to_owned(),
            name => {
                let name = name.strip_prefix("inputs.").unwrap_or_else(|| panic!("{expression}"));
                let given = inputs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
                let default = || self.action["inputs"][name]["default"].as_str();
                given.or_else(default).unwrap_or_else(|| panic!("no input {name}")).to_owned()
            }
        }
    }
}

#[test]
fn the_action_tells_findings_from_failures() {
    let runner = Runner::new();
    let folder = &runner.fresh.folder;
    fs::create_dir(folder.path().join("my tools")).unwrap();
    let fine = r#"[{ "name": "now", "description": "Says the time.", "inputSchema": { "type": "object", "properties": {} } }]"#;
    folder.write("my tools/a b.json", fine);
    folder.write("my tools/bad.json", fine.replace("\"object\"", "\"array\""));
    folder.write("my tools/broken.json", "[{");
    let run = |arguments: &str| {
        runner.run(&[("arguments", arguments), ("working-directory", "my tools")])
    };

    let (code, log, outcome) = run("a b.json\n--target\nnone\n");
    assert_eq!((code, outcome.as_str()), (0, "clean"), "{log}");

    let (code, log, outcome) = run("bad.json\n");
    assert_eq!((code, outcome.as_str()), (1, "findings"), "{log}");
    assert!(log.contains("::error title=") && log.contains("file=bad.json,line=1"), "{log}");
    assert!(!log.contains("did not check"), "{log}");

    for arguments in ["broken.json", "none.json", "--no-such-option", "--\nfalse"] {
        let (code, log, outcome) = run(arguments);
        assert_eq!((code, outcome.as_str()), (2, "failed"), "{log}");
        let annotations: Vec<_> = log.lines().filter(|line| line.starts_with("::")).collect();
        let [annotation] = annotations[..] else { panic!("{log}") };
        assert!(annotation.starts_with("::error title=toolbond did not check::"), "{log}");
    }

    // A live server, and a package that cannot be had.
    let (code, log, outcome) = run("--target\nnone\n--\ntoolbond\ndemo\n--stdio");
    assert_eq!((code, outcome.as_str()), (0, "clean"), "{log}");
    let (code, log, outcome) = runner.run(&[("arguments", "a"), ("version", "0.0.0-none")]);
    assert_eq!((code, outcome.as_str()), (2, "failed"), "{log}");
    assert!(log.contains("::error title=toolbond did not check::the npm package"), "{log}");
    let asked = runner.registry.take();
    assert!(asked.iter().any(|request| request.path() == "/toolbond"), "{VERSION}: {asked:?}");
}

/// `check-jsonschema` has the schemas of GitHub.
#[test]
fn the_action_and_the_workflows_are_valid() {
    let tools = peers::installed("python/packages");
    let root = root().canonicalize().unwrap();
    let workflows = root.join(".github/workflows").read_dir().unwrap();
    let workflows = workflows.map(|entry| entry.unwrap().path());
    for (schema, files) in [
        ("vendor.github-actions", vec![root.join("action.yml")]),
        ("vendor.github-workflows", workflows.collect()),
    ] {
        let mut check = Command::new("python3");
        check.args(["-m", "check_jsonschema", "--builtin-schema", schema]).args(files);
        let (code, printed, said) = texts(check.env("PYTHONPATH", &tools).output().unwrap());
        assert_eq!(code, Some(0), "{printed}{said}");
    }
}
