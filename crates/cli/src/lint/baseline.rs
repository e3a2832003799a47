//! Known findings, in a file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use super::Report;
use crate::input;
use crate::replace::replace;

/// The version of the file.
const VERSION: u32 = 1;

/// Known findings.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    version: u32,
    pub(crate) findings: Vec<Entry>,
}

/// A known finding. The fingerprint identifies it; the rest is for readers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) fingerprint: String,
    pub(crate) rule: String,
    pub(crate) tool: String,
    pub(crate) place: String,
}

/// What is wrong with an entry that no longer occurs, on one line.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fingerprint, rule, tool, place } = self;
        write!(f, "baseline: {fingerprint} ({rule} {tool} {place}) no longer occurs")
    }
}

impl Baseline {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let missing = || format!("{name}: no such baseline (`--write-baseline` creates it)");
        if !path.exists() {
            bail!(missing());
        }
        let value = input::read_value(path)?;
        let baseline: Self =
            serde_json::from_value(value).with_context(|| format!("{name}: not a baseline"))?;
        if baseline.version != VERSION {
            bail!("{name}: expected version {VERSION}, found {}", baseline.version);
        }
        Ok(baseline)
    }

    /// The findings of `report` that fail it.
    pub(crate) fn of(report: &Report) -> Self {
        let failing = report
            .lists
            .iter()
            .flat_map(|list| &list.findings)
            .filter(|reported| report.fails(reported.severity()));
        let entries: BTreeMap<_, _> = failing
            .map(|reported| {
                let entry = Entry {
                    fingerprint: reported.fingerprint.clone(),
                    rule: reported.rule().to_owned(),
                    tool: reported.tool(),
                    place: reported.pointer().to_string(),
                };
                let key = (entry.tool.clone(), entry.rule.clone(), entry.place.clone());
                ((key, entry.fingerprint.clone()), entry)
            })
            .collect();
        Self { version: VERSION, findings: entries.into_values().collect() }
    }

    /// Writes the file at `path`.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        replace(path, text.as_bytes())
    }
}
