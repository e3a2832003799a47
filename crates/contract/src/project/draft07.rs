//! What a draft-07 reader makes of a schema, and how to keep it from refusing a valid value.
//!
//! Legacy readers are usually draft-07 readers, whatever `$schema` says: they ignore keywords they do
//! not know, and they read some that they know differently. What is ignored makes a schema looser,
//! which harms nobody, unless it stands under `not`, `if` or `oneOf`, where looser becomes stricter.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use toolbond_schema::Dialect;

use super::edit::Edit;
use super::inherited;
use super::projection::Formats;
use super::schema_map::SchemaMap;
use crate::keyword;

/// The changes that keep a draft-07 reader from refusing what the schema's own dialect accepts.
pub(crate) fn edits(map: &SchemaMap<'_>, formats: Formats) -> HashMap<usize, Edit> {
    let targets = map.links.iter().filter_map(|link| Some(link.target?.place)).collect();
    let mut reader = Reader { map, formats, targets, edits: HashMap::new(), loose: Vec::new() };
    // A schema that is also data, or also a holder of schemas, cannot be changed as one of the two.
    if map.tangled {
        return reader.edits;
    }
    for place in 0..map.places.len() {
        if let Value::Object(schema) = map.places[place].schema {
            reader.look_at(place, schema);
        }
    }
    reader.spread();
    reader.look_below_inversion();
    reader.edits
}

struct Reader<'a, 'b> {
    map: &'a SchemaMap<'b>,
    formats: Formats,
    /// Places that references lead to.
    targets: HashSet<usize>,
    edits: HashMap<usize, Edit>,
    /// Places of which a draft-07 reader accepts more than it should.
    loose: Vec<usize>,
}

impl Reader<'_, '_> {
    fn edit(&mut self, place: usize) -> &mut Edit {
        self.edits.entry(place).or_default()
    }

    fn look_at(&mut self, place: usize, schema: &Map<String, Value>) {
        let dialect = self.map.places[place].dialect;
        let ref_rules =
            dialect <= Dialect::Draft7 && schema.get("$ref").is_some_and(Value::is_string);
        self.silence(place, schema, dialect, ref_rules);
        if ref_rules {
            return;
        }
        self.numbers(place, schema, dialect);
        self.formats(place, schema);
        self.inherited_names(place, schema);
        if dialect >= Dialect::Draft201909 {
            self.arrays(place, schema, dialect);
            let named = self.map.places[place].is_named;
            if named && schema.get("$ref").is_some_and(Value::is_string) {
                self.edit(place).ref_below = true;
            }
            if is_loose(schema) {
                self.loose.push(place);
            }
        }
    }

    /// Keywords that mean nothing in the schema's dialect and something to the reader.
    fn silence(
        &mut self,
        place: usize,
        schema: &Map<String, Value>,
        dialect: Dialect,
        ref_rules: bool,
    ) {
        let mut silent: Vec<&str> = Vec::new();
        silent.extend(keyword::ONLY_AJV_KNOWS);
        if ref_rules {
            silent.extend(keyword::active_beside_ref());
        } else {
            silent.extend(keyword::only_draft07_asserts(dialect));
            silent.push("id");
            if !is_nullable_read(schema) {
                silent.push("nullable");
            }
            for keyword in ["exclusiveMaximum", "exclusiveMinimum"] {
                if dialect == Dialect::Draft4 && schema.get(keyword).is_some_and(Value::is_number) {
                    silent.push(keyword);
                }
            }
        }
        for keyword in silent.into_iter().filter(|keyword| schema.contains_key(*keyword)) {
            self.edit(place)
                .rename
                .push((keyword.to_owned(), keyword::unknown_name(keyword, schema)));
        }
    }

    /// Draft-04: `exclusiveMinimum: true` says how `minimum` is meant.
    fn numbers(&mut self, place: usize, schema: &Map<String, Value>, dialect: Dialect) {
        if dialect != Dialect::Draft4 {
            return;
        }
        for (keyword, bound, beyond) in
            [("exclusiveMinimum", "minimum", "maximum"), ("exclusiveMaximum", "maximum", "minimum")]
        {
            let Some(Value::Bool(exclusive)) = schema.get(keyword) else { continue };
            let edit = self.edit(place);
            edit.drop.push(keyword);
            if let (true, Some(bound)) = (exclusive, schema.get(bound)) {
                edit.require.push(json!({ "not": { "type": "number", beyond: bound } }));
            }
        }
    }

    /// Properties that every JavaScript object has are looked for by pattern.
    fn inherited_names(&mut self, place: usize, schema: &Map<String, Value>) {
        if inherited::is_named_in(schema) {
            self.edit(place).by_pattern = true;
        }
        for (keyword, child) in &self.map.places[place].children {
            let pointer = &self.map.places[*child].pointer;
            let name = pointer.rsplit('/').next().unwrap_or_default();
            if *keyword == "dependencies" && inherited::is_inherited(name) {
                self.edit(*child).only_beside = Some(name.to_owned());
            }
        }
        let Some(Value::Array(required)) = schema.get("required") else { return };
        let (hidden, seen) = inherited::part(required);
        if hidden.is_empty() {
            return;
        }
        let edit = self.edit(place);
        // An empty list is no list in draft-04.
        if seen.is_empty() {
            edit.drop.push("required");
        } else {
            edit.put.push(("required", seen.into()));
        }
        edit.require.extend(hidden.into_iter().map(inherited::present));
    }

    fn formats(&mut self, place: usize, schema: &Map<String, Value>) {
        if self.formats == Formats::Dropped && schema.get("format").is_some_and(Value::is_string) {
            self.edit(place).drop.push("format");
        }
    }

    fn arrays(&mut self, place: usize, schema: &Map<String, Value>, dialect: Dialect) {
        if schema.contains_key("contains")
            && schema.get("minContains").and_then(Value::as_f64) == Some(0.0)
        {
            self.edit(place).veil = true;
            self.loose.push(place);
        }
        let (Some(Value::Array(prefix)), Some(items)) =
            (schema.get("prefixItems"), schema.get("items"))
        else {
            return;
        };
        if dialect != Dialect::Draft202012 || *items == Value::Bool(true) {
            return;
        }
        let pointed_at = self.is_pointed_at(place, "items");
        if *items == Value::Bool(false) && !pointed_at {
            let length = prefix.len();
            let most = schema.get("maxItems").and_then(Value::as_f64);
            let edit = self.edit(place);
            edit.drop.push("items");
            let as_number = f64::from(u32::try_from(length).unwrap_or(u32::MAX));
            if most.is_none_or(|most| most > as_number) {
                edit.put.push(("maxItems", length.into()));
            }
        } else if schema.keys().any(|keyword| evaluates_items(keyword)) {
            self.edit(place).veil = true;
        } else {
            let rename = ("items".to_owned(), "unevaluatedItems".to_owned());
            self.edit(place).rename.push(rename);
        }
    }

    /// Whether a reference leads to the one schema that `keyword` holds.
    fn is_pointed_at(&self, place: usize, keyword: &str) -> bool {
        let children = &self.map.places[place].children;
        let child = children.iter().find(|(under, _)| *under == keyword).map(|(_, child)| *child);
        child.is_some_and(|child| self.targets.contains(&child))
    }

    /// Follows looseness up to where it would turn into its opposite, and veils that.
    fn spread(&mut self) {
        let map = self.map;
        let mut above: Vec<Vec<(usize, bool)>> = vec![Vec::new(); map.places.len()];
        for (parent, place) in map.places.iter().enumerate() {
            for (keyword, child) in &place.children {
                above[*child].push((parent, inverts(keyword, place.schema)));
            }
        }
        for link in &map.links {
            if let Some(target) = link.target {
                above[target.place].push((link.holder, false));
            }
        }
        let mut is_loose = vec![false; map.places.len()];
        let mut queue = std::mem::take(&mut self.loose);
        while let Some(place) = queue.pop() {
            if std::mem::replace(&mut is_loose[place], true) {
                continue;
            }
            for &(parent, inverts) in &above[place] {
                if inverts && map.places[parent].dialect >= Dialect::Draft201909 {
                    self.edit(parent).veil = true;
                }
                queue.push(parent);
            }
        }
    }

    /// Where more that is accepted would be turned into more that is refused: Ajv accepts `null` by
    /// `nullable`, which no dialect knows, and takes an empty array for one that contains something when
    /// it has just read `items`. There it gets not to see the one, and the array says itself that it is
    /// not empty.
    fn look_below_inversion(&mut self) {
        let map = self.map;
        let places = map.places.iter();
        let mut queue: Vec<usize> = places
            .flat_map(|place| {
                let children = place.children.iter();
                children.filter(|(keyword, _)| inverts(keyword, place.schema))
            })
            .map(|(_, child)| *child)
            .collect();
        let mut seen = vec![false; map.places.len()];
        while let Some(place) = queue.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            let around = &map.places[place];
            queue.extend(around.children.iter().map(|(_, child)| *child));
            queue.extend(map.links_of(place).filter_map(|link| Some(link.target?.place)));
            let number = |keyword| around.schema.get(keyword).and_then(Value::as_f64);
            let ref_rules =
                around.dialect <= Dialect::Draft7 && around.schema.get("$ref").is_some();
            if let (Value::Object(schema), false) = (around.schema, ref_rules)
                && schema.get("nullable") == Some(&Value::Bool(true))
                && is_nullable_read(schema)
            {
                let name = keyword::unknown_name("nullable", schema);
                self.edit(place).rename.push(("nullable".to_owned(), name));
            }
            if around.dialect >= Dialect::Draft6
                && !ref_rules
                && around.schema.get("contains").is_some()
                && number("minContains") != Some(0.0)
                && number("minItems").is_none_or(|least| least < 1.0)
            {
                self.edit(place).put.push(("minItems", 1.into()));
            }
        }
    }
}

/// Whether what a schema accepts decides what `keyword`, which holds it, refuses.
fn inverts(keyword: &str, holder: &Value) -> bool {
    matches!(keyword, "not" | "if") || keyword == "oneOf" && branches(holder) > 1
}

/// Whether a draft-07 reader ignores something that the schema asserts.
fn is_loose(schema: &Map<String, Value>) -> bool {
    schema.keys().any(|keyword| match keyword.as_str() {
        "$dynamicRef"
        | "$recursiveRef"
        | "dependentRequired"
        | "dependentSchemas"
        | "prefixItems"
        | "unevaluatedItems"
        | "unevaluatedProperties" => true,
        "maxContains" | "minContains" => schema.contains_key("contains"),
        _ => false,
    })
}

/// Keywords that, beside `unevaluatedItems`, decide which items it is about.
fn evaluates_items(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef"
            | "$ref"
            | "allOf"
            | "anyOf"
            | "contains"
            | "if"
            | "oneOf"
            | "unevaluatedItems"
    )
}

/// Whether Ajv goes on after `nullable`: it gives up where that is no boolean, stands without `type`, or
/// is `false` beside the type `null`.
fn is_nullable_read(schema: &Map<String, Value>) -> bool {
    let Some(kind) = schema.get("type") else { return false };
    let has_null =
        *kind == "null" || kind.as_array().is_some_and(|list| list.contains(&"null".into()));
    match schema.get("nullable") {
        Some(Value::Bool(nullable)) => *nullable || !has_null,
        _ => false,
    }
}

fn branches(schema: &Value) -> usize {
    schema.get("oneOf").and_then(Value::as_array).map_or(0, Vec::len)
}
