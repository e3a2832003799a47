//! A file that is damaged, too long, someone else's, or written by two guards at once.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use toolbond_contract::Contract;
use toolbond_guard_core::event::Event;
use toolbond_guard_core::learned::{Learned, MAX_TIMES};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::settings::Settings;
use toolbond_harness::files::Folder;

use super::content::{Content, MAX_FILE};
use super::{ResultsFile, ServerDigest, disk};
use crate::server::GuardedServer;

/// A guard with a results file, and what it logged.
struct Guard {
    file: ResultsFile,
    server: GuardedServer,
    log: Arc<Mutex<Vec<String>>>,
}

impl Guard {
    fn start(path: &str, server: &str) -> Self {
        let log = Arc::<Mutex<Vec<String>>>::default();
        let lines = Arc::clone(&log);
        let listener = Arc::new(move |event: Event| lock(&lines).push(event.to_string()));
        let file = ResultsFile::open(path.into(), listener);
        let guarded = GuardedServer::new(server, Settings::default(), Arc::new(|_: Event| {}));
        file.watch(&guarded, ServerDigest::of_url(server));
        Self { file, server: guarded, log }
    }

    fn learn(&self, tool: &Contract, value: &Value) {
        self.server.learned().learn(tool, Some(value));
    }

    fn knows(&self, tool: &Contract) -> Option<Arc<Learned>> {
        self.server.learned().get(tool).map(|(learned, _)| learned)
    }

    fn log(&self) -> Vec<String> {
        lock(&self.log).clone()
    }
}

fn tool(name: &str) -> Contract {
    let output = json!({
        "type": "object",
        "properties": { "secret-free": { "type": "integer" }, "b": { "type": "integer" } }
    });
    let input = json!({ "type": "object" });
    Contract::received(json!({ "name": name, "inputSchema": input, "outputSchema": output }))
        .unwrap()
}

const URL: &str = "https://a.example/mcp";

#[test]
fn another_run_knows_what_was_learned_and_nothing_else_is_in_the_file() {
    let folder = Folder::new();
    let path = folder.join("deep/er/results-1.json");
    let first = Guard::start(&path, URL);
    first.file.save();
    assert!(!Path::new(&path).exists(), "nothing was learned");
    first.learn(&tool("named-tool"), &json!({ "b": "a value" }));
    first.file.save();
    let text = fs::read_to_string(&path).unwrap();
    for absent in ["named-tool", "a value", "a.example", "secret-free"] {
        assert!(!text.contains(absent), "{text}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.join("deep/er"))), (0o600, 0o700));
    }

    let second = Guard::start(&path, URL);
    assert!(first.knows(&tool("named-tool")).is_some());
    assert_eq!(second.knows(&tool("named-tool")), first.knows(&tool("named-tool")));
    // A new version of the tool, another tool, another server.
    assert_eq!(second.knows(&tool("other")), None);
    assert_eq!(Guard::start(&path, "https://b.example/mcp").knows(&tool("named-tool")), None);
    // Nothing is new.
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    second.file.save();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!([first.log(), second.log()], [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn it_is_written_some_seconds_after_something_was_learned() {
    let folder = Folder::new();
    let path = folder.join("results-1.json");
    let guard = Guard::start(&path, URL);
    guard.learn(&tool("a"), &json!({ "b": "x" }));
    toolbond_harness::wait::wait_until("the file is written", || Path::new(&path).exists());
}

#[test]
fn two_guards_that_write_at_once_lose_nothing() {
    let folder = Folder::new();
    let path = folder.join("results-1.json");
    let guards: Vec<_> = (0..2).map(|_| Guard::start(&path, URL)).collect();
    thread::scope(|scope| {
        for (at, guard) in guards.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..20 {
                    guard.learn(&tool(&format!("{at}-{n}")), &json!({ "b": "x" }));
                    guard.file.save();
                }
            });
        }
    });
    // Of one tool, each has learned something else.
    guards[0].learn(&tool("both"), &json!({ "b": "x" }));
    guards[1].learn(&tool("both"), &json!({ "secret-free": null }));
    for guard in &guards {
        guard.file.save();
        assert_eq!(guard.log(), Vec::<String>::new());
    }
    let third = Guard::start(&path, URL);
    for (at, n) in (0..2).flat_map(|at| (0..20).map(move |n| (at, n))) {
        let tool = tool(&format!("{at}-{n}"));
        assert_eq!(third.knows(&tool), guards[at].knows(&tool));
    }
    let both = third.knows(&tool("both")).unwrap();
    let schema = both.relaxation.apply(tool("both").output().unwrap().schema().source()).unwrap();
    assert_eq!(schema["properties"]["b"]["type"], json!(["integer", "string"]));
    assert_eq!(schema["properties"]["secret-free"]["type"], json!(["integer", "null"]));
}

const OTHER: &str = "it holds something else";

#[test]
fn a_file_that_cannot_be_read_costs_one_line_and_stays() {
    let (folder, mut oversized) = (Folder::new(), br#"{"version":1,"tools":["#.to_vec());
    oversized.resize(MAX_FILE + 1, b' ');
    let whole = {
        let path = folder.join("whole");
        let guard = Guard::start(&path, URL);
        guard.learn(&tool("a"), &json!({ "b": "x" }));
        guard.file.save();
        fs::read(path).unwrap()
    };
    let text = String::from_utf8(whole.clone()).unwrap();
    let cases: [(&str, &[u8]); 11] = [
        ("line 2", &whole[..whole.len() / 2]),
        (OTHER, b"my notes"),
        (OTHER, b"\0\0\0\0"),
        (OTHER, br#"{"version":1,"lockfile":[]}"#),
        (OTHER, br#"{"version":"1","tools":[]}"#),
        (OTHER, &vec![b' '; MAX_FILE + 1]),
        ("version 2, expected 1", br#"{"version":2,"tools":[{"new":1}]}"#),
        ("line", text.replace("\"allow\"", "\"replace\"").as_bytes()),
        ("line", text.replacen("\"tool\":\"", "\"tool\":\"x", 1).as_bytes()),
        ("line", text.replacen("\"time\"", "\"value\":1,\"time\"", 1).as_bytes()),
        ("exceeds the limit of 1048576 bytes", &oversized),
    ]
    .map(|(expected, bytes)| (expected, Vec::leak(bytes.to_vec()) as &[u8]));
    for (expected, bytes) in cases {
        let path = folder.write("results-1.json", bytes);
        restrict(&path);
        let guard = Guard::start(&path, URL);
        assert_eq!(guard.knows(&tool("a")), None);
        guard.learn(&tool("b"), &json!({ "b": "x" }));
        guard.file.save();
        guard.learn(&tool("c"), &json!({ "b": "x" }));
        guard.file.save();
        let log = guard.log();
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].contains(expected) && log[0].contains("results-1.json"), "{log:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{expected}");
        assert!(guard.knows(&tool("b")).is_some());
        let forgotten = ResultsFile::forget(path.as_ref());
        if expected == OTHER {
            assert!(forgotten.unwrap_err().to_string().contains(OTHER));
            assert_eq!(fs::read(&path).unwrap(), bytes);
        } else {
            assert_eq!(forgotten.unwrap().unwrap().tools, None);
        }
        assert_eq!(Path::new(&path).exists(), expected == OTHER);
    }
    assert_eq!(ResultsFile::forget(folder.join("absent").as_ref()).unwrap(), None);
    // A machine that lost power.
    let path = folder.write("empty", "");
    restrict(&path);
    let guard = Guard::start(&path, URL);
    guard.learn(&tool("b"), &json!({ "b": "x" }));
    guard.file.save();
    assert_eq!(guard.log(), Vec::<String>::new());
    assert_eq!(ResultsFile::forget(path.as_ref()).unwrap().unwrap().tools, Some(1));
}

fn restrict(path: &str) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[cfg(unix)]
#[test]
fn a_file_that_is_not_this_users_own_is_not_used() {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    let folder = Folder::new();
    let own = folder.join("own");
    let guard = Guard::start(&own, URL);
    guard.learn(&tool("a"), &json!({ "b": "x" }));
    guard.file.save();
    assert!(Guard::start(&own, URL).knows(&tool("a")).is_some());
    let mode = |path: &str, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let copy = |name: &str| {
        let path = folder.join(name);
        fs::copy(&own, &path).unwrap();
        path
    };
    let (link, open, read_only) = (folder.join("link"), copy("open"), copy("read-only"));
    symlink(&own, &link).unwrap();
    mode(&open, 0o666).unwrap();
    mode(&read_only, 0o400).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut cases = vec![
        (link, "expected a regular file", false),
        (folder.join("folder"), "expected a regular file", false),
        ("/dev/zero".to_owned(), "expected a regular file", false),
        (pipe, "expected a regular file", false),
        (open, "other users may write it", false),
        (read_only, "it is read-only", true),
        (format!("{own}/below"), "Not a directory", false),
    ];
    let foreign = copy("foreign");
    // Only root may give a file away.
    if chown(&foreign, Some(1), None).is_ok() {
        cases.push((foreign, "it belongs to another user", false));
    }
    let before = fs::read(&own).unwrap();
    for (path, expected, is_read) in cases {
        let guard = Guard::start(&path, URL);
        assert_eq!(guard.knows(&tool("a")).is_some(), is_read, "{path}");
        guard.learn(&tool("b"), &json!({ "b": "x" }));
        guard.file.save();
        let log = guard.log();
        assert!(log.len() == 1 && log[0].contains(expected), "{path}: {log:?}");
        if !is_read {
            assert!(ResultsFile::forget(path.as_ref()).is_err(), "{path}");
        }
    }
    assert_eq!(fs::read(&own).unwrap(), before);
}

#[test]
fn another_server_under_the_same_name_is_not_what_the_old_one_was() {
    let folder = Folder::new();
    let guard = Guard::start(&folder.join("results-1.json"), URL);
    guard.learn(&tool("a"), &json!({ "b": "x" }));
    guard.file.watch(&guard.server, ServerDigest::of_url("https://b.example/mcp"));
    assert_eq!(guard.knows(&tool("a")), None);
}

#[cfg(unix)]
#[test]
fn what_is_planted_beside_the_file_is_not_touched() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let other = folder.write("other", "not ours");
    let learn = |path: &str| {
        let guard = Guard::start(path, URL);
        guard.learn(&tool("a"), &json!({ "b": "x" }));
        guard.file.save();
        guard.log()
    };
    // A link in the place of the lock.
    let locked = folder.join("locked");
    symlink(&other, format!("{locked}.lock")).unwrap();
    assert_eq!(learn(&locked).len(), 1);
    assert!(!Path::new(&locked).exists());
    // One in the place of the new file, or somebody's notes.
    let path = folder.join("results-1.json");
    let new = format!("{path}.tmp");
    symlink(&other, &new).unwrap();
    assert_eq!(learn(&path).len(), 1);
    fs::remove_file(&new).unwrap();
    fs::write(&new, "not ours").unwrap();
    assert_eq!(learn(&path).len(), 1);
    for file in [&other, &new] {
        assert_eq!(fs::read_to_string(file).unwrap(), "not ours");
    }
    assert!(!Path::new(&path).exists());
    // What a guard left there goes.
    for left in [r#"{"version":1,"tools":["#, r#"{"ver"#, "\0\0\0\0"] {
        fs::write(&new, left).unwrap();
        assert_eq!(learn(&path), Vec::<String>::new());
        assert!(!Path::new(&new).exists() && Path::new(&path).exists());
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_another_process_locks_is_left_alone() {
    let folder = Folder::new();
    let path = folder.join("results-1.json");
    let other = fs::File::create(folder.join("results-1.json.lock")).unwrap();
    other.lock().unwrap();
    let guard = Guard::start(&path, URL);
    guard.learn(&tool("a"), &json!({ "b": "x" }));
    guard.file.save();
    assert!(!Path::new(&path).exists());
    let log = guard.log();
    assert!(log.len() == 1 && log[0].contains("another process has locked it"), "{log:?}");
    drop(other);
    guard.file.save();
    assert!(Path::new(&path).exists());
}

#[test]
fn a_full_file_forgets_what_is_oldest_and_no_server_fills_it_alone() {
    let learned = |at: String| -> Learned {
        let steps = json!([{ "at": format!("#/properties/{at}"), "change": { "allow": "null" } }]);
        serde_json::from_value(json!({ "relaxation": steps, "times": 1 })).unwrap()
    };
    let digest = |n: u32| {
        let mut digest = [7; 32];
        digest[..4].copy_from_slice(&n.to_be_bytes());
        digest
    };
    let mut content = Content::default();
    content.add(([0; 32], [0; 32]), learned("a".to_owned()), 1);
    for n in 0..2000 {
        content.add(([1; 32], digest(n)), learned("x".repeat(400)), 2 + u64::from(n));
    }
    let (text, kept) = content.clone().into_text();
    assert!(text.len() < MAX_FILE / 3, "{}", text.len());
    assert_eq!(Content::parse(text.as_bytes()).unwrap(), kept);
    assert_eq!(kept.of_server(&[0; 32]).count(), 1);
    let of_one: Vec<_> = kept.of_server(&[1; 32]).map(|(tool, _)| tool).collect();
    let from = 2000 - u32::try_from(of_one.len()).unwrap();
    assert_eq!(of_one, (from..2000).map(digest).collect::<Vec<_>>());

    for server in 2..12 {
        for n in 0..2000 {
            content.add(([server; 32], digest(n)), learned("x".repeat(400)), 10_000);
        }
    }
    let (text, kept) = content.into_text();
    assert!((MAX_FILE - 1000..=MAX_FILE).contains(&text.len()), "{}", text.len());
    assert_eq!(Content::parse(text.as_bytes()).unwrap(), kept);
    assert_eq!(kept.of_server(&[0; 32]).count(), 0);
}

#[test]
fn a_tool_without_schema_stays_without() {
    let folder = Folder::new();
    let path = folder.join("results-1.json");
    let key = ([1; 32], [2; 32]);
    let gone = Learned { times: MAX_TIMES + 1, ..Learned::default() };
    let some = Learned { times: 1, ..Learned::default() };
    for learned in [gone.clone(), some] {
        let content = disk::update(path.as_ref(), vec![(key, learned)], 1).unwrap();
        assert_eq!(content.of_server(&[1; 32]).next().unwrap().1, gone);
    }
}
