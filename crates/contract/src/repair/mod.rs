//! Idioms of older drafts and of serialisers, and how to say the same in the schema's own dialect.
//!
//! An [`Idiom`] is a rule with a way to find it and a way to rewrite it without changing what its
//! author meant. One that is *fatal* breaks the dialect's metaschema; any other is legal, but does
//! not do what it says in every validator.

mod array_items;
mod definitions;
mod dependencies;
mod empty_array;
mod exclusive_bound;
mod null_keyword;
mod nullable;
mod property_required;
mod redirect;
mod root;

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolpact_schema::{Dialect, Pointer};

use crate::{
    Finding, Rule, Severity, Side,
    subschemas::{DEEPEST, Path, each, each_mut, own_dialect},
};

/// An object that is a schema.
type Node = Map<String, Value>;

/// Takes a place below a schema object, as the tokens of a pointer, and what is wrong with it.
type Found<'a> = &'a mut dyn FnMut(&[&str], String);

/// One idiom: its rule, and how it is found and rewritten in one schema object, without looking into
/// the schemas inside it.
pub(crate) struct Idiom {
    /// The rule it breaks.
    pub(crate) rule: &'static Rule,
    /// Calls back with the place of each and what is wrong with it.
    find: fn(&Node, Dialect, Found<'_>),
    /// Rewrites what `find` found.
    fix: fn(&mut Node, Dialect),
    /// Where it is looked for.
    at: At,
}

/// The schemas in which an idiom is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Anywhere,
    Root,
    /// Anywhere but the root of an input schema, which [`root`] looks at.
    BelowInputRoot,
}

/// Which idioms are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    All,
    /// Those without which the schema is admitted.
    Fatal,
    /// The others.
    Legal,
}

/// All idioms, in the order in which they are rewritten.
pub(crate) static IDIOMS: [Idiom; 8] = [
    null_keyword::IDIOM,
    empty_array::IDIOM,
    property_required::IDIOM,
    exclusive_bound::IDIOM,
    array_items::IDIOM,
    dependencies::IDIOM,
    nullable::IDIOM,
    definitions::IDIOM,
];

impl Idiom {
    /// Whether a schema with it is not admitted.
    fn is_fatal(&self) -> bool {
        self.rule.severity == Severity::Error
    }

    /// Whether it is looked for in a schema `depth` steps below the root of `side`.
    fn applies(&self, side: Side, depth: usize) -> bool {
        match self.at {
            At::Anywhere => true,
            At::Root => depth == 0,
            At::BelowInputRoot => depth > 0 || side != Side::Input,
        }
    }
}

/// The most findings of one idiom in one schema; the last one counts the rest.
const REPORTED: usize = 16;

/// The bytes of pointers after which only the first of each idiom is reported: names can be long.
const POINTERS: usize = 1 << 16;

/// The idioms in `schema`, as findings whose pointers start at the root of the tool; `fatal` ones
/// are looked for only where the schema was not admitted.
pub(crate) fn find(side: Side, schema: &Value, fatal: bool) -> Vec<Finding> {
    let member = match side {
        Side::Output => Pointer::root().join("outputSchema"),
        _ => Pointer::root().join("inputSchema"),
    };
    let mut search = Search {
        fatal,
        member,
        side,
        found: Vec::new(),
        written: 0,
        counts: [(0, 0); IDIOMS.len()],
    };
    if side == Side::Input {
        search.found.extend(root::find(schema, fatal));
    }
    search.visit(schema, &Path::default(), Dialect::detect(schema).unwrap_or_default());
    search.finish()
}

/// Rewrites what [`find`] finds in `schema`, as far as `extent` goes.
pub(crate) fn fix(side: Side, schema: &mut Value, extent: Extent) {
    let original = schema.clone();
    if side == Side::Input {
        root::fix(schema, extent);
    }
    let dialect = Dialect::detect(schema).unwrap_or_default();
    Rewrite { side, extent }.visit(schema, dialect, 0);
    redirect::redirect(&original, schema);
}

struct Search {
    fatal: bool,
    member: Pointer,
    side: Side,
    found: Vec<Finding>,
    /// Bytes of pointers.
    written: usize,
    /// How many of each idiom there are, and how many of them are reported.
    counts: [(usize, usize); IDIOMS.len()],
}

impl Search {
    fn visit(&mut self, schema: &Value, path: &Path<'_>, dialect: Dialect) {
        let Value::Object(node) = schema else { return };
        if path.depth() > DEEPEST {
            return;
        }
        let dialect = own_dialect(node).unwrap_or(dialect);
        for (idiom, (count, reported)) in IDIOMS.iter().zip(&mut self.counts) {
            if (idiom.is_fatal() && !self.fatal) || !idiom.applies(self.side, path.depth()) {
                continue;
            }
            (idiom.find)(node, dialect, &mut |place, message| {
                *count += 1;
                if *count == 1 || (*count <= REPORTED && self.written < POINTERS) {
                    let mut at = self.member.concat(&path.pointer());
                    for token in place {
                        at.push(token);
                    }
                    self.written += at.as_str().len();
                    *reported += 1;
                    self.found.push(idiom.rule.finding(message).side(self.side).at(at));
                }
            });
        }
        each(node, |step, inner| self.visit(inner, &path.step(step), dialect));
    }

    fn finish(mut self) -> Vec<Finding> {
        for (idiom, (count, reported)) in IDIOMS.iter().zip(self.counts) {
            if count > reported
                && let Some(last) =
                    self.found.iter_mut().rev().find(|finding| finding.rule == idiom.rule.id)
            {
                // Writing to a `String` does not fail.
                _ = write!(last.message, ", and {} more like it", count - reported);
            }
        }
        self.found
    }
}

struct Rewrite {
    side: Side,
    extent: Extent,
}

impl Rewrite {
    /// Inner schemas first, so that an idiom sees rewritten ones; but what a property says of itself
    /// goes to the schema around it before that one is a property in turn.
    fn visit(&self, schema: &mut Value, dialect: Dialect, depth: usize) {
        let Value::Object(node) = schema else { return };
        if depth > DEEPEST {
            return;
        }
        let dialect = own_dialect(node).unwrap_or(dialect);
        self.apply(&property_required::IDIOM, node, dialect, depth);
        each_mut(node, |_, inner| self.visit(inner, dialect, depth + 1));
        for idiom in &IDIOMS {
            self.apply(idiom, node, dialect, depth);
        }
    }

    fn apply(&self, idiom: &Idiom, node: &mut Node, dialect: Dialect, depth: usize) {
        let wanted = match self.extent {
            Extent::All => true,
            Extent::Fatal => idiom.is_fatal(),
            Extent::Legal => !idiom.is_fatal(),
        };
        if !wanted || !idiom.applies(self.side, depth) {
            return;
        }
        let mut found = false;
        (idiom.find)(node, dialect, &mut |_, _| found = true);
        if found {
            (idiom.fix)(node, dialect);
        }
    }
}
