//! What `toolbond lint` says about published tool lists: how many fail, and findings drawn at random to be judged.
#![expect(clippy::print_stdout, reason = "what it found is its output")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::command::{cargo, command, run as run_command};
use crate::workspace;

/// Count the published tool lists that `toolbond lint` fails, and draw findings to be judged
#[derive(clap::Args)]
pub(crate) struct Findings {
    /// The folder with the lists [default: `TOOLBOND_CORPUS`, else `shared/corpus` beside the repository]
    folder: Option<PathBuf>,
    /// How many errors and warnings to draw
    #[arg(long, default_value_t = 0)]
    draw: usize,
    /// What they are drawn with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another `toolbond`, for example an older one, in place of that of this repository
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Options of `toolbond lint`, such as `--target all`
    #[arg(last = true)]
    options: Vec<String>,
}

/// An error or a warning, in words.
struct Drawn {
    severity: String,
    rule: String,
    text: String,
}

impl Findings {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = self.folder.or_else(|| std::env::var_os("TOOLBOND_CORPUS").map(PathBuf::from));
        let folder = folder.unwrap_or_else(|| workspace::root().join("../shared/corpus"));
        let binary = match self.binary {
            Some(binary) => binary,
            None => {
                run_command(cargo(["build", "--quiet", "--package", "toolbond-cli"]))?;
                workspace::root().join("target/debug/toolbond")
            }
        };
        let mut files: Vec<_> = fs::read_dir(&folder)
            .with_context(|| folder.display().to_string())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        files.sort_unstable();
        let mut lint = command(&binary.to_string_lossy(), ["lint", "--format", "json"]);
        let output = lint.args(self.options).args(&files).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(2) || !said.is_empty() {
            bail!("toolbond lint: {}: {said}", output.status);
        }
        let lists = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let mut counts = Counts::default();
        for list in lists {
            counts.add(&list?);
        }
        counts.print(files.len());
        for (number, Drawn { severity, text, .. }) in
            draw(counts.drawable, self.draw, self.seed).iter().enumerate()
        {
            println!("{}. {severity} {text}", number + 1);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Counts {
    failing: usize,
    with_errors: usize,
    drawable: Vec<Drawn>,
    /// Findings and lists, by severity and rule.
    rules: BTreeMap<(String, String), (usize, BTreeSet<String>)>,
}

impl Counts {
    fn add(&mut self, list: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = text(&list["list"]);
        let short = name.rsplit('/').next().unwrap_or_default();
        let found = list["findings"].as_array().into_iter().flatten();
        let found: Vec<_> = found.filter(|one| one["severity"] != "info").collect();
        self.failing += usize::from(!found.is_empty());
        self.with_errors += usize::from(found.iter().any(|one| one["severity"] == "error"));
        for one in found {
            let (severity, rule) = (text(&one["severity"]), text(&one["rule"]));
            let (count, lists) = self.rules.entry((severity.clone(), rule.clone())).or_default();
            *count += 1;
            lists.insert(name.clone());
            let impacts = one["impacts"].as_array().into_iter().flatten();
            let impacts: Vec<_> = impacts
                .filter(|impact| impact.get("with").is_none())
                .map(|impact| format!("{} {}", text(&impact["target"]), text(&impact["effect"])))
                .collect();
            let (tool, place) = (text(&one["tool"]), text(&one["pointer"]));
            let (message, impacts) = (text(&one["message"]), impacts.join(", "));
            let text = format!("[{rule}] {short} {tool} {place}: {message} [{impacts}]");
            self.drawable.push(Drawn { severity, rule, text });
        }
    }

    fn print(&self, lists: usize) {
        let Self { failing, with_errors, drawable, rules } = self;
        println!("{lists} lists: {failing} fail, {with_errors} with errors");
        println!("{} errors and warnings:", drawable.len());
        for ((severity, rule), (count, lists)) in rules {
            println!("  {severity:8} {rule:24} {count:6} in {:4} lists", lists.len());
        }
    }
}

/// `count` of `all`, in their order: those that a generator with this `seed` chooses.
fn draw(all: Vec<Drawn>, count: usize, seed: u64) -> Vec<Drawn> {
    let mut state = seed;
    // SplitMix64.
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let mut keyed: Vec<_> = all.into_iter().map(|one| (next(), one)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    let mut drawn: Vec<_> = keyed.into_iter().take(count).map(|(_, one)| one).collect();
    drawn.sort_by(|one, other| (&one.rule, &one.text).cmp(&(&other.rule, &other.text)));
    drawn
}
