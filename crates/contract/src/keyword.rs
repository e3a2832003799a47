//! The keywords of JSON Schema: one table of what is known of each.

use serde_json::{Map, Value};
use toolbond_schema::Dialect;

/// A row of the table.
struct Keyword {
    name: &'static str,
    /// The first dialect that knows it.
    since: Dialect,
    /// What is true of it: a sum of the constants below.
    traits: u8,
}

/// A draft-07 reader acts upon it where it stands beside a `$ref`. Draft-07 and before ignore it there.
const BESIDE_REF: u8 = 1;
/// It decides which types a schema accepts, or its author expects other values than objects.
const TYPES: u8 = 2;
/// A relaxation may take it away.
const DROPS: u8 = 4;
/// Its value may be `null`, or no dialect after draft-04 knows it.
const NULL: u8 = 8;
/// Nothing is lost where a reader that does not know it ignores it.
const NOTE: u8 = 16;

/// All keywords, and `nullable`, which readers know from OpenAPI.
const KEYWORDS: [Keyword; 64] = {
    use Dialect::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
    const fn row(name: &'static str, since: Dialect, traits: u8) -> Keyword {
        Keyword { name, since, traits }
    }
    [
        row("$anchor", Draft201909, BESIDE_REF),
        row("$comment", Draft7, NOTE),
        row("$defs", Draft201909, NOTE),
        row("$dynamicAnchor", Draft202012, BESIDE_REF),
        row("$dynamicRef", Draft202012, TYPES),
        row("$id", Draft6, BESIDE_REF),
        row("$recursiveAnchor", Draft201909, 0),
        row("$recursiveRef", Draft201909, TYPES),
        row("$ref", Draft4, TYPES),
        row("$schema", Draft4, 0),
        row("$vocabulary", Draft201909, 0),
        row("additionalItems", Draft4, BESIDE_REF + TYPES),
        row("additionalProperties", Draft4, BESIDE_REF),
        row("allOf", Draft4, BESIDE_REF + TYPES),
        row("anyOf", Draft4, BESIDE_REF + TYPES + DROPS),
        row("const", Draft6, BESIDE_REF + TYPES + DROPS + NULL),
        row("contains", Draft6, BESIDE_REF + TYPES + DROPS),
        row("contentEncoding", Draft7, TYPES + DROPS + NOTE),
        row("contentMediaType", Draft7, TYPES + DROPS + NOTE),
        row("contentSchema", Draft201909, TYPES),
        row("default", Draft4, NULL + NOTE),
        row("definitions", Draft4, 0),
        row("dependencies", Draft4, BESIDE_REF + DROPS),
        row("dependentRequired", Draft201909, DROPS),
        row("dependentSchemas", Draft201909, 0),
        row("deprecated", Draft201909, NOTE),
        row("description", Draft4, NOTE),
        row("else", Draft7, 0),
        row("enum", Draft4, BESIDE_REF + TYPES + DROPS),
        row("examples", Draft6, NOTE),
        row("exclusiveMaximum", Draft4, BESIDE_REF + TYPES + DROPS),
        row("exclusiveMinimum", Draft4, BESIDE_REF + TYPES + DROPS),
        row("format", Draft4, BESIDE_REF + TYPES + DROPS),
        row("id", Draft4, BESIDE_REF + NULL),
        row("if", Draft7, BESIDE_REF + TYPES + DROPS),
        row("items", Draft4, BESIDE_REF + TYPES),
        row("maxContains", Draft201909, TYPES + DROPS),
        row("maxItems", Draft4, BESIDE_REF + TYPES + DROPS),
        row("maxLength", Draft4, BESIDE_REF + TYPES + DROPS),
        row("maxProperties", Draft4, BESIDE_REF + DROPS),
        row("maximum", Draft4, BESIDE_REF + TYPES + DROPS),
        row("minContains", Draft201909, TYPES),
        row("minItems", Draft4, BESIDE_REF + TYPES + DROPS),
        row("minLength", Draft4, BESIDE_REF + TYPES + DROPS),
        row("minProperties", Draft4, BESIDE_REF + DROPS),
        row("minimum", Draft4, BESIDE_REF + TYPES + DROPS),
        row("multipleOf", Draft4, BESIDE_REF + TYPES + DROPS),
        row("not", Draft4, BESIDE_REF + TYPES + DROPS),
        row("nullable", Draft4, BESIDE_REF + TYPES + NULL),
        row("oneOf", Draft4, BESIDE_REF + TYPES + DROPS),
        row("pattern", Draft4, BESIDE_REF + TYPES + DROPS),
        row("patternProperties", Draft4, BESIDE_REF),
        row("prefixItems", Draft202012, TYPES),
        row("properties", Draft4, BESIDE_REF),
        row("propertyNames", Draft6, BESIDE_REF + DROPS),
        row("readOnly", Draft7, NOTE),
        row("required", Draft4, BESIDE_REF + DROPS),
        row("then", Draft7, 0),
        row("title", Draft4, NOTE),
        row("type", Draft4, BESIDE_REF + TYPES + DROPS),
        row("unevaluatedItems", Draft201909, TYPES + DROPS),
        row("unevaluatedProperties", Draft201909, DROPS),
        row("uniqueItems", Draft4, BESIDE_REF + TYPES + DROPS),
        row("writeOnly", Draft7, NOTE),
    ]
};

/// Keywords of Ajv's own, which no dialect knows: `$async` makes it answer with a promise, the others
/// it asserts, and gives up on the schema where there is no `format` beside them.
pub(crate) const ONLY_AJV_KNOWS: [&str; 5] = [
    "$async",
    "formatExclusiveMaximum",
    "formatExclusiveMinimum",
    "formatMaximum",
    "formatMinimum",
];

impl Keyword {
    const fn is(&self, what: u8) -> bool {
        self.traits & what != 0
    }
}

fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

fn names(are: impl Fn(&Keyword) -> bool) -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().filter(move |keyword| are(keyword)).map(|keyword| keyword.name)
}

/// Whether some dialect knows a keyword called `name`.
pub(crate) fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// Whether the value of `keyword` is data, whatever it looks like.
pub(crate) fn is_data(keyword: &str) -> bool {
    matches!(keyword, "const" | "enum" | "default" | "examples")
}

/// Whether `keyword` decides which types a schema accepts, or its author expects other values than objects.
pub(crate) fn is_about_types(keyword: &str) -> bool {
    find(keyword).is_some_and(|keyword| keyword.is(TYPES))
}

/// Whether the metaschema of `dialect` refuses `null` for `keyword`. Those after draft-04 know all keywords here.
pub(crate) fn refuses_null(keyword: &str, dialect: Dialect) -> bool {
    let is_checked = |known: &Keyword| dialect > Dialect::Draft4 || known.since == Dialect::Draft4;
    find(keyword).is_some_and(|known| is_checked(known) && !known.is(NULL))
}

/// The keyword `name`, if a relaxation may take it away.
pub(crate) fn relaxable(name: &str) -> Option<&'static str> {
    find(name).filter(|keyword| keyword.is(DROPS)).map(|keyword| keyword.name)
}

/// Keywords that a draft-07 reader acts upon when they stand beside a `$ref`, and that draft-07 and
/// before ignore there.
pub(crate) fn active_beside_ref() -> impl Iterator<Item = &'static str> {
    names(|keyword| keyword.is(BESIDE_REF))
}

/// Those keywords, and what others give a meaning: all that draft-07 and before ignore beside a `$ref`, and later
/// dialects do not.
pub(crate) fn silenced_by_ref() -> impl Iterator<Item = &'static str> {
    active_beside_ref().chain(["else", "then"])
}

/// Keywords that `dialect` does not know and a draft-07 reader asserts.
pub(crate) fn only_draft07_asserts(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    names(move |keyword| keyword.is(BESIDE_REF) && keyword.since > dialect)
}

/// Keywords that `dialect` does not know and later ones act upon.
pub(crate) fn only_later_assert(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    names(move |keyword| keyword.since > dialect && !keyword.is(NOTE))
}

/// A name for `keyword` that no reader knows and `schema` does not use.
pub(crate) fn unknown_name(keyword: &str, schema: &Map<String, Value>) -> String {
    let mut name = format!("x-{keyword}");
    while schema.contains_key(&name) {
        name.insert_str(0, "x-");
    }
    name
}
