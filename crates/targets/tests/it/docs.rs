//! `docs/targets.md` and `docs/converters.md`, whose tables are written by `cargo xtask targets`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use toolbond_harness::{corpus, trials};
use toolbond_targets::{Effect, Target, check_targets, default_targets, targets};

/// The page about all targets.
pub(crate) const TARGETS: &str = "targets.md";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("docs/targets", || compare(TARGETS, "targets", &target_table())),
        Trial::ignorable_test("docs/corpus", || match corpus_tables() {
            Ok(tables) => compare(TARGETS, "corpus", &tables).map(|()| Completion::Completed),
            Err(reason) => trials::skipped(&reason),
        }),
    ]
}

/// Whether tables are written instead of compared.
pub(crate) fn writes() -> bool {
    std::env::var("TOOLBOND_TARGETS").is_ok_and(|it| it == "write")
}

/// Compares the part `name` of a document of `docs` with `text`, or writes it.
pub(crate) fn compare(file: &str, name: &str, text: &str) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let document = fs::read_to_string(&path)?;
    let (head, rest) = document.split_once(&begin).ok_or_else(|| format!("no part {name}"))?;
    let (known, tail) = rest.split_once(&end).ok_or_else(|| format!("part {name} does not end"))?;
    let text = format!("\n{}\n\n", text.trim());
    if known == text {
        return Ok(());
    }
    if writes() {
        fs::write(path, format!("{head}{begin}{text}{end}{tail}"))?;
        return Ok(());
    }
    let line = known.lines().zip(text.lines()).find(|(old, new)| old != new);
    Err(format!(
        "docs/{file}, part {name}, is out of date ({line:?}): `cargo xtask targets` writes it"
    )
    .into())
}

/// A table of all targets: the way in of each, and which others there are.
fn target_table() -> String {
    let mut text = String::from(
        "| target | what it is | the way in that it means | other ways in | longest name |\n| --- | --- | --- | --- | --- |\n",
    );
    let defaults = default_targets();
    for target in targets() {
        let default =
            if defaults.iter().any(|one| one.name == target.name) { " (default)" } else { "" };
        let others: Vec<_> =
            target.others.iter().map(|other| format!("`{}`", other.name)).collect();
        let longest = match target.names.longest {
            usize::MAX => "any".to_owned(),
            longest if target.names.prefix.is_empty() => longest.to_string(),
            longest => format!("{longest}, with `{}`", target.names.prefix),
        };
        // Writing to a `String` does not fail.
        _ = writeln!(
            text,
            "| `{}`{default} | {} ({}) | {} | {} | {longest} |",
            target.name,
            target.title,
            target.kind,
            target.way,
            others.join(", "),
        );
    }
    text
}

/// What each target does to published tools.
fn corpus_tables() -> Result<String, String> {
    let tools: Vec<Value> = corpus::servers()?.flat_map(|server| server.tools().to_vec()).collect();
    let total = tools.len();
    let mut text = format!(
        "Of {total} tools, with the worst effect on each tool:\n\n| target | request fails | tool left out | valid calls fail | constraint lost | degraded | unharmed |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let mut by_rule: BTreeMap<(&str, &str), (Effect, usize)> = BTreeMap::new();
    for target in targets() {
        let mut worst = [0_usize; 6];
        for tool in &tools {
            let effects = effects(tool, target);
            worst[effects.iter().map(|(_, effect)| 1 + rank(*effect)).max().unwrap_or(0)] += 1;
            for (rule, effect) in effects {
                let known = by_rule.entry((target.name, rule)).or_insert((effect, 0));
                *known = (known.0.max(effect), known.1 + 1);
            }
        }
        let share = |count: usize| if count == 0 { String::new() } else { percent(count, total) };
        _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            target.name,
            share(worst[5]),
            share(worst[4]),
            share(worst[3]),
            share(worst[2]),
            share(worst[1]),
            share(worst[0]),
        );
    }
    text.push_str("\nBy rule, where at least one tool in a hundred breaks it and the effect is worse than a lost constraint:\n\n| target | rule | effect | tools |\n| --- | --- | --- | --- |\n");
    for ((target, rule), (effect, count)) in by_rule {
        if effect > Effect::ConstraintLost && count * 100 >= total {
            _ = writeln!(
                text,
                "| `{target}` | {rule} | {} | {} |",
                effect.words(),
                percent(count, total)
            );
        }
    }
    Ok(text)
}

/// The rules that `tool` breaks, with their worst effect.
fn effects(tool: &Value, target: &'static Target) -> Vec<(&'static str, Effect)> {
    let Some(tool) = tool.as_object() else { return Vec::new() };
    check_targets(tool, &[target], None)
        .into_iter()
        .filter_map(|found| {
            // Those of other ways in come last.
            let first = found.impacts.first().filter(|impact| impact.with.is_none())?;
            Some((found.finding.rule, first.effect))
        })
        .collect()
}

fn rank(effect: Effect) -> usize {
    Effect::ALL.iter().position(|one| *one == effect).unwrap_or_default()
}

fn percent(count: usize, total: usize) -> String {
    // Small enough to be exact.
    #[expect(clippy::cast_precision_loss, reason = "thousands of tools")]
    let share = 100.0 * count as f64 / total as f64;
    format!("{share:.1} % ({count})")
}
