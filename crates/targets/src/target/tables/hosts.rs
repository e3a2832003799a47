//! Hosts.

use super::{limit, loses, names, row, throws};
use crate::feature::{
    annotations as a, arrays, numbers, objects, output, root, strings, types, unions, values,
};
use crate::target::{Kind, Measure, NameForm, Target};
use crate::{Effect, Evidence};

const CODEX_SOURCE: Evidence =
    Evidence::source("openai/codex 343074d4, codex-rs/tools/src/json_schema.rs", "2026-08-22");
const CLAUDE_NAMES: Evidence =
    Evidence::documented("Claude Code documentation, as read by the claudetto wiki", "2026-10-19");
const CLAUDE_ROOT: Evidence =
    Evidence::reported("github.com: claude-code#88049, #95504, inspector#1005", "2026-11-16");
const CLAUDE_TEXT: Evidence =
    Evidence::reported("dev.to: rulestack, Claude Code 2.1.285", "2026-11-16");
const DESKTOP: Evidence =
    Evidence::reported("github.com: claude-code#86142, #88882, claude-ai-mcp#1016", "2026-11-16");
const VSCODE_SOURCE: Evidence = Evidence::source(
    "microsoft/vscode-copilot-chat 31acd00a, toolSchemaNormalizer.ts",
    "2026-03-29",
);
const GPT_4: Evidence = VSCODE_SOURCE.versions("models of the gpt-4 family");
const CURSOR_NAMES: Evidence =
    Evidence::reported("github.com: composio#2788, mcp-testrail#6", "2026-11-16");
const GEMINI_CLI_SOURCE: Evidence =
    Evidence::source("npm @google/gemini-cli-core 0.61.0, mcp-tool.js", "2026-11-16");

pub(super) static CODEX: Target = Target {
    name: "codex",
    title: "Codex CLI",
    kind: Kind::Host,
    way: "an MCP server of its configuration, with OpenAI's models",
    about: "Keeps types, enums, `properties`, `items`, alternatives and definitions, and drops bounds, patterns, formats and defaults. \
            Schemas of more than 5,000 bytes lose their descriptions first, then their definitions.",
    names: NameForm {
        prefix: "{server}__",
        replaces: true,
        effect: Effect::Degraded,
        ..names(128, "_-", CODEX_SOURCE)
    },
    limits: &[limit(Measure::SchemaBytes, 5000, Effect::Degraded, CODEX_SOURCE)],
    rules: &[
        loses(&types::BOOLEAN_SCHEMA, CODEX_SOURCE, "becomes a string"),
        loses(&types::BOOLEAN_ITEMS, CODEX_SOURCE, "becomes strings"),
        loses(&arrays::ARRAY_WITHOUT_ITEMS, CODEX_SOURCE, "elements become strings"),
        loses(&arrays::ARRAY_LENGTH, CODEX_SOURCE, "dropped"),
        loses(&arrays::TUPLE, CODEX_SOURCE, "dropped"),
        loses(&arrays::CONTAINS, CODEX_SOURCE, "dropped"),
        loses(&arrays::UNIQUE_ITEMS, CODEX_SOURCE, "dropped"),
        loses(&numbers::NUMBER_RANGE, CODEX_SOURCE, "dropped"),
        loses(&numbers::EXCLUSIVE_RANGE, CODEX_SOURCE, "dropped"),
        loses(&numbers::MULTIPLE_OF, CODEX_SOURCE, "dropped"),
        loses(&strings::STRING_LENGTH, CODEX_SOURCE, "dropped"),
        loses(&strings::PATTERN, CODEX_SOURCE, "dropped"),
        loses(&strings::FORMAT, CODEX_SOURCE, "dropped"),
        loses(&objects::PATTERN_PROPERTIES, CODEX_SOURCE, "dropped"),
        loses(&objects::PROPERTY_COUNT, CODEX_SOURCE, "dropped"),
        loses(&objects::NAME_CONSTRAINT, CODEX_SOURCE, "dropped"),
        loses(&objects::DEPENDENT_REQUIRED, CODEX_SOURCE, "dropped"),
        loses(&objects::UNEVALUATED, CODEX_SOURCE, "dropped"),
        loses(&unions::NOT, CODEX_SOURCE, "dropped"),
        loses(&unions::CONDITION, CODEX_SOURCE, "dropped"),
        loses(&root::ROOT_CONDITION, CODEX_SOURCE, "dropped"),
        row(&values::CONST, Effect::Degraded, CODEX_SOURCE, "becomes an enum"),
        row(&a::DEFAULT, Effect::Degraded, CODEX_SOURCE, "dropped"),
        row(&a::EXAMPLES, Effect::Degraded, CODEX_SOURCE, "dropped"),
    ],
    others: &[],
};

pub(super) static CLAUDE_CODE: Target = Target {
    name: "claude-code",
    title: "Claude Code",
    kind: Kind::Host,
    way: "an MCP server of its configuration, with Anthropic's models",
    about: "Calls tools `mcp__SERVER__TOOL` and leaves out names of more than 128 characters. Drops alternatives at the root. Cuts \
            descriptions at 2,048 characters.",
    names: NameForm {
        prefix: "mcp__{server}__",
        replaces: true,
        effect: Effect::ToolLost,
        ..names(128, "_-", CLAUDE_NAMES)
    },
    limits: &[limit(Measure::Description, 2048, Effect::Degraded, CLAUDE_TEXT)],
    rules: &[
        loses(&root::ROOT_ANY_OF, CLAUDE_ROOT, "dropped at the root"),
        loses(&root::ROOT_ONE_OF, CLAUDE_ROOT, "dropped at the root"),
        loses(&root::ROOT_ALL_OF, CLAUDE_ROOT, "dropped at the root"),
        throws(
            &objects::PROPERTY_KEY,
            Evidence::reported("github.com: decocms/studio#6874", "2026-11-16"),
            "the model API refuses the key",
        ),
        row(
            &output::OUTPUT_BOOLEAN_PROPERTY,
            Effect::ToolLost,
            CLAUDE_ROOT,
            "boolean properties are refused",
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
            TypeScript SDK 1.23.0.",
    names: NameForm {
        prefix: "mcp_{server}_",
        other_characters: "_.:-",
        replaces: true,
        kept_ends: 30,
        effect: Effect::Degraded,
        ..names(63, "", GEMINI_CLI_SOURCE)
    },
    limits: &[],
    rules: &[throws(
        &output::OUTPUT_ROOT_TYPE,
        Evidence::source(
            "npm @google/gemini-cli-core 0.61.0 depends on @modelcontextprotocol/sdk 1.23.0",
            "2026-11-16",
        ),
        "its client refuses the whole list",
    )],
    others: &[],
};
