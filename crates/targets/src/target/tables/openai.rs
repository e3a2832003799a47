//! The API of `OpenAI`.

use super::{fails, limit, loses, names, row, throws, way};
use crate::feature::{
    annotations as a, arrays, objects, references as r, root, strings, types, unions, values,
};
use crate::target::{Kind, Measure, Target, TargetRule};
use crate::{Effect, Evidence};

const NPM: Evidence = Evidence::converter("openai-npm", "npm openai 6.49.0, lib/transform");
const PYPI: Evidence = Evidence::converter("openai-py", "PyPI openai 3.49.0, lib/_pydantic");
const AGENTS: Evidence =
    Evidence::converter("openai-agents", "PyPI openai-agents 0.24.0, strict_schema");
const PYDANTIC: Evidence =
    Evidence::converter("pydantic-ai-openai", "PyPI pydantic-ai-slim 2.66.0, profiles/openai");
const LIMITS: Evidence = Evidence::converter(
    "pydantic-ai-openai-limits",
    "PyPI pydantic-ai-slim 2.66.0, profiles/openai",
);
const NAMES: Evidence =
    Evidence::reported("github.com: cline#11885, deepagents#5953", "2026-11-16");
const REQUEST: Evidence = Evidence::reported(
    "github.com: flywheel_connectors#49, ogx#3602, openclaude#1114",
    "2026-11-16",
);
const REPORTED: Evidence =
    Evidence::reported("PyPI pydantic-ai-slim 2.66.0, profiles/openai", "2026-11-16");
const STRICT: Evidence = Evidence::documented(
    "OpenAI guide, structured outputs, as read by jsonschemaprofiles and pydantic-ai 2.66.0",
    "2026-11-16",
);

pub(super) static OPENAI: Target = Target {
    name: "openai",
    title: "OpenAI API, functions without `strict`",
    kind: Kind::Api,
    way: "`parameters` of a function without `strict`, which takes the input schema as it is",
    about: "Takes nearly all of JSON Schema below the root. The root has to be a plain object with `properties`.",
    names: names(64, "_-", NAMES),
    limits: &[limit(
        Measure::Tools,
        128,
        Effect::RequestFails,
        Evidence::reported("github.com: vscode-copilot-release#9375", "2026-11-16"),
    )],
    rules: &[
        throws(&root::ROOT_ANY_OF, REQUEST, "`anyOf` at the root is refused"),
        throws(&root::ROOT_ONE_OF, REQUEST, "`oneOf` at the root is refused"),
        throws(&root::ROOT_ALL_OF, REQUEST, "`allOf` at the root is refused"),
        throws(&root::ROOT_ENUM, REQUEST, "`enum` at the root is refused"),
        throws(&root::ROOT_CONDITION, REQUEST, "`not` at the root is refused"),
        throws(&arrays::ARRAY_WITHOUT_ITEMS, REQUEST, "arrays need `items`"),
        throws(
            &root::EMPTY_ROOT,
            Evidence::reported("github.com: copilot-cli#2223, crawl4ai#2207", "2026-11-16"),
            "objects need `properties`",
        ),
    ],
    others: &[],
};

pub(super) static OPENAI_STRICT: Target = Target {
    name: "openai-strict",
    title: "OpenAI API with `strict: true`",
    kind: Kind::Api,
    way: "`parameters` of a function with `strict: true`, as the helpers of OpenAI's SDKs for TypeScript and Python write it",
    about: "A subset of JSON Schema: every object is closed and every property required. What a tool may leave out is written as \
            nullable. The SDKs rewrite schemas before they send them, each in its own way.",
    names: names(64, "_-", NAMES),
    limits: &[
        limit(Measure::Depth, 10, Effect::RequestFails, STRICT),
        limit(Measure::Properties, 5000, Effect::RequestFails, STRICT),
        limit(Measure::EnumValues, 1000, Effect::RequestFails, STRICT),
        limit(Measure::NameCharacters, 120_000, Effect::RequestFails, STRICT),
    ],
    rules: &[
        // npm `openai`
        throws(&objects::OPTIONAL_PROPERTY, NPM, "optional properties have to be nullable"),
        fails(&objects::OPTIONAL_NULLABLE, NPM, "the property becomes required"),
        throws(&objects::EXPLICITLY_OPEN, NPM, "objects have to be closed"),
        throws(&objects::MAP, NPM, "objects have to be closed"),
        fails(&objects::EMPTY_OBJECT, NPM, "the object is closed, and only `{}` is left"),
        throws(&objects::UNDECLARED_REQUIRED, NPM, "required properties have to be declared"),
        throws(&objects::PATTERN_PROPERTIES, NPM, "unsupported keyword"),
        throws(&objects::PROPERTY_COUNT, NPM, "unsupported keyword"),
        throws(&objects::PROPERTY_NAMES, NPM, "unsupported keyword"),
        throws(&objects::DEPENDENT_REQUIRED, NPM, "unsupported keyword"),
        throws(&objects::UNEVALUATED, NPM, "unsupported keyword"),
        throws(&root::ROOT_ANY_OF, NPM, "the root must not be `anyOf`"),
        fails(&root::ROOT_ONE_OF, NPM, "the object is closed around `oneOf`, and nothing is valid"),
        throws(&root::ROOT_REF, NPM, "`$ref` at the root with `type` beside it"),
        throws(&root::ROOT_CONDITION, NPM, "unsupported keyword"),
        throws(&types::BOOLEAN_SCHEMA, NPM, "TypeError: expected object schema but got boolean"),
        throws(&types::BOOLEAN_ITEMS, NPM, "TypeError: expected object schema but got boolean"),
        throws(&arrays::ARRAY_WITHOUT_ITEMS, NPM, "arrays need `items`"),
        throws(&arrays::TUPLE, NPM, "unsupported keyword `prefixItems`"),
        throws(&arrays::OLD_TUPLE, NPM, "tuples are not supported"),
        throws(&arrays::UNIQUE_ITEMS, NPM, "unsupported keyword"),
        throws(&arrays::CONTAINS, NPM, "unsupported keyword"),
        throws(&r::CONSTRAINED_REF, NPM, "`$ref` with constraints beside it"),
        throws(&r::ANCHOR, NPM, "references to anchors do not resolve"),
        throws(&r::DYNAMIC_REF, NPM, "unsupported keyword"),
        throws(&r::NESTED_ID, NPM, "`$id` below the root"),
        throws(&unions::ALL_OF, NPM, "`allOf` cannot be merged"),
        throws(&unions::NOT, NPM, "unsupported keyword"),
        throws(&unions::CONDITION, NPM, "unsupported keyword"),
        throws(&unions::CLOSED_UNION, NPM, "`anyOf` beside `properties` cannot be merged"),
        throws(&a::CONTENT, NPM, "unsupported keyword"),
        // PyPI `openai`
        fails(&objects::OPTIONAL_PROPERTY, PYPI, "the property becomes required"),
        fails(&objects::OPTIONAL_NULLABLE, PYPI, "the property becomes required"),
        fails(&objects::EMPTY_OBJECT, PYPI, "the object is closed, and only `{}` is left"),
        fails(&objects::UNDECLARED_REQUIRED, PYPI, "`required` becomes the declared properties"),
        fails(
            &root::ROOT_ANY_OF,
            PYPI,
            "the object is closed around `anyOf`, and nothing is valid",
        ),
        fails(
            &root::ROOT_ONE_OF,
            PYPI,
            "the object is closed around `oneOf`, and nothing is valid",
        ),
        fails(
            &root::ROOT_ALL_OF,
            PYPI,
            "the object is closed around `allOf`, and nothing is valid",
        ),
        fails(
            &unions::MERGED_OBJECTS,
            PYPI,
            "each object in `allOf` is closed, and nothing is valid",
        ),
        throws(&types::BOOLEAN_SCHEMA, PYPI, "TypeError: expected a dictionary"),
        // The API itself
        throws(&unions::ONE_OF, STRICT, "`oneOf` is refused"),
        throws(&unions::SINGLE_ALL_OF, STRICT, "`allOf` is refused"),
        throws(&strings::LOOK_AROUND, STRICT, "patterns with look-around are refused"),
        throws(&strings::UNKNOWN_FORMAT, STRICT, "nine formats are accepted"),
        throws(
            &r::REF_ELSEWHERE,
            STRICT,
            "references have to name `#` or a definition at the root",
        ),
        throws(&a::DEFAULT, REPORTED, "`default` is refused; the npm SDK sends it"),
        row(
            &objects::OPEN_OBJECT,
            Effect::Degraded,
            STRICT,
            "objects have to be closed; the SDKs close them",
        ),
        throws(&values::CONST_OBJECT, STRICT, "values are strings, numbers, booleans or null"),
        throws(&values::ENUM_OBJECT, STRICT, "values are strings, numbers, booleans or null"),
        throws(&types::UNTYPED, STRICT, "every schema needs a type"),
        throws(&types::UNTYPED_ITEMS, STRICT, "every schema needs a type"),
        throws(&types::UNTYPED_BRANCH, STRICT, "every schema needs a type"),
        throws(&root::ROOT_ENUM, STRICT, "the root has to be a plain object"),
        throws(&r::DEFINITIONS, STRICT, "definitions are in `$defs`"),
    ],
    others: &[&OPENAI_AGENTS, &PYDANTIC_AI_OPENAI],
};

pub(super) static OPENAI_AGENTS: Target = Target {
    about: "Closes every object and makes every property required, and refuses what it cannot rewrite.",
    ..way(
        "openai-agents",
        "OpenAI Agents SDK, strict tools",
        "`openai-agents` with `convert_schemas_to_strict`",
        names(64, "_-", NAMES),
        AGENTS_RULES,
    )
};

pub(super) static PYDANTIC_AI_OPENAI: Target = Target {
    about: "Closes every object and makes every property required.",
    limits: &[
        limit(Measure::Depth, 10, Effect::RequestFails, LIMITS),
        limit(Measure::Properties, 5000, Effect::RequestFails, LIMITS),
    ],
    ..way(
        "pydantic-ai-openai",
        "Pydantic AI with OpenAI's models, strict tools",
        "`OpenAIModel` of `pydantic-ai` with `strict`",
        names(64, "_-", NAMES),
        PYDANTIC_RULES,
    )
};

static AGENTS_RULES: &[TargetRule] = &[
    fails(&objects::OPTIONAL_PROPERTY, AGENTS, "the property becomes required"),
    fails(&objects::OPTIONAL_NULLABLE, AGENTS, "the property becomes required"),
    throws(&objects::EXPLICITLY_OPEN, AGENTS, "`additionalProperties` must not be set"),
    throws(&objects::MAP, AGENTS, "`additionalProperties` must not be set"),
    fails(&objects::EMPTY_OBJECT, AGENTS, "the object is closed, and only `{}` is left"),
    fails(&objects::UNDECLARED_REQUIRED, AGENTS, "`required` becomes the declared properties"),
    throws(&root::ROOT_ANY_OF, AGENTS, "the root must not be a union"),
    throws(&root::ROOT_ONE_OF, AGENTS, "the root must not be a union"),
    throws(&root::ROOT_REF, AGENTS, "`$ref` with keywords beside it"),
    fails(&root::ROOT_ALL_OF, AGENTS, "the object is closed around `allOf`, and nothing is valid"),
    fails(
        &unions::MERGED_OBJECTS,
        AGENTS,
        "each object in `allOf` is closed, and nothing is valid",
    ),
    throws(&types::BOOLEAN_SCHEMA, AGENTS, "expected a dictionary"),
    throws(&r::CONSTRAINED_REF, AGENTS, "`$ref` with keywords beside it"),
    loses(&unions::OVERLAPPING_ONE_OF, AGENTS, "`oneOf` becomes `anyOf`"),
];

static PYDANTIC_RULES: &[TargetRule] = &[
    fails(&objects::OPTIONAL_PROPERTY, PYDANTIC, "the property becomes required"),
    fails(&objects::OPTIONAL_NULLABLE, PYDANTIC, "the property becomes required"),
    fails(&objects::EXPLICITLY_OPEN, PYDANTIC, "the object is closed"),
    fails(&objects::MAP, PYDANTIC, "the object is closed, and only `{}` is left"),
    fails(&objects::EMPTY_OBJECT, PYDANTIC, "the object is closed, and only `{}` is left"),
    fails(&objects::PATTERN_PROPERTIES, PYDANTIC, "the object is closed"),
    fails(&objects::UNDECLARED_REQUIRED, PYDANTIC, "`required` becomes the declared properties"),
    fails(&root::ROOT_ANY_OF, PYDANTIC, "the object is closed around `anyOf`"),
    fails(&root::ROOT_ONE_OF, PYDANTIC, "the object is closed around `oneOf`"),
    fails(&root::ROOT_ALL_OF, PYDANTIC, "the object is closed around `allOf`"),
    fails(&root::ROOT_REF, PYDANTIC, "the reference at the root is lost"),
    fails(&unions::MERGED_OBJECTS, PYDANTIC, "each object in `allOf` is closed"),
    throws(&arrays::ARRAY_WITHOUT_ITEMS, PYDANTIC, "arrays need items with a type"),
    throws(&types::UNTYPED_ITEMS, PYDANTIC, "arrays need items with a type"),
    throws(&types::BOOLEAN_ITEMS, PYDANTIC, "arrays need items with a type"),
    throws(&arrays::OLD_TUPLE, PYDANTIC, "arrays need items with a type"),
    loses(&arrays::CONTAINS, PYDANTIC, "the keyword is removed"),
    loses(&arrays::UNIQUE_ITEMS, PYDANTIC, "the keyword is removed"),
    loses(&strings::LOOK_AROUND, PYDANTIC, "the pattern moves into the description"),
    loses(&strings::STRING_LENGTH, PYDANTIC, "the keyword is removed"),
    loses(&unions::OVERLAPPING_ONE_OF, PYDANTIC, "`oneOf` becomes `anyOf`"),
];
