//! Published servers through the guard with its default settings: what works without it works with it.

mod case;
mod server;
mod table;
mod variants;

use std::collections::HashSet;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;

use self::case::{Call, Case};
use self::server::Server;
use self::table::Row;
use self::variants::Kind;

/// What a server answers, with or without a guard.
struct Answers {
    hello: String,
    tools: String,
    right: Vec<String>,
    refused: Vec<String>,
    /// For each kind of variant and each right call, the answers to its variants.
    variants: Vec<Vec<Vec<String>>>,
}

fn answers(name: &str, is_guarded: bool, folder: &Folder) -> Answers {
    let mut server = Server::start(name, is_guarded, folder.path());
    let hello = server.request(
        "initialize",
        &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "published", "version": "1" } }),
    );
    server.notify("notifications/initialized");
    let tools = server.request("tools/list", &json!({}));
    let listed: Value = serde_json::from_str(&tools).unwrap();
    let case = server.case.clone();
    let mut make = |calls: &[Call]| -> Vec<_> {
        calls.iter().map(|call| server.call(&call.tool, &call.arguments)).collect()
    };
    // Right calls come first: a variant that works may change what they answer.
    let right = make(&case.calls);
    let refused = make(&case.refused);
    let variants = Kind::ALL
        .map(|kind| case.calls.iter().map(|call| make(&kind.variants(call, &listed))).collect());
    let variants = variants.into();
    Answers { hello, tools, right, refused, variants }
}

/// The result or the error of an answer.
fn outcome(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer.get("result").or(answer.get("error")).unwrap().clone()
}

fn is_error(answer: &str) -> bool {
    let outcome = outcome(answer);
    outcome["isError"] == true || outcome.get("code").is_some()
}

/// Whether a variant works: it gets no error, or it gets what the right call gets. A server that has
/// no network answers a right call with an error.
fn works(variant: &str, right: &str) -> bool {
    !is_error(variant) || outcome(variant) == outcome(right)
}

fn works_as_without(name: &str) {
    let case = Case::load(name);
    let folder = Folder::new();
    let direct = answers(name, false, &folder);
    let guarded = answers(name, true, &folder);
    assert_eq!(direct.hello, guarded.hello);
    // The guard converts schemas of older dialects, and leaves formats out of output schemas.
    let changes = direct.tools.contains("json-schema.org/draft-07")
        || guarded.tools.contains("dev.toolbond/output");
    if !case.tools_vary && !changes {
        assert_eq!(direct.tools, guarded.tools);
    }
    for ((call, direct), guarded) in case.calls.iter().zip(&direct.right).zip(&guarded.right) {
        match call.note {
            Some(_) => assert_eq!(is_error(direct), is_error(guarded), "{call:?}"),
            None => assert_eq!(direct, guarded, "{call:?}"),
        }
    }
    for ((call, direct), guarded) in case.refused.iter().zip(&direct.refused).zip(&guarded.refused)
    {
        assert!(!is_error(direct) && is_error(guarded), "{call:?}\n{direct}\n{guarded}");
    }
    let tools: HashSet<_> = case.calls.iter().map(|call| &call.tool).collect();
    let mut row = Row::new(&case.package, tools.len(), case.calls.len());
    let listed: Value = serde_json::from_str(&direct.tools).unwrap();
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        for (position, call) in case.calls.iter().enumerate() {
            for (number, variant) in kind.variants(call, &listed).iter().enumerate() {
                let works = |answers: &Answers| {
                    works(&answers.variants[index][position][number], &answers.right[position])
                };
                let works = (works(&direct), works(&guarded));
                if kind != Kind::Misspelt {
                    assert_ne!(works, (true, false), "{variant:?} works only without the guard");
                }
                row.count(kind, works);
            }
        }
    }
    table::check_row(&row);
}

/// One test for each server: a few of every kind, and the rest where there is time.
macro_rules! published {
    (few: [$($few:ident)*] rest: [$($rest:ident)*]) => {
        const NAMES: &[&str] = &[$(stringify!($few),)* $(stringify!($rest)),*];
        $(
            #[test]
            fn $few() {
                works_as_without(stringify!($few));
            }
        )*
        $(
            #[test]
            #[ignore = "long matrix: cargo xtask test --all"]
            fn $rest() {
                works_as_without(stringify!($rest));
            }
        )*
    };
}

published! {
    few: [
    currents
    excel
    mcp_mailtrap
    mcp_searxng
    mcp_server_git
    memory_bank
    neo4j_data_modeling
    server_debug
    server_everything
    server_filesystem
    server_memory
    server_sequential_thinking
    shrimp_task_manager
    terminal
    ynab
    ]
    rest: [
    agent_infra_commands
    agent_infra_filesystem
    airtable
    anki
    bitbucket
    drawio
    eslint
    fred
    freee
    gemini_mcp_tool
    godot
    h1deya_weather
    knowledge_graph
    latex
    launchdarkly
    mcp_alchemy
    mcp_graphql
    mcp_server_calculator
    mcp_server_perplexity
    mcp_server_sqlite
    mcp_server_time
    mcp_weather_server
    n8n_workflow_builder
    nexus_jira
    odoo
    office_word
    perplexity
    powerbi
    prometheus
    railway
    repomix
    server_google_maps
    server_slack
    strava
    talk_to_figma
    time_mcp
    tmdb
    todoist
    trello
    variflight
    ]
}

#[test]
fn the_table_is_complete() {
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()
    };
    let files = std::fs::read_dir(case::folder().join("servers")).unwrap().map(name);
    let files: std::collections::BTreeSet<_> = files.collect();
    assert_eq!(files, NAMES.iter().map(|&name| name.to_owned()).collect());
    table::check(files.iter().map(|name| Case::load(name)));
}
