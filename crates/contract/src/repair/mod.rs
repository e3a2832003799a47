//! Repairs: idioms of older drafts and of serialisers, rewritten in the dialect of the schema.
//!
//! An [idiom](Idiom) is a rule with a function that finds violations and a function that rewrites them without changing what
//! the author meant. A *fatal* idiom breaks the metaschema of the dialect. Any other idiom is legal, but some validators
//! ignore it.

mod array_items;
mod definitions;
mod dependencies;
mod empty_array;
mod exclusive_bound;
mod idiom;
mod null_keyword;
mod nullable;
mod property_required;
mod redirect;
mod root;

use std::fmt::Write as _;

use serde_json::Value;
use toolbond_schema::{Dialect, Pointer};

pub(crate) use self::idiom::Extent;
use self::idiom::{Idiom, Node};
use crate::{
    Finding, Side,
    subschemas::{DEEPEST, Path, each, each_mut, own_dialect},
};

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

/// The limit on findings of one idiom in one schema. The last finding counts the rest.
const REPORTED: usize = 16;

/// The bytes of pointers after which only the first finding of each idiom is reported, because names can be long.
const POINTERS: usize = 1 << 16;

/// Finds the idioms in `schema`. The pointers of the findings start at the root of the tool. Fatal idioms are included
/// if `fatal` is set, that is, if the schema was not admitted.
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

/// Rewrites the idioms that [`find`] finds in `schema`, as far as `extent` allows.
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
    /// Rewrites inner schemas first, so that each idiom sees rewritten ones. The exception is `required` in a property:
    /// it moves to the schema around it before that schema is itself treated as a property.
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
