//! Pages of tool lists.

use std::sync::Arc;

use toolbond_contract::Revision;
use toolbond_targets::UsedNames;

use super::{CheckedPage, PageCheck, PageOutcome};
use crate::contract::catalog::{Catalog, Tool};
use crate::lock::lock;
use crate::server::Server;
use crate::settings::Settings;
use crate::testing;

fn check(server: &Server, tools: &[&str], others: &[&str]) -> CheckedPage {
    let result = format!("{{\"tools\":[{}]}}", tools.join(","));
    let mut used = UsedNames::default();
    used.tools = others.iter().map(|name| (*name).to_owned()).collect();
    let check = PageCheck {
        server,
        rules: &server.rules(),
        request: Catalog::default().request_page(None, testing::now()),
        others: &used,
        audience: &Revision::V2025_11_25.into(),
        may_wait: false,
        memory: usize::MAX,
    };
    check.check(&result)
}

fn server() -> Server {
    testing::server(Settings::default())
}

fn tool(name: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
}

#[test]
fn the_patterns_of_a_list_are_bounded_together() {
    let server = testing::server_within(Settings::default(), 2 << 20);
    let tool = |n| {
        format!(
            r#"{{"name":"t{n}","inputSchema":{{"type":"object","properties":{{"a":{{"pattern":"^[a-z]{{{}}}$"}}}}}}}}"#,
            900 + n
        )
    };
    let all: Vec<_> = (0..9).map(tool).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let states = |page: &CheckedPage| {
        let tools = &page.tools.as_ref().unwrap().1;
        let offered = tools.iter().filter_map(|(_, tool)| match tool {
            Tool::Offered { judged, .. } => Some(judged.pattern_states()),
            Tool::Withheld(_) => None,
        });
        offered.collect::<Vec<_>>()
    };
    let (one, many) = (check(&server, &all[..1], &[]), check(&server, &all, &[]));
    assert_eq!(states(&one).len(), 1);
    let (kept, most) = (states(&many), server.rules().shelf.pattern_states());
    assert!(kept.len() > 1 && kept.len() < 9, "{kept:?} of {most}");
    assert!(kept.iter().sum::<usize>() <= most, "{kept:?} of {most}");
}

#[test]
fn a_tool_that_did_not_change_is_not_judged_again() {
    let server = server();
    let (a, b, bad) = (tool("a"), tool("b"), r#"{"name":"bad","inputSchema":{"$ref":"x:y"}}"#);
    let cached = |text: &str| lock(&server.rules().tools).get(text);
    check(&server, &[&a, bad], &[]);
    let before = (cached(&a).unwrap(), cached(bad).unwrap());
    assert!(before.0.contract.is_some() && before.1.contract.is_none());
    check(&server, &[&b, &a, bad], &[]);
    assert!(Arc::ptr_eq(&before.0, &cached(&a).unwrap()));
    assert!(Arc::ptr_eq(&before.1, &cached(bad).unwrap()));
    // Two of one name are judged together, and that judgement is not cached.
    let twin = a.replace("object\"", "object\",\"title\":\"\"");
    check(&server, &[&twin, &a], &[]);
    assert!(cached(&twin).is_none());
}

#[test]
fn a_tool_that_cannot_be_read_is_withheld() {
    let server = server();
    for bad in [r#""description":"\ud800""#, r#""_meta":{"x":1e999}"#] {
        let bad = format!(r#"{{"name":"bad","inputSchema":{{"type":"object"}},{bad}}}"#);
        let page = check(&server, &[&bad, &tool("good")], &[]);
        let (_, tools) = page.tools.unwrap();
        assert!(matches!(&tools[0], (name, Tool::Withheld(_)) if name == "bad"), "{tools:?}");
        assert_eq!(
            page.outcome,
            PageOutcome::Replaced(format!("{{\"tools\":[{}]}}", tool("good")))
        );
    }
}

#[test]
fn a_tool_on_two_pages_is_listed_once() {
    let server = server();
    assert_eq!(check(&server, &[&tool("a")], &[]).outcome, PageOutcome::Same);
    let expected = format!("{{\"tools\":[{}]}}", tool("b"));
    let page = check(&server, &[&tool("a"), &tool("b")], &["a"]);
    assert_eq!(page.outcome, PageOutcome::Replaced(expected));
}
