//! `toolbond targets`: lists targets, or says what one accepts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use toolbond_targets::{
    Effect, Evidence, Limit, NameForm, Target, default_targets, target, targets,
};

use crate::exit::Exit;
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
        let is_default = default_targets().iter().any(|default| default.name == target.name);
        let default = if is_default { " (default)" } else { "" };
        let (name, title) = (target.name, target.title);
        writeln!(out, "{name:width$}  {DIM}{kind:9}{DIM:#}  {title}{DIM}{default}{DIM:#}")?;
    }
    Ok(())
}

fn write_page(target: &Target, out: &mut impl Write) -> io::Result<()> {
    let mut sources = Sources::default();
    let Target { name, title, kind, way, about, .. } = target;
    writeln!(out, "# {name}\n\n{title} ({kind})\n\n{about}\n\nThe way in: {way}.")?;
    if !target.others.is_empty() {
        let others: Vec<_> = target.others.iter().map(|other| other.name).collect();
        writeln!(out, "Other ways in, which are targets of their own: {}.", others.join(", "))?;
    }
    let NameForm { effect, evidence, .. } = &target.names;
    let source = if target.names.accepts_any() { String::new() } else { sources.number(evidence) };
    writeln!(out, "\n## Names\n\n{}.", name_form(&target.names))?;
    if !target.names.accepts_any() {
        writeln!(out, "With other names {} {source}.", effect.words())?;
    }
    if !target.limits.is_empty() {
        writeln!(out, "\n## Limits\n")?;
        for Limit { measure, most, effect, evidence, .. } in target.limits {
            let source = sources.number(evidence);
            writeln!(out, "- {most} {measure}; beyond that {} {source}", effect.words())?;
        }
    }
    for effect in Effect::ALL.into_iter().rev() {
        let mut notes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for rule in target.rules.iter().filter(|rule| rule.effect == effect) {
            let versions = rule.evidence.versions.map(|v| format!("{v}: ")).unwrap_or_default();
            let note = format!("{versions}{} {}", rule.note, sources.number(&rule.evidence));
            notes.entry(rule.rule().id).or_default().push(note);
        }
        if !notes.is_empty() {
            writeln!(out, "\n## Rules: {}\n", effect.words())?;
        }
        for (rule, notes) in notes {
            writeln!(out, "- {rule}: {}", notes.join("; "))?;
        }
    }
    writeln!(out, "\n## Sources\n")?;
    for (index, source) in sources.0.iter().enumerate() {
        writeln!(out, "[{}] {source}", index + 1)?;
    }
    writeln!(out, "\n`toolbond explain RULE` explains a rule.")
}

/// The sources of a page, in the order in which they are referred to.
#[derive(Default)]
struct Sources(Vec<String>);

impl Sources {
    /// The number of a source, as `[1]`.
    fn number(&mut self, evidence: &Evidence) -> String {
        let Evidence { how, source, date, .. } = evidence;
        let text = format!("{how}: {source}, {date}");
        let index = self.0.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        format!("[{}]", index + 1)
    }
}

fn name_form(names: &NameForm) -> String {
    if names.accepts_any() {
        return "Any name".to_owned();
    }
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
