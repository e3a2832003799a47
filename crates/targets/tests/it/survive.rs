//! Views pass the converters of their target, and what the converters make of them still accepts every value.
//!
//! By default a tenth of the corpus is converted; `TOOLBOND_CONVERTERS=all` converts all of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::{corpus, trials};
use toolbond_schema::Schema;
use toolbond_targets::{Effect, Target, View, targets};

use crate::agreement::{cases, expected, read};
use crate::converters::{self, Converted, Made};
use crate::docs;
use crate::views::{is_usable, samples, view};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        converters::trial("survive/cases", || check(&case_tools()).map(|()| Completion::Completed)),
        converters::trial("survive/corpus", || match corpus_tools() {
            Ok(tools) => {
                check(&tools)?;
                write_report(&tools).map(|()| Completion::Completed)
            }
            Err(reason) => trials::skipped(&reason),
        }),
        converters::host_trial("survive/hosts", check_hosts),
    ]
}

/// The views of hosts, over the cases and the corpus.
fn check_hosts() -> Result<Completion, Failed> {
    check_with(&case_tools(), hosts_of, converters::convert_in_hosts)?;
    match corpus_tools() {
        Ok(tools) => check_with(&tools, hosts_of, converters::convert_in_hosts)
            .map(|()| Completion::Completed),
        Err(reason) => trials::skipped(&reason),
    }
}

/// A tool with values that its input schema accepts.
pub(crate) struct Sampled {
    pub(crate) name: String,
    pub(crate) tool: Value,
    pub(crate) values: Vec<Value>,
}

fn case_tools() -> Vec<Sampled> {
    let usable = cases().into_iter().filter(|case| is_usable(&case.tool));
    usable.map(|case| Sampled { name: case.name, tool: case.tool, values: case.valid }).collect()
}

/// The tools of the corpus that can be used, or every tenth of them.
pub(crate) fn corpus_tools() -> Result<Vec<Sampled>, String> {
    let tools = corpus::servers()?.flat_map(|server| {
        let tools = server.tools().to_vec().into_iter();
        tools.map(move |tool| (server.name.clone(), tool))
    });
    let step = if converters::all() { 1 } else { 10 };
    Ok(tools
        .step_by(step)
        .filter(|(_, tool)| is_usable(tool))
        .map(|(server, tool)| Sampled {
            name: format!("{server} {}", tool["name"]),
            values: samples(&tool["inputSchema"]),
            tool,
        })
        .collect())
}

/// The targets with views of their own: what is another way in has those of its target.
fn main_targets() -> impl Iterator<Item = &'static Target> {
    targets().iter().copied().filter(|target| target.main().name == target.name)
}

/// The converters that the rules of `target` and of other ways in to it are about.
pub(crate) fn converters_of(target: &Target) -> BTreeSet<&'static str> {
    run_for(target).into_iter().filter(|name| !converters::HOSTS.contains(name)).collect()
}

/// The hosts that the rules of `target` are about.
fn hosts_of(target: &Target) -> BTreeSet<&'static str> {
    run_for(target).into_iter().filter(|name| converters::HOSTS.contains(name)).collect()
}

fn run_for(target: &Target) -> BTreeSet<&'static str> {
    let others = target.others.iter().flat_map(|other| other.rules);
    let rules = target.rules.iter().chain(others).map(|rule| rule.evidence);
    let limits = target.limits.iter().map(|limit| limit.evidence);
    rules.chain(limits).filter_map(|evidence| evidence.converter).collect()
}

/// Whether `made` throws, or refuses one of `values`.
pub(crate) fn problem(made: &Made, values: &[Value]) -> Option<String> {
    match made {
        Made::Error(error) => Some(error.clone()),
        Made::Schema(Value::Null) => values
            .iter()
            .any(|value| value != &json!({}))
            .then(|| "sent without parameters".to_owned()),
        Made::Schema(schema) => match Schema::compile(schema) {
            Err(error) => Some(format!("makes {error}")),
            Ok(schema) => values
                .iter()
                .find(|value| !schema.is_valid(value))
                .map(|value| format!("refuses {value}")),
        },
        Made::Regex(_) => None,
    }
}

fn check(tools: &[Sampled]) -> Result<(), Failed> {
    check_with(tools, converters_of, converters::convert)
}

/// Checks the views for each target with the converters or hosts that `names_of` it, which `convert` runs.
fn check_with(
    tools: &[Sampled],
    names_of: fn(&Target) -> BTreeSet<&'static str>,
    convert: fn(&[Value]) -> Vec<Converted>,
) -> Result<(), Failed> {
    // All targets in one run: starting the converters takes seconds.
    let mut lines = Vec::new();
    let mut views: Vec<(&Target, usize, View)> = Vec::new();
    for target in main_targets() {
        let names = names_of(target);
        if names.is_empty() {
            continue;
        }
        for (id, one) in tools.iter().enumerate() {
            let view = view(&one.tool, target);
            lines.push(json!({ "tool": view.tool, "converters": names }));
            views.push((target, id, view));
        }
    }
    // Differences that have a reason: the converter, and how the problem starts.
    let known = read(include_str!("../cases/survive.json"));
    let mut wrong = Vec::new();
    let mut written: HashMap<usize, Vec<Value>> = HashMap::new();
    for Converted { id, converter, made } in convert(&lines) {
        let (target, tool, view) = &views[id];
        let values = written.entry(id).or_insert_with(|| {
            tools[*tool].values.iter().map(|value| view.express(value)).collect()
        });
        let Some(problem) = problem(&made, values) else { continue };
        let is_known = |entry: &Value| {
            entry["converter"] == converter
                && problem.starts_with(entry["problem"].as_str().unwrap())
        };
        if !known.iter().any(is_known) {
            let schema = &view.tool["inputSchema"];
            let (target, tool) = (target.name, &tools[*tool].name);
            wrong.push(format!("{target}\t{converter}\t{tool}\t{problem}\t{schema}"));
        }
    }
    trials::none_of(wrong)
}

/// Writes how many published tools break in each converter, as they are and as views. Takes minutes.
fn write_report(tools: &[Sampled]) -> Result<(), Failed> {
    if !docs::writes() {
        return Ok(());
    }
    let mut text = format!(
        "{} tools, each with up to 6 generated calls. A tool is broken if the converter throws, or if what it makes refuses one of \
         the calls. *Foretold* are the tools that throw and that a rule about the converter warns of; *false alarms* are those that \
         a rule says throw, and that do not.\n\n| target | converter | throws | foretold | false alarms | broken as it is | broken as a view |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        tools.len()
    );
    for target in main_targets() {
        let names: Vec<_> = converters_of(target).into_iter().collect();
        if names.is_empty() {
            continue;
        }
        let before = broken(tools, &names, |one| (one.tool.clone(), one.values.clone()));
        let after = broken(tools, &names, |one| {
            let view = view(&one.tool, target);
            let values = one.values.iter().map(|value| view.express(value)).collect();
            (view.tool, values)
        });
        for name in names {
            let of =
                |counts: &BTreeMap<String, Counts>| counts.get(name).copied().unwrap_or_default();
            let (is, view) = (of(&before), of(&after));
            _ = writeln!(
                text,
                "| `{}` | {name} | {} | {} | {} | {} | {} |",
                target.name, is.throws, is.foretold, is.false_alarms, is.broken, view.broken
            );
        }
    }
    docs::compare(docs::TARGETS, "views", &text)
}

/// What a converter does to tools.
#[derive(Clone, Copy, Default)]
struct Counts {
    throws: usize,
    foretold: usize,
    false_alarms: usize,
    broken: usize,
}

/// How many tools each converter breaks.
fn broken(
    tools: &[Sampled],
    names: &[&str],
    form: impl Fn(&Sampled) -> (Value, Vec<Value>),
) -> BTreeMap<String, Counts> {
    let forms: Vec<_> = tools.iter().map(form).collect();
    let lines: Vec<Value> =
        forms.iter().map(|(tool, _)| json!({ "tool": tool, "converters": names })).collect();
    let expected: Vec<_> = forms.iter().map(|(tool, _)| expected(tool).1).collect();
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for Converted { id, converter, made } in converters::convert(&lines) {
        let throws = matches!(made, Made::Error(_));
        let expected = expected[id].get(converter.as_str()).copied();
        let counts = counts.entry(converter).or_default();
        counts.throws += usize::from(throws);
        counts.foretold += usize::from(throws && expected >= Some(Effect::CallFails));
        counts.false_alarms += usize::from(!throws && expected == Some(Effect::RequestFails));
        counts.broken += usize::from(problem(&made, &forms[id].1).is_some());
    }
    counts
}
