//! Hosts.

use super::{fails, limit, loses, names, row, throws};
use crate::feature::{
    annotations as a, arrays, numbers, objects, output, references, root, strings, types, unions,
    values,
};
use crate::target::{Kind, Measure, NameForm, Target};
use crate::{Effect, Evidence};

const CODEX_RUN: Evidence = Evidence::host("codex", "npm @openai/codex 0.169.0");
const CLAUDE_RUN: Evidence = Evidence::host("claude-code", "npm @anthropic-ai/claude-code 2.1.327");
const GEMINI_RUN: Evidence = Evidence::host("gemini-cli", "npm @google/gemini-cli 0.61.0");
const CLAUDE_ROOT: Evidence =
    Evidence::reported("github.com: claude-code#88049, #95504, inspector#1005", "2026-11-16");
const DESKTOP: Evidence =
    Evidence::reported("github.com: claude-code#86142, #88882, claude-ai-mcp#1016", "2026-11-16");
const VSCODE_SOURCE: Evidence = Evidence::source(
    "microsoft/vscode-copilot-chat 31acd00a, toolSchemaNormalizer.ts",
    "2026-03-29",
);
const GPT_4: Evidence = VSCODE_SOURCE.versions("models of the gpt-4 family");
const CURSOR_NAMES: Evidence =
    Evidence::reported("github.com: composio#2788, mcp-testrail#6", "2026-11-16");
pub(super) static CODEX: Target = Target {
    name: "codex",
    title: "Codex CLI",
    kind: Kind::Host,
    way: "an MCP server of its configuration, with OpenAI's models",
    about: "Keeps types, enums, `properties`, `items`, alternatives and definitions, and drops bounds, patterns, formats and defaults. \
            Schemas of more than 5,000 bytes lose their descriptions first, then their definitions.",
    names: NameForm {
        prefix: "mcp__{server}__",
        effect: Effect::Degraded,
        ..names(128, "_-", CODEX_RUN)
    },
    limits: &[limit(Measure::SchemaBytes, 5000, Effect::Degraded, CODEX_RUN)],
    rules: &[
        fails(&types::BOOLEAN_SCHEMA, CODEX_RUN, "becomes a string"),
        fails(&types::BOOLEAN_ITEMS, CODEX_RUN, "becomes strings"),
        fails(&arrays::ARRAY_WITHOUT_ITEMS, CODEX_RUN, "elements become strings"),
        loses(&arrays::ARRAY_LENGTH, CODEX_RUN, "dropped"),
        row(&arrays::OLD_TUPLE, Effect::ToolLost, CODEX_RUN, "the tool is left out"),
        fails(&arrays::TUPLE, CODEX_RUN, "elements become strings"),
        loses(&arrays::CONTAINS, CODEX_RUN, "dropped"),
        loses(&arrays::UNIQUE_ITEMS, CODEX_RUN, "dropped"),
        loses(&numbers::NUMBER_RANGE, CODEX_RUN, "dropped"),
        loses(&numbers::EXCLUSIVE_RANGE, CODEX_RUN, "dropped"),
        loses(&numbers::MULTIPLE_OF, CODEX_RUN, "dropped"),
        loses(&strings::STRING_LENGTH, CODEX_RUN, "dropped"),
        loses(&strings::PATTERN, CODEX_RUN, "dropped"),
        row(&strings::FORMAT, Effect::Degraded, CODEX_RUN, "dropped"),
        loses(&objects::PATTERN_PROPERTIES, CODEX_RUN, "dropped"),
        loses(&objects::PROPERTY_COUNT, CODEX_RUN, "dropped"),
        loses(&objects::NAME_CONSTRAINT, CODEX_RUN, "dropped"),
        loses(&objects::DEPENDENT_REQUIRED, CODEX_RUN, "dropped"),
        loses(&objects::UNEVALUATED, CODEX_RUN, "dropped"),
        loses(&unions::NOT, CODEX_RUN, "dropped"),
        loses(&unions::CONDITION, CODEX_RUN, "dropped"),
        loses(&root::ROOT_CONDITION, CODEX_RUN, "dropped"),
        fails(&references::ANCHOR, CODEX_RUN, "the definition is dropped"),
        fails(&references::NESTED_ID, CODEX_RUN, "the definition is dropped"),
        loses(&references::DYNAMIC_REF, CODEX_RUN, "dropped"),
        fails(&values::CONST_UNTYPED_VALUE, CODEX_RUN, "becomes a string"),
        fails(&values::ENUM_MIXED, CODEX_RUN, "becomes a string"),
        fails(&values::ENUM_OBJECT, CODEX_RUN, "becomes a string"),
        row(&values::CONST, Effect::Degraded, CODEX_RUN, "becomes an enum"),
        row(&a::DEFAULT, Effect::Degraded, CODEX_RUN, "dropped"),
        row(&a::EXAMPLES, Effect::Degraded, CODEX_RUN, "dropped"),
    ],
    others: &[],
};

pub(super) static CLAUDE_CODE: Target = Target {
    name: "claude-code",
    title: "Claude Code",
    kind: Kind::Host,
    way: "an MCP server of its configuration, with Anthropic's models",
    about: "Calls tools `mcp__SERVER__TOOL` and leaves out names of more than 128 characters, tools with alternatives at the root, \
            and tools whose names it makes equal. Sends other input schemas as they are. Cuts descriptions at 4,096 characters.",
    names: NameForm {
        prefix: "mcp__{server}__",
        replaces: true,
        effect: Effect::ToolLost,
        ..names(128, "_-", CLAUDE_RUN)
    },
    limits: &[limit(Measure::Description, 4096, Effect::Degraded, CLAUDE_RUN)],
    rules: &[
        row(
            &root::ROOT_ANY_OF,
            Effect::ToolLost,
            CLAUDE_RUN,
            "tools with alternatives at the root are left out",
        ),
        row(
            &root::ROOT_ONE_OF,
            Effect::ToolLost,
            CLAUDE_RUN,
            "tools with alternatives at the root are left out",
        ),
        row(
            &root::ROOT_ALL_OF,
            Effect::ToolLost,
            CLAUDE_RUN,
            "tools with `allOf` at the root are left out",
        ),
        throws(
            &objects::PROPERTY_KEY,
            Evidence::reported("github.com: decocms/studio#6874", "2026-11-16"),
            "the model API refuses the key",
        ),
        row(
            &output::OUTPUT_ROOT_TYPE,
            Effect::CallFails,
            CLAUDE_RUN.versions("with servers before 2026-07-28"),
            "results that are no object are refused",
        ),
    ],
    others: &[],
};

pub(super) static CLAUDE_DESKTOP: Target = Target {
    name: "claude-desktop",
    title: "Claude Desktop and Cowork",
    kind: Kind::Host,
    way: "an MCP server of its configuration or a connector",
    about: "The client of the TypeScript SDK v2: output schemas have to be 2020-12, or every call of the tool fails.",
    names: names(64, "_-", Evidence::reported("github.com: docker/mcp-gateway#228", "2026-11-16")),
    limits: &[],
    rules: &[
        row(
            &output::OUTPUT_DIALECT,
            Effect::CallFails,
            DESKTOP.versions("since 2026-08-13"),
            "every call of the tool fails",
        ),
        throws(&root::ROOT_ANY_OF, CLAUDE_ROOT, "the model API refuses alternatives at the root"),
        throws(&root::ROOT_ONE_OF, CLAUDE_ROOT, "the model API refuses alternatives at the root"),
        throws(&root::ROOT_ALL_OF, CLAUDE_ROOT, "the model API refuses `allOf` at the root"),
    ],
    others: &[],
};

pub(super) static VSCODE: Target = Target {
    name: "vscode",
    title: "VS Code (Copilot Chat)",
    kind: Kind::Host,
    way: "an MCP server of its configuration, in agent mode",
    about: "Checks input schemas against the metaschema of draft-07 and throws for the whole request if one fails. Removes \
            alternatives and conditions at the root. For models of the gpt-4 family it also removes bounds, patterns and formats.",
    names: names(128, "_-", Evidence::reported("github.com: copilot-cli#1879", "2026-11-16")),
    limits: &[
        limit(
            Measure::Tools,
            128,
            Effect::RequestFails,
            Evidence::reported("github.com: vscode-copilot-release#9375, #11653", "2026-11-16"),
        ),
        limit(Measure::Description, 1024, Effect::Degraded, GPT_4),
    ],
    rules: &[
        throws(&arrays::ARRAY_WITHOUT_ITEMS, VSCODE_SOURCE, "throws for the whole request"),
        loses(&root::ROOT_ANY_OF, VSCODE_SOURCE, "removed at the root"),
        loses(&root::ROOT_ONE_OF, VSCODE_SOURCE, "removed at the root"),
        loses(&root::ROOT_ALL_OF, VSCODE_SOURCE, "removed at the root"),
        loses(&root::ROOT_CONDITION, VSCODE_SOURCE, "removed at the root"),
        loses(&strings::STRING_LENGTH, GPT_4, "removed"),
        loses(&strings::PATTERN, GPT_4, "removed"),
        loses(&strings::FORMAT, GPT_4, "removed"),
        loses(&numbers::NUMBER_RANGE, GPT_4, "removed"),
        loses(&numbers::EXCLUSIVE_RANGE, GPT_4, "removed"),
        loses(&numbers::MULTIPLE_OF, GPT_4, "removed"),
        loses(&arrays::ARRAY_LENGTH, GPT_4, "removed"),
        loses(&arrays::CONTAINS, GPT_4, "removed"),
        loses(&arrays::UNIQUE_ITEMS, GPT_4, "removed"),
        loses(&objects::PATTERN_PROPERTIES, GPT_4, "removed"),
        loses(&objects::PROPERTY_COUNT, GPT_4, "removed"),
        loses(&objects::NAME_CONSTRAINT, GPT_4, "removed"),
        loses(&objects::UNEVALUATED, GPT_4, "removed"),
        row(&a::DEFAULT, Effect::Degraded, GPT_4, "removed"),
    ],
    others: &[],
};

pub(super) static CURSOR: Target = Target {
    name: "cursor",
    title: "Cursor",
    kind: Kind::Host,
    way: "an MCP server of its configuration",
    about: "Leaves out tools whose name has more than 60 characters together with that of the server.",
    names: NameForm {
        prefix: "{server}:",
        other_characters: "_-.:",
        effect: Effect::ToolLost,
        ..names(60, "", CURSOR_NAMES)
    },
    limits: &[],
    rules: &[],
    others: &[],
};

pub(super) static GEMINI_CLI: Target = Target {
    name: "gemini-cli",
    title: "Gemini CLI",
    kind: Kind::Host,
    way: "an MCP server of its configuration; sends `parametersJsonSchema`",
    about: "Calls tools `mcp_SERVER_TOOL` and cuts the middle out of names of more than 63 characters. Its MCP client is the \
            TypeScript SDK 1.23.0. Sends input schemas as they are, with a property `wait_for_previous` of its own.",
    names: NameForm {
        prefix: "mcp_{server}_",
        other_characters: "_.:-",
        replaces: true,
        kept_ends: 30,
        effect: Effect::Degraded,
        ..names(63, "", GEMINI_RUN)
    },
    limits: &[],
    rules: &[
        throws(&types::BOOLEAN_SCHEMA, GEMINI_RUN, "its client refuses the whole list"),
        throws(&output::OUTPUT_ROOT_TYPE, GEMINI_RUN, "its client refuses the whole list"),
        throws(&output::OUTPUT_BOOLEAN_PROPERTY, GEMINI_RUN, "its client refuses the whole list"),
    ],
    others: &[],
};
