//! What happens to which tool at which target.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use toolbond_contract::Severity;
use toolbond_targets::{Effect, Target};

use super::list::LintedList;
use super::report::plural;
use crate::terminal::{BAD, DIM, printable};

/// The most rows, unless all are asked for.
const MAX_ROWS: usize = 40;

/// The most columns that stand apart.
const MANY_COLUMNS: usize = 24;

/// The most characters of a name.
const MAX_NAME: usize = 30;

/// The most targets without findings that are named.
const MAX_NAMED: usize = 6;

/// The name of the column for findings that are not about targets.
const ANY: &str = "any client";

/// The worst that happens to a tool at a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// Findings that are not about targets.
    Checks(Severity),
    /// What the target does.
    Effect(Effect),
}

impl Cell {
    /// The cells that a legend explains, worst first.
    const LEGEND: [Self; 8] = [
        Self::Checks(Severity::Error),
        Self::Checks(Severity::Warning),
        Self::Checks(Severity::Info),
        Self::Effect(Effect::RequestFails),
        Self::Effect(Effect::ToolLost),
        Self::Effect(Effect::CallFails),
        Self::Effect(Effect::ConstraintLost),
        Self::Effect(Effect::Degraded),
    ];

    /// One character.
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Checks(Severity::Error) => "E",
            Self::Checks(Severity::Warning) => "W",
            Self::Checks(Severity::Info) => "i",
            Self::Effect(effect) => effect_symbol(effect),
        }
    }

    /// What the symbol stands for.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Checks(Severity::Error) => "error",
            Self::Checks(Severity::Warning) => "warning",
            Self::Checks(Severity::Info) => "info",
            Self::Effect(effect) => effect.words(),
        }
    }

    const fn is_bad(self) -> bool {
        match self {
            Self::Checks(severity) => matches!(severity, Severity::Error | Severity::Warning),
            Self::Effect(effect) => !matches!(effect, Effect::ConstraintLost | Effect::Degraded),
        }
    }

    const fn style(self) -> Style {
        if self.is_bad() { BAD } else { DIM }
    }
}

/// The character for an effect.
pub(super) const fn effect_symbol(effect: Effect) -> &'static str {
    match effect {
        Effect::RequestFails => "✗",
        Effect::ToolLost => "-",
        Effect::CallFails => "!",
        Effect::ConstraintLost => "~",
        _ => "·",
    }
}

/// The name of a tool, and a cell for each column.
type Row = (String, Vec<Option<Cell>>);

/// A row for each tool, a column for each target.
pub(super) struct Matrix {
    /// The names of the columns.
    pub(super) columns: Vec<&'static str>,
    /// The rows in the order of the list, only those with a finding.
    pub(super) rows: Vec<Row>,
    /// The targets that do nothing to any tool.
    untouched: Vec<&'static str>,
    /// How many tools have only infos.
    pub(super) slight: usize,
    /// How many tools have no finding.
    pub(super) fine: usize,
}

impl Matrix {
    /// The matrix of `list`. With `all`, tools have a row also if nothing bad happens to them.
    pub(super) fn new(list: &LintedList, targets: &[&'static Target], all: bool) -> Self {
        let mut columns: Vec<_> = targets.iter().map(|target| target.name).collect();
        // The list itself comes first.
        let mut rows: BTreeMap<Option<usize>, Vec<Option<Cell>>> = BTreeMap::new();
        for reported in list.new_findings() {
            let index = reported.finding.finding.index;
            let row = rows.entry(index).or_insert_with(|| vec![None; columns.len() + 1]);
            let impacts = &reported.finding.impacts;
            let mut put = |column: usize, cell| row[column] = row[column].max(Some(cell));
            for impact in impacts.iter().filter(|impact| impact.with.is_none()) {
                if let Some(column) = columns.iter().position(|name| *name == impact.target) {
                    put(column + 1, Cell::Effect(impact.effect));
                }
            }
            if impacts.is_empty() && (all || reported.severity() > Severity::Info) {
                put(0, Cell::Checks(reported.severity()));
            }
        }
        let is_touched = |column: usize| {
            rows.values().any(|row| row.get(column + 1).is_some_and(Option::is_some))
        };
        let untouched = (0..columns.len()).filter(|column| !is_touched(*column));
        let untouched = untouched.map(|column| columns[column]).collect();
        columns.insert(0, ANY);
        // A document that is a tool has no index for it.
        let is_tool = list.tools.len() == 1;
        let with_findings = rows.keys().filter(|index| is_tool || index.is_some()).count();
        let total = rows.len();
        let is_bad = |row: &[Option<Cell>]| row.iter().flatten().any(|cell| cell.is_bad());
        let rows: Vec<_> = rows
            .into_iter()
            .filter(|(_, row)| all || is_bad(row))
            .map(|(index, row)| {
                let name = match index {
                    None if is_tool => list.tool_name(0),
                    None => "(the list)".to_owned(),
                    Some(index) => list.tool_name(index),
                };
                (shorten(&printable(&name)), row)
            })
            .collect();
        let slight = total - rows.len();
        let fine = list.tools.len().saturating_sub(with_findings);
        Self { columns, rows, untouched, slight, fine }
    }

    /// Writes the matrix: the heads of the columns as steps, so that many targets fit. Columns without a cell are left
    /// out.
    pub(super) fn write(&self, all: bool, out: &mut impl Write) -> io::Result<()> {
        let shown = if all { self.rows.len() } else { self.rows.len().min(MAX_ROWS) };
        let rows = &self.rows[..shown];
        if !rows.is_empty() {
            self.write_rows(rows, out)?;
            if shown < self.rows.len() {
                let rest = plural(self.rows.len() - shown, "more tool");
                writeln!(out, "  … {rest} (--verbose shows all)")?;
            }
            // At most 100 columns.
            for part in self.legend().chunks(4) {
                writeln!(out, "  {DIM}{}{DIM:#}", part.join("   "))?;
            }
        }
        match &self.untouched[..] {
            [] => {}
            targets if targets.len() <= MAX_NAMED => {
                writeln!(out, "  breaks no rule of {}", targets.join(", "))?;
            }
            targets => writeln!(out, "  breaks no rule of {} other targets", targets.len())?,
        }
        if self.slight > 0 {
            let tools = plural(self.slight, "tool");
            writeln!(out, "  {tools} with infos only (--verbose shows all)")?;
        }
        if self.fine > 0 {
            writeln!(out, "  {} without findings", plural(self.fine, "tool"))?;
        }
        Ok(())
    }

    /// The columns in which one of `rows` has a cell.
    pub(super) fn used_columns(&self, rows: &[Row]) -> Vec<usize> {
        let is_used = |column: &usize| rows.iter().any(|(_, row)| row[*column].is_some());
        (0..self.columns.len()).filter(is_used).collect()
    }

    fn write_rows(&self, rows: &[Row], out: &mut impl Write) -> io::Result<()> {
        let columns = self.used_columns(rows);
        // A line has at most 100 columns.
        let gap = if columns.len() > MANY_COLUMNS { "" } else { " " };
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (step, column) in columns.iter().enumerate() {
            let bars = format!("│{gap}").repeat(step);
            writeln!(out, "  {:width$}  {DIM}{bars}{}{DIM:#}", "", self.columns[*column])?;
        }
        for (name, row) in rows {
            write!(out, "  {name:width$} {}", if gap.is_empty() { " " } else { "" })?;
            let last = columns.iter().rposition(|column| row[*column].is_some());
            for column in columns.iter().take(last.map_or(0, |last| last + 1)) {
                write!(out, "{gap}")?;
                match row[*column] {
                    Some(cell) => {
                        let style = cell.style();
                        write!(out, "{style}{}{style:#}", cell.symbol())?;
                    }
                    None => write!(out, " ")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Explains the symbols that occur.
    pub(super) fn legend(&self) -> Vec<String> {
        let cells: Vec<Cell> =
            self.rows.iter().flat_map(|(_, row)| row).copied().flatten().collect();
        let used = Cell::LEGEND.into_iter().filter(|cell| cells.contains(cell));
        used.map(|cell| format!("{} {}", cell.symbol(), cell.words())).collect()
    }
}

/// Cuts `name` at the end if it is long.
fn shorten(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME - 1).chain(['…']).collect()
}
