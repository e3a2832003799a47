//! Names that every JavaScript object has, and how to ask for a property of such a name by pattern.

use serde_json::{Map, Value, json};

/// Whether every JavaScript object has `name`: a reader written in it finds it in values that do not
/// have it, or, to be safe, does not look.
pub(crate) fn is_inherited(name: &str) -> bool {
    matches!(
        name,
        "__defineGetter__"
            | "__defineSetter__"
            | "__lookupGetter__"
            | "__lookupSetter__"
            | "__proto__"
            | "constructor"
            | "hasOwnProperty"
            | "isPrototypeOf"
            | "propertyIsEnumerable"
            | "toLocaleString"
            | "toString"
            | "valueOf"
    )
}

/// The pattern that matches `name` and nothing else, in a spelling that is not among `taken`.
pub(crate) fn pattern(name: &str, taken: Option<&Value>) -> String {
    let taken = taken.and_then(Value::as_object);
    let mut inside = name.to_owned();
    loop {
        let pattern = format!("^{inside}$");
        if !taken.is_some_and(|taken| taken.contains_key(&pattern)) {
            return pattern;
        }
        inside = format!("(?:{inside})");
    }
}

/// What every value but an object with the property `name`, which is inherited, satisfies.
pub(crate) fn absent(name: &str) -> Value {
    json!({ "patternProperties": { pattern(name, None): { "not": {} } } })
}

/// What every value but an object without the property `name`, which is inherited, satisfies.
pub(crate) fn present(name: &str) -> Value {
    let mut without = absent(name);
    without["type"] = "object".into();
    json!({ "not": without })
}

/// A list of `required` names: those that are inherited, and the others.
pub(crate) fn part(names: &[Value]) -> (Vec<&str>, Vec<Value>) {
    let inherited = names.iter().filter_map(Value::as_str).filter(|name| is_inherited(name));
    let is_other = |name: &&Value| !name.as_str().is_some_and(is_inherited);
    (inherited.collect(), names.iter().filter(is_other).cloned().collect())
}

/// The schema that says what `names` says as the dependency of `name`; `None` where no name in it is
/// inherited.
pub(crate) fn dependency(name: &str, names: &[Value]) -> Option<Value> {
    let (inherited, others) = part(names);
    if inherited.is_empty() && !is_inherited(name) {
        return None;
    }
    let mut wanted = Map::new();
    // An empty list is no list in draft-04.
    if !others.is_empty() {
        wanted.insert("required".to_owned(), others.into());
    }
    if !inherited.is_empty() {
        wanted.insert("allOf".to_owned(), inherited.into_iter().map(present).collect());
    }
    let wanted = Value::Object(wanted);
    Some(if is_inherited(name) { json!({ "anyOf": [absent(name), wanted] }) } else { wanted })
}

/// Whether a schema names something inherited in its `properties` or `dependencies`.
pub(crate) fn is_named_in(schema: &Map<String, Value>) -> bool {
    let under = |keyword| schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
    let depends = |(name, value): (&String, &Value)| {
        let mut names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        is_inherited(name) || names.any(is_inherited)
    };
    under("properties").any(|(name, _)| is_inherited(name)) || under("dependencies").any(depends)
}
