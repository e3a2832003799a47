//! `toolpact explain`: the page of a rule.

use std::io::Write as _;

use anyhow::anyhow;
use toolpact_contract::{rule, rules};

use crate::exit::Outcome;
use crate::terminal::DIM;

/// Explain a rule that findings name; without one, list all.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The id of the rule, such as `external-ref`
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let mut out = anstream::stdout().lock();
        if let Some(id) = self.id {
            let rule = rule(&id).ok_or_else(|| {
                anyhow!("no rule `{id}`, `toolpact explain` lists those there are")
            })?;
            write!(out, "{}", rule.page())?;
            return Ok(Outcome::Clean);
        }
        let width = rules().map(|rule| rule.id.len()).max().unwrap_or_default();
        for rule in rules() {
            let severity = rule.severity.to_string();
            writeln!(out, "{:width$}  {DIM}{severity:7}{DIM:#}  {}", rule.id, rule.summary())?;
        }
        Ok(Outcome::Clean)
    }
}
