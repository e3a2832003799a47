//! `toolpact explain`: explains a rule.

use std::io::{self, Write};

use anyhow::anyhow;
use toolpact_contract::Rule;
use toolpact_targets::{rules, targets};

use crate::exit::Exit;
use crate::lint::{ImpactGroup, describe_evidence, group_impacts};
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
    let impacts: Vec<_> = targets().iter().flat_map(|target| target.impacts(rule.id)).collect();
    if impacts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Targets\n")?;
    for ImpactGroup { effect, note, evidence, targets } in group_impacts(&impacts) {
        writeln!(out, "- {}: {}: {note}", targets.join(", "), effect.words())?;
        writeln!(out, "  ({})", describe_evidence(&evidence))?;
    }
    Ok(())
}
