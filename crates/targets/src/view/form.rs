//! What a view must avoid, from the rules of its target.

use std::cell::Cell;

use serde_json::{Map, Value};
use toolbond_contract::subschemas::Path;

use crate::feature::{Feature, Hit, Side, arrays, objects, references, root, types, values};
use crate::node::{Node, REFERENCE_STEPS, walk_all};
use crate::target::measure::measure;
use crate::target::survey::has_any;
use crate::{Limit, Measure, Target};

/// The features that a target refuses or loses, and its limits.
#[expect(clippy::struct_excessive_bools, reason = "each answers one question about the target")]
pub(super) struct Form {
    features: Vec<&'static Feature>,
    limits: &'static [Limit],
    /// The most nested levels.
    pub(super) depth: usize,
    /// The most optional properties.
    pub(super) optional: usize,
    /// The most properties with several types.
    pub(super) unions: usize,
    /// The most values of enums.
    pub(super) values: usize,
    /// The most characters of a description of a tool.
    pub(super) description: usize,
    /// The form of maps.
    pub(super) maps: bool,
    /// Whether objects must not allow other properties than they declare.
    pub(super) closed: bool,
    /// Whether objects must not say `additionalProperties: false`.
    pub(super) never_closed: bool,
    /// Whether all properties have to be required.
    pub(super) all_required: bool,
    /// Whether values without a type are refused.
    pub(super) typed: bool,
    /// Whether references are refused.
    pub(super) inline: bool,
}

/// Nested levels of a view where the target sets no limit.
const MAX_DEPTH: usize = 32;

impl Form {
    pub(super) fn of(target: &'static Target) -> Self {
        let target = target.main();
        // A client may reach the target in any way.
        let mut features: Vec<&'static Feature> = target
            .all_rules()
            .map(|rule| rule.feature)
            .filter(|feature| feature.side == Side::Input)
            .collect();
        features.sort_by_key(|feature| feature.rule.id);
        features.dedup_by_key(|feature| feature.rule.id);
        let most = |measure| {
            let limits = target.limits.iter().filter(|limit| limit.measure == measure);
            limits.map(|limit| limit.most).min()
        };
        let mut form = Self {
            depth: most(Measure::Depth).unwrap_or(MAX_DEPTH),
            optional: most(Measure::OptionalProperties).unwrap_or(usize::MAX),
            unions: most(Measure::UnionProperties).unwrap_or(usize::MAX),
            values: most(Measure::EnumValues).unwrap_or(usize::MAX),
            description: most(Measure::Description).unwrap_or(usize::MAX),
            features,
            limits: target.limits,
            maps: false,
            closed: false,
            never_closed: false,
            all_required: false,
            typed: false,
            inline: false,
        };
        form.maps = !form.refuses(&objects::MAP);
        form.closed = form.refuses(&objects::OPEN_OBJECT);
        form.never_closed = form.refuses(&objects::CLOSED_OBJECT);
        form.all_required = form.refuses(&objects::OPTIONAL_PROPERTY);
        form.typed = form.refuses(&types::UNTYPED);
        form.inline = form.refuses(&references::REF_CHAIN);
        form
    }

    /// Whether the target takes the input schema of `tool` as it is.
    pub(super) fn accepts(&self, tool: &Map<String, Value>) -> bool {
        let Some(schema) = tool.get("inputSchema") else { return true };
        let over = |(what, found): &(Measure, usize)| {
            *what != Measure::Description
                && self.limits.iter().any(|it| it.measure == *what && *found > it.most)
        };
        !has_any(schema, &self.features) && !measure(tool).iter().any(over)
    }

    /// Whether the target has a rule about `feature`.
    pub(super) fn refuses(&self, feature: &'static Feature) -> bool {
        self.features.iter().any(|one| std::ptr::eq(*one, feature))
    }

    /// Whether alternatives have to be merged into one schema.
    pub(super) fn merges_unions(&self, is_root: bool) -> bool {
        is_root && (self.refuses(&root::ROOT_ANY_OF) || self.refuses(&root::ROOT_ONE_OF))
    }

    /// Whether arrays need a schema for their elements.
    pub(super) fn needs_items(&self) -> bool {
        self.refuses(&arrays::ARRAY_WITHOUT_ITEMS)
    }

    /// Whether `enum` needs `type` beside it.
    pub(super) fn needs_typed_values(&self) -> bool {
        self.refuses(&values::ENUM_UNTYPED) || self.refuses(&values::CONST_UNTYPED)
    }

    /// Whether `enum` may stay with these values.
    pub(super) fn takes_enum(&self, schema: &Map<String, Value>, is_root: bool) -> bool {
        let features = [
            &values::ENUM_NULL,
            &values::ENUM_MIXED,
            &values::ENUM_NOT_STRING,
            &values::ENUM_OBJECT,
            &values::ENUM_EMPTY_STRING,
        ];
        let schema = Value::Object(schema.clone());
        features.iter().all(|feature| {
            !self.refuses(feature)
                || on_node(&schema, is_root, |node| (feature.check)(node)).is_none()
        })
    }

    /// The first keyword of `schema` that has to go, if leaving it out is enough.
    pub(super) fn keyword_to_drop(
        &self,
        schema: &Map<String, Value>,
        is_root: bool,
    ) -> Option<&'static str> {
        let schema = Value::Object(schema.clone());
        let drops = self.features.iter().filter(|feature| !feature.keywords.is_empty());
        on_node(&schema, is_root, |node| {
            drops
                .clone()
                .find_map(|feature| (feature.check)(node).and_then(|Hit { keyword, .. }| keyword))
        })
    }

    /// Whether `schema` and everything in it can stay as it is. It must not contain references.
    pub(super) fn accepts_unchanged(&self, schema: &Value, is_root: bool) -> bool {
        let mut clean = true;
        walk_all(schema, &mut |node| {
            if !clean {
                return;
            }
            let node = Node {
                schema: node.schema,
                path: node.path,
                keyword: node.keyword.or(if is_root { None } else { Some("properties") }),
                parent: node.parent,
                root: node.root,
                steps: node.steps,
            };
            clean = !node.has("$ref")
                && !node.has("$dynamicRef")
                && self.features.iter().all(|feature| (feature.check)(&node).is_none());
        });
        clean
    }
}

/// Calls `check` with a node for `schema`.
fn on_node<T>(schema: &Value, is_root: bool, check: impl FnOnce(&Node<'_>) -> T) -> T {
    let path = Path::default();
    let keyword = if is_root { None } else { Some("properties") };
    let steps = Cell::new(REFERENCE_STEPS);
    check(&Node { schema, path: &path, keyword, parent: None, root: schema, steps: &steps })
}
