//! A corpus of schemas and instances that are meant to do harm, as data.
//!
//! `hostile.json` holds the cases. Where a value would be too large to write down, it says how to
//! make it: an object with a `$make` member stands for what [`make`] builds of it.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolbond_schema::{Limits, Options, SchemaError, SchemaErrorKind, Unfinished, Verdict};

/// One case.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    schema: Value,
    instance: Value,
    /// Limits other than the default.
    #[serde(default)]
    pub limits: Map<String, Value>,
    /// Whether `format` is checked.
    #[serde(default)]
    pub assert_formats: bool,
    /// How it ends.
    pub ends: End,
    /// What ends it, where the schema is not admitted or the validation is stopped: the name of a limit,
    /// or of another rule.
    #[serde(default)]
    pub by: Option<String>,
}

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The schema is not admitted.
    Refused,
    /// The instance is valid.
    Valid,
    /// The instance is invalid.
    Invalid,
    /// The validation was stopped.
    Unfinished,
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../hostile.json"))
        .unwrap_or_else(|error| panic!("hostile.json: {error}"));
    cases
}

/// What a case came to.
#[derive(Debug)]
pub enum CaseOutcome {
    /// The schema was not admitted.
    Refused(SchemaError),
    /// The verdict, and the fuel it took.
    Judged(Verdict, u64),
}

impl CaseOutcome {
    /// How it ended.
    pub fn end(&self) -> End {
        match self {
            Self::Refused(_) => End::Refused,
            Self::Judged(Verdict::Valid, _) => End::Valid,
            Self::Judged(Verdict::Invalid(_), _) => End::Invalid,
            Self::Judged(Verdict::Unfinished(_), _) => End::Unfinished,
        }
    }
}

impl CaseOutcome {
    /// What ended it; see [`Case::by`].
    pub fn by(&self) -> Option<&'static str> {
        match self {
            Self::Refused(error) => Some(error.kind.limit().unwrap_or(match error.kind {
                SchemaErrorKind::NotASchema { .. } => "not-a-schema",
                SchemaErrorKind::UnsupportedDialect { .. } => "dialect",
                SchemaErrorKind::Metaschema { .. } => "metaschema",
                SchemaErrorKind::ExternalReference { .. } => "external-reference",
                SchemaErrorKind::DanglingReference { .. } => "dangling-reference",
                SchemaErrorKind::Pattern { .. } => "pattern",
                _ => "unknown",
            })),
            Self::Judged(Verdict::Unfinished(unfinished), _) => {
                Some(unfinished.limit().unwrap_or(match unfinished {
                    Unfinished::Backtracking { .. } => "backtracking",
                    Unfinished::Engine => "engine",
                    _ => "unknown",
                }))
            }
            Self::Judged(..) => None,
        }
    }
}

impl Case {
    /// The schema.
    pub fn schema(&self) -> Value {
        make(&self.schema)
    }

    /// The instance.
    pub fn instance(&self) -> Value {
        make(&self.instance)
    }

    /// Compiles `schema` and validates `instance`.
    pub fn run(&self, schema: &Value, instance: &Value) -> CaseOutcome {
        let mut limits = Limits::default();
        for (name, limit) in &self.limits {
            let set = limits.set(name, limit.as_u64().unwrap_or_default());
            set.unwrap_or_else(|error| panic!("{error}"));
        }
        let options = Options::default().limits(limits).assert_formats(self.assert_formats);
        match options.compile(schema) {
            Err(error) => CaseOutcome::Refused(error),
            Ok(schema) => {
                let measured = schema.measure(instance);
                CaseOutcome::Judged(measured.verdict, measured.fuel)
            }
        }
    }
}

/// Builds what `recipe` describes; what describes nothing stays as it is.
pub fn make(recipe: &Value) -> Value {
    match recipe {
        Value::Array(items) => items.iter().map(make).collect(),
        Value::Object(members) => match members.get("$make").and_then(Value::as_str) {
            None => members.iter().map(|(name, value)| (name.clone(), make(value))).collect(),
            Some(kind) => build(kind, &Recipe(members)),
        },
        scalar => scalar.clone(),
    }
}

struct Recipe<'a>(&'a Map<String, Value>);

impl Recipe<'_> {
    fn number(&self, name: &str) -> usize {
        let number = self.0.get(name).and_then(Value::as_u64);
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.unwrap_or_else(|| panic!("recipe without `{name}`"))
    }

    fn text(&self, name: &str) -> &str {
        self.0
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("recipe without `{name}`"))
    }

    fn value(&self, name: &str) -> Value {
        make(self.0.get(name).unwrap_or_else(|| panic!("recipe without `{name}`")))
    }
}

fn build(kind: &str, recipe: &Recipe<'_>) -> Value {
    match kind {
        // Definitions that each apply the next one twice.
        "doubling" => linked(recipe, 2),
        // Definitions that each apply the next one.
        "chain" => linked(recipe, 1),
        // One object nested in another by `unevaluatedProperties` over two branches.
        "unevaluated" => unevaluated(recipe.number("levels")),
        // `times` copies of a value.
        "copies" => Value::Array(vec![recipe.value("of"); recipe.number("times")]),
        // The integers from `first`.
        "integers" => {
            let first = recipe.number("first");
            (first..first + recipe.number("count")).map(Value::from).collect()
        }
        // Objects that differ in the last member.
        "objects" => (0..recipe.number("count"))
            .map(|id| json!({ "kind": "object", "tags": ["a", "b"], "id": id }))
            .collect(),
        // All ways to bracket a sequence of `items` ones, up to `count` of them.
        "bracketings" => {
            let mut all = bracketings(recipe.number("items"));
            all.truncate(recipe.number("count"));
            Value::Array(all)
        }
        // A value inside of `levels` arrays or objects.
        "nested" => {
            let member = recipe.0.get("member").and_then(Value::as_str);
            (0..recipe.number("levels")).fold(recipe.value("inner"), |inner, _| match member {
                Some(member) => Value::Object(Map::from_iter([(member.to_owned(), inner)])),
                None => Value::Array(vec![inner]),
            })
        }
        // A string, repeated, with an end.
        "text" => {
            let end = recipe.0.get("end").and_then(Value::as_str).unwrap_or_default();
            Value::from(recipe.text("of").repeat(recipe.number("times")) + end)
        }
        // Members called `prefix0`, `prefix1`, …
        "members" => {
            let (prefix, value) = (recipe.value("prefix"), recipe.value("value"));
            let prefix = prefix.as_str().unwrap_or_default();
            (0..recipe.number("count")).map(|i| (format!("{prefix}{i}"), value.clone())).collect()
        }
        // The strings `prefix0`, `prefix1`, …
        "strings" => {
            let prefix = recipe.value("prefix");
            let prefix = prefix.as_str().unwrap_or_default();
            (0..recipe.number("count")).map(|i| Value::from(format!("{prefix}{i}"))).collect()
        }
        // Schemas that each allow one integer.
        "constants" => (0..recipe.number("count")).map(|i| json!({ "const": i })).collect(),
        // Members whose values have the pattern `of`, made different by a number.
        "patterns" => (0..recipe.number("count"))
            .map(|i| (format!("p{i}"), json!({ "pattern": format!("{}{i}", recipe.text("of")) })))
            .collect(),
        other => panic!("no recipe `{other}`"),
    }
}

fn linked(recipe: &Recipe<'_>, times: usize) -> Value {
    let levels = recipe.number("levels");
    let through = recipe.text("through");
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = match through {
            "$dynamicRef" => json!({ "$dynamicRef": format!("#d{}", level + 1) }),
            _ => json!({ "$ref": format!("#/$defs/d{}", level + 1) }),
        };
        let mut applied = apply(through, &next, times);
        if through == "$dynamicRef" {
            applied["$dynamicAnchor"] = format!("d{level}").into();
        }
        definitions.insert(format!("d{level}"), applied);
    }
    let mut leaf = recipe.value("leaf");
    if through == "$dynamicRef" && leaf.is_object() {
        leaf["$dynamicAnchor"] = format!("d{levels}").into();
    }
    definitions.insert(format!("d{levels}"), leaf);
    let mut schema = json!({ "$ref": "#/$defs/d0" });
    schema["$defs"] = Value::Object(definitions);
    schema
}

fn apply(through: &str, next: &Value, times: usize) -> Value {
    let copies = vec![next.clone(); times];
    match through {
        "not" => json!({ "not": { "allOf": copies } }),
        "if" => json!({ "if": next, "then": next, "else": next }),
        "dependentSchemas" => {
            let members: Map<_, _> =
                copies.into_iter().enumerate().map(|(i, next)| (format!("k{i}"), next)).collect();
            json!({ "dependentSchemas": members })
        }
        "propertyNames" => json!({ "propertyNames": { "allOf": copies } }),
        "properties" => json!({ "properties": { "next": { "allOf": copies } } }),
        "$dynamicRef" => json!({ "allOf": copies }),
        keyword => json!({ keyword: copies }),
    }
}

fn unevaluated(levels: usize) -> Value {
    (0..levels).fold(json!({ "properties": { "a": true } }), |inner, _| {
        json!({ "allOf": [inner.clone()], "unevaluatedProperties": { "type": "integer" } })
    })
}

fn bracketings(items: usize) -> Vec<Value> {
    if items == 1 {
        return vec![json!(1)];
    }
    (1..items)
        .flat_map(|split| {
            let right = bracketings(items - split);
            bracketings(split).into_iter().flat_map(move |left| {
                right.clone().into_iter().map(move |right| json!([left, right]))
            })
        })
        .collect()
}
