//! Google.

use super::{fails, loses, names, throws};
use crate::Evidence;
use crate::feature::{
    arrays, numbers, objects, references as r, root, strings, types, unions, values,
};
use crate::target::{Kind, NameForm, Target, TargetRule};

const GENAI: Evidence =
    Evidence::converter("google-genai", "PyPI google-genai 3.1.0, _mcp_utils.mcp_to_gemini_tool");
const VERCEL: Evidence = Evidence::converter("ai-sdk-google", "npm @ai-sdk/google 3.0.141")
    .versions("with the Vercel AI SDK");
const LANGCHAIN: Evidence =
    Evidence::converter("langchain-google", "PyPI langchain-google-genai 4.4.2, _function_utils")
        .versions("with LangChain");
const PYDANTIC: Evidence = Evidence::converter(
    "pydantic-ai-google",
    "PyPI pydantic-ai-slim 2.66.0, GoogleJsonSchemaTransformer",
)
.versions("with pydantic-ai");
const LITELLM: Evidence =
    Evidence::converter("litellm-vertex", "PyPI litellm 1.108.4, build_vertex_schema")
        .versions("with LiteLLM");

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
    about: "`function_declarations.parameters` is a subset of OpenAPI: one type for each value, string enums, no \
            `additionalProperties`. The SDKs translate JSON Schema into it. The newer `parametersJsonSchema` takes more.",
    names: NAMES,
    limits: &[],
    rules: GEMINI_RULES,
};

pub(super) static VERTEX: Target = Target {
    name: "vertex",
    title: "Vertex AI",
    kind: Kind::Api,
    about: "The Gemini API on Google Cloud: the same form as `gemini`, and no other keyword beside `anyOf`.",
    names: NAMES,
    limits: &[],
    rules: VERTEX_RULES,
};

/// What `google-genai` does, for the Gemini API and for Vertex AI.
macro_rules! with_genai {
    ($($more:expr),+ $(,)?) => {
        &[
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
            $($more),+
        ]
    };
}

static GEMINI_RULES: &[TargetRule] = with_genai![
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
    fails(&arrays::OLD_TUPLE, PYDANTIC, "the tuple stays, which is not 2020-12"),
    loses(&numbers::EXCLUSIVE_RANGE, PYDANTIC, "dropped"),
];

static VERTEX_RULES: &[TargetRule] = with_genai![
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
    throws(
        &unions::UNION_SIBLINGS,
        Evidence::reported("github.com: opencode#15795, python-genai#1807", "2026-11-16"),
        "no other keyword is allowed beside `anyOf`",
    ),
];
