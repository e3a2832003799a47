//! Random schemas: validity is the same before and after, and a draft-07 reader refuses nothing valid.

use std::borrow::Cow;
use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{Projection, Revision, lift_tool, project::Formats, project_result};
use toolbond_harness::generate::Rng;
use toolbond_schema::{Dialect, Schema};

use super::official;
use super::reader::{Question, agrees, ajv_as};
use crate::assert_same;

const VALUES: usize = 24;

/// How many schemas of each dialect: `TOOLBOND_RANDOM`, else a number that takes seconds.
pub(crate) fn schemas() -> usize {
    std::env::var("TOOLBOND_RANDOM").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

pub(crate) fn trials() -> Vec<Trial> {
    Dialect::ALL
        .into_iter()
        .map(|dialect| Trial::test(format!("project/random/{dialect}"), move || holds(dialect)))
        .collect()
}

fn holds(dialect: Dialect) -> Result<(), Failed> {
    let mut random = Random::new(dialect as u64, dialect);
    let projection = Projection::default().formats(Formats::Dropped);
    let legacy = Revision::V2025_11_25;
    let mut questions = Vec::new();
    for _ in 0..schemas() {
        let schema = random.document();
        let Ok(before) = Schema::compile(&schema) else { continue };
        let tool = json!({ "name": "random", "outputSchema": schema });
        let projected = projection.project_tool(&tool, &legacy)?;
        let wire = &projected.tool["outputSchema"];
        assert_same(&lift_tool(&projected.tool, &legacy)?.tool, &tool, "lifted");
        let after =
            Schema::compile(wire).map_err(|error| format!("{error}: {schema} as {wire}"))?;
        let mut values = Vec::new();
        for _ in 0..VALUES {
            let value = random.value(3);
            let result = official::result(&value);
            let sent = project_result(Cow::Borrowed(&result), projected.form, &legacy)?;
            let content = &sent["structuredContent"];
            let valid = before.is_valid(&value);
            let is_kept = after.is_valid(content) == valid;
            assert!(is_kept, "{value}: {valid} under {schema}, not under {wire}");
            values.extend(valid.then(|| (content.clone(), true)));
        }
        questions.push(Question { name: schema.to_string(), schema: wire.clone(), values });
    }
    agrees(ajv_as("draft-07"), &questions, BTreeSet::new())
}

/// A generator of schemas and values of a dialect, the same in every run.
pub(crate) struct Random {
    pub(crate) rng: Rng,
    dialect: Dialect,
}

impl Random {
    pub(crate) const fn new(seed: u64, dialect: Dialect) -> Self {
        Self { rng: Rng::new(seed), dialect }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.rng.pick::<&str>(from)
    }

    /// A property, half of the time one that JavaScript objects inherit.
    fn name_of_some(&mut self) -> &'static str {
        self.pick(&["a", "b", "constructor", "hasOwnProperty"])
    }

    pub(crate) fn document(&mut self) -> Value {
        let dialect = self.dialect;
        let mut schema = Map::new();
        schema.insert("$schema".to_owned(), dialect.uri().into());
        let holder = if dialect >= Dialect::Draft201909 { "$defs" } else { "definitions" };
        let mut definitions: Map<_, _> =
            (0..3).map(|number| (format!("d{number}"), self.schema(2, number + 1))).collect();
        self.name(&mut schema, "http://example.com/root.json", "root");
        for (name, definition) in &mut definitions {
            if let Value::Object(definition) = definition {
                self.name(definition, &format!("{name}.json"), name);
            }
        }
        if let Value::Object(keywords) = self.schema(3, 0) {
            schema.extend(keywords);
        }
        schema.insert(holder.to_owned(), definitions.into());
        schema.into()
    }

    /// Names a schema in one of the ways of its dialect, or not at all.
    fn name(&mut self, schema: &mut Map<String, Value>, id: &str, anchor: &str) {
        let dialect = self.dialect;
        let later = dialect >= Dialect::Draft201909;
        let key = if dialect == Dialect::Draft4 { "id" } else { "$id" };
        match self.below(8) {
            0 => drop(schema.insert(key.to_owned(), id.into())),
            1 if later => drop(schema.insert("$anchor".to_owned(), anchor.into())),
            1 => drop(schema.insert(key.to_owned(), format!("#{anchor}").into())),
            2 if dialect == Dialect::Draft202012 => {
                // One of a name in a resource.
                if anchor != "root" {
                    schema.insert(key.to_owned(), id.into());
                }
                schema.insert("$dynamicAnchor".to_owned(), "node".into());
            }
            2 if dialect == Dialect::Draft201909 => {
                schema.insert(key.to_owned(), id.into());
                schema.insert("$recursiveAnchor".to_owned(), true.into());
            }
            3 if dialect == Dialect::Draft201909 => {
                schema.insert("$recursiveAnchor".to_owned(), true.into());
            }
            _ => {}
        }
    }

    /// A reference to something above or beside, for a place further down in the value.
    fn reference(&mut self) -> Value {
        match (self.below(6), self.dialect) {
            (0, _) => json!({ "$ref": "d1.json" }),
            (1, _) => json!({ "$ref": "#d2" }),
            (2, Dialect::Draft202012) => json!({ "$dynamicRef": "#node" }),
            (2 | 3, Dialect::Draft201909) => json!({ "$recursiveRef": "#" }),
            (3, _) => json!({ "$ref": "http://example.com/root.json" }),
            _ => json!({ "$ref": "#" }),
        }
    }

    /// A schema that refers in place only to definitions from `from` on, so that nothing loops.
    fn schema(&mut self, depth: usize, from: usize) -> Value {
        let six = self.dialect >= Dialect::Draft6;
        if depth == 0 || (six && self.below(12) == 0) {
            return match self.below(3) {
                0 if six => json!(true),
                1 if six => json!(false),
                _ => {
                    json!({ "type": self.pick(&["integer", "string", "array", "object", "null"]) })
                }
            };
        }
        let mut schema = Map::new();
        for _ in 0..=self.below(3) {
            let (keyword, value) = self.keyword(depth - 1, from);
            if let (Value::Object(more), true) = (&value, keyword.is_empty()) {
                schema.extend(more.clone());
            } else {
                schema.insert(keyword.to_owned(), value);
            }
        }
        schema.into()
    }

    fn keyword(&mut self, depth: usize, from: usize) -> (&'static str, Value) {
        let dialect = self.dialect;
        let later = dialect >= Dialect::Draft201909;
        let tuples = dialect == Dialect::Draft202012;
        let six = dialect >= Dialect::Draft6;
        let inside = |random: &mut Self| random.schema(depth, 0);
        let here = |random: &mut Self| random.schema(depth, from);
        match self.below(30) {
            0 => ("type", self.pick(&["integer", "string", "array", "object", "number"]).into()),
            1 => ("enum", json!([self.value(1), self.value(1), self.value(1)])),
            2 if six => ("const", self.value(2)),
            3 if six => ("", json!({ "exclusiveMinimum": 1, "maximum": 2 })),
            3 => ("", json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 2 })),
            4 => ("", json!({ "minLength": 1, "pattern": "^a" })),
            5 => ("items", inside(self)),
            6 if tuples => ("", json!({ "prefixItems": [inside(self)], "items": inside(self) })),
            6 => ("", json!({ "items": [inside(self)], "additionalItems": inside(self) })),
            7 if later => {
                let (least, most) = (self.below(3), self.below(3));
                let contains = inside(self);
                ("", json!({ "contains": contains, "minContains": least, "maxContains": most }))
            }
            8 if later => ("", json!({ "contains": inside(self), "minContains": 0 })),
            7 | 8 if six => ("contains", inside(self)),
            9 => ("", json!({ "maxItems": 2, "uniqueItems": true })),
            26 if six => {
                let keyword = self.pick(&["maxItems", "minItems", "maxLength", "minLength"]);
                // A float, in the dialects that take one for an integer.
                let bound = [0.0, 1.0, 2.0][self.below(3)];
                ("", json!({ keyword: bound }))
            }
            26 => ("", json!({ "minimum": 0.5, "maximum": 2.5, "exclusiveMaximum": true })),
            27 => {
                let kind = self.pick(&["integer", "string", "array", "object"]);
                let nullable = [json!(true), json!(false), json!("yes")][self.below(3)].clone();
                ("", json!({ "type": kind, "nullable": nullable }))
            }
            28 => {
                let (name, needed) = (self.name_of_some(), self.name_of_some());
                ("dependencies", json!({ name: [needed], "b": here(self) }))
            }
            29 => ("dependencies", json!({ self.name_of_some(): here(self) })),
            10 | 11 => {
                let name = self.name_of_some();
                ("properties", json!({ name: inside(self), "a": inside(self) }))
            }
            12 => ("required", json!([self.name_of_some()])),
            13 => ("additionalProperties", inside(self)),
            14 => {
                let pattern = self.pick(&["^[ab]$", "^constructor$", "^(?:hasOwnProperty)$", "o"]);
                ("patternProperties", json!({ pattern: inside(self) }))
            }
            15 if later => {
                ("dependentRequired", json!({ self.name_of_some(): [self.name_of_some()] }))
            }
            16 if later => ("dependentSchemas", json!({ "a": here(self) })),
            15 | 16 => ("dependencies", json!({ "a": here(self), "b": ["a"] })),
            17 if later => ("unevaluatedProperties", inside(self)),
            18 if later => ("unevaluatedItems", inside(self)),
            19 => ("allOf", json!([here(self), here(self)])),
            20 => ("anyOf", json!([here(self), here(self)])),
            21 => ("oneOf", json!([here(self), here(self)])),
            22 => ("not", here(self)),
            23 if dialect >= Dialect::Draft7 => {
                ("", json!({ "if": here(self), "then": here(self), "else": here(self) }))
            }
            24 if from < 3 => {
                let holder = if later { "$defs" } else { "definitions" };
                let number = from + self.below(3 - from);
                let keyword = if tuples && self.below(3) == 0 { "$dynamicRef" } else { "$ref" };
                (keyword, format!("#/{holder}/d{number}").into())
            }
            25 => ("properties", json!({ "b": self.reference() })),
            _ => ("minItems", 1.into()),
        }
    }

    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 8 } else { 14 }) {
            0 => json!(null),
            1 => json!(true),
            2 => json!(1),
            3 => json!(2),
            4 => json!(2.5),
            5 => json!("a"),
            6 => json!("abc"),
            7 => json!(""),
            8..=10 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let names = ["a", "b", "c", "constructor", "hasOwnProperty"];
                (0..self.below(4))
                    .map(|_| (self.pick(&names).to_owned(), self.value(depth - 1)))
                    .collect::<Map<_, _>>()
                    .into()
            }
        }
    }
}
