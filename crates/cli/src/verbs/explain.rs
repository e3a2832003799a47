//! `toolbond explain`: explains a rule.

use std::io::{self, Write};

use toolbond_contract::{Rule, judge::find_rule};
use toolbond_targets::{Impact, rules, targets};

use crate::exit::Exit;
use crate::lint::{ImpactGroup, describe_evidence, group_impacts};
use crate::terminal::DIM;

/// Explain a rule that a finding names, or list all rules.
///
/// The list has the severity of each rule. It varies where it depends on what a target does.
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
            let rule = find_rule(&id, rules())?;
            write!(out, "{}", rule.page())?;
            write_targets(rule, &mut out)?;
            return Ok(Exit::Clean);
        }
        let width = rules().map(|rule| rule.id.len()).max().unwrap_or_default();
        for rule in rules() {
            let varies = !impacts(rule).is_empty();
            let severity = if varies { "varies".into() } else { rule.severity.to_string() };
            writeln!(out, "{:width$}  {DIM}{severity:7}{DIM:#}  {}", rule.id, rule.summary())?;
        }
        Ok(Exit::Clean)
    }
}

/// What targets do about `rule`.
fn impacts(rule: &Rule) -> Vec<Impact> {
    targets().iter().flat_map(|target| target.impacts(rule.id)).collect()
}

/// Writes what each target does about `rule`.
fn write_targets(rule: &Rule, out: &mut impl Write) -> io::Result<()> {
    let impacts = impacts(rule);
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
