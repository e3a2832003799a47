//! Anthropic.

use super::{fails, join, limit, loses, names, row, throws, way};
use crate::feature::{
    arrays, numbers, objects, references as r, root, strings, types, unions, values,
};
use crate::target::{Kind, Measure, Target, TargetRule};
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
    way: "`input_schema` of a tool without `strict`, which takes the input schema as it is",
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
    others: &[],
};

pub(super) static ANTHROPIC_STRICT: Target = Target {
    name: "anthropic-strict",
    title: "Anthropic API with strict tools",
    kind: Kind::Api,
    way: "`input_schema` of a tool with `strict`, as Anthropic's SDKs for TypeScript and Python rewrite it",
    about: "A subset of JSON Schema that is compiled to a grammar. The SDKs close every object and move constraints that the \
            grammar cannot express into descriptions. The Python and the TypeScript SDK differ.",
    names: names(128, "_-", NAMES),
    limits: &[
        limit(Measure::Tools, 20, Effect::RequestFails, LIMITS),
        limit(Measure::OptionalProperties, 24, Effect::RequestFails, LIMITS),
        limit(Measure::UnionProperties, 16, Effect::RequestFails, LIMITS),
    ],
    rules: &STRICT_RULES,
    others: &[&ANTHROPIC_PY],
};

pub(super) static ANTHROPIC_PY: Target = Target {
    about: "The rewrite of strict tools in Anthropic's SDK for Python. Lists of types, which the SDK for TypeScript takes, throw.",
    ..way(
        "anthropic-py",
        "Anthropic's SDK for Python, strict tools",
        "`anthropic.transform_schema`",
        names(128, "_-", NAMES),
        &PY_RULES,
    )
};

/// What the SDKs do alike.
macro_rules! rewrite {
    ($evidence:ident) => {
        [
            throws(&types::BOOLEAN_SCHEMA, $evidence, "every schema needs a type"),
            throws(&types::BOOLEAN_ITEMS, $evidence, "every schema needs a type"),
            throws(&types::UNTYPED, $evidence, "every schema needs a type"),
            throws(&types::UNTYPED_BRANCH, $evidence, "every schema needs a type"),
            throws(&types::UNTYPED_ITEMS, $evidence, "every schema needs a type"),
            throws(&r::DYNAMIC_REF, $evidence, "every schema needs a type"),
            throws(&arrays::OLD_TUPLE, $evidence, "every schema needs a type"),
            throws(&values::CONST_OBJECT, $evidence, "every schema needs a type"),
            throws(&values::ENUM_OBJECT, $evidence, "every schema needs a type"),
            fails(&r::ANCHOR, $evidence, "`$anchor` is removed, and the reference dangles"),
            fails(&r::DEFINITIONS, $evidence, "`definitions` is removed, and references dangle"),
            fails(&r::NESTED_ID, $evidence, "`$id` is removed, and references dangle"),
            fails(&objects::EXPLICITLY_OPEN, $evidence, "the object is closed"),
            fails(&objects::MAP, $evidence, "the object is closed, and only `{}` is left"),
            fails(&objects::EMPTY_OBJECT, $evidence, "the object is closed, and only `{}` is left"),
            fails(&objects::PATTERN_PROPERTIES, $evidence, "the object is closed"),
            fails(
                &objects::UNDECLARED_REQUIRED,
                $evidence,
                "the object is closed without the property",
            ),
            fails(
                &root::ROOT_ANY_OF,
                $evidence,
                "each alternative is closed, and nothing is valid",
            ),
            fails(
                &root::ROOT_ONE_OF,
                $evidence,
                "each alternative is closed, and nothing is valid",
            ),
            fails(&root::ROOT_ALL_OF, $evidence, "each part is closed, and nothing is valid"),
            fails(&unions::MERGED_OBJECTS, $evidence, "each part is closed, and nothing is valid"),
            fails(
                &arrays::TUPLE_REST,
                $evidence,
                "`prefixItems` is removed, and the rest applies to all",
            ),
            loses(&arrays::TUPLE, $evidence, "moves into the description"),
            loses(&arrays::ARRAY_BOUND, $evidence, "moves into the description"),
            loses(&arrays::CONTAINS, $evidence, "moves into the description"),
            loses(&arrays::UNIQUE_ITEMS, $evidence, "moves into the description"),
            loses(&objects::UNEVALUATED, $evidence, "moves into the description"),
            loses(&objects::DEPENDENT_REQUIRED, $evidence, "moves into the description"),
            loses(&objects::PROPERTY_COUNT, $evidence, "moves into the description"),
            loses(&objects::NAME_CONSTRAINT, $evidence, "moves into the description"),
            loses(&numbers::NUMBER_RANGE, $evidence, "moves into the description"),
            loses(&numbers::EXCLUSIVE_RANGE, $evidence, "moves into the description"),
            loses(&numbers::MULTIPLE_OF, $evidence, "moves into the description"),
            loses(&strings::STRING_LENGTH, $evidence, "moves into the description"),
            loses(&strings::PATTERN, $evidence, "moves into the description"),
            loses(&unions::NOT, $evidence, "moves into the description"),
            loses(&unions::CONDITION, $evidence, "moves into the description"),
            loses(&unions::OVERLAPPING_ONE_OF, $evidence, "`oneOf` becomes `anyOf`"),
            loses(&unions::ALL_OF, $evidence, "some constraints of `allOf` are lost"),
            loses(&root::ROOT_ENUM, $evidence, "moves into the description"),
            loses(&root::ROOT_CONDITION, $evidence, "moves into the description"),
            loses(&r::CONSTRAINED_REF, $evidence, "what stands beside `$ref` is lost"),
        ]
    };
}

const NPM_ROWS: [TargetRule; 42] = rewrite!(NPM);
const PY_ROWS: [TargetRule; 42] = rewrite!(PYPI);

static STRICT_RULES: [TargetRule; 86] = join(&[
    &NPM_ROWS,
    &PY_ROWS,
    &[
        throws(&r::RECURSIVE_REF, LIMITS, "recursion is refused"),
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
]);

static PY_RULES: [TargetRule; 44] = join(&[
    &PY_ROWS,
    &[
        throws(&types::TYPE_LIST, PYPI, "AssertionError: expected code to be unreachable"),
        throws(&types::NULLABLE_TYPE, PYPI, "AssertionError: expected code to be unreachable"),
    ],
]);
