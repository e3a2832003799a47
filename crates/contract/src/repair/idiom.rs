//! What an idiom is, and which are rewritten.

use serde_json::{Map, Value};
use toolbond_schema::Dialect;

use crate::{Rule, Severity, Side};

/// An object that is a schema.
pub(super) type Node = Map<String, Value>;

/// Receives the place of a violation below a schema object, as the tokens of a pointer, and a message.
pub(super) type Found<'a> = &'a mut dyn FnMut(&[&str], String);

/// An idiom: its rule, and how to find and rewrite it in one schema object. Schemas inside that object are visited
/// separately.
pub(crate) struct Idiom {
    /// The rule that it breaks.
    pub(crate) rule: &'static Rule,
    /// Reports each violation.
    pub(super) find: fn(&Node, Dialect, Found<'_>),
    /// Rewrites what `find` found.
    pub(super) fix: fn(&mut Node, Dialect),
    /// The schemas to search.
    pub(super) at: At,
}

/// The schemas in which to search for an idiom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Anywhere,
    Root,
    /// Anywhere except the root of an input schema, which [`super::root`] checks.
    BelowInputRoot,
}

/// Which idioms are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    All,
    /// Fatal idioms, which keep the schema from being admitted.
    Fatal,
    /// Legal idioms.
    Legal,
}

impl Idiom {
    /// Whether it keeps a schema from being admitted.
    pub(super) fn is_fatal(&self) -> bool {
        self.rule.severity == Severity::Error
    }

    /// Whether to search for it in a schema `depth` steps below the root of `side`.
    pub(super) fn applies(&self, side: Side, depth: usize) -> bool {
        match self.at {
            At::Anywhere => true,
            At::Root => depth == 0,
            At::BelowInputRoot => depth > 0 || side != Side::Input,
        }
    }
}
