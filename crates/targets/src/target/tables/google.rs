//! Google.

use super::{fails, join, loses, names, throws, way};
use crate::Evidence;
use crate::feature::{
    arrays, numbers, objects, references as r, root, strings, types, unions, values,
};
use crate::target::{Kind, NameForm, Target, TargetRule};

const API: Evidence = Evidence::documented(
    "Gemini API reference, FunctionDeclaration.parametersJsonSchema and GenerationConfig.responseJsonSchema",
    "2026-11-18",
);
const GENAI: Evidence =
    Evidence::converter("google-genai", "PyPI google-genai 3.1.0, _mcp_utils.mcp_to_gemini_tool");
const VERCEL: Evidence = Evidence::converter("ai-sdk-google", "npm @ai-sdk/google 3.0.141");
const LANGCHAIN: Evidence =
    Evidence::converter("langchain-google", "PyPI langchain-google-genai 4.4.2, _function_utils");
const PYDANTIC: Evidence = Evidence::converter(
    "pydantic-ai-google",
    "PyPI pydantic-ai-slim 2.66.0, GoogleJsonSchemaTransformer",
);
const LITELLM: Evidence =
    Evidence::converter("litellm-vertex", "PyPI litellm 1.108.4, build_vertex_schema");

const NAMES: NameForm = NameForm {
    starts_with_letter: true,
    ..names(
        64,
        "_.-",
        Evidence::reported("github.com: DesktopCommanderMCP#79, litellm#12543", "2026-11-16"),
    )
};

pub(super) static GEMINI: Target = Target {
    name: "gemini",
    title: "Gemini API",
    kind: Kind::Api,
    way: "`parametersJsonSchema`, which takes the input schema as it is, as Gemini CLI sends it",
    about: "Takes JSON Schema, `additionalProperties` included, and reads a part of its keywords. The older `parameters` is a subset \
            of OpenAPI, and each SDK translates into it in its own way: these are targets of their own.",
    names: NAMES,
    limits: &[],
    rules: &JSON_FORM,
    others: &[&GOOGLE_GENAI, &AI_SDK_GOOGLE, &LANGCHAIN_GOOGLE, &PYDANTIC_AI_GOOGLE],
};

pub(super) static VERTEX: Target = Target {
    name: "vertex",
    title: "Vertex AI",
    kind: Kind::Api,
    way: "`parametersJsonSchema`, as for `gemini`",
    about: "The Gemini API on Google Cloud.",
    names: NAMES,
    limits: &[],
    rules: &VERTEX_RULES,
    others: &[&GOOGLE_GENAI, &LITELLM_VERTEX],
};

pub(super) static GOOGLE_GENAI: Target = Target {
    about: "Translates input schemas into the `parameters` of the Gemini API: `additionalProperties: false` throws, and what it does not \
            know is dropped.",
    ..way(
        "google-genai",
        "Google's SDK for Python, its helper for MCP",
        "tools of an MCP session given to `generate_content`",
        NAMES,
        GENAI_RULES,
    )
};

pub(super) static AI_SDK_GOOGLE: Target = Target {
    about: "Translates input schemas into the `parameters` of the Gemini API, and recursive ones into `parametersJsonSchema`.",
    ..way(
        "ai-sdk-google",
        "Vercel AI SDK with Google's models",
        "`@ai-sdk/google`",
        NAMES,
        VERCEL_RULES,
    )
};

pub(super) static LANGCHAIN_GOOGLE: Target = Target {
    about: "Translates input schemas into the `parameters` of the Gemini API. All nested properties become required.",
    ..way(
        "langchain-google",
        "LangChain with Google's models",
        "`langchain-google-genai`",
        NAMES,
        LANGCHAIN_RULES,
    )
};

pub(super) static PYDANTIC_AI_GOOGLE: Target = Target {
    about: "Sends `parametersJsonSchema`, without some keywords.",
    ..way(
        "pydantic-ai-google",
        "Pydantic AI with Google's models",
        "`GoogleModel` of `pydantic-ai`",
        NAMES,
        PYDANTIC_RULES,
    )
};

pub(super) static LITELLM_VERTEX: Target = Target {
    about: "Translates input schemas into the `parameters` of Vertex AI. Booleans in place of schemas throw.",
    ..way(
        "litellm-vertex",
        "LiteLLM with Vertex AI",
        "`litellm` with models of `vertex_ai/`",
        NAMES,
        LITELLM_RULES,
    )
};

/// What `parametersJsonSchema` does: the documented keywords are read, others are ignored.
static JSON_FORM: [TargetRule; 24] = [
    loses(&arrays::UNIQUE_ITEMS, API, "not among the keywords that are read"),
    loses(&arrays::CONTAINS, API, "not among the keywords that are read"),
    loses(&objects::PATTERN_PROPERTIES, API, "not among the keywords that are read"),
    loses(&objects::PROPERTY_COUNT, API, "not among the keywords that are read"),
    loses(&objects::NAME_CONSTRAINT, API, "not among the keywords that are read"),
    loses(&objects::DEPENDENT_REQUIRED, API, "not among the keywords that are read"),
    loses(&objects::UNEVALUATED, API, "not among the keywords that are read"),
    loses(&numbers::EXCLUSIVE_RANGE, API, "not among the keywords that are read"),
    loses(&numbers::MULTIPLE_OF, API, "not among the keywords that are read"),
    loses(&strings::STRING_LENGTH, API, "not among the keywords that are read"),
    loses(&strings::PATTERN, API, "not among the keywords that are read"),
    loses(&values::CONST, API, "not among the keywords that are read"),
    loses(&values::ENUM_OBJECT, API, "enums have strings and numbers"),
    loses(&unions::NOT, API, "not among the keywords that are read"),
    loses(&unions::CONDITION, API, "not among the keywords that are read"),
    loses(&unions::ALL_OF, API, "not among the keywords that are read"),
    loses(&unions::SINGLE_ALL_OF, API, "not among the keywords that are read"),
    loses(&unions::OVERLAPPING_ONE_OF, API, "`oneOf` is read as `anyOf`"),
    loses(&root::ROOT_ALL_OF, API, "not among the keywords that are read"),
    loses(&root::ROOT_CONDITION, API, "not among the keywords that are read"),
    loses(&r::CONSTRAINED_REF, API, "nothing else may stand beside `$ref`"),
    loses(&r::RECURSIVE_REF, API, "recursion is unrolled to a limited degree"),
    loses(&r::DYNAMIC_REF, API, "not among the keywords that are read"),
    loses(&r::DEFINITIONS, API, "only `$defs` is read"),
];

static VERTEX_RULES: [TargetRule; 25] = join(&[&JSON_FORM, &[UNION_SIBLINGS]]);

const UNION_SIBLINGS: TargetRule = throws(
    &unions::UNION_SIBLINGS,
    Evidence::reported("github.com: opencode#15795, python-genai#1807", "2026-11-16"),
    "no other keyword is allowed beside `anyOf`",
);

/// What `google-genai` does.
static GENAI_RULES: &[TargetRule] = &[
    throws(&types::BOOLEAN_SCHEMA, GENAI, "google-genai cannot read a boolean here"),
    throws(&types::BOOLEAN_ITEMS, GENAI, "google-genai cannot read a boolean here"),
    throws(&objects::CLOSED_OBJECT, GENAI, "google-genai cannot read a boolean here"),
    throws(&objects::EXPLICITLY_OPEN, GENAI, "google-genai cannot read a boolean here"),
    throws(&r::DEFINITIONS, GENAI, "KeyError: only `$defs` is read"),
    throws(&r::ANCHOR, GENAI, "KeyError: only `#/$defs/…` is resolved"),
    throws(&r::NESTED_ID, GENAI, "KeyError: only `#/$defs/…` is resolved"),
    throws(&r::ESCAPED_REF, GENAI, "KeyError: escapes in references are not decoded"),
    throws(&r::ROOT_RECURSION, GENAI, "KeyError: only `#/$defs/…` is resolved"),
    throws(&arrays::OLD_TUPLE, GENAI, "google-genai cannot read a list here"),
    fails(&arrays::TUPLE_REST, GENAI, "`prefixItems` is dropped, and the rest applies to all"),
    fails(&r::REF_CHAIN, GENAI, "a definition that is a reference stays unresolved"),
    loses(&arrays::TUPLE, GENAI, "dropped without a word"),
    loses(&arrays::ARRAY_LENGTH, GENAI, "dropped without a word"),
    loses(&arrays::CONTAINS, GENAI, "dropped without a word"),
    loses(&arrays::UNIQUE_ITEMS, GENAI, "dropped without a word"),
    loses(&objects::MAP, GENAI, "dropped without a word"),
    loses(&objects::PATTERN_PROPERTIES, GENAI, "dropped without a word"),
    loses(&objects::PROPERTY_COUNT, GENAI, "dropped without a word"),
    loses(&objects::NAME_CONSTRAINT, GENAI, "dropped without a word"),
    loses(&objects::DEPENDENT_REQUIRED, GENAI, "dropped without a word"),
    loses(&objects::UNEVALUATED, GENAI, "dropped without a word"),
    loses(&numbers::EXCLUSIVE_RANGE, GENAI, "dropped without a word"),
    loses(&numbers::MULTIPLE_OF, GENAI, "dropped without a word"),
    loses(&strings::STRING_LENGTH, GENAI, "dropped without a word"),
    loses(&values::CONST, GENAI, "dropped without a word"),
    loses(&unions::NOT, GENAI, "dropped without a word"),
    loses(&unions::CONDITION, GENAI, "dropped without a word"),
    loses(&unions::ALL_OF, GENAI, "dropped without a word"),
    loses(&unions::SINGLE_ALL_OF, GENAI, "dropped without a word"),
    loses(&unions::ONE_OF, GENAI, "dropped without a word"),
    loses(&root::ROOT_ONE_OF, GENAI, "dropped without a word"),
    loses(&root::ROOT_ALL_OF, GENAI, "dropped without a word"),
    loses(&root::ROOT_CONDITION, GENAI, "dropped without a word"),
    loses(&r::CONSTRAINED_REF, GENAI, "what stands beside `$ref` is dropped"),
    loses(&r::RECURSIVE_REF, GENAI, "recursion is cut"),
    loses(&r::DYNAMIC_REF, GENAI, "dropped without a word"),
];

/// What Vercel's AI SDK does.
static VERCEL_RULES: &[TargetRule] = &[
    throws(&r::ANCHOR, VERCEL, "only direct children of `$defs` are resolved"),
    throws(&r::NESTED_ID, VERCEL, "only direct children of `$defs` are resolved"),
    throws(&r::REF_ELSEWHERE, VERCEL, "only direct children of `$defs` are resolved"),
    throws(&r::ROOT_RECURSION, VERCEL, "only direct children of `$defs` are resolved"),
    throws(&values::CONST_OBJECT, VERCEL, "enum values must be of one primitive type"),
    throws(&values::ENUM_OBJECT, VERCEL, "enum values must be of one primitive type"),
    throws(&values::ENUM_MIXED, VERCEL, "enum values must be of one primitive type"),
    throws(&root::ROOT_ENUM, VERCEL, "enum values must be of one primitive type"),
    fails(&values::CONST_NOT_STRING, VERCEL, "becomes an enum of strings on a number"),
    fails(&values::ENUM_NOT_STRING, VERCEL, "the values become strings"),
    fails(&types::BOOLEAN_SCHEMA, VERCEL, "becomes a boolean"),
    fails(&types::BOOLEAN_ITEMS, VERCEL, "becomes booleans"),
    fails(&arrays::OLD_TUPLE, VERCEL, "the tuple becomes an invalid schema"),
    fails(&arrays::TUPLE_REST, VERCEL, "`prefixItems` is dropped, and the rest applies to all"),
    fails(&root::ONLY_COMBINERS, VERCEL, "the tool is sent without parameters"),
    fails(&unions::OVERLAPPING_ONE_OF, VERCEL, "the alternatives lose their bounds"),
    loses(&arrays::TUPLE, VERCEL, "dropped without a word"),
    loses(&arrays::ARRAY_LENGTH, VERCEL, "dropped without a word"),
    loses(&arrays::CONTAINS, VERCEL, "dropped without a word"),
    loses(&arrays::UNIQUE_ITEMS, VERCEL, "dropped without a word"),
    loses(&objects::CLOSED_OBJECT, VERCEL, "dropped without a word"),
    loses(&objects::MAP, VERCEL, "dropped without a word"),
    loses(&objects::PATTERN_PROPERTIES, VERCEL, "dropped without a word"),
    loses(&objects::PROPERTY_COUNT, VERCEL, "dropped without a word"),
    loses(&objects::NAME_CONSTRAINT, VERCEL, "dropped without a word"),
    loses(&objects::DEPENDENT_REQUIRED, VERCEL, "dropped without a word"),
    loses(&objects::UNEVALUATED, VERCEL, "dropped without a word"),
    loses(&numbers::NUMBER_RANGE, VERCEL, "dropped without a word"),
    loses(&numbers::EXCLUSIVE_RANGE, VERCEL, "dropped without a word"),
    loses(&numbers::MULTIPLE_OF, VERCEL, "dropped without a word"),
    loses(&strings::MAX_LENGTH, VERCEL, "dropped without a word"),
    loses(&strings::PATTERN, VERCEL, "dropped without a word"),
    loses(&unions::NOT, VERCEL, "dropped without a word"),
    loses(&unions::CONDITION, VERCEL, "dropped without a word"),
    loses(&unions::ALL_OF, VERCEL, "bounds in `allOf` are dropped"),
    loses(&root::ROOT_CONDITION, VERCEL, "dropped without a word"),
    loses(&r::DYNAMIC_REF, VERCEL, "dropped without a word"),
];

/// What `langchain-google-genai` does.
static LANGCHAIN_RULES: &[TargetRule] = &[
    throws(&r::ANCHOR, LANGCHAIN, "the reference is not found"),
    throws(&r::NESTED_ID, LANGCHAIN, "the reference is not found"),
    throws(&r::ESCAPED_REF, LANGCHAIN, "the reference is not found"),
    throws(&values::ENUM_MIXED, LANGCHAIN, "ValidationError: enum values must be strings"),
    throws(&values::ENUM_NOT_STRING, LANGCHAIN, "ValidationError: enum values must be strings"),
    throws(&values::ENUM_NULL, LANGCHAIN, "ValidationError: enum values must be strings"),
    throws(&values::ENUM_OBJECT, LANGCHAIN, "ValidationError: enum values must be strings"),
    fails(&types::NULLABLE_TYPE, LANGCHAIN, "null is lost"),
    fails(&types::TYPE_LIST, LANGCHAIN, "all types but one are lost"),
    fails(&types::UNTYPED_BRANCH, LANGCHAIN, "becomes a string"),
    fails(&types::UNTYPED, LANGCHAIN, "becomes a string"),
    fails(&types::UNTYPED_ITEMS, LANGCHAIN, "elements become strings"),
    fails(&types::BOOLEAN_ITEMS, LANGCHAIN, "elements become strings"),
    fails(&arrays::OLD_TUPLE, LANGCHAIN, "elements become strings"),
    fails(&arrays::TUPLE_REST, LANGCHAIN, "`prefixItems` is dropped, and the rest applies to all"),
    fails(&values::CONST_UNTYPED_VALUE, LANGCHAIN, "becomes a string"),
    fails(&objects::NESTED_OPTIONAL, LANGCHAIN, "the property becomes required"),
    fails(&objects::EMPTY_OBJECT, LANGCHAIN, "becomes a string"),
    fails(&r::RECURSIVE_REF, LANGCHAIN, "the recursion becomes a string"),
    fails(&unions::ONE_OF, LANGCHAIN, "becomes a string"),
    fails(&unions::MERGED_OBJECTS, LANGCHAIN, "becomes a string"),
    fails(&unions::CLOSED_UNION, LANGCHAIN, "the alternatives become strings"),
    loses(&arrays::TUPLE, LANGCHAIN, "dropped"),
    loses(&arrays::ARRAY_LENGTH, LANGCHAIN, "dropped"),
    loses(&arrays::CONTAINS, LANGCHAIN, "dropped"),
    loses(&arrays::UNIQUE_ITEMS, LANGCHAIN, "dropped"),
    loses(&objects::CLOSED_OBJECT, LANGCHAIN, "dropped"),
    loses(&objects::MAP, LANGCHAIN, "dropped"),
    loses(&objects::PATTERN_PROPERTIES, LANGCHAIN, "dropped"),
    loses(&objects::PROPERTY_COUNT, LANGCHAIN, "dropped"),
    loses(&objects::NAME_CONSTRAINT, LANGCHAIN, "dropped"),
    loses(&objects::DEPENDENT_REQUIRED, LANGCHAIN, "dropped"),
    loses(&objects::UNEVALUATED, LANGCHAIN, "dropped"),
    loses(&numbers::NUMBER_RANGE, LANGCHAIN, "dropped"),
    loses(&numbers::EXCLUSIVE_RANGE, LANGCHAIN, "dropped"),
    loses(&numbers::MULTIPLE_OF, LANGCHAIN, "dropped"),
    loses(&strings::STRING_LENGTH, LANGCHAIN, "dropped"),
    loses(&strings::PATTERN, LANGCHAIN, "dropped"),
    loses(&values::CONST, LANGCHAIN, "dropped"),
    loses(&unions::NOT, LANGCHAIN, "dropped"),
    loses(&unions::CONDITION, LANGCHAIN, "dropped"),
    loses(&unions::ALL_OF, LANGCHAIN, "dropped"),
    loses(&root::ROOT_ONE_OF, LANGCHAIN, "dropped"),
    loses(&root::ROOT_ALL_OF, LANGCHAIN, "parts are dropped"),
    loses(&root::ROOT_CONDITION, LANGCHAIN, "dropped"),
    throws(&root::ROOT_ENUM, LANGCHAIN, "ValidationError: enum values must be strings"),
    loses(&r::CONSTRAINED_REF, LANGCHAIN, "what stands beside `$ref` is dropped"),
];

/// What Pydantic AI does.
static PYDANTIC_RULES: &[TargetRule] = &[
    fails(&arrays::OLD_TUPLE, PYDANTIC, "the tuple stays, which is not 2020-12"),
    loses(&numbers::EXCLUSIVE_RANGE, PYDANTIC, "dropped"),
];

/// What `litellm` does.
static LITELLM_RULES: &[TargetRule] = &[
    throws(&types::BOOLEAN_ITEMS, LITELLM, "AttributeError: 'bool' object has no attribute 'get'"),
    throws(&types::BOOLEAN_SCHEMA, LITELLM, "AttributeError: 'bool' object has no attribute 'get'"),
    throws(&arrays::OLD_TUPLE, LITELLM, "AttributeError: 'list' object has no attribute 'get'"),
    fails(&r::ANCHOR, LITELLM, "the reference becomes an object"),
    fails(&r::DYNAMIC_REF, LITELLM, "the reference becomes an object"),
    fails(&r::REF_ELSEWHERE, LITELLM, "the reference becomes an object"),
    fails(&r::ESCAPED_REF, LITELLM, "the reference becomes an object"),
    fails(&values::ENUM_EMPTY_STRING, LITELLM, "the empty string is removed"),
    fails(&values::ENUM_UNTYPED, LITELLM, "becomes an object"),
    fails(&values::CONST_UNTYPED, LITELLM, "becomes an object"),
    fails(&arrays::TUPLE, LITELLM, "elements become objects"),
    fails(&arrays::TUPLE_REST, LITELLM, "elements become objects"),
    fails(&arrays::ARRAY_WITHOUT_ITEMS, LITELLM, "elements become objects"),
    fails(&types::UNTYPED_ITEMS, LITELLM, "elements become objects"),
    fails(&types::UNTYPED, LITELLM, "becomes an object"),
    loses(&objects::CLOSED_OBJECT, LITELLM, "dropped"),
    loses(&objects::MAP, LITELLM, "dropped"),
    loses(&objects::PATTERN_PROPERTIES, LITELLM, "dropped"),
    loses(&objects::NAME_CONSTRAINT, LITELLM, "dropped"),
    loses(&objects::DEPENDENT_REQUIRED, LITELLM, "dropped"),
    loses(&objects::UNEVALUATED, LITELLM, "dropped"),
    loses(&arrays::CONTAINS, LITELLM, "dropped"),
    loses(&arrays::UNIQUE_ITEMS, LITELLM, "dropped"),
    loses(&numbers::EXCLUSIVE_RANGE, LITELLM, "dropped"),
    loses(&numbers::MULTIPLE_OF, LITELLM, "dropped"),
    loses(&values::CONST, LITELLM, "dropped"),
    loses(&values::ENUM_NOT_STRING, LITELLM, "the values are dropped"),
    loses(&values::ENUM_NULL, LITELLM, "the values are dropped"),
    loses(&values::ENUM_OBJECT, LITELLM, "the values are dropped"),
    loses(&unions::NOT, LITELLM, "dropped"),
    loses(&unions::CONDITION, LITELLM, "dropped"),
    loses(&unions::ALL_OF, LITELLM, "dropped"),
    loses(&unions::SINGLE_ALL_OF, LITELLM, "dropped"),
    loses(&unions::ONE_OF, LITELLM, "dropped"),
    loses(&root::ROOT_ONE_OF, LITELLM, "dropped"),
    loses(&root::ROOT_ALL_OF, LITELLM, "dropped"),
    loses(&root::ROOT_ENUM, LITELLM, "dropped"),
    loses(&root::ROOT_CONDITION, LITELLM, "dropped"),
    loses(&r::CONSTRAINED_REF, LITELLM, "what stands beside `$ref` is dropped"),
    loses(&r::RECURSIVE_REF, LITELLM, "recursion is cut"),
];
