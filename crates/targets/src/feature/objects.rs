//! Objects.

use serde_json::Value;

use super::{Feature, Hit, Side, declare_feature, len};
use crate::node::Node;

declare_feature! {
    /// An object that allows no other properties (`additionalProperties: false`).
    ///
    /// Strict APIs need closed objects, and some converters cannot read them. If you cannot choose, keep the object closed:
    /// `toolbond view --for gemini` and `toolbond guard --for gemini` leave it out for Gemini.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } }, "additionalProperties": false }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    CLOSED_OBJECT = "closed-object", |node| {
        (node.get("additionalProperties") == Some(&Value::Bool(false)))
            .then(|| Hit::at("additionalProperties", "has `additionalProperties: false`"))
    }
}

declare_feature! {
    /// `dependentRequired`, `dependentSchemas` or `dependencies`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "dependentRequired": { "a": ["b"] } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string", "description": "Needs b." }, "b": { "type": "string" } } }
    /// ```
    DEPENDENT_REQUIRED = "dependent-properties", keywords ["dependentRequired", "dependentSchemas", "dependencies"]
}

declare_feature! {
    /// An object below the root without `properties`, which may hold anything.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "options": { "type": "object" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "options": { "type": "object", "properties": { "deep": { "type": "boolean" } } } } }
    /// ```
    EMPTY_OBJECT = "free-form-object", free_form
}

declare_feature! {
    /// A map: any keys, all values with one schema (`additionalProperties` with a schema).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "labels": { "type": "object", "additionalProperties": { "type": "string" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": {
    ///     "labels": {
    ///       "type": "array",
    ///       "items": { "type": "object", "properties": { "key": { "type": "string" }, "value": { "type": "string" } } }
    ///     }
    ///   }
    /// }
    /// ```
    MAP = "map", |node| {
        node.get("additionalProperties")
            .filter(|values| values.is_object())
            .map(|_| Hit::at("additionalProperties", "a map (`additionalProperties` is a schema)"))
    }
}

declare_feature! {
    /// An object that allows other properties than it declares.
    ///
    /// JSON Schema allows them unless `additionalProperties` is `false`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } }, "additionalProperties": false }
    /// ```
    OPEN_OBJECT = "open-object", |node| {
        let open = !matches!(node.get("additionalProperties"), Some(Value::Bool(false) | Value::Object(_)));
        (is_object(node) && open).then(|| Hit::new("an object without `additionalProperties: false`"))
    }
}

declare_feature! {
    /// An object that says that other properties are allowed (`additionalProperties: true`).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } }, "additionalProperties": true }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    EXPLICITLY_OPEN = "explicitly-open-object", |node| {
        (node.get("additionalProperties") == Some(&Value::Bool(true)))
            .then(|| Hit::at("additionalProperties", "has `additionalProperties: true`"))
    }
}

declare_feature! {
    /// A property that is not required and does not accept null.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": ["string", "null"] } }, "required": ["city"] }
    /// ```
    OPTIONAL_PROPERTY = "optional-property", |node| {
        let (name, _) = optional(node).find(|(_, inner)| !takes_null(inner))?;
        Some(Hit::at("properties", format!("property {name:?} is not required")))
    }
}

declare_feature! {
    /// A property that is not required and accepts null.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": ["string", "null"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": ["string", "null"] } }, "required": ["city"] }
    /// ```
    OPTIONAL_NULLABLE = "optional-nullable", |node| {
        let (name, _) = optional(node).find(|(_, inner)| takes_null(inner))?;
        Some(Hit::at("properties", format!("property {name:?} is not required, and may be null")))
    }
}

declare_feature! {
    /// `patternProperties`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "patternProperties": { "^x-": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "x-a": { "type": "string" } } }
    /// ```
    PATTERN_PROPERTIES = "pattern-properties", |node| Hit::keyword(node, &["patternProperties"])
}

declare_feature! {
    /// `minProperties` or `maxProperties`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" } }, "minProperties": 1 }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }
    /// ```
    PROPERTY_COUNT = "property-count", keywords ["minProperties", "maxProperties"]
}

declare_feature! {
    /// A property of the root whose name has characters other than `A-Z a-z 0-9 _ . -`, or more than 64.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "due date": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "due_date": { "type": "string" } } }
    /// ```
    PROPERTY_KEY = "property-key", property_key
}

declare_feature! {
    /// `propertyNames`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "propertyNames": { "maxLength": 8 } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    PROPERTY_NAMES = "property-names", keywords ["propertyNames"]
}

declare_feature! {
    /// `propertyNames` that allows some names only.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "propertyNames": { "maxLength": 8 } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "propertyNames": { "type": "string" } }
    /// ```
    NAME_CONSTRAINT = "name-constraint", keywords ["propertyNames"], |node| {
        let names = node.get("propertyNames")?.as_object()?;
        // Names are strings anyway.
        let constrains = names.iter().any(|(keyword, value)| keyword != "type" || value != "string");
        constrains.then(|| Hit::at("propertyNames", "has `propertyNames`"))
    }
}

declare_feature! {
    /// A property that is called like a keyword: `$defs`, `$ref`, `anyOf`, `required` or `additionalProperties`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "required": { "type": "boolean" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "is_required": { "type": "boolean" } } }
    /// ```
    RESERVED_KEY = "reserved-key", |node| {
        let properties = node.get("properties")?.as_object()?;
        let key = RESERVED.iter().find(|key| properties.contains_key(**key))?;
        Some(Hit::at("properties", format!("a property called `{key}`")))
    }
}

/// The same rule as that of good practice.
pub(crate) static UNDECLARED_REQUIRED: Feature = Feature {
    rule: &crate::checks::REQUIRED_UNDECLARED,
    side: Side::Input,
    check: undeclared_required,
    keywords: &[],
};

declare_feature! {
    /// `unevaluatedProperties` or `unevaluatedItems`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" } }, "unevaluatedProperties": false }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false }
    /// ```
    UNEVALUATED = "unevaluated", keywords ["unevaluatedProperties", "unevaluatedItems"]
}

declare_feature! {
    /// A property below the root that is not required.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "object", "properties": { "x": { "type": "number" } } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] } } }
    /// ```
    NESTED_OPTIONAL = "nested-optional", |node| {
        let (name, _) = optional(node).find(|(_, inner)| !inner.is_boolean()).filter(|_| !node.is_root())?;
        Some(Hit::at("properties", format!("property {name:?} is not required")))
    }
}

/// Names of properties that Kimi refuses.
pub(crate) const RESERVED: [&str; 5] =
    ["$defs", "$ref", "anyOf", "required", "additionalProperties"];

/// The most characters of a property name.
pub(crate) const LONGEST_KEY: usize = 64;

/// Whether the node describes objects.
fn is_object(node: &Node<'_>) -> bool {
    node.has_type("object") || node.has("properties")
}

fn free_form(node: &Node<'_>) -> Option<Hit> {
    let described = len(node.get("properties")) > 0
        || node.has("additionalProperties")
        || ["patternProperties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"]
            .iter()
            .any(|it| node.has(it));
    (!node.is_root() && node.has_type("object") && !described)
        .then(|| Hit::new("an object without `properties`"))
}

/// The properties that are not required.
fn optional<'a>(node: &Node<'a>) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let required = node.get("required").and_then(Value::as_array);
    let is_required =
        move |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = node.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .map(|(name, inner)| (name.as_str(), inner))
        .filter(move |(name, _)| !is_required(name))
}

/// Whether `schema` says that null is allowed, by its types or its alternatives.
fn takes_null(schema: &Value) -> bool {
    let has_null = |list: &Value| {
        list.as_array().is_some_and(|all| all.iter().any(|it| it == "null" || it["type"] == "null"))
    };
    schema["type"] == "null"
        || has_null(&schema["type"])
        || has_null(&schema["anyOf"])
        || has_null(&schema["oneOf"])
}

/// Whether a name of a property suits all targets.
pub(crate) fn is_plain_key(key: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !key.is_empty() && key.len() <= LONGEST_KEY && key.chars().all(allowed)
}

fn property_key(node: &Node<'_>) -> Option<Hit> {
    let names = node.get("properties").filter(|_| node.is_root())?.as_object()?.keys();
    let name = names.map(String::as_str).find(|name| !is_plain_key(name))?;
    let shown: String = name.chars().take(60).collect();
    Some(Hit::at(
        "properties",
        format!(
            "the property {shown:?} has other characters than `A-Z a-z 0-9 _ . -`, or more than 64"
        ),
    ))
}

fn undeclared_required(node: &Node<'_>) -> Option<Hit> {
    let required = node.get("required")?.as_array()?;
    let is_part = matches!(node.keyword, Some("anyOf" | "oneOf" | "allOf"));
    let around = node.parent.filter(|_| is_part).and_then(|parent| parent.get("properties"));
    let declared = |name: &str| {
        [node.get("properties"), around].into_iter().flatten().any(|all| all.get(name).is_some())
    };
    let name = required.iter().filter_map(Value::as_str).find(|name| !declared(name))?;
    Some(Hit::at("required", format!("`required` names {name:?}, which is not declared here")))
}
