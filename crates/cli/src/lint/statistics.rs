//! `--statistics`: how often each rule is broken.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::report::{Report, plural};
use crate::terminal::{BAD, DIM};
use toolbond_contract::Severity;

/// Writes one line per rule, the worst and most frequent first.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut counts: BTreeMap<_, (usize, BTreeSet<_>, BTreeSet<_>)> = BTreeMap::new();
    for (number, list) in report.lists.iter().enumerate() {
        for found in list.new_findings() {
            let (places, tools, lists) =
                counts.entry((found.severity(), found.rule())).or_default();
            *places += 1;
            tools.extend(found.finding.finding.index.map(|index| (number, index)));
            lists.insert(number);
        }
    }
    let mut rows: Vec<_> =
        counts.into_iter().filter(|((severity, _), _)| report.shows(*severity)).collect();
    rows.sort_by_key(|((severity, _), (places, ..))| std::cmp::Reverse((*severity, *places)));
    let width = rows.iter().map(|((_, rule), _)| rule.len()).max().unwrap_or_default();
    for ((severity, rule), (places, tools, lists)) in rows {
        let style = if severity == Severity::Info { DIM } else { BAD };
        let severity = severity.to_string();
        let (places, tools) = (plural(places, "place"), plural(tools.len(), "tool"));
        let lists = plural(lists.len(), "list");
        writeln!(
            out,
            "{style}{severity:7}{style:#}  {rule:width$}  {places} in {tools} of {lists}"
        )?;
    }
    Ok(())
}
