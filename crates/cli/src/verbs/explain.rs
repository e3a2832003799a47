//! `toolpact explain`: explains a rule.

use std::io::Write as _;

use anyhow::anyhow;
use toolpact_contract::{rule, rules};

use crate::exit::Exit;
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
            let rule = rule(&id).ok_or_else(|| {
                anyhow!("unknown rule `{id}`; `toolpact explain` lists all rules")
            })?;
            write!(out, "{}", rule.page())?;
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
