//! A first look at an instance: schemas of common keywords, read without the engine.
//!
//! What is valid at a glance is valid in every dialect, because each keyword is read as strictly as any of them does
//! and a schema with any other keyword is left to the engine. What is not may still be valid.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

/// Values, names and strings that are looked at before it is no glance any more.
const STEPS: usize = 1 << 14;

/// Rules inside of each other that are followed.
const DEPTH: usize = 64;

/// Integers that a double can tell from their neighbours.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The places of the rule of the root, and of one that asks for nothing.
const ROOT: usize = 0;
const ANYTHING: usize = 1;

/// A schema that a glance may be enough for.
#[derive(Debug)]
pub(crate) struct Glance {
    rules: Vec<Rule>,
}

/// What one subschema asks for. Rules know each other by their places.
#[derive(Debug)]
struct Rule {
    kinds: u8,
    least: f64,
    most: f64,
    strings: Option<Vec<String>>,
    items: usize,
    properties: Vec<Property>,
    /// Properties that have to be there.
    required: usize,
    /// The rule of members that are no properties.
    others: usize,
    all_of: Vec<usize>,
    any_of: Vec<usize>,
    /// Whether it asks for nothing but one of `kinds`.
    is_of_kinds: bool,
}

#[derive(Debug)]
struct Property {
    name: String,
    rule: usize,
    is_required: bool,
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;
const ANY: u8 = 127;

impl Glance {
    /// What `schema` asks for, where that is said in keywords that are known here.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let rules = vec![Rule::default(), Rule::default()];
        let mut reader = Reader { root: schema, rules, named: HashMap::new(), depth: 0 };
        reader.read_at(ROOT, schema)?;
        Some(Self { rules: reader.rules })
    }

    /// Whether `value` is seen to be valid.
    #[inline]
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        Look { rules: &self.rules, steps: STEPS }.accepts(ROOT, value, DEPTH)
    }
}

/// Reads a schema into rules.
struct Reader<'a> {
    root: &'a Value,
    rules: Vec<Rule>,
    named: HashMap<&'a str, usize>,
    /// Subschemas that it is inside of.
    depth: usize,
}

impl<'a> Reader<'a> {
    /// The rule of `schema`: a new one unless it is a reference and nothing else, or asks for nothing.
    fn rule(&mut self, schema: &'a Value) -> Option<usize> {
        if let Value::Object(members) = schema {
            let mut asking = members.iter().filter(|(keyword, _)| !is_annotation(keyword));
            match (asking.next(), asking.next()) {
                (None, _) => return Some(ANYTHING),
                (Some((keyword, Value::String(to))), None) if keyword == "$ref" => {
                    return self.referred(to);
                }
                _ => {}
            }
        }
        let at = self.next();
        self.read_at(at, schema)?;
        Some(at)
    }

    /// The place of a new rule.
    fn next(&mut self) -> usize {
        self.rules.push(Rule::default());
        self.rules.len() - 1
    }

    fn referred(&mut self, to: &'a str) -> Option<usize> {
        if to == "#" {
            return Some(ROOT);
        }
        if let Some(&at) = self.named.get(to) {
            return Some(at);
        }
        let (place, name) = to.strip_prefix("#/")?.split_once('/')?;
        if !matches!(place, "$defs" | "definitions") || name.contains(['/', '~', '%']) {
            return None;
        }
        let schema = self.root.get(place)?.get(name)?;
        let at = self.next();
        self.named.insert(to, at);
        self.read_at(at, schema)?;
        Some(at)
    }

    fn read_at(&mut self, at: usize, schema: &'a Value) -> Option<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let mut rule = Rule::default();
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => rule.kinds = 0,
            Value::Object(members) => {
                for (keyword, value) in members {
                    let is_root = at == ROOT && matches!(keyword.as_str(), "$schema" | "$id");
                    if !is_root && !is_annotation(keyword) {
                        self.read_keyword(&mut rule, keyword, value)?;
                    }
                }
                self.read_members(&mut rule, members)?;
                rule.is_of_kinds =
                    members.keys().all(|keyword| keyword == "type" || is_annotation(keyword));
            }
            _ => return None,
        }
        self.rules[at] = rule;
        self.depth -= 1;
        Some(())
    }

    fn read_keyword(&mut self, rule: &mut Rule, keyword: &str, value: &'a Value) -> Option<()> {
        match (keyword, value) {
            ("type", Value::String(name)) => rule.kinds &= kind(name)?,
            ("type", Value::Array(names)) => {
                let mut kinds = names.iter().map(|name| kind(name.as_str()?));
                rule.kinds &= kinds.try_fold(0, |known, kind| Some(known | kind?))?;
            }
            ("const", value) => rule.read_values(std::slice::from_ref(value))?,
            ("enum", Value::Array(values)) => rule.read_values(values)?,
            ("minimum", Value::Number(least)) => rule.least = exact(least)?,
            ("maximum", Value::Number(most)) => rule.most = exact(most)?,
            ("items", Value::Object(_) | Value::Bool(_)) => rule.items = self.rule(value)?,
            ("additionalProperties", Value::Object(_) | Value::Bool(_)) => {
                rule.others = self.rule(value)?;
            }
            ("$ref", Value::String(to)) => rule.all_of.push(self.referred(to)?),
            ("allOf", Value::Array(branches)) => {
                for branch in branches {
                    rule.all_of.push(self.rule(branch)?);
                }
            }
            ("anyOf", Value::Array(branches)) => {
                for branch in branches {
                    rule.any_of.push(self.rule(branch)?);
                }
            }
            ("properties", Value::Object(_)) | ("required", Value::Array(_)) => {}
            _ => return None,
        }
        Some(())
    }

    /// Reads `properties` and `required`, which other keywords may stand before.
    fn read_members(&mut self, rule: &mut Rule, schema: &'a Map<String, Value>) -> Option<()> {
        for (name, property) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let (name, property) = (name.clone(), self.rule(property)?);
            rule.properties.push(Property { name, rule: property, is_required: false });
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str()?;
            let known = rule.properties.iter_mut().find(|property| property.name == name);
            if let Some(property) = known {
                property.is_required = true;
            } else {
                let (name, others) = (name.to_owned(), rule.others);
                rule.properties.push(Property { name, rule: others, is_required: true });
            }
        }
        rule.required = rule.properties.iter().filter(|property| property.is_required).count();
        Some(())
    }
}

impl Rule {
    /// Reads the values that an instance has to be one of.
    fn read_values(&mut self, values: &[Value]) -> Option<()> {
        if self.strings.is_some() {
            return None;
        }
        let mut kinds = 0;
        let mut strings = Vec::new();
        for value in values {
            match value {
                Value::Null => kinds |= NULL,
                Value::String(string) => {
                    kinds |= STRING;
                    strings.push(string.clone());
                }
                _ => return None,
            }
        }
        self.kinds &= kinds;
        self.strings = Some(strings);
        Some(())
    }

    /// Whether `number` is within the bounds.
    fn bounds(&self, number: &Number) -> bool {
        (self.least == f64::NEG_INFINITY && self.most == f64::INFINITY)
            || exact(number).is_some_and(|value| self.least <= value && value <= self.most)
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            kinds: ANY,
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
            strings: None,
            items: ANYTHING,
            properties: Vec::new(),
            required: 0,
            others: ANYTHING,
            all_of: Vec::new(),
            any_of: Vec::new(),
            is_of_kinds: true,
        }
    }
}

/// Whether a keyword asks for nothing, wherever it stands.
fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "$defs"
            | "default"
            | "definitions"
            | "deprecated"
            | "description"
            | "examples"
            | "format"
            | "readOnly"
            | "title"
            | "writeOnly"
    ) || keyword.starts_with("x-")
}

fn kind(name: &str) -> Option<u8> {
    Some(match name {
        "null" => NULL,
        "boolean" => BOOLEAN,
        "integer" => INTEGER,
        "number" => INTEGER | FRACTION,
        "string" => STRING,
        "array" => ARRAY,
        "object" => OBJECT,
        _ => return None,
    })
}

fn kind_of(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(number) if number.is_f64() => FRACTION,
        Value::Number(_) => INTEGER,
        Value::String(_) => STRING,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

/// `number` as a double, where that is the same.
fn exact(number: &Number) -> Option<f64> {
    number.as_f64().filter(|value| number.is_f64() || value.abs() < EXACT)
}

/// One look at one instance.
struct Look<'a> {
    rules: &'a [Rule],
    steps: usize,
}

impl Look<'_> {
    #[inline]
    fn accepts(&mut self, at: usize, value: &Value, depth: usize) -> bool {
        let rule = &self.rules[at];
        rule.kinds & kind_of(value) != 0
            && (rule.is_of_kinds || self.accepts_inside(rule, value, depth))
    }

    fn accepts_inside(&mut self, rule: &Rule, value: &Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let is_accepted = match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => rule.bounds(number),
            Value::String(string) => {
                rule.strings.as_ref().is_none_or(|strings| self.is_one_of(strings, string))
            }
            Value::Array(items) => {
                self.takes(items.len())
                    && items.iter().all(|item| self.accepts(rule.items, item, depth))
            }
            Value::Object(members) => {
                self.takes(members.len()) && self.has_members(rule, members, depth)
            }
        };
        is_accepted
            && self.takes(rule.all_of.len() + rule.any_of.len())
            && rule.all_of.iter().all(|&branch| self.accepts(branch, value, depth))
            && (rule.any_of.is_empty()
                || rule.any_of.iter().any(|&branch| self.accepts(branch, value, depth)))
    }

    fn has_members(&mut self, rule: &Rule, members: &Map<String, Value>, depth: usize) -> bool {
        let mut missing = rule.required;
        // Members mostly come in the order of their properties.
        let mut next = 0;
        for (name, value) in members {
            let at = match rule.properties.get(next) {
                Some(property) if property.name == *name => Some(next),
                _ if !self.takes(rule.properties.len() * (1 + name.len() / 64)) => {
                    return false;
                }
                _ => rule.properties.iter().position(|property| property.name == *name),
            };
            let below = if let Some(at) = at {
                next = at + 1;
                missing -= usize::from(rule.properties[at].is_required);
                rule.properties[at].rule
            } else {
                rule.others
            };
            if !self.accepts(below, value, depth) {
                return false;
            }
        }
        missing == 0
    }

    fn is_one_of(&mut self, strings: &[String], string: &str) -> bool {
        self.takes(strings.len() * (1 + string.len() / 64))
            && strings.iter().any(|other| other == string)
    }

    /// Whether there are `steps` left to take.
    #[inline]
    fn takes(&mut self, steps: usize) -> bool {
        self.steps.checked_sub(steps).map(|left| self.steps = left).is_some()
    }
}
