//! The targets, by who makes them.

mod anthropic;
mod engines;
mod google;
mod hosts;
mod openai;
mod others;
mod sdks;

use super::{Kind, Limit, Measure, NameForm, Target, TargetRule};
use crate::feature::Feature;
use crate::{Effect, Evidence};

/// All targets.
pub(super) static ALL: &[&Target] = &[
    &openai::OPENAI,
    &openai::OPENAI_STRICT,
    &openai::OPENAI_AGENTS,
    &openai::PYDANTIC_AI_OPENAI,
    &anthropic::ANTHROPIC,
    &anthropic::ANTHROPIC_STRICT,
    &anthropic::ANTHROPIC_PY,
    &google::GEMINI,
    &google::VERTEX,
    &google::GOOGLE_GENAI,
    &google::AI_SDK_GOOGLE,
    &google::LANGCHAIN_GOOGLE,
    &google::PYDANTIC_AI_GOOGLE,
    &google::LITELLM_VERTEX,
    &others::BEDROCK,
    &others::PYDANTIC_AI_BEDROCK,
    &others::MISTRAL,
    &others::LITELLM_MISTRAL,
    &others::COHERE,
    &others::GROQ,
    &others::XAI,
    &others::KIMI,
    &engines::LLAMA_CPP,
    &engines::LLGUIDANCE,
    &engines::OUTLINES,
    &hosts::CODEX,
    &hosts::CLAUDE_CODE,
    &hosts::CLAUDE_DESKTOP,
    &hosts::VSCODE,
    &hosts::CURSOR,
    &hosts::GEMINI_CLI,
    &sdks::TS_SDK_V1,
    &sdks::TS_SDK_V2,
    &sdks::PYTHON_SDK,
];

/// The most used targets.
pub(super) static DEFAULT: &[&Target] = &[
    &openai::OPENAI,
    &anthropic::ANTHROPIC,
    &google::GEMINI,
    &hosts::CLAUDE_CODE,
    &hosts::CLAUDE_DESKTOP,
    &hosts::CODEX,
    &hosts::VSCODE,
    &hosts::CURSOR,
    &hosts::GEMINI_CLI,
];

/// A way in through one converter. What it is about is written beside.
const fn way(
    name: &'static str,
    title: &'static str,
    way: &'static str,
    names: NameForm,
    rules: &'static [TargetRule],
) -> Target {
    let kind = Kind::Sdk;
    Target { name, title, kind, way, about: "", names, limits: &[], rules, others: &[] }
}

/// Tables of rules as one.
const fn join<const N: usize>(parts: &[&[TargetRule]]) -> [TargetRule; N] {
    let mut all = [parts[0][0]; N];
    let (mut part, mut at, mut end) = (0, 0, 0);
    while end < N {
        if at == parts[part].len() {
            part += 1;
            at = 0;
        }
        all[end] = parts[part][at];
        at += 1;
        end += 1;
    }
    assert!(part + 1 == parts.len() && at == parts[part].len(), "N is the length of all parts");
    all
}

const fn row(
    feature: &'static Feature,
    effect: Effect,
    evidence: Evidence,
    note: &'static str,
) -> TargetRule {
    TargetRule { feature, effect, evidence, note }
}

/// The request fails.
const fn throws(feature: &'static Feature, evidence: Evidence, note: &'static str) -> TargetRule {
    row(feature, Effect::RequestFails, evidence, note)
}

/// Valid calls cannot be made.
const fn fails(feature: &'static Feature, evidence: Evidence, note: &'static str) -> TargetRule {
    row(feature, Effect::CallFails, evidence, note)
}

/// A constraint is lost.
const fn loses(feature: &'static Feature, evidence: Evidence, note: &'static str) -> TargetRule {
    row(feature, Effect::ConstraintLost, evidence, note)
}

const fn limit(measure: Measure, most: usize, effect: Effect, evidence: Evidence) -> Limit {
    Limit { measure, most, effect, evidence }
}

/// Names of at most `longest` letters, digits and `other` characters; other names make the request fail.
const fn names(longest: usize, other: &'static str, evidence: Evidence) -> NameForm {
    NameForm {
        prefix: "",
        longest,
        other_characters: other,
        starts_with_letter: false,
        replaces: false,
        kept_ends: 0,
        effect: Effect::RequestFails,
        evidence,
    }
}
