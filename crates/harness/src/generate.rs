//! Random schemas and values, the same for the same seed.

use serde_json::{Map, Value, json};

const NAMES: [&str; 6] = ["a", "b", "c", "ä/~", "", "name"];
const TEXTS: [&str; 7] = ["", "a", "ab", "abc", "2024-02-29", "ÄÖ𝄞", "aaaaaaaaaaaaaaaaaaaaaaaa!"];
const PATTERNS: [&str; 7] = ["^a", "b$", "^[a-c]+$", "\\d{2}", "(?=a)ab", "(a)\\1", "^\\p{L}*$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A generator of numbers (`SplitMix64`).
#[derive(Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    /// Whether something that happens once in `n` times happens.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `list`.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Any JSON value, at most `depth` levels deep.
pub fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 8 } else { 12 }) {
        0 => Value::Null,
        1 => json!(rng.one_in(2)),
        2 => json!(rng.below(5)),
        3 => json!(-3.5),
        4 => {
            rng.pick(&[json!(1.0), json!(1e300), json!(0.1), json!(u64::MAX), json!(-0.0)]).clone()
        }
        5..=7 => json!(rng.pick(&TEXTS)),
        8 | 9 => (0..rng.below(5)).map(|_| value(rng, depth - 1)).collect(),
        _ => {
            let members = (0..rng.below(4)).map(|_| {
                let name = (*rng.pick(&NAMES)).to_owned();
                (name, value(rng, depth - 1))
            });
            Value::Object(members.collect())
        }
    }
}

/// Any JSON value of `words`, numbers and a few texts that are no words, at most `depth` levels deep.
pub fn of_words(rng: &mut Rng, words: &[&str], depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 12 }) {
        0 => Value::Null,
        1 => json!(rng.one_in(2)),
        2 => json!(rng.next().cast_signed()),
        3 => json!(f64::from_bits(rng.next())),
        4 => word(rng, words).into(),
        5..=8 => (0..rng.below(4)).map(|_| of_words(rng, words, depth - 1)).collect(),
        _ => members_of_words(rng, words, depth - 1).into(),
    }
}

/// An object of [`of_words`], whose members are at most `depth` levels deep.
pub fn members_of_words(rng: &mut Rng, words: &[&str], depth: usize) -> Map<String, Value> {
    (0..rng.below(6)).map(|_| (word(rng, words), of_words(rng, words, depth))).collect()
}

fn word(rng: &mut Rng, words: &[&str]) -> String {
    if rng.one_in(8) {
        let odd = ['a', '~', '/', '%', '#', '"', '\\', '\0', '\u{7f}', '\u{202e}', 'ä', '𝄞'];
        return (0..rng.below(9)).map(|_| *rng.pick(&odd)).collect();
    }
    (*rng.pick(words)).to_owned()
}

/// A document: a schema with definitions that its references name.
pub fn document(rng: &mut Rng) -> Value {
    let mut root = schema(rng, 3);
    if let Value::Object(root) = &mut root {
        let definitions: Map<_, _> =
            ["x", "y"].into_iter().map(|name| (name.to_owned(), schema(rng, 2))).collect();
        root.insert("$defs".to_owned(), definitions.into());
    }
    root
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    if rng.one_in(12) {
        return json!(!rng.one_in(4));
    }
    let mut keywords = Map::new();
    for _ in 0..=rng.below(3) {
        let (name, value) = keyword(rng, depth);
        keywords.insert(name.to_owned(), value);
    }
    Value::Object(keywords)
}

fn keyword(rng: &mut Rng, depth: usize) -> (&'static str, Value) {
    // One keyword in a hundred has a value that the metaschema does not allow.
    if rng.one_in(100) {
        return ("minLength", json!("short"));
    }
    let kinds = if depth == 0 { 17 } else { 36 };
    match rng.below(kinds) {
        0..=2 => ("type", json!(rng.pick(&TYPES))),
        3 => ("type", json!([rng.pick(&TYPES[..3]), rng.pick(&TYPES[3..])])),
        4 => ("enum", (0..=rng.below(3)).map(|_| value(rng, 1)).collect()),
        5 => ("const", value(rng, 1)),
        6 => ("minimum", json!(rng.below(3))),
        7 => ("exclusiveMaximum", json!(2.5)),
        8 => ("multipleOf", rng.pick(&[json!(2), json!(0.1), json!(1e-9)]).clone()),
        9 => ("minLength", json!(rng.below(3))),
        10 => ("maxLength", json!(rng.below(4))),
        11 => ("pattern", json!(rng.pick(&PATTERNS))),
        12 => ("required", json!([rng.pick(&NAMES)])),
        13 => ("uniqueItems", json!(rng.one_in(2))),
        14 => ("maxItems", json!(rng.below(4))),
        15 => ("minProperties", json!(rng.below(3))),
        16 => ("dependentRequired", json!({ *rng.pick(&NAMES): [rng.pick(&NAMES)] })),
        17..=19 => ("properties", members(rng, &NAMES, depth)),
        20 => ("patternProperties", members(rng, &PATTERNS, depth)),
        21 => ("additionalProperties", schema(rng, depth - 1)),
        22 => ("propertyNames", schema(rng, depth - 1)),
        23 => ("items", schema(rng, depth - 1)),
        24 => ("prefixItems", list(rng, depth)),
        25 => ("contains", schema(rng, depth - 1)),
        26 => ("not", schema(rng, depth - 1)),
        27 => ("allOf", list(rng, depth)),
        28 => ("anyOf", list(rng, depth)),
        29 => ("oneOf", list(rng, depth)),
        30 => ("if", schema(rng, depth - 1)),
        31 => (*rng.pick(&["then", "else"]), schema(rng, depth - 1)),
        32 => ("unevaluatedProperties", schema(rng, depth - 1)),
        33 => ("unevaluatedItems", schema(rng, depth - 1)),
        34 => ("dependentSchemas", members(rng, &NAMES, depth)),
        _ => ("$ref", json!(rng.pick(&["#/$defs/x", "#/$defs/y", "#"]))),
    }
}

fn list(rng: &mut Rng, depth: usize) -> Value {
    (0..=rng.below(2)).map(|_| schema(rng, depth - 1)).collect()
}

fn members(rng: &mut Rng, names: &[&str], depth: usize) -> Value {
    let members =
        (0..=rng.below(2)).map(|_| ((*rng.pick(names)).to_owned(), schema(rng, depth - 1)));
    Value::Object(members.collect())
}

/// A value that `schema` describes, as far as can be told without solving it.
pub fn sample(rng: &mut Rng, schema: &Value, depth: usize) -> Value {
    if depth == 0 || rng.one_in(20) {
        return value(rng, 1);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return rng.pick(values).clone();
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(branches) = schema[keyword].as_array().filter(|list| !list.is_empty()) {
            let branch = rng.pick(branches);
            return sample(rng, branch, depth - 1);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) if !kinds.is_empty() => rng.pick(kinds).clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("string") => json!(rng.pick(&TEXTS)),
        Some("integer" | "number") => {
            schema.get("minimum").cloned().unwrap_or_else(|| json!(rng.below(100)))
        }
        Some("boolean") => json!(rng.one_in(2)),
        Some("null") => Value::Null,
        Some("array") => {
            (0..rng.below(3)).map(|_| sample(rng, &schema["items"], depth - 1)).collect()
        }
        Some("object") => object(rng, schema, depth),
        _ if schema.get("properties").is_some() => object(rng, schema, depth),
        _ => value(rng, 2),
    }
}

fn object(rng: &mut Rng, schema: &Value, depth: usize) -> Value {
    let mut members = Map::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let required =
            schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        if (required && !rng.one_in(30)) || rng.one_in(2) {
            members.insert(name.clone(), sample(rng, member, depth - 1));
        }
    }
    if rng.one_in(10) {
        members.insert("surplus".to_owned(), value(rng, 1));
    }
    Value::Object(members)
}
