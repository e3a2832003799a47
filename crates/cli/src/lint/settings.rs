//! Options of `toolbond lint`, from the command line and from `toolbond.toml`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use toolbond_contract::{JudgeOptions, Policy};
use toolbond_guard::config::{FILE, FailOn, LintConfig};
use toolbond_targets::{LintOptions, Target, default_targets, target, targets};

/// Options that may also be in the file.
#[derive(Debug, clap::Args)]
pub(crate) struct SettingsArgs {
    /// Check against these targets: names that `toolbond targets` lists, `all` or `none`; may be repeated
    /// or separated by commas [default: the most used ones]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Report only this rule; may be repeated. Errors of the protocol are always reported
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,

    /// Do not report this rule; may be repeated. Errors of the protocol cannot be ignored
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,

    /// The least severity that fails the check, with exit code 1 [default: warning]
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,

    /// Known findings, which do not fail the check. Entries of the file that no longer occur do
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// The file with a `[lint]` section [default: `toolbond.toml` in the working directory, if there is
    /// one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// What to do with a tool that clients cannot use, as `toolbond guard --tools` does: `repair` repairs
    /// it if that does not change its meaning, `filter` drops it, `reject` refuses the list
    #[arg(long, default_value_t = Policy::Repair, value_name = "POLICY")]
    policy: Policy,

    /// Report a wrong `x-mcp-header` annotation as a warning only: clients that do not use HTTP may
    /// ignore it
    #[arg(long)]
    ignore_headers: bool,

    /// The name of the server in the settings of hosts, which some write before the names of its tools
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

/// What is checked, and what fails the check.
pub(crate) struct Settings {
    pub(crate) options: LintOptions,
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) fail_on: FailOn,
    pub(crate) baseline: Option<PathBuf>,
}

impl SettingsArgs {
    /// Joins the command line with the file. The command line comes first.
    pub(crate) fn settings(self) -> anyhow::Result<Settings> {
        let file = match &self.config {
            Some(path) => LintConfig::read(path)?,
            None if Path::new(FILE).is_file() => LintConfig::read(Path::new(FILE))?,
            None => LintConfig::default(),
        };
        let targets = match (&self.target[..], &file.targets) {
            ([], None) => default_targets().to_vec(),
            ([], Some(names)) => find_targets(names).context("`targets` in `[lint]`")?,
            (names, _) => find_targets(names).context("--target")?,
        };
        let judge = JudgeOptions::default().policy(self.policy).ignore_headers(self.ignore_headers);
        let mut options = LintOptions::default().targets(targets.iter().copied()).judge(judge);
        let (select, place) = or_file(&self.select, &file.select, "select");
        for rule in select {
            options = options.select(rule).context(place.clone())?;
        }
        let (ignore, place) = or_file(&self.ignore, &file.ignore, "ignore");
        for rule in ignore {
            options = options.ignore(rule).context(place.clone())?;
        }
        if let Some(server) = self.server {
            options = options.server(server);
        }
        Ok(Settings {
            options,
            targets,
            fail_on: self.fail_on.or(file.fail_on).unwrap_or_default(),
            baseline: self.baseline.or(file.baseline),
        })
    }
}

/// The names on the command line, or else those of the file, and what to call them in an error.
fn or_file<'a>(given: &'a [String], file: &'a [String], name: &str) -> (&'a [String], String) {
    if given.is_empty() {
        (file, format!("`{name}` in `[lint]`"))
    } else {
        (given, format!("--{name}"))
    }
}

fn find_targets(names: &[String]) -> anyhow::Result<Vec<&'static Target>> {
    let mut found: Vec<&'static Target> = Vec::new();
    for name in names {
        match name.as_str() {
            "none" if names.len() == 1 => {}
            "none" => bail!("`none` stands alone"),
            "all" => found.extend(targets()),
            name => found.push(target(name)?),
        }
    }
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert(one.name));
    Ok(found)
}
