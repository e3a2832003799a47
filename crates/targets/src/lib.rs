//! What model APIs and MCP hosts do to a tool, and how to write it so that they accept it.
//!
//! A [`Target`] is a model API, an engine, a host or an SDK with rules of its own about tools. Each of its
//! [rules](TargetRule) says what happens (its [`Effect`]) and how that is known (its [`Evidence`]).
//!
//! - [`lint_tools`] checks a tool list: against the protocol, against good practice, and against targets.
//! - [`view_tools`] gives tools the form that one target accepts. Calls of such a tool are mapped back with
//!   [`View::restore`], and the full schema still judges them.
//!
//! This crate works on `serde_json` values and does no I/O.

mod checks;
mod client;
mod effect;
mod evidence;
mod feature;
mod fix;
mod lint;
mod node;
mod target;
mod view;

pub use checks::compare_order;
pub use client::{ViewFor, target_for_client};
pub use effect::Effect;
pub use evidence::{Established, Evidence};
pub use fix::{Edit, Fix, fix_tools};
pub use lint::{Impact, LintFinding, LintOptions, LintReport, lint_tools};
pub use target::check::check_targets;
pub use target::{
    Kind, Limit, Measure, NameForm, Target, TargetRule, UnknownTarget, default_targets, target,
    targets,
};
pub use view::{UsedNames, View, name_views, view_tools};

use toolbond_contract::Rule;

/// All rules that [`lint_tools`] reports: those of the contract, of good practice and of targets, sorted by id.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let mut all: Vec<&Rule> = toolbond_contract::rules().collect();
    all.extend(checks::rules());
    all.extend(feature::rules());
    all.extend(target::rules::RULES);
    all.sort_by_key(|rule| rule.id);
    // Some rules of good practice are also rules of targets.
    all.dedup_by(|one, other| std::ptr::eq(*one, *other));
    all.into_iter()
}
