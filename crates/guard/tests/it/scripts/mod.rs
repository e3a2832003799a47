//! Every script of `tests/scripts`, played every way that a guard can stand.

mod bridged;
mod envoy;
mod events;
mod http;
mod script;
mod stage;
mod upstream;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use toolbond_guard_core::message::reads;
use toolbond_harness::skip;

use self::bridged::{LegacyClient, ModernClient};
use self::http::{OverHttp, OverProcess};
use self::script::{Script, scripts};
use self::stage::Stage;
use self::upstream::OverUpstream;
use crate::pair::Pair;

/// Plays every script on the stage that `build` makes for it.
fn play<S: Stage>(way: &str, build: impl Fn(&Script) -> S) {
    let scripts = scripts();
    let played = scripts.iter().filter(|script| script.is_for(way));
    let failed: Vec<_> = played
        .filter_map(|script| {
            let last = Cell::new("the handshake".to_owned());
            let play = || play_one(way, script, &mut build(script), &last);
            catch_unwind(AssertUnwindSafe(play)).is_err().then(|| (&script.name, last.take()))
        })
        .collect();
    assert!(failed.is_empty(), "{way}: scripts that failed, and where: {failed:#?}");
}

/// Plays one script; `last` is the line that it came to.
fn play_one(way: &str, script: &Script, stage: &mut impl Stage, last: &Cell<String>) {
    let name = &script.name;
    let mut asked = Value::Null;
    for (word, text) in script.steps.iter().chain(&end()) {
        // A step of one way only.
        let (only, word) = word.split_once('/').unwrap_or((way, word));
        if only != way {
            continue;
        }
        last.set(format!("{word} {text}"));
        match word {
            "client>" => stage.client_sends(text),
            "server>" => stage.server_sends(text),
            "server<" | "client<" => {
                let is_server = word == "server<";
                let found =
                    if is_server { stage.server_receives() } else { stage.client_receives() };
                assert_eq!(stage.form(&found), stage.form(text), "{name}, {way}: {word}");
            }
            "client<~" => {
                let found = stage.client_receives();
                for part in text.split(" | ") {
                    let is_there = found.contains(part);
                    assert!(is_there, "{name}, {way}: expected `{part}`, found {found}");
                }
            }
            "server<list" => {
                asked = serde_json::from_str(&stage.guard_asks()).unwrap();
                assert_eq!(asked["method"], "tools/list", "{name}, {way}");
            }
            "server>list" => {
                let id = &asked["id"];
                let answer =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{text}}}}}"#);
                stage.guard_is_told(&answer);
            }
            other => panic!("{name}: no step `{other}`"),
        }
    }
}

/// What goes through after each script, in every revision.
fn end() -> [(String, String); 4] {
    let ask = r#"{"jsonrpc":"2.0","id":"end","method":"prompts/list"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"end","result":{"prompts":[]}}"#;
    let end = [("client>", ask), ("server<", ask), ("server>", answer), ("client<", answer)];
    end.map(|(word, text)| (word.to_owned(), text.to_owned()))
}

/// How often the guard reads the messages of a call that it has a contract for, and of its answer. Messages about
/// something else may come in between, so the least of several calls counts.
fn reads_of_a_call(stage: &mut impl Stage, script: &Script, way: &str) -> u64 {
    play_one(way, script, stage, &Cell::default());
    let mut call = || {
        let before = reads();
        for (word, text) in script.steps.iter().filter(|(word, _)| !word.ends_with("list")) {
            match word.as_str() {
                "client>" => stage.client_sends(text),
                "server<" => drop(stage.server_receives()),
                "server>" => stage.server_sends(text),
                _ => drop(stage.client_receives()),
            }
        }
        reads() - before
    };
    (0..5).map(|_| call()).min().unwrap_or_default()
}

#[test]
fn a_message_is_read_once_in_each_direction() {
    if std::env::var_os("NEXTEST").is_none() {
        return skip("it counts in the whole process, which other tests share; use cargo-nextest");
    }
    let all = scripts();
    let script = all.iter().find(|script| script.name == "valid-call").unwrap();
    let revision = &script.revision;
    let found = [
        reads_of_a_call(&mut Pair::greeted(script.settings.clone(), revision), script, "stdio"),
        reads_of_a_call(&mut OverHttp::new(script.settings.clone(), revision), script, "http"),
        reads_of_a_call(
            &mut OverProcess::new(script.settings.clone(), revision),
            script,
            "process",
        ),
        reads_of_a_call(&mut LegacyClient::new(script), script, "legacy-client"),
        reads_of_a_call(&mut ModernClient::new(script), script, "modern-client"),
        reads_of_a_call(&mut envoy::OverEnvoy::new(script), script, "envoy"),
        reads_of_a_call(
            &mut OverUpstream::greeted(script.settings.clone(), revision),
            script,
            "upstream",
        ),
    ];
    // One of the call, one of the answer.
    assert_eq!(found, [2; 7]);
}

#[test]
fn on_standard_input_and_output() {
    play("stdio", |script| Pair::greeted(script.settings.clone(), &script.revision));
}

#[test]
fn in_front_of_a_server_on_http() {
    play("http", |script| OverHttp::new(script.settings.clone(), &script.revision));
}

#[test]
fn in_front_of_a_process_on_http() {
    play("process", |script| OverProcess::new(script.settings.clone(), &script.revision));
}

#[test]
fn with_a_legacy_client_and_a_modern_server() {
    play("legacy-client", LegacyClient::new);
}

#[test]
fn with_a_modern_client_and_a_legacy_server() {
    play("modern-client", ModernClient::new);
}

#[test]
fn on_standard_input_in_front_of_a_server_on_http() {
    play("upstream", |script| OverUpstream::greeted(script.settings.clone(), &script.revision));
}

#[test]
fn with_the_messages_of_envoy() {
    play("envoy", envoy::OverEnvoy::new);
}
