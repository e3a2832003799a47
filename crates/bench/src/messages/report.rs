//! The tables of what messages fix, and the calls that they do not fix.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use toolbond_contract::Mode;

use super::calls::{Call, Group};
use super::run::Run;
use super::validators::ALL;
use super::{Outcome, Trial};

/// What came of all calls.
#[derive(Default)]
pub(super) struct Report {
    pub(super) runs: Vec<Run>,
}

impl Report {
    fn table(&self) -> String {
        let mut table = "| messages of | calls | valid after one round | valid after two rounds | Toolbond ahead by, one round | Toolbond ahead by, two rounds | characters, median | statements used |\n\
             | --- | --: | --: | --: | --: | --: | --: | --: |\n"
            .to_owned();
        for (index, validator) in ALL.iter().enumerate() {
            let shares: Vec<_> = self.runs.iter().map(|run| run.share(index).percent()).collect();
            let leads: Vec<_> = self.runs.iter().map(|run| run.lead(0, index)).collect();
            let column =
                |list: &[[f64; 2]], at: usize| list.iter().map(|it| it[at]).collect::<Vec<_>>();
            let ahead = |at| match index {
                0 => String::new(),
                _ => spread(&column(&leads, at), "points"),
            };
            let calls: usize = self.runs.iter().map(|run| run.share(index).covered).sum();
            let firsts = self.trials(index).filter_map(|(_, trial)| trial.steps.first());
            let mut lengths: Vec<_> = firsts.map(|step| step.message.chars().count()).collect();
            lengths.sort_unstable();
            let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
            _ = writeln!(
                table,
                "| {} | {calls} | {} | {} | {} | {} | {median} | {} |",
                validator.name,
                spread(&column(&shares, 0), "%"),
                spread(&column(&shares, 1), "%"),
                ahead(0),
                ahead(1),
                self.used(index),
            );
        }
        table
    }

    /// The share of statements that the reader of a validator's messages made something of.
    #[expect(clippy::cast_precision_loss, reason = "some thousand statements")]
    fn used(&self, validator: usize) -> String {
        let steps = self.trials(validator).flat_map(|(_, trial)| &trial.steps);
        let (all, unread) = steps.fold((0, 0), |(all, unread), step| {
            (all + step.statements, unread + step.unread.len())
        });
        format!("{:.1} %", (all - unread) as f64 * 100.0 / all.max(1) as f64)
    }

    /// The calls of all seeds that a validator covers.
    fn trials(&self, validator: usize) -> impl Iterator<Item = (&Call, &Trial)> {
        self.runs.iter().flat_map(move |run| run.trials(validator))
    }

    /// Valid after one and two rounds, by what is wrong.
    fn groups(&self) -> String {
        let names: Vec<_> = ALL.iter().map(|validator| validator.name).collect();
        let mut table = format!("| what is wrong | calls | {} |\n| --- | --:", names.join(" | "));
        table += &" | --:".repeat(names.len());
        table += " |\n";
        for group in Group::all() {
            let calls = self.runs.iter().map(|run| run.share_of(0, group).covered);
            _ = write!(table, "| {group} | {} ", calls.sum::<usize>());
            for index in 0..ALL.len() {
                let shares = self.runs.iter().map(|run| run.share_of(index, group).percent());
                let shares: Vec<_> = shares.collect();
                let mean = |at: usize| mean(&shares.iter().map(|it| it[at]).collect::<Vec<_>>());
                _ = write!(table, "| {:.0}, {:.0} % ", mean(0), mean(1));
            }
            table += "|\n";
        }
        table
    }

    /// How many calls, seeds and tools there are.
    fn size(&self) -> [usize; 3] {
        let calls = self.runs.iter().flat_map(|run| &run.calls);
        let mut tools: Vec<_> = calls.map(|call| (&call.server, call.contract.name())).collect();
        let calls = tools.len();
        tools.sort_unstable();
        tools.dedup();
        [calls, self.runs.len(), tools.len()]
    }

    /// Prints the tables.
    pub(super) fn print(&self) {
        let [calls, seeds, tools] = self.size();
        println!("{calls} wrong calls of {tools} tools, {seeds} seeds\n");
        println!("{}\n{}", self.table(), self.groups());
        for (index, validator) in ALL.iter().enumerate() {
            let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
            for outcome in self.runs.iter().flat_map(|run| &run.outcomes[index]) {
                if let Outcome::NotCovered(reason) = outcome {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
            for (reason, count) in reasons {
                println!("{}: {count} calls are not counted: it {reason}", validator.name);
            }
        }
    }

    /// The calls that the validators called `name` cover.
    fn of<'r>(&'r self, name: &str) -> impl Iterator<Item = (&'r Call, &'r Trial)> {
        let name = name.to_lowercase();
        let named = (0..ALL.len()).filter(move |at| ALL[*at].name.to_lowercase().contains(&name));
        named.flat_map(|index| self.trials(index))
    }

    /// Prints every call that the messages of the validators called `name` do not fix.
    pub(super) fn print_failures(&self, name: &str) {
        for (call, trial) in self.of(name).filter(|(_, trial)| trial.fixed_after.is_none()) {
            print_call(call);
            for step in &trial.steps {
                println!("{}\n    {}", step.message, step.fixed);
            }
            let last = trial.steps.last().map(|step| &step.fixed);
            if let Some(left) = call.contract.judge_arguments(last, Mode::Enforce).refusal {
                println!("{}\n", left["content"][0]["text"].as_str().unwrap_or_default());
            }
        }
    }

    /// Prints what the readers made nothing of.
    pub(super) fn print_unread(&self, name: &str) {
        let steps = self.of(name).flat_map(|(_, trial)| &trial.steps);
        for statement in steps.flat_map(|step| &step.unread) {
            println!("unread: {statement}");
        }
    }

    /// Prints every first message.
    pub(super) fn print_messages(&self, name: &str) {
        for (call, trial) in self.of(name) {
            print_call(call);
            println!("{}\n", trial.steps[0].message);
        }
    }

    /// Writes the page with the tables.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/messages.md");
        let [calls, seeds, tools] = self.size();
        let page = include_str!("page.txt")
            .replace("{calls}", &calls.to_string())
            .replace("{seeds}", &seeds.to_string())
            .replace("{tools}", &tools.to_string())
            .replace("{table}", self.table().trim_end())
            .replace("{groups}", self.groups().trim_end());
        fs::write(&path, page).with_context(|| path.display().to_string())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few seeds")]
fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

/// The mean, and the least and the most in parentheses.
fn spread(list: &[f64], unit: &str) -> String {
    let least = list.iter().copied().fold(f64::INFINITY, f64::min);
    let most = list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{:.1} {unit} ({least:.1} to {most:.1})", mean(list))
}

fn print_call(call: &Call) {
    let mistakes: Vec<_> = call.mistakes.iter().map(ToString::to_string).collect();
    println!("--- {} `{}`: {}", call.server, call.contract.name(), mistakes.join(", "));
    println!("    {}", call.wrong);
}
