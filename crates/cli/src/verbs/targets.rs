//! `toolpact targets`: lists targets, or says what one accepts.

use std::io::{self, Write};

use toolpact_targets::{Limit, Measure, NameForm, Target, target, targets};

use crate::exit::Exit;
use crate::lint::describe_evidence;
use crate::terminal::DIM;

/// List the targets of `lint` and `view`, or say what one accepts and how that is known.
#[derive(Debug, clap::Args)]
pub(crate) struct Targets {
    /// The name of the target, for example `gemini`
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl Targets {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let mut out = anstream::stdout().lock();
        match self.name {
            Some(name) => write_page(target(&name)?, &mut out)?,
            None => write_list(&mut out)?,
        }
        Ok(Exit::Clean)
    }
}

fn write_list(out: &mut impl Write) -> io::Result<()> {
    let width = targets().iter().map(|target| target.name.len()).max().unwrap_or_default();
    for target in targets() {
        let kind = target.kind.to_string();
        writeln!(out, "{:width$}  {DIM}{kind:9}{DIM:#}  {}", target.name, target.title)?;
    }
    Ok(())
}

fn write_page(target: &Target, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# {}\n\n{} ({})", target.name, target.title, target.kind)?;
    if !target.about.is_empty() {
        writeln!(out, "\n{}", target.about)?;
    }
    let NameForm { effect, evidence, .. } = &target.names;
    writeln!(out, "\n## Names\n\n{}. Other names: {}.", name_form(&target.names), effect.words())?;
    writeln!(out, "({})", describe_evidence(evidence))?;
    if !target.limits.is_empty() {
        writeln!(out, "\n## Limits\n")?;
        for Limit { measure, most, effect, evidence, .. } in target.limits {
            writeln!(out, "- at most {most} {}, beyond: {}", counted(*measure), effect.words())?;
            writeln!(out, "  ({})", describe_evidence(evidence))?;
        }
    }
    if !target.rules.is_empty() {
        writeln!(out, "\n## Rules\n")?;
        let mut rules: Vec<_> = target.rules.iter().collect();
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.effect), rule.rule().id));
        for rule in rules {
            let note =
                if rule.note.is_empty() { String::new() } else { format!(": {}", rule.note) };
            writeln!(out, "- {}: {}{note}", rule.rule().id, rule.effect.words())?;
            writeln!(out, "  ({})", describe_evidence(&rule.evidence))?;
        }
    }
    writeln!(out, "\n`toolpact explain RULE` explains a rule.")
}

fn name_form(names: &NameForm) -> String {
    let mut form = format!("Up to {} characters", names.longest);
    if !names.prefix.is_empty() {
        form = format!("{form}, with the prefix `{}`", names.prefix);
    }
    let others = names.other_characters;
    form = format!("{form}: letters, digits");
    if !others.is_empty() {
        form = format!("{form}, and any of `{others}`");
    }
    if names.starts_with_letter {
        form = format!("{form}; the first is a letter or `_`");
    }
    form
}

/// What a limit counts, in words.
const fn counted(measure: Measure) -> &'static str {
    match measure {
        Measure::Tools => "tools in a list",
        Measure::Description => "characters in a description",
        Measure::SchemaBytes => "bytes in an input schema",
        Measure::Depth => "nested levels in an input schema",
        Measure::Properties => "properties in an input schema",
        Measure::OptionalProperties => "optional properties in an input schema",
        Measure::UnionProperties => "properties with several types in an input schema",
        Measure::EnumValues => "enum values in an input schema",
        Measure::NameCharacters => "characters in names, enum values and constants",
        _ => "of a measure",
    }
}
