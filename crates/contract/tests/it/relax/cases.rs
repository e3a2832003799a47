//! Schemas and what they become, for every kind of violation; each also nested in every keyword that holds schemas.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{
    Relaxation, relax,
    relax::{Keyword, relax_tool},
};
use toolbond_harness::generate::{self, Rng};
use toolbond_harness::trials;
use toolbond_schema::{Schema, Verdict};

use super::relaxed;

const CASES: &str = include_str!("../../cases/relax/schemas.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trials::file("relax/cases", CASES, becomes),
        trials::file("relax/cases_nested", CASES, nested),
        Trial::test("relax/every_kind_of_violation_has_a_case", every_kind),
        Trial::test("relax/tool", tool),
    ]
}

fn becomes(case: &Value) -> Result<(), Failed> {
    let author = Schema::compile(&case["schema"])?;
    assert!(!author.is_valid(&case["value"]), "it is valid");
    let found = relaxed(&author, &case["value"])?;
    let found = found.map_or(Value::Null, |schema| schema.source().clone());
    if found == case["becomes"] {
        return Ok(());
    }
    Err(format!("becomes {found}").into())
}

/// How a schema and its value are nested. `$S` stands for the schema, `$V` for the value.
const NESTED: [(&str, &str); 22] = [
    (r#"{"properties": {"p": "$S"}, "type": "object"}"#, r#"{"p": "$V"}"#),
    (r#"{"patternProperties": {"^p": "$S"}}"#, r#"{"p": "$V"}"#),
    (r#"{"additionalProperties": "$S"}"#, r#"{"p": "$V"}"#),
    (r#"{"unevaluatedProperties": "$S"}"#, r#"{"p": "$V"}"#),
    (r#"{"items": "$S"}"#, r#"["$V"]"#),
    (r#"{"prefixItems": ["$S"], "items": false}"#, r#"["$V"]"#),
    (r#"{"unevaluatedItems": "$S"}"#, r#"["$V"]"#),
    (r#"{"contains": "$S", "maxContains": 3}"#, r#"["$V"]"#),
    (r##"{"$ref": "#/$defs/d", "$defs": {"d": "$S"}}"##, r#""$V""#),
    (
        r##"{"properties": {"p": {"$ref": "#/$defs/d"}, "q": {"$ref": "#/$defs/d"}, "r": {"not": {"$ref": "#/$defs/d"}}},
        "$defs": {"d": "$S"}}"##,
        r#"{"p": "$V"}"#,
    ),
    (
        r##"{"$dynamicRef": "#d", "$defs": {"d": {"$dynamicAnchor": "d", "allOf": ["$S"]}}}"##,
        r#""$V""#,
    ),
    (r#"{"allOf": [{}, "$S"]}"#, r#""$V""#),
    (r#"{"anyOf": [{"const": "nothing else"}, "$S"]}"#, r#""$V""#),
    (r#"{"oneOf": [{"const": "nothing else"}, "$S"]}"#, r#""$V""#),
    (r#"{"not": {"not": "$S"}}"#, r#""$V""#),
    (r#"{"if": {"not": {"const": "x"}}, "then": "$S", "else": {"type": "string"}}"#, r#""$V""#),
    (r#"{"if": {"const": "x"}, "then": {"type": "string"}, "else": "$S"}"#, r#""$V""#),
    (r#"{"if": "$S", "else": {"const": "nothing else"}, "then": true}"#, r#""$V""#),
    (r#"{"allOf": ["$S"], "unevaluatedProperties": false, "unevaluatedItems": false}"#, r#""$V""#),
    (
        r#"{"oneOf": [{"allOf": ["$S"]}, {"const": 1.5}], "unevaluatedProperties": false}"#,
        r#""$V""#,
    ),
    (r#"{"dependentSchemas": {"p": {"properties": {"p": "$S"}}}}"#, r#"{"p": "$V"}"#),
    (r#"{"not": {"properties": {"p": {"not": "$S"}}, "required": ["p"]}}"#, r#"{"p": "$V"}"#),
];

/// Values that are tried for each schema.
const VALUES: usize = 60;

/// A schema that a case became by nesting, and what breaks it.
#[derive(Clone)]
struct Nested {
    author: Schema,
    value: Value,
}

impl Nested {
    fn of(case: &Value) -> Result<Vec<Self>, Failed> {
        let mut all = Vec::new();
        if case["schema"].get("$schema").is_some() {
            return Ok(all);
        }
        let fill = |text: &str| -> Result<Value, Failed> {
            let filled = text.replace(r#""$S""#, &case["schema"].to_string());
            Ok(serde_json::from_str(&filled.replace(r#""$V""#, &case["value"].to_string()))?)
        };
        for (schema, value) in NESTED {
            // References of the case lead from its own root.
            let Ok(author) = Schema::compile(&fill(schema)?) else { continue };
            let value = fill(value)?;
            if !author.is_valid(&value) {
                all.push(Self { author, value });
            }
        }
        Ok(all)
    }

    /// Values that the author's schema accepts.
    fn valid(&self, rng: &mut Rng) -> Vec<Value> {
        let any = (0..VALUES).map(|_| match rng.below(3) {
            0 => generate::value(rng, 3),
            1 => generate::sample(rng, self.author.source(), 5),
            _ => vary(rng, &self.value),
        });
        any.filter(|value| self.author.is_valid(value)).collect()
    }
}

/// What is relaxed accepts the value, and all that the author's schema accepted.
fn nested(case: &Value) -> Result<(), Failed> {
    let mut rng = Rng::new(1);
    for nested in Nested::of(case)? {
        let Some(after) = relaxed(&nested.author, &nested.value)? else { continue };
        for valid in nested.valid(&mut rng) {
            let (source, author) = (after.source(), nested.author.source());
            assert!(after.is_valid(&valid), "{valid} under {source}, of {author}");
        }
    }
    Ok(())
}

/// The cases and what they become by nesting: a schema, values that it accepts, and one that breaks it.
pub(super) fn all() -> Result<Vec<(Schema, Vec<Value>, Value)>, Failed> {
    let mut rng = Rng::new(2);
    let mut all = Vec::new();
    for (_, case) in trials::named(CASES) {
        let (author, value) = (Schema::compile(&case["schema"])?, case["value"].clone());
        for nested in [vec![Nested { author, value }], Nested::of(&case)?].concat() {
            let valid = nested.valid(&mut rng);
            all.push((nested.author, valid, nested.value));
        }
    }
    Ok(all)
}

/// `value` with another value at one place.
fn vary(rng: &mut Rng, value: &Value) -> Value {
    match value {
        Value::Array(list) if !list.is_empty() && !rng.one_in(3) => {
            let mut list = list.clone();
            let at = rng.below(list.len());
            list[at] = vary(rng, &list[at]);
            list.into()
        }
        Value::Object(map) if !map.is_empty() && !rng.one_in(3) => {
            let mut map = map.clone();
            let names: Vec<_> = map.keys().cloned().collect();
            let name = rng.pick(&names);
            let member = vary(rng, &map[name]);
            map[name] = member;
            map.into()
        }
        _ => generate::value(rng, 2),
    }
}

/// What a case has to break: each keyword that a relaxation may take away, and what else our validator reports. An empty
/// name is the schema `false`; `if` refuses nothing by itself.
fn kinds() -> Vec<String> {
    let mut kinds: Vec<String> =
        ["", "additionalItems", "additionalProperties", "minContains", "dependentSchemas"]
            .map(str::to_owned)
            .into();
    for (_, metaschema) in toolbond_schema::metaschemas() {
        for name in metaschema["properties"].as_object().into_iter().flat_map(serde_json::Map::keys)
        {
            if serde_json::from_value::<Keyword>(name.as_str().into()).is_ok()
                && !kinds.contains(name)
            {
                kinds.push(name.clone());
            }
        }
    }
    kinds.retain(|kind| kind != "if");
    assert!(kinds.len() > 30, "{kinds:?}");
    kinds
}

fn every_kind() -> Result<(), Failed> {
    let mut left = kinds();
    for (_, case) in trials::named(CASES) {
        let author = Schema::options().assert_formats(true).compile(&case["schema"])?;
        if let Verdict::Invalid(violations) = author.validate(&case["value"]) {
            for violation in &violations {
                let places: Vec<String> = violation.schema.tokens().collect();
                left.retain(|kind| *kind != violation.keyword && !places.contains(kind));
            }
        }
        // With formats asserted, a relaxation leaves them out.
        if case["schema"].get("format").is_some() {
            let relaxation = relax(&author, &Relaxation::default(), &case["value"]);
            let relaxation = relaxation.ok_or("a format is not left out")?;
            assert!(relaxation.apply(&case["schema"]).is_some_and(|it| it.get("format").is_none()));
        }
    }
    trials::none_of(left.into_iter().map(|kind| format!("no case breaks `{kind}`")))
}

fn tool() -> Result<(), Failed> {
    let schema = json!({ "type": "object", "required": ["a"], "$comment": "kept" });
    let tool =
        json!({ "name": "t", "inputSchema": {}, "outputSchema": schema, "_meta": { "x": 1 } });
    let author = Schema::compile(&schema)?;
    let some = relax(&author, &Relaxation::default(), &json!({})).ok_or("it is not relaxed")?;
    let relaxed = relax_tool(&tool, Some(&some));
    assert_eq!(
        *relaxed,
        json!({
            "name": "t", "inputSchema": {}, "outputSchema": { "type": "object", "$comment": "kept" },
            "_meta": { "x": 1, "dev.toolbond/output": { "relaxed": true } }
        })
    );
    assert_eq!(*relax_tool(&tool, Some(&Relaxation::default())), tool);
    let other = json!({ "name": "t", "inputSchema": {}, "outputSchema": { "type": "object" } });
    let dropped = json!({ "name": "t", "inputSchema": {}, "_meta": { "dev.toolbond/output": { "relaxed": "dropped" } } });
    assert_eq!(*relax_tool(&other, Some(&some)), dropped, "steps of another schema");
    assert_eq!(*relax_tool(&other, None), dropped);
    let without = json!({ "name": "t", "inputSchema": {} });
    assert_eq!(*relax_tool(&without, None), without);
    Ok(())
}
