//! Engines that constrain what a model writes.

use super::{fails, loses, names, throws};
use crate::Evidence;
use crate::feature::{arrays, numbers, objects, references as r, root, strings, types, unions};
use crate::target::{Kind, Target};

const LLAMA: Evidence =
    Evidence::source("llama.cpp b21e4de7, common/json-schema-to-grammar.cpp", "2026-08-22");
const GUIDANCE: Evidence =
    Evidence::converter("llguidance", "PyPI llguidance 1.9.1, grammar_from_json_schema");
const CORE: Evidence =
    Evidence::converter("outlines", "PyPI outlines-core 0.2.14, build_regex_from_schema");
const ANY_NAME: Evidence = Evidence::source("no limit found", "2026-11-17");

pub(super) static LLAMA_CPP: Target = Target {
    name: "llama.cpp",
    title: "llama.cpp (also LM Studio, Ollama)",
    kind: Kind::Engine,
    way: "tools of a chat request, as a grammar",
    about: "The whole tool list becomes one grammar. Repetitions beyond 2000 make it fail for all tools; keywords that the grammar \
            cannot express are ignored.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[
        throws(&strings::LONG_REPETITION, LLAMA, "repetitions beyond 2000 fail"),
        throws(
            &strings::LOOK_AROUND,
            Evidence::reported(
                "github.com: email-mcp#58, firecrawl#4512, qwen-code#10520",
                "2026-11-16",
            )
            .versions("before 2026-08, still in LM Studio and Ollama"),
            "failed to parse grammar",
        ),
        loses(&strings::LOOK_AROUND, LLAMA, "any string is accepted"),
        loses(&strings::UNANCHORED_PATTERN, LLAMA, "any string is accepted"),
        loses(&objects::PATTERN_PROPERTIES, LLAMA, "ignored"),
        loses(&arrays::UNIQUE_ITEMS, LLAMA, "ignored"),
        loses(&arrays::CONTAINS, LLAMA, "ignored"),
        loses(&unions::NOT, LLAMA, "ignored"),
        loses(&unions::CONDITION, LLAMA, "ignored"),
        loses(&objects::DEPENDENT_REQUIRED, LLAMA, "ignored"),
        loses(&objects::NAME_CONSTRAINT, LLAMA, "ignored"),
        loses(&objects::PROPERTY_COUNT, LLAMA, "ignored"),
        loses(&numbers::MULTIPLE_OF, LLAMA, "ignored"),
        fails(&unions::CLOSED_UNION, LLAMA, "`properties` and `anyOf` are not mixed"),
    ],
    others: &[],
};

pub(super) static LLGUIDANCE: Target = Target {
    name: "llguidance",
    title: "llguidance (vLLM, Azure, llama.cpp option)",
    kind: Kind::Engine,
    way: "a JSON schema as a grammar",
    about: "Compiles schemas to a grammar and refuses keywords that it does not implement.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[
        throws(&unions::NOT, GUIDANCE, "unimplemented keys: not"),
        throws(&unions::CONDITION, GUIDANCE, "unimplemented keys: if, then, else"),
        throws(&root::ROOT_CONDITION, GUIDANCE, "unimplemented keys"),
        throws(&root::ROOT_ONE_OF, GUIDANCE, "oneOf constraints are not supported"),
        throws(&unions::OVERLAPPING_ONE_OF, GUIDANCE, "oneOf constraints are not supported"),
        throws(&arrays::CONTAINS, GUIDANCE, "unimplemented keys: contains"),
        throws(&arrays::UNIQUE_ITEMS, GUIDANCE, "unimplemented keys: uniqueItems"),
        throws(&objects::DEPENDENT_REQUIRED, GUIDANCE, "unimplemented keys: dependentRequired"),
        throws(&objects::PROPERTY_COUNT, GUIDANCE, "minProperties only if all keys are required"),
        throws(&objects::PROPERTY_NAMES, GUIDANCE, "unimplemented keys: propertyNames"),
        throws(&objects::UNEVALUATED, GUIDANCE, "unimplemented keys: unevaluatedProperties"),
        throws(&r::DYNAMIC_REF, GUIDANCE, "unimplemented keys: $dynamicAnchor"),
        throws(&strings::LOOK_AROUND, GUIDANCE, "the pattern does not compile"),
        throws(&strings::CUSTOM_FORMAT, GUIDANCE, "unknown format"),
    ],
    others: &[],
};

pub(super) static OUTLINES: Target = Target {
    name: "outlines",
    title: "Outlines",
    kind: Kind::Engine,
    way: "a JSON schema as a regular expression",
    about: "Builds a regular expression from the schema. Refuses schemas without a type, and ignores keywords that it does not know.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[
        throws(&r::ANCHOR, CORE, "the reference is not resolved"),
        throws(&r::NESTED_ID, CORE, "the reference is not resolved"),
        throws(&r::ESCAPED_REF, CORE, "invalid reference path"),
        throws(&r::DYNAMIC_REF, CORE, "unsupported structure"),
        throws(&types::BOOLEAN_SCHEMA, CORE, "unsupported structure"),
        throws(&types::BOOLEAN_ITEMS, CORE, "unsupported structure"),
        throws(&arrays::OLD_TUPLE, CORE, "unsupported structure"),
        throws(&types::UNTYPED, CORE, "unsupported structure"),
        throws(&types::UNTYPED_BRANCH, CORE, "unsupported structure"),
        throws(&strings::CUSTOM_FORMAT, CORE, "the format is not supported"),
        fails(&objects::EXPLICITLY_OPEN, CORE, "other properties are refused"),
        fails(&objects::UNDECLARED_REQUIRED, CORE, "the property is refused"),
        fails(&arrays::TUPLE, CORE, "all places are required, and no more"),
        fails(&root::ROOT_ALL_OF, CORE, "the parts follow each other, and nothing is valid"),
        fails(&root::ROOT_ANY_OF, CORE, "the alternatives are closed"),
        fails(&unions::MERGED_OBJECTS, CORE, "the parts follow each other, and nothing is valid"),
        fails(&strings::UNANCHORED_PATTERN, CORE, "the pattern has to match the whole string"),
        loses(&arrays::CONTAINS, CORE, "ignored"),
        loses(&arrays::UNIQUE_ITEMS, CORE, "ignored"),
        loses(&numbers::NUMBER_RANGE, CORE, "ignored"),
        loses(&numbers::EXCLUSIVE_RANGE, CORE, "ignored"),
        loses(&numbers::MULTIPLE_OF, CORE, "ignored"),
        loses(&objects::DEPENDENT_REQUIRED, CORE, "ignored"),
        loses(&objects::PATTERN_PROPERTIES, CORE, "ignored"),
        loses(&objects::PROPERTY_COUNT, CORE, "ignored"),
        loses(&objects::NAME_CONSTRAINT, CORE, "ignored"),
        loses(&unions::NOT, CORE, "ignored"),
        loses(&unions::CONDITION, CORE, "ignored"),
        loses(&unions::OVERLAPPING_ONE_OF, CORE, "`oneOf` becomes `anyOf`"),
        loses(&root::ROOT_CONDITION, CORE, "ignored"),
        loses(&root::ROOT_ENUM, CORE, "ignored"),
        loses(&root::ROOT_ONE_OF, CORE, "ignored beside `properties`"),
        loses(&r::CONSTRAINED_REF, CORE, "what stands beside `$ref` is ignored"),
    ],
    others: &[],
};
