//! Targets: model APIs, engines, hosts and SDKs, as data.

pub(crate) mod check;
mod impacts;
pub(crate) mod measure;
pub(crate) mod rules;
pub(crate) mod survey;
mod tables;

use std::fmt;

use serde::Serialize;

use crate::{Effect, Evidence, feature::Feature};

/// A model API, an engine, a host or an SDK with rules of its own about tools.
#[derive(Debug)]
#[non_exhaustive]
pub struct Target {
    /// The name on the command line, such as `openai-strict`.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The way in that it means, in a few words: a model or a host is often reached in several, which differ.
    pub way: &'static str,
    /// What it accepts, in a paragraph.
    pub about: &'static str,
    /// The form of a tool name.
    pub names: NameForm,
    /// The limits on tools.
    pub limits: &'static [Limit],
    /// What else it refuses or loses.
    pub rules: &'static [TargetRule],
    /// Other ways in to the same, through one converter each. What breaks only there is an info.
    pub others: &'static [&'static Self],
}

impl Target {
    /// The rules of the target and of the other ways in.
    pub(crate) fn all_rules(&self) -> impl Iterator<Item = &'static TargetRule> {
        self.rules.iter().chain(self.others.iter().flat_map(|other| other.rules))
    }

    /// The target to which this is another way in, or itself.
    #[must_use]
    pub fn main(&'static self) -> &'static Self {
        let has_this = |main: &&&'static Self| main.others.iter().any(|it| it.name == self.name);
        targets().iter().find(has_this).copied().unwrap_or(self)
    }
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A model API.
    Api,
    /// An engine that constrains what a model writes.
    Engine,
    /// A program that connects servers to a model.
    Host,
    /// An MCP SDK.
    Sdk,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Api => "model API",
            Self::Engine => "engine",
            Self::Host => "host",
            Self::Sdk => "SDK",
        })
    }
}

/// The names of tools that a target accepts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NameForm {
    /// What the target writes before the name, where `{server}` is the name of the server.
    pub prefix: &'static str,
    /// The most characters, with the prefix.
    pub longest: usize,
    /// The characters beside ASCII letters and digits.
    pub other_characters: &'static str,
    /// Whether the first character has to be a letter or `_`.
    pub starts_with_letter: bool,
    /// Whether the target replaces other characters by `_`.
    pub replaces: bool,
    /// The characters at both ends of a longer name that the target keeps, with `...` between; 0 if it does not cut names.
    pub kept_ends: usize,
    /// What happens to other names.
    pub effect: Effect,
    /// How that is known.
    pub evidence: Evidence,
}

impl NameForm {
    /// Whether the target takes any name.
    #[must_use]
    pub const fn accepts_any(&self) -> bool {
        self.longest == usize::MAX
    }
}

/// A limit on tools.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limit {
    /// What is counted.
    pub measure: Measure,
    /// The most that the target accepts.
    pub most: usize,
    /// What happens beyond it.
    pub effect: Effect,
    /// How that is known.
    pub evidence: Evidence,
}

/// What a [`Limit`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// The tools of a list.
    Tools,
    /// The characters of a description.
    Description,
    /// The bytes of an input schema.
    SchemaBytes,
    /// The nested levels of objects that an input schema describes.
    Depth,
    /// The properties of an input schema, at all levels.
    Properties,
    /// The properties that are not required, at all levels.
    OptionalProperties,
    /// The properties with several types, at all levels.
    UnionProperties,
    /// The values of all enums.
    EnumValues,
    /// The characters of property names, definition names, enum values and constants.
    NameCharacters,
}

/// One thing that a target refuses or loses.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TargetRule {
    /// What it looks for.
    pub(crate) feature: &'static Feature,
    /// What happens.
    pub effect: Effect,
    /// How that is known.
    pub evidence: Evidence,
    /// What the target does, in a few words.
    pub note: &'static str,
}

impl TargetRule {
    /// The rule that findings name.
    #[must_use]
    pub const fn rule(&self) -> &'static toolbond_contract::Rule {
        self.feature.rule
    }
}

/// There is no target of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no target `{found}`; {}", match similar {
    Some(similar) => format!("did you mean `{similar}`?"),
    None => "`toolbond targets` lists the targets".to_owned(),
})]
#[non_exhaustive]
pub struct UnknownTarget {
    /// The name given.
    pub found: String,
    /// The name of a target that is spelled similarly.
    pub similar: Option<&'static str>,
}

/// All targets, in the order of the list of `toolbond targets`.
#[must_use]
pub fn targets() -> &'static [&'static Target] {
    tables::ALL
}

/// The most used targets, which `toolbond lint` checks unless others are named.
#[must_use]
pub fn default_targets() -> &'static [&'static Target] {
    tables::DEFAULT
}

/// Returns the target of this name.
///
/// # Errors
///
/// Fails if there is none.
///
/// ```
/// assert_eq!(toolbond_targets::target("gemini")?.name, "gemini");
/// assert_eq!(
///     toolbond_targets::target("gemni").unwrap_err().to_string(),
///     "no target `gemni`; did you mean `gemini`?"
/// );
/// # Ok::<(), toolbond_targets::UnknownTarget>(())
/// ```
pub fn target(name: &str) -> Result<&'static Target, UnknownTarget> {
    let found = targets().iter().copied().find(|target| target.name == name);
    found.ok_or_else(|| {
        let similar = targets()
            .iter()
            .map(|target| (strsim::jaro_winkler(target.name, name), target.name))
            .filter(|(similarity, _)| *similarity > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, similar)| similar);
        UnknownTarget { found: name.to_owned(), similar }
    })
}
