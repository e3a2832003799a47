//! The table of what messages fix, and the calls that ours do not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::calls::{Call, Group};
use super::validators::ALL;
use super::{Outcome, Step};

/// Kinds of our failures that are printed.
const KINDS: usize = 10;

/// What came of all calls.
pub(super) struct Report<'a> {
    calls: &'a [Call],
    outcomes: Vec<Vec<Outcome>>,
    lengths: Vec<Vec<usize>>,
}

/// The calls of one validator, or of one group.
#[derive(Clone, Copy, Default)]
struct Share {
    covered: usize,
    once: usize,
    twice: usize,
}

impl Share {
    fn count<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Self {
        let mut share = Self::default();
        for outcome in outcomes {
            let (once, twice) = match outcome {
                Outcome::NotCovered(_) => continue,
                Outcome::Fixed(rounds) => (*rounds == 1, true),
                Outcome::Wrong(_) => (false, false),
            };
            share.covered += 1;
            share.once += usize::from(once);
            share.twice += usize::from(twice);
        }
        share
    }

    fn percent(self, part: usize) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred calls")]
        let percent = part as f64 * 100.0 / self.covered.max(1) as f64;
        format!("{percent:.1} %")
    }
}

impl<'a> Report<'a> {
    pub(super) fn new(calls: &'a [Call]) -> Self {
        let empty = || ALL.iter().map(|_| Vec::new()).collect();
        Self { calls, outcomes: ALL.iter().map(|_| Vec::new()).collect(), lengths: empty() }
    }

    /// What came of the next call with the messages of one validator, and the length of its first message.
    pub(super) fn add(&mut self, validator: usize, outcome: Outcome, length: Option<usize>) {
        if !matches!(outcome, Outcome::NotCovered(_)) {
            self.lengths[validator].extend(length);
        }
        self.outcomes[validator].push(outcome);
    }

    /// Of the calls that both validators judge, how many only the messages of the first one fix.
    fn only_first(&self, first: usize, second: usize) -> usize {
        let both = self.outcomes[first].iter().zip(&self.outcomes[second]);
        let only = both.filter(|pair| matches!(pair, (Outcome::Fixed(_), Outcome::Wrong(_))));
        only.count()
    }

    fn table(&self) -> String {
        let mut table = "| messages of | calls | valid after one round | valid after two rounds | fixed only by ours : only by these | characters, median |\n\
             | --- | --: | --: | --: | --: | --: |\n"
            .to_owned();
        for (index, validator) in ALL.iter().enumerate() {
            let share = Share::count(self.outcomes[index].iter());
            let mut lengths = self.lengths[index].clone();
            lengths.sort_unstable();
            let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
            let [ours, theirs] = [self.only_first(0, index), self.only_first(index, 0)];
            let only = if index == 0 { String::new() } else { format!("{ours} : {theirs}") };
            let (once, twice) = (share.percent(share.once), share.percent(share.twice));
            let name = validator.name;
            _ = writeln!(
                table,
                "| {name} | {} | {once} | {twice} | {only} | {median} |",
                share.covered
            );
        }
        table
    }

    /// Valid after two rounds, by what is wrong.
    fn groups(&self) -> String {
        let names: Vec<_> = ALL.iter().map(|validator| validator.name).collect();
        let mut table = format!("| what is wrong | {} |\n| ---", names.join(" | "));
        table += &" | --:".repeat(names.len());
        table += " |\n";
        for group in Group::all() {
            _ = write!(table, "| {group} ");
            for outcomes in &self.outcomes {
                let of_group = outcomes.iter().zip(self.calls);
                let of_group = of_group.filter(|(_, call)| call.group == group);
                let share = Share::count(of_group.map(|(outcome, _)| outcome));
                _ = write!(table, "| {} of {} ", share.twice, share.covered);
            }
            table += "|\n";
        }
        table
    }

    /// Prints the tables, and the most common kinds of our failures.
    pub(super) fn print(&self) {
        println!("{} wrong calls\n\n{}\n{}", self.calls.len(), self.table(), self.groups());
        for (validator, outcomes) in ALL.iter().zip(&self.outcomes) {
            let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
            for outcome in outcomes {
                if let Outcome::NotCovered(reason) = outcome {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
            for (reason, count) in reasons {
                println!("{}: {count} calls are not counted: it {reason}", validator.name);
            }
        }
        let ours = self.outcomes[0].iter().zip(self.calls);
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for (outcome, call) in ours {
            let Outcome::Wrong(steps) = outcome else { continue };
            *kinds.entry(kind(call, steps)).or_default() += 1;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        println!("what our messages do not fix, the most common kinds first:");
        for (kind, count) in kinds.iter().take(KINDS) {
            println!("{count:>4}  {kind}");
        }
    }

    /// Prints every call that the messages of the validators called `name` do not fix.
    pub(super) fn print_failures(&self, name: &str) {
        for (validator, outcomes) in ALL.iter().zip(&self.outcomes) {
            if !validator.name.to_lowercase().contains(&name.to_lowercase()) {
                continue;
            }
            for (outcome, call) in outcomes.iter().zip(self.calls) {
                if let Outcome::Wrong(steps) = outcome {
                    print_failure(call, steps);
                }
            }
        }
    }

    /// Writes the page with the tables.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/messages.md");
        let page = include_str!("page.txt")
            .replace("{calls}", &self.calls.len().to_string())
            .replace("{table}", self.table().trim_end())
            .replace("{groups}", self.groups().trim_end());
        fs::write(&path, page).with_context(|| path.display().to_string())
    }
}

/// What is left to say after two rounds: the first message, without names and values.
fn kind(call: &Call, steps: &[Step]) -> String {
    let last = steps.last();
    let schema = call.contract.input().schema();
    let left = last.map(|step| schema.validate(&step.fixed));
    let left = match &left {
        Some(toolpact_schema::Verdict::Invalid(violations)) => {
            violations.iter().next().map(|violation| violation.keyword.clone())
        }
        _ => None,
    };
    format!("{}: still against `{}`", call.group, left.unwrap_or_default())
}

fn print_failure(call: &Call, steps: &[Step]) {
    let mistakes: Vec<_> = call.mistakes.iter().map(ToString::to_string).collect();
    println!("--- {} `{}`: {}", call.server, call.contract.name(), mistakes.join(", "));
    println!("    {}", call.wrong);
    for step in steps {
        println!("{}\n    {}", step.message, step.fixed);
    }
    let left = call
        .contract
        .judge_arguments(steps.last().map(|step| &step.fixed), toolpact_contract::Mode::Enforce);
    if let Some(refusal) = left.refusal {
        println!("{}\n", refusal["content"][0]["text"].as_str().unwrap_or_default());
    }
}
