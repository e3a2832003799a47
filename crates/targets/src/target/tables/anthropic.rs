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
    rules: &[
        throws(&r::RECURSIVE_REF, LIMITS, "recursion is refused"),
        // Both SDKs
        throws(&types::BOOLEAN_SCHEMA, NPM, "every schema needs a type"),
        throws(&types::BOOLEAN_ITEMS, NPM, "every schema needs a type"),
        throws(&types::UNTYPED, NPM, "every schema needs a type"),
        throws(&types::UNTYPED_BRANCH, NPM, "every schema needs a type"),
        throws(&types::UNTYPED_ITEMS, NPM, "every schema needs a type"),
        throws(&r::DYNAMIC_REF, NPM, "every schema needs a type"),
        throws(&arrays::OLD_TUPLE, NPM, "every schema needs a type"),
        throws(&values::CONST_OBJECT, NPM, "every schema needs a type"),
        throws(&values::ENUM_OBJECT, NPM, "every schema needs a type"),
        fails(&r::ANCHOR, NPM, "`$anchor` is removed, and the reference dangles"),
        fails(&r::DEFINITIONS, NPM, "`definitions` is removed, and references dangle"),
        fails(&r::NESTED_ID, NPM, "`$id` is removed, and references dangle"),
        fails(&objects::EXPLICITLY_OPEN, NPM, "the object is closed"),
        fails(&objects::MAP, NPM, "the object is closed, and only `{}` is left"),
        fails(&objects::EMPTY_OBJECT, NPM, "the object is closed, and only `{}` is left"),
        fails(&objects::PATTERN_PROPERTIES, NPM, "the object is closed"),
        fails(&objects::UNDECLARED_REQUIRED, NPM, "the object is closed without the property"),
        fails(&root::ROOT_ANY_OF, NPM, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ONE_OF, NPM, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ALL_OF, NPM, "each part is closed, and nothing is valid"),
        fails(&unions::MERGED_OBJECTS, NPM, "each part is closed, and nothing is valid"),
        fails(&arrays::TUPLE_REST, NPM, "`prefixItems` is removed, and the rest applies to all"),
        loses(&arrays::TUPLE, NPM, "moves into the description"),
        loses(&arrays::ARRAY_BOUND, NPM, "moves into the description"),
        loses(&arrays::CONTAINS, NPM, "moves into the description"),
        loses(&arrays::UNIQUE_ITEMS, NPM, "moves into the description"),
        loses(&objects::UNEVALUATED, NPM, "moves into the description"),
        loses(&objects::DEPENDENT_REQUIRED, NPM, "moves into the description"),
        loses(&objects::PROPERTY_COUNT, NPM, "moves into the description"),
        loses(&objects::NAME_CONSTRAINT, NPM, "moves into the description"),
        loses(&numbers::NUMBER_RANGE, NPM, "moves into the description"),
        loses(&numbers::EXCLUSIVE_RANGE, NPM, "moves into the description"),
        loses(&numbers::MULTIPLE_OF, NPM, "moves into the description"),
        loses(&strings::STRING_LENGTH, NPM, "moves into the description"),
        loses(&strings::PATTERN, NPM, "moves into the description"),
        loses(&unions::NOT, NPM, "moves into the description"),
        loses(&unions::CONDITION, NPM, "moves into the description"),
        loses(&unions::OVERLAPPING_ONE_OF, NPM, "`oneOf` becomes `anyOf`"),
        loses(&unions::ALL_OF, NPM, "some constraints of `allOf` are lost"),
        loses(&root::ROOT_ENUM, NPM, "moves into the description"),
        loses(&root::ROOT_CONDITION, NPM, "moves into the description"),
        loses(&r::CONSTRAINED_REF, NPM, "what stands beside `$ref` is lost"),
        throws(&types::BOOLEAN_SCHEMA, PYPI, "every schema needs a type"),
        throws(&types::BOOLEAN_ITEMS, PYPI, "every schema needs a type"),
        throws(&types::UNTYPED, PYPI, "every schema needs a type"),
        throws(&types::UNTYPED_BRANCH, PYPI, "every schema needs a type"),
        throws(&types::UNTYPED_ITEMS, PYPI, "every schema needs a type"),
        throws(&types::TYPE_LIST, PYPI, "AssertionError: expected code to be unreachable"),
        throws(&types::NULLABLE_TYPE, PYPI, "AssertionError: expected code to be unreachable"),
        throws(&r::DYNAMIC_REF, PYPI, "every schema needs a type"),
        throws(&arrays::OLD_TUPLE, PYPI, "every schema needs a type"),
        throws(&values::CONST_OBJECT, PYPI, "every schema needs a type"),
        throws(&values::ENUM_OBJECT, PYPI, "every schema needs a type"),
        fails(&r::ANCHOR, PYPI, "`$anchor` is removed, and the reference dangles"),
        fails(&r::DEFINITIONS, PYPI, "`definitions` is removed, and references dangle"),
        fails(&r::NESTED_ID, PYPI, "`$id` is removed, and references dangle"),
        fails(&objects::EXPLICITLY_OPEN, PYPI, "the object is closed"),
        fails(&objects::MAP, PYPI, "the object is closed, and only `{}` is left"),
        fails(&objects::EMPTY_OBJECT, PYPI, "the object is closed, and only `{}` is left"),
        fails(&objects::PATTERN_PROPERTIES, PYPI, "the object is closed"),
        fails(&objects::UNDECLARED_REQUIRED, PYPI, "the object is closed without the property"),
        fails(&root::ROOT_ANY_OF, PYPI, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ONE_OF, PYPI, "each alternative is closed, and nothing is valid"),
        fails(&root::ROOT_ALL_OF, PYPI, "each part is closed, and nothing is valid"),
        fails(&unions::MERGED_OBJECTS, PYPI, "each part is closed, and nothing is valid"),
        fails(&arrays::TUPLE_REST, PYPI, "`prefixItems` is removed, and the rest applies to all"),
        loses(&arrays::TUPLE, PYPI, "moves into the description"),
        loses(&arrays::ARRAY_BOUND, PYPI, "moves into the description"),
        loses(&arrays::CONTAINS, PYPI, "moves into the description"),
        loses(&arrays::UNIQUE_ITEMS, PYPI, "moves into the description"),
        loses(&objects::UNEVALUATED, PYPI, "moves into the description"),
        loses(&objects::DEPENDENT_REQUIRED, PYPI, "moves into the description"),
        loses(&objects::PROPERTY_COUNT, PYPI, "moves into the description"),
        loses(&objects::NAME_CONSTRAINT, PYPI, "moves into the description"),
        loses(&numbers::NUMBER_RANGE, PYPI, "moves into the description"),
        loses(&numbers::EXCLUSIVE_RANGE, PYPI, "moves into the description"),
        loses(&numbers::MULTIPLE_OF, PYPI, "moves into the description"),
        loses(&strings::STRING_LENGTH, PYPI, "moves into the description"),
        loses(&strings::PATTERN, PYPI, "moves into the description"),
        loses(&unions::NOT, PYPI, "moves into the description"),
        loses(&unions::CONDITION, PYPI, "moves into the description"),
        loses(&unions::OVERLAPPING_ONE_OF, PYPI, "`oneOf` becomes `anyOf`"),
        loses(&unions::ALL_OF, PYPI, "some constraints of `allOf` are lost"),
        loses(&root::ROOT_ENUM, PYPI, "moves into the description"),
        loses(&root::ROOT_CONDITION, PYPI, "moves into the description"),
        loses(&r::CONSTRAINED_REF, PYPI, "what stands beside `$ref` is lost"),
        // The API itself
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
