//! Anthropic.

use super::{fails, limit, loses, names, row, throws};
use crate::feature::{
    arrays, numbers, objects, references as r, root, strings, types, unions, values,
};
use crate::target::{Kind, Measure, Target};
use crate::{Effect, Evidence};

const NPM: Evidence =
    Evidence::converter("anthropic-npm", "npm @anthropic-ai/sdk 1.8.0, lib/transform-json-schema");
const PYPI: Evidence =
    Evidence::converter("anthropic-py", "PyPI anthropic 2.8.0, transform_schema");
const LIMITS: Evidence = Evidence::converter(
    "pydantic-ai-anthropic-limits",
    "PyPI pydantic-ai-slim 2.66.0, models/_anthropic_schema_limits",
);
const NAMES: Evidence = Evidence::reported("github.com: copilot-cli#1879", "2026-11-16");
const ROOT: Evidence = Evidence::reported("github.com: notion#340, kenn-io/kata#365", "2026-11-16");
const DIALECT: Evidence =
    Evidence::reported("github.com: hyperdx#2925, Dokploy#74, claude-code#31800", "2026-11-16");

/// Rows that hold for the TypeScript and the Python SDK, and others.
macro_rules! both_sdks {
    ($($make:ident($feature:expr, $note:literal)),+; $($more:expr),+ $(,)?) => {
        &[$($make($feature, NPM, $note), $make($feature, PYPI, $note),)+ $($more),+]
    };
}

pub(super) static ANTHROPIC: Target = Target {
    name: "anthropic",
    title: "Anthropic Messages API",
    kind: Kind::Api,
    about: "Takes JSON Schema 2020-12 below the root. The root must not have alternatives, and the names of top-level \
            properties have 1 to 64 of the characters `A-Z a-z 0-9 _ . -`.",
    names: names(128, "_-", NAMES),
    limits: &[],
    rules: &[
        throws(&root::ROOT_ANY_OF, ROOT, "`anyOf` at the root is refused"),
        throws(&root::ROOT_ONE_OF, ROOT, "`oneOf` at the root is refused"),
        throws(&root::ROOT_ALL_OF, ROOT, "`allOf` at the root is refused"),
        throws(&arrays::OLD_TUPLE, DIALECT, "an array under `items` is not 2020-12"),
        throws(
            &objects::PROPERTY_KEY,
            Evidence::reported("github.com: decocms/studio#6874, twilio-labs/mcp#49", "2026-11-16"),
            "keys have to match `^[a-zA-Z0-9_.-]{1,64}$`",
        ),
    ],
};

pub(super) static ANTHROPIC_STRICT: Target = Target {
    name: "anthropic-strict",
    title: "Anthropic API with strict tools",
    kind: Kind::Api,
    about: "A subset of JSON Schema that is compiled to a grammar. The SDKs close every object and move constraints that the \
            grammar cannot express into descriptions. The Python and the TypeScript SDK differ.",
    names: names(128, "_-", NAMES),
    limits: &[
        limit(Measure::Tools, 20, Effect::RequestFails, LIMITS),
        limit(Measure::OptionalProperties, 24, Effect::RequestFails, LIMITS),
        limit(Measure::UnionProperties, 16, Effect::RequestFails, LIMITS),
    ],
    rules: both_sdks![
        throws(&types::BOOLEAN_SCHEMA, "every schema needs a type"),
        throws(&types::BOOLEAN_ITEMS, "every schema needs a type"),
        throws(&types::UNTYPED, "every schema needs a type"),
        throws(&types::UNTYPED_BRANCH, "every schema needs a type"),
        throws(&types::UNTYPED_ITEMS, "every schema needs a type"),
        throws(&r::DYNAMIC_REF, "every schema needs a type"),
        throws(&arrays::OLD_TUPLE, "every schema needs a type"),
        throws(&values::CONST_OBJECT, "every schema needs a type"),
        throws(&values::ENUM_OBJECT, "every schema needs a type"),
        fails(&r::ANCHOR, "`$anchor` is removed, and the reference dangles"),
        fails(&r::DEFINITIONS, "`definitions` is removed, and references dangle"),
        fails(&r::NESTED_ID, "`$id` is removed, and references dangle"),
        fails(&objects::EXPLICITLY_OPEN, "the object is closed"),
        fails(&objects::MAP, "the object is closed, and only `{}` is left"),
        fails(&objects::EMPTY_OBJECT, "the object is closed, and only `{}` is left"),
        fails(&objects::PATTERN_PROPERTIES, "the object is closed"),
        fails(&objects::UNDECLARED_REQUIRED, "the object is closed without the property"),
        fails(&root::ROOT_ANY_OF, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ONE_OF, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ALL_OF, "each part is closed, and nothing is valid"),
        fails(&unions::MERGED_OBJECTS, "each part is closed, and nothing is valid"),
        fails(&arrays::TUPLE_REST, "`prefixItems` is removed, and the rest applies to all"),
        loses(&arrays::TUPLE, "moves into the description"),
        loses(&arrays::ARRAY_BOUND, "moves into the description"),
        loses(&arrays::CONTAINS, "moves into the description"),
        loses(&arrays::UNIQUE_ITEMS, "moves into the description"),
        loses(&objects::UNEVALUATED, "moves into the description"),
        loses(&objects::DEPENDENT_REQUIRED, "moves into the description"),
        loses(&objects::PROPERTY_COUNT, "moves into the description"),
        loses(&objects::NAME_CONSTRAINT, "moves into the description"),
        loses(&numbers::NUMBER_RANGE, "moves into the description"),
        loses(&numbers::EXCLUSIVE_RANGE, "moves into the description"),
        loses(&numbers::MULTIPLE_OF, "moves into the description"),
        loses(&strings::STRING_LENGTH, "moves into the description"),
        loses(&strings::PATTERN, "moves into the description"),
        loses(&unions::NOT, "moves into the description"),
        loses(&unions::CONDITION, "moves into the description"),
        loses(&unions::OVERLAPPING_ONE_OF, "`oneOf` becomes `anyOf`"),
        loses(&unions::ALL_OF, "some constraints of `allOf` are lost"),
        loses(&root::ROOT_ENUM, "moves into the description"),
        loses(&root::ROOT_CONDITION, "moves into the description"),
        loses(&r::CONSTRAINED_REF, "what stands beside `$ref` is lost");
        throws(&r::RECURSIVE_REF, LIMITS, "recursion is refused"),
        throws(&types::TYPE_LIST, PYPI, "AssertionError: expected code to be unreachable"),
        throws(&types::NULLABLE_TYPE, PYPI, "AssertionError: expected code to be unreachable"),
        row(
            &objects::OPEN_OBJECT,
            Effect::Degraded,
            Evidence::documented(
                "Anthropic guide, strict tool use, as read by pydantic-ai 2.66.0",
                "2026-11-16",
            ),
            "objects have to be closed; the SDKs close them",
        ),
    ],
};
