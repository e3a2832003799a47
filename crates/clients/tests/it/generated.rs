//! Properties of generated configurations.

use proptest::prelude::*;
use serde_json::Value;
use toolbond_clients::{
    Client, Document, Server as Found, Start, Syntax, Via, Wrapper, client, unwrap, wrap,
};

use crate::layout::{Server, layout, servers};

fn parse<'a>(text: &'a str, client: &'static Client) -> (Document<'a>, Vec<Found>) {
    let document = Document::parse(text, client.syntax).unwrap_or_else(|e| panic!("{e}: {text}"));
    let servers = document.servers(client);
    (document, servers)
}

fn wrapped(text: &str, client: &'static Client, wrapper: &Wrapper) -> String {
    let (document, servers) = parse(text, client);
    wrap(&document, &servers, wrapper).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Unwraps with what the file was `before`.
fn unwrapped(text: &str, client: &'static Client, before: &str) -> String {
    let (document, servers) = parse(text, client);
    let before = Document::parse(before, client.syntax).unwrap();
    unwrap(&document, &servers, Some(&before)).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn wrapper() -> impl Strategy<Value = Wrapper> {
    prop_oneof![
        Just(Wrapper::program("/usr/bin/toolbond")),
        Just(Wrapper::program("C:\\bin\\toolbond.exe")),
        Just(Wrapper::package(Via::Npx, "npx.cmd", "0.1.0")),
        Just(Wrapper::package(Via::Uvx, "/bin/uvx", "0.1.0")),
    ]
}

fn any_client() -> impl Strategy<Value = &'static Client> {
    prop::sample::select(vec![client("claude-code").unwrap(), client("codex").unwrap()])
}

/// The servers by their place, without what a guard changes.
fn rest(text: &str, client: &'static Client) -> Vec<Value> {
    let (document, servers) = parse(text, client);
    servers
        .iter()
        .map(|server| {
            let env = if matches!(&server.start, Start::Command { guard: None, .. }) {
                Some(server.env(&document))
            } else {
                None
            };
            serde_json::json!([server.name, server.project, server.cwd(&document), env])
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn unwrapping_gives_back_every_byte(
        layout in layout(), servers in servers(), client in any_client(), wrapper in wrapper(),
    ) {
        let text = layout.text(client.syntax, &servers);
        let guarded = wrapped(&text, client, &wrapper);
        prop_assert_eq!(&unwrapped(&guarded, client, &text), &text);
        // A second time changes nothing.
        prop_assert_eq!(&wrapped(&guarded, client, &wrapper), &guarded);
        prop_assert_eq!(unwrapped(&text, client, &text), text);
    }

    /// What a user changes beside the guards stays.
    #[test]
    fn only_its_own_change_is_undone(
        layout in layout(), servers in servers(), client in any_client(), wrapper in wrapper(),
    ) {
        let text = layout.text(client.syntax, &servers);
        let change = |text: &str| text.replace("MARK", "changed").replace("1.50", "1.5");
        let guarded = change(&wrapped(&text, client, &wrapper));
        prop_assert_eq!(unwrapped(&guarded, client, &text), change(&text));
    }

    /// Without knowing what it was before, all servers start what they started.
    #[test]
    fn nothing_has_to_be_known(
        layout in layout(), servers in servers(), client in any_client(), wrapper in wrapper(),
    ) {
        let text = layout.text(client.syntax, &servers);
        let guarded = wrapped(&text, client, &wrapper);
        let (document, found) = parse(&guarded, client);
        let plain = unwrap(&document, &found, None).unwrap();
        let starts = |text: &str| {
            parse(text, client).1.into_iter().map(|server| server.start).collect::<Vec<_>>()
        };
        prop_assert_eq!(starts(&plain), starts(&text));
        prop_assert_eq!(rest(&plain, client), rest(&text, client));
    }

    /// Every server starts the guard, with what it started before as the last arguments.
    #[test]
    fn every_server_is_guarded(
        layout in layout(), servers in servers(), client in any_client(), wrapper in wrapper(),
    ) {
        let text = layout.text(client.syntax, &servers);
        let guarded = wrapped(&text, client, &wrapper);
        for (before, after) in parse(&text, client).1.iter().zip(&parse(&guarded, client).1) {
            prop_assert_eq!(&before.name, &after.name);
            prop_assert!(after.is_guarded());
            let Start::Command { arguments: words, .. } = &after.start else { panic!() };
            match &before.start {
                Start::Command { program, arguments, .. } => {
                    let expected = [&["--".to_owned(), program.clone()][..], arguments].concat();
                    prop_assert!(words.ends_with(&expected), "{:?}", words);
                }
                Start::Remote { url, headers } => {
                    prop_assert!(words.contains(url));
                    // No value of a header is in the command line.
                    prop_assert!(words.iter().all(|it| !it.contains("secret")));
                    prop_assert_eq!(words.iter().filter(|it| *it == "--header").count(), headers.len());
                }
                Start::Unknown(_) => panic!(),
            }
        }
    }

    /// Some servers are wrapped, and others later; then they are unwrapped in any order.
    #[test]
    fn servers_are_independent(
        layout in layout(), servers in servers(), client in any_client(), mask in any::<[bool; 32]>(),
    ) {
        let text = layout.text(client.syntax, &servers);
        let wrapper = Wrapper::program("toolbond");
        let (document, found) = parse(&text, client);
        let some: Vec<_> = found.iter().zip(mask).filter(|(_, on)| *on).map(|(it, _)| it.clone()).collect();
        let first = wrap(&document, &some, &wrapper).unwrap();
        let all = wrapped(&first, client, &wrapper);
        prop_assert_eq!(&all, &wrapped(&text, client, &wrapper));
        let (document, found) = parse(&all, client);
        let others: Vec<_> = found.iter().zip(mask).filter(|(_, on)| !*on).map(|(it, _)| it.clone()).collect();
        let before = Document::parse(&text, client.syntax).unwrap();
        prop_assert_eq!(unwrap(&document, &others, Some(&before)).unwrap(), first);
    }
}

/// The generator writes what it should: both syntaxes, servers of both kinds.
#[test]
fn the_generator_is_varied() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = [false; 4];
    for _ in 0..200 {
        let servers = servers().new_tree(&mut runner).unwrap().current();
        let layout = layout().new_tree(&mut runner).unwrap().current();
        let text = layout.text(Syntax::Json, &servers);
        seen[0] |= servers.iter().any(Server::is_remote);
        seen[1] |= text.starts_with('\u{feff}');
        seen[2] |= text.contains("\r\n");
        seen[3] |= text.contains("MARK");
    }
    assert_eq!(seen, [true; 4]);
}
