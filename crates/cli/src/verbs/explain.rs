//! `toolpact explain`: explains a rule.

use std::io::{self, Write};

use anyhow::anyhow;
use toolpact_contract::Rule;
use toolpact_targets::{rules, targets};

use crate::exit::Exit;
use crate::lint::describe_evidence;
use crate::terminal::DIM;

/// Explain a rule that a finding names, or list all rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The id of the rule, for example `external-ref`
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let mut out = anstream::stdout().lock();
        if let Some(id) = self.id {
            let rule = rules().find(|rule| rule.id == id).ok_or_else(|| unknown(&id))?;
            write!(out, "{}", rule.page())?;
            write_targets(rule, &mut out)?;
            return Ok(Exit::Clean);
        }
        let width = rules().map(|rule| rule.id.len()).max().unwrap_or_default();
        for rule in rules() {
            let severity = rule.severity.to_string();
            writeln!(out, "{:width$}  {DIM}{severity:7}{DIM:#}  {}", rule.id, rule.summary())?;
        }
        Ok(Exit::Clean)
    }
}

fn unknown(id: &str) -> anyhow::Error {
    let similar = rules()
        .map(|rule| (strsim::jaro_winkler(rule.id, id), rule.id))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match similar {
        Some((_, similar)) => anyhow!("no rule `{id}`; did you mean `{similar}`?"),
        None => anyhow!("no rule `{id}`; `toolpact explain` lists the rules"),
    }
}

/// Writes what each target does about `rule`.
fn write_targets(rule: &Rule, out: &mut impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for target in targets() {
        for found in target.rules.iter().filter(|found| found.rule().id == rule.id) {
            lines.push((target.name, found));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Targets\n")?;
    lines.sort_by_key(|(name, found)| (std::cmp::Reverse(found.effect), *name));
    for (name, found) in lines {
        let note = if found.note.is_empty() { String::new() } else { format!(": {}", found.note) };
        writeln!(out, "- {name}: {}{note}", found.effect.words())?;
        writeln!(out, "  ({})", describe_evidence(&found.evidence))?;
    }
    Ok(())
}
