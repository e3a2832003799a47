//! MCP SDKs.

use super::{names, row, throws};
use crate::feature::{output, types};
use crate::target::{Kind, Target};
use crate::{Effect, Evidence};

const V1: Evidence = Evidence::converter("ts-sdk-v1", "npm @modelcontextprotocol/sdk 1.32.2");
const V2: Evidence = Evidence::converter("ts-sdk-v2", "npm @modelcontextprotocol/client 2.4.0");
const BETA: Evidence =
    Evidence::converter("ts-sdk-v2-beta", "npm @modelcontextprotocol/client 2.0.0-beta.5")
        .versions("2.0.0-beta.1 to 2.0.0-beta.5");
const ANY_NAME: Evidence = Evidence::source("no limit in the client", "2026-11-17");

pub(super) static TS_SDK_V1: Target = Target {
    name: "ts-sdk-v1",
    title: "TypeScript SDK v1 (client)",
    kind: Kind::Sdk,
    way: "`Client.listTools` and `Client.callTool`",
    about: "Checks the list as a whole: one tool that it cannot read makes `listTools` throw. Reads output schemas as draft-07, with an \
            object at the root.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[
        throws(&types::BOOLEAN_SCHEMA, V1, "the whole list is refused"),
        throws(&output::OUTPUT_ROOT_TYPE, V1, "the whole list is refused"),
        throws(&output::OUTPUT_BOOLEAN_PROPERTY, V1, "the whole list is refused"),
        row(&output::OUTPUT_TUPLE, Effect::CallFails, V1, "no element is allowed"),
    ],
    others: &[],
};

pub(super) static TS_SDK_V2: Target = Target {
    name: "ts-sdk-v2",
    title: "TypeScript SDK v2 (client)",
    kind: Kind::Sdk,
    way: "`Client.listTools` and `Client.callTool`",
    about: "Reads revision 2026-07-28 and earlier ones. Betas read 2020-12 only.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[
        row(&output::OUTPUT_DRAFT_04, Effect::CallFails, V2, "draft-04 is refused at each call"),
        row(
            &output::OUTPUT_DIALECT,
            Effect::CallFails,
            BETA,
            "other dialects than 2020-12 are refused at each call",
        ),
    ],
    others: &[],
};

pub(super) static PYTHON_SDK: Target = Target {
    name: "python-sdk",
    title: "Python SDK (client)",
    kind: Kind::Sdk,
    way: "`ClientSession.list_tools` and `ClientSession.call_tool`",
    about: "Reads lists of revision 2026-07-28 and earlier ones, and checks structured content against the output schema.",
    names: names(usize::MAX, "", ANY_NAME),
    limits: &[],
    rules: &[],
    others: &[],
};
