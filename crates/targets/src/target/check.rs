//! What targets do to tools.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolbond_contract::{Finding, Pointer, Side};

use super::measure::measure;
use super::survey::{Found, survey};
use super::{Measure, NameForm, Target, TargetRule, rules};
use crate::feature::{self, Feature, objects, types};
use crate::{Effect, Impact, LintFinding};

/// The shortest name of a server, for hosts that write it before the names of tools: what is too long with it is too long
/// with any.
const SHORTEST: &str = "s";

/// Returns what `targets` do to one tool. Pointers start at the tool. [`lint_tools`](crate::lint_tools) does the same for
/// lists, beside other checks.
///
/// ```
/// use serde_json::json;
/// use toolbond_targets::{check_targets, target};
///
/// let tool = json!({ "name": "now", "inputSchema": { "type": "object", "properties": { "zone": true } } });
/// let found = check_targets(tool.as_object().unwrap(), &[target("google-genai")?], None);
/// assert_eq!(found[0].finding.rule, "boolean-schema");
/// assert_eq!(found[0].impacts[0].effect.to_string(), "request-fails");
/// # Ok::<(), toolbond_targets::UnknownTarget>(())
/// ```
#[must_use]
pub fn check_targets(
    tool: &Map<String, Value>,
    targets: &[&'static Target],
    server: Option<&str>,
) -> Vec<LintFinding> {
    let mut features: Vec<&'static Feature> = Vec::new();
    for rule in targets.iter().flat_map(|target| target.all_rules()) {
        if !features.iter().any(|known| std::ptr::eq(*known, rule.feature)) {
            features.push(rule.feature);
        }
    }
    let mut findings: Vec<_> =
        survey(tool, &features).into_iter().map(|found| of_feature(found, targets)).collect();
    findings.extend(of_limits(tool, targets));
    findings.extend(of_name(tool, targets, server));
    findings
}

/// Checks a whole list: the number of tools, and names that a host makes equal.
pub(crate) fn check_list(
    tools: &[&Map<String, Value>],
    targets: &[&'static Target],
    server: Option<&str>,
) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    if let Some((limits, over)) = exceeded(Measure::Tools, tools.len(), targets) {
        let message = format!("{} tools in one list, {limits}", tools.len());
        findings.push(finding(&rules::TOOL_COUNT, message, Pointer::root(), over));
    }
    findings.extend(of_collisions(tools, targets, server));
    findings
}

fn of_feature(found: Found, targets: &[&'static Target]) -> LintFinding {
    let Found { feature, at, mut message, count } = found;
    let about = |target: &'static Target| {
        let rules = target.rules.iter().filter(|rule| std::ptr::eq(rule.feature, feature));
        rules.map(|rule| target.impact(rule.effect, rule.note, rule.evidence))
    };
    let impacts = impacts(targets, |target| {
        // A way in that was chosen itself says it itself.
        let is_chosen = |other: &&'static Target| targets.iter().any(|one| one.name == other.name);
        let others = target.others.iter().copied().filter(|other| !is_chosen(other));
        let with =
            |impact: Impact| Impact { target: target.name, with: Some(impact.target), ..impact };
        about(target).chain(others.flat_map(about).map(with)).collect()
    });
    if count > 1 {
        message = format!("{message}, and {} more", count - 1);
    }
    let side = if feature.side == feature::Side::Input { Side::Input } else { Side::Output };
    let mut finding = finding(feature.rule, message, at, impacts);
    finding.finding = finding.finding.side(side);
    finding.finding.hint = opposite(feature, targets);
    finding
}

/// What one target wants and another refuses. Both ways.
static OPPOSITES: [(&Feature, &Feature); 2] = [
    (&objects::CLOSED_OBJECT, &objects::OPEN_OBJECT),
    (&objects::OPTIONAL_PROPERTY, &types::NULLABLE_TYPE),
];

/// Says which of `targets` want the opposite of what helps against `feature`.
fn opposite(feature: &'static Feature, targets: &[&'static Target]) -> Option<String> {
    let is = |one: &Feature| std::ptr::eq(one, feature);
    let (one, other) = OPPOSITES.iter().find(|(one, other)| is(one) || is(other))?;
    let opposite = if is(one) { other } else { one };
    let wants = |feature: &Feature| {
        let has = |rule: &TargetRule| std::ptr::eq(rule.feature, feature);
        let all = targets.iter().filter(move |target| target.rules.iter().any(has));
        all.map(|target| target.name).collect::<Vec<_>>()
    };
    let (breaking, opposed) = (wants(feature), wants(opposite));
    let is_one_sided = breaking.is_empty() || opposed.is_empty();
    (!is_one_sided).then(|| {
        format!(
            "{} wants the opposite, see `{}`; `toolbond view --for {}` writes a form of its own",
            opposed.join(", "),
            opposite.rule.id,
            breaking[0]
        )
    })
}

fn of_limits(tool: &Map<String, Value>, targets: &[&'static Target]) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for (measure, found) in measure(tool) {
        if let Some((limits, over)) = exceeded(measure, found, targets) {
            let (rule, member) = measure.rule();
            let message = format!("{found} {measure}, {limits}");
            findings.push(finding(rule, message, Pointer::root().join(member), over));
        }
    }
    findings
}

fn of_name(
    tool: &Map<String, Value>,
    targets: &[&'static Target],
    server: Option<&str>,
) -> Option<LintFinding> {
    let name = tool.get("name")?.as_str()?;
    let wrong = impacts(targets, |target| {
        let form = &target.names;
        let problem = name_problem(form, &full_name(form, name, server));
        let impact = problem.map(|note| {
            let is_replaced = form.replaces && note == OTHER_CHARACTERS;
            let effect = if is_replaced { Effect::Degraded } else { form.effect };
            target.impact(effect, note, form.evidence)
        });
        impact.into_iter().collect()
    });
    (!wrong.is_empty()).then(|| {
        let shown: String = name.chars().take(80).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let has = match name.chars().find(|c| !is_plain(*c)) {
            Some(other) if wrong.iter().any(|impact| impact.note == OTHER_CHARACTERS) => {
                format!("{other:?}")
            }
            _ => format!("{} characters", name.chars().count()),
        };
        finding(
            &rules::TARGET_NAME,
            format!("the name {shown:?} has {has}"),
            Pointer::root().join("name"),
            wrong,
        )
    })
}

/// The name that a target sees.
pub(crate) fn full_name(form: &NameForm, name: &str, server: Option<&str>) -> String {
    format!("{}{name}", form.prefix.replace("{server}", server.unwrap_or(SHORTEST)))
}

/// What is wrong with a name that is not of the characters of a target.
const OTHER_CHARACTERS: &str = "the name has characters that are not allowed";

fn name_problem(form: &NameForm, name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let first = name.chars().next()?;
    if form.accepts_any() {
        return None;
    }
    if name.chars().count() > form.longest {
        Some("the name is too long")
    } else if !name.chars().all(allowed) {
        Some(OTHER_CHARACTERS)
    } else if form.starts_with_letter && !(first.is_ascii_alphabetic() || first == '_') {
        Some("the name has to start with a letter or `_`")
    } else {
        None
    }
}

/// Names that are equal once a host has written its prefix, replaced characters and cut the end.
fn of_collisions(
    tools: &[&Map<String, Value>],
    targets: &[&'static Target],
    server: Option<&str>,
) -> Vec<LintFinding> {
    let mut findings: Vec<LintFinding> = Vec::new();
    for target in targets.iter().filter(|target| target.names.replaces) {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for (index, tool) in tools.iter().enumerate() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let written = cut(&target.names, &full_name(&target.names, name, server));
            let Some(first) = seen.get(&written).filter(|first| **first != name) else {
                seen.insert(written, name);
                continue;
            };
            let note = "two tools get the same name";
            let impact = target.impact(Effect::ToolLost, note, target.names.evidence);
            let message = format!("becomes the same name as {first:?}");
            let mut found = finding(
                &rules::NAME_COLLISION,
                message,
                Pointer::root().join("name"),
                vec![impact],
            );
            found.finding.index = Some(index);
            found.finding.tool = Some(name.to_owned());
            findings.push(found);
        }
    }
    findings
}

fn cut(form: &NameForm, name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let plain: Vec<char> = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if plain.len() <= form.longest || form.kept_ends == 0 {
        return plain.into_iter().collect();
    }
    let (start, end) = (&plain[..form.kept_ends], &plain[plain.len() - form.kept_ends..]);
    start.iter().chain(&['.'; 3]).chain(end).collect()
}

/// The limits that `found` exceeds, in words, and what happens beyond them.
fn exceeded(
    measure: Measure,
    found: usize,
    targets: &[&'static Target],
) -> Option<(String, Vec<Impact>)> {
    let over = |target: &'static Target| {
        target.limits.iter().filter(move |it| it.measure == measure && found > it.most)
    };
    let impacts =
        impacts(targets, |target| over(target).map(|it| target.limit_impact(it)).collect());
    let words = targets.iter().flat_map(|target| {
        over(target).map(|limit| format!("{} takes {}", target.name, limit.most))
    });
    (!impacts.is_empty()).then(|| (words.collect::<Vec<_>>().join(", "), impacts))
}

fn impacts(
    targets: &[&'static Target],
    of: impl Fn(&'static Target) -> Vec<Impact>,
) -> Vec<Impact> {
    let mut impacts: Vec<_> = targets.iter().flat_map(|target| of(target)).collect();
    impacts.sort_by_key(|impact| (impact.with.is_some(), std::cmp::Reverse(impact.effect)));
    impacts
}

/// A finding whose severity is that of its worst impact.
fn finding(
    rule: &'static toolbond_contract::Rule,
    message: String,
    at: Pointer,
    impacts: Vec<Impact>,
) -> LintFinding {
    let severity = impacts.iter().map(Impact::severity).max().unwrap_or(rule.severity);
    let finding: Finding = rule.finding(message).at(at).severity(severity);
    LintFinding { impacts, ..LintFinding::from(finding) }
}
