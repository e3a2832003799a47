//! Other model APIs.

use super::{fails, limit, loses, names, row, throws, way};
use crate::feature::{
    annotations as a, arrays, numbers, objects, references as r, root, strings, types, unions,
    values,
};
use crate::target::{Kind, Measure, NameForm, Target, TargetRule};
use crate::{Effect, Evidence};

const BEDROCK_STRICT: Evidence = Evidence::converter(
    "pydantic-ai-bedrock",
    "PyPI pydantic-ai-slim 2.66.0, BedrockJsonSchemaTransformer",
);
const BEDROCK_NAMES: Evidence =
    Evidence::reported("github.com: Roo-Code#10022, gitlab-mcp#550", "2026-11-16");
const MISTRAL_API: Evidence =
    Evidence::reported("github.com: litellm#13389, pdf-reader-mcp#63", "2026-11-16");
const MISTRAL_LITELLM: Evidence =
    Evidence::converter("litellm-mistral", "PyPI litellm 1.108.4, _clean_tool_schema_for_mistral");
const COHERE_DOCS: Evidence =
    Evidence::documented("docs.cohere.com, tool-use-parameter-types", "2026-11-16");
const GROQ_DOCS: Evidence =
    Evidence::documented("console.groq.com, structured outputs", "2026-11-16")
        .versions("strict tools");
const WALLE: Evidence = Evidence::source("MoonshotAI/walle 196bb0c", "2026-06-29");

pub(super) static BEDROCK: Target = Target {
    name: "bedrock",
    title: "AWS Bedrock Converse",
    kind: Kind::Api,
    way: "`toolSpec.inputSchema` of a tool without `strict`",
    about: "Takes JSON Schema without alternatives at the root for Claude models. Strict tools are a subset that closes every object.",
    names: names(64, "_-", BEDROCK_NAMES),
    limits: &[],
    rules: &[
        throws(&root::ROOT_ANY_OF, BEDROCK_NAMES, "Claude models refuse alternatives at the root"),
        throws(&root::ROOT_ONE_OF, BEDROCK_NAMES, "Claude models refuse alternatives at the root"),
        throws(&root::ROOT_ALL_OF, BEDROCK_NAMES, "Claude models refuse `allOf` at the root"),
        throws(
            &arrays::CONTAINS,
            Evidence::reported("github.com: pydantic-ai#10713", "2026-11-16")
                .versions("strict tools; Claude, GLM, Qwen, Gemma"),
            "`contains` is refused",
        ),
    ],
    others: &[&PYDANTIC_AI_BEDROCK],
};

pub(super) static PYDANTIC_AI_BEDROCK: Target = Target {
    about: "Closes every object of strict tools, and moves bounds into descriptions.",
    ..way(
        "pydantic-ai-bedrock",
        "Pydantic AI with AWS Bedrock, strict tools",
        "`BedrockConverseModel` of `pydantic-ai` with `strict`",
        names(64, "_-", BEDROCK_NAMES),
        BEDROCK_STRICT_RULES,
    )
};

static BEDROCK_STRICT_RULES: &[TargetRule] = &[
    fails(&objects::EXPLICITLY_OPEN, BEDROCK_STRICT, "the object is closed"),
    row(&objects::OPEN_OBJECT, Effect::Degraded, BEDROCK_STRICT, "the object is closed"),
    fails(&objects::MAP, BEDROCK_STRICT, "the object is closed, and only `{}` is left"),
    fails(&objects::EMPTY_OBJECT, BEDROCK_STRICT, "the object is closed, and only `{}` is left"),
    fails(
        &objects::UNDECLARED_REQUIRED,
        BEDROCK_STRICT,
        "the object is closed without the property",
    ),
    fails(
        &root::ONLY_COMBINERS,
        BEDROCK_STRICT,
        "the object is closed around the alternatives, and nothing is valid",
    ),
    fails(&root::ROOT_ALL_OF, BEDROCK_STRICT, "the object is closed around `allOf`"),
    fails(&root::ROOT_REF, BEDROCK_STRICT, "the object is closed around the reference"),
    fails(&unions::MERGED_OBJECTS, BEDROCK_STRICT, "each part is closed, and nothing is valid"),
    fails(&unions::OVERLAPPING_ONE_OF, BEDROCK_STRICT, "the alternatives lose their bounds"),
    fails(&arrays::OLD_TUPLE, BEDROCK_STRICT, "the tuple stays, which is not 2020-12"),
    loses(&arrays::ARRAY_BOUND, BEDROCK_STRICT, "moves into the description"),
    loses(&numbers::NUMBER_RANGE, BEDROCK_STRICT, "moves into the description"),
    loses(&numbers::EXCLUSIVE_RANGE, BEDROCK_STRICT, "moves into the description"),
    loses(&numbers::MULTIPLE_OF, BEDROCK_STRICT, "moves into the description"),
    loses(&strings::LOOK_AROUND, BEDROCK_STRICT, "moves into the description"),
];

pub(super) static MISTRAL: Target = Target {
    name: "mistral",
    title: "Mistral API",
    kind: Kind::Api,
    way: "`parameters` of a function, as it is",
    about: "Checks input schemas against their metaschema. Refuses `$schema` and `$id` when it compiles them.",
    names: names(64, "_-", MISTRAL_API),
    limits: &[],
    rules: &[
        throws(&a::SCHEMA_KEYWORD, MISTRAL_API, "`$schema` and `$id` are refused"),
        throws(&arrays::OLD_TUPLE, MISTRAL_API, "not valid under the metaschema of 2020-12"),
    ],
    others: &[&LITELLM_MISTRAL],
};

pub(super) static LITELLM_MISTRAL: Target = Target {
    about: "Removes `$schema`, `$id` and `additionalProperties: false`, which the API refuses.",
    ..way(
        "litellm-mistral",
        "LiteLLM with Mistral",
        "`litellm` with models of `mistral/`",
        names(64, "_-", MISTRAL_API),
        LITELLM_MISTRAL_RULES,
    )
};

static LITELLM_MISTRAL_RULES: &[TargetRule] = &[
    fails(
        &arrays::OLD_TUPLE,
        MISTRAL_LITELLM,
        "`$schema` is removed, and the tuple is not 2020-12",
    ),
    fails(&r::NESTED_ID, MISTRAL_LITELLM, "`$id` is removed, and references dangle"),
];

pub(super) static COHERE: Target = Target {
    name: "cohere",
    title: "Cohere API",
    kind: Kind::Api,
    way: "`strict_tools`",
    about: "`strict_tools` takes at most 200 fields over all tools.",
    names: names(64, "_-", COHERE_DOCS),
    limits: &[limit(Measure::Properties, 200, Effect::RequestFails, COHERE_DOCS)],
    rules: &[],
    others: &[],
};

pub(super) static GROQ: Target = Target {
    name: "groq",
    title: "Groq API with strict tools",
    kind: Kind::Api,
    way: "functions with `strict`",
    about: "Strict tools need closed objects whose properties are all required.",
    names: names(64, "_-", GROQ_DOCS),
    limits: &[],
    rules: &[
        throws(&objects::OPTIONAL_PROPERTY, GROQ_DOCS, "all properties have to be required"),
        throws(&objects::OPTIONAL_NULLABLE, GROQ_DOCS, "all properties have to be required"),
        throws(&objects::OPEN_OBJECT, GROQ_DOCS, "objects have to be closed"),
        throws(&objects::EXPLICITLY_OPEN, GROQ_DOCS, "objects have to be closed"),
        throws(&objects::MAP, GROQ_DOCS, "objects have to be closed"),
        throws(
            &objects::EMPTY_OBJECT,
            GROQ_DOCS,
            "objects have to be closed, and only `{}` is left",
        ),
        throws(&objects::UNDECLARED_REQUIRED, GROQ_DOCS, "objects have to be closed"),
        throws(&objects::PATTERN_PROPERTIES, GROQ_DOCS, "objects have to be closed"),
        throws(&root::ROOT_ANY_OF, GROQ_DOCS, "objects have to be closed"),
        throws(&root::ROOT_ONE_OF, GROQ_DOCS, "objects have to be closed"),
        throws(&root::ROOT_ALL_OF, GROQ_DOCS, "objects have to be closed"),
        throws(&unions::CLOSED_UNION, GROQ_DOCS, "objects have to be closed"),
        throws(&unions::MERGED_OBJECTS, GROQ_DOCS, "objects have to be closed"),
    ],
    others: &[],
};

pub(super) static XAI: Target = Target {
    name: "xai",
    title: "xAI API",
    kind: Kind::Api,
    way: "`parameters` of a function, as it is",
    about: "Takes at most 350 tools.",
    names: names(64, "_-", Evidence::reported("github.com: copilot-cli#4836", "2026-11-16")),
    limits: &[limit(
        Measure::Tools,
        350,
        Effect::RequestFails,
        Evidence::reported("github.com: copilot-cli#4836", "2026-11-16"),
    )],
    rules: &[],
    others: &[],
};

pub(super) static KIMI: Target = Target {
    name: "kimi",
    title: "Moonshot (Kimi) API",
    kind: Kind::Api,
    way: "`parameters` of a function, as it is",
    about: "The Moonshot flavoured JSON Schema: types, enums, `anyOf` and references to `$defs` at the root. Nearly everything else is \
            refused.",
    names: NameForm { starts_with_letter: true, ..names(64, "_-", WALLE) },
    limits: &[],
    rules: &[
        throws(&a::SCHEMA_KEYWORD, WALLE, "refused"),
        throws(&a::EXAMPLES, WALLE, "refused"),
        throws(&values::CONST, WALLE, "refused"),
        throws(&values::ENUM_MIXED, WALLE, "enums have values of one type"),
        throws(&values::ENUM_OBJECT, WALLE, "enums have values of one type"),
        throws(&strings::FORMAT, WALLE, "refused"),
        throws(&numbers::MULTIPLE_OF, WALLE, "refused"),
        throws(&numbers::EXCLUSIVE_RANGE, WALLE, "refused"),
        throws(&arrays::UNIQUE_ITEMS, WALLE, "refused"),
        throws(&arrays::CONTAINS, WALLE, "refused"),
        throws(&arrays::TUPLE, WALLE, "refused"),
        throws(&arrays::OLD_TUPLE, WALLE, "refused"),
        throws(&objects::PATTERN_PROPERTIES, WALLE, "refused"),
        throws(&objects::PROPERTY_NAMES, WALLE, "refused"),
        throws(&objects::PROPERTY_COUNT, WALLE, "refused"),
        throws(&objects::DEPENDENT_REQUIRED, WALLE, "refused"),
        throws(&objects::UNEVALUATED, WALLE, "refused"),
        throws(&objects::RESERVED_KEY, WALLE, "a property may not be called like a keyword"),
        throws(&unions::ALL_OF, WALLE, "refused"),
        throws(&unions::SINGLE_ALL_OF, WALLE, "refused"),
        throws(&unions::ONE_OF, WALLE, "refused"),
        throws(&unions::NOT, WALLE, "refused"),
        throws(&unions::CONDITION, WALLE, "refused"),
        throws(&unions::UNION_SIBLINGS, WALLE, "`type` must not stand beside `anyOf`"),
        throws(&root::ROOT_ANY_OF, WALLE, "the root has to be an object"),
        throws(&root::ROOT_ONE_OF, WALLE, "refused"),
        throws(&root::ROOT_ALL_OF, WALLE, "refused"),
        throws(&root::ROOT_CONDITION, WALLE, "refused"),
        throws(&root::ROOT_ENUM, WALLE, "the root has to be an object"),
        throws(&root::ROOT_REF, WALLE, "the root has to be an object"),
        throws(&r::CONSTRAINED_REF, WALLE, "`$ref` must stand alone"),
        throws(&r::DEFINITIONS, WALLE, "definitions are in `$defs` at the root"),
        throws(&r::REF_ELSEWHERE, WALLE, "definitions are in `$defs` at the root"),
        throws(&r::ESCAPED_REF, WALLE, "names of definitions have no `/`"),
        throws(&r::ANCHOR, WALLE, "refused"),
        throws(&r::DYNAMIC_REF, WALLE, "refused"),
        throws(&r::NESTED_ID, WALLE, "refused"),
        throws(&types::BOOLEAN_SCHEMA, WALLE, "every schema is an object"),
        throws(&types::BOOLEAN_ITEMS, WALLE, "every schema is an object"),
    ],
    others: &[],
};
