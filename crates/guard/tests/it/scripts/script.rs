//! Scripts as their files say them.

use std::fs;
use std::path::Path;

use toolbond_contract::Policy;
use toolbond_guard::Settings;

/// The ways that a script is played.
pub(super) const WAYS: [&str; 7] =
    ["stdio", "http", "process", "legacy-client", "modern-client", "envoy", "upstream"];

/// The revision of a script that names none.
const REVISION: &str = "2025-11-25";

/// A script, read.
pub(super) struct Script {
    pub(super) name: String,
    pub(super) settings: Settings,
    /// The same settings as lines of a configuration file.
    pub(super) terms: Vec<String>,
    pub(super) revision: String,
    /// The ways that it is not played.
    not: Vec<String>,
    /// The word of a line and the rest of it.
    pub(super) steps: Vec<(String, String)>,
}

/// All scripts, by name.
pub(super) fn scripts() -> Vec<Script> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect();
    assert!(files.len() > 5);
    files.sort_unstable();
    files.iter().map(|path| Script::read(path)).collect()
}

impl Script {
    /// Whether it is played this way.
    pub(super) fn is_for(&self, way: &str) -> bool {
        assert!(WAYS.contains(&way));
        !self.not.iter().any(|not| not == way)
    }

    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut script = Self {
            name,
            settings: Settings::default(),
            terms: Vec::new(),
            revision: REVISION.to_owned(),
            not: Vec::new(),
            steps: Vec::new(),
        };
        for line in fs::read_to_string(path).unwrap().lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "" | "#" => {}
                "set" => script.set(rest),
                "not" => {
                    let (way, reason) = rest.split_once(": ").unwrap_or_default();
                    assert!(WAYS.contains(&way) && !reason.is_empty(), "{}: {line}", script.name);
                    script.not.push(way.to_owned());
                }
                _ => script.steps.push((word.to_owned(), rest.to_owned())),
            }
        }
        script
    }

    fn set(&mut self, text: &str) {
        let (key, value) = text.split_once(' ').unwrap();
        let name = &self.name;
        let mode = || value.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        match (key, value) {
            ("results", _) => self.settings.results = mode(),
            ("arguments", _) => self.settings.arguments = mode(),
            ("tools", "filter") => self.settings.tools = Some(Policy::Filter),
            ("tools", "reject") => self.settings.tools = Some(Policy::Reject),
            ("for", _) => self.settings.view_for = value.parse().unwrap(),
            ("revision", _) => return value.clone_into(&mut self.revision),
            other => panic!("{name}: no setting {other:?}"),
        }
        self.terms.push(format!("{key} = \"{value}\""));
    }
}
