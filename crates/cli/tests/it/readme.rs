//! The README and the guides: their commands run and print what the documents show.
//!
//! A `console` block is a transcript, run in a new folder, one folder for each document. A block with `title="FILE"` is
//! written to that file first. In `sh` blocks and in the text, verbs and options of `toolbond` exist.
#![cfg(unix)]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use toolbond_harness::files::{self, Folder};
use toolbond_harness::process::{example, toolbond};
use toolbond_harness::transcript::{Run, Shell, difference, matches, parse};

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    title: Option<&'a str>,
    text: &'a str,
}

fn repository() -> PathBuf {
    files::root().canonicalize().unwrap()
}

fn read(document: &str) -> String {
    fs::read_to_string(repository().join(document)).unwrap()
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for part in text.split("\n```").skip(1).step_by(2) {
        let (info, text) = part.split_once('\n').unwrap();
        let language = info.split([' ', ',']).next().unwrap();
        let title = info.split_once("title=\"").map(|(_, rest)| rest.split('"').next().unwrap());
        blocks.push(Block { language, title, text });
    }
    blocks
}

/// The commands of a `console` block; other blocks have none.
fn parse_console(block: &Block<'_>) -> Vec<Run> {
    if block.language == "console" { parse(block.text) } else { Vec::new() }
}

/// Runs every `console` block of `document`.
fn run(document: &str) {
    let text = read(document);
    let folder = Folder::new();
    symlink(repository(), folder.path().join("toolbond")).unwrap();
    let mut shell = Shell::new(folder.path())
        .merged()
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_QUIET", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_TARGET_DIR", repository().join("target/guides").to_str().unwrap());
    let mut count = 0;
    for block in blocks(&text) {
        if let Some(title) = block.title {
            let file = shell.folder().join(title);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{}\n", block.text)).unwrap();
        }
        for run in parse_console(&block) {
            let (command, printed) = (&run.command, shell.run(&run.command));
            assert!(
                matches(&run.printed, &printed),
                "{document}: `{command}`: `-` is in the document, `+` is printed\n{}",
                difference(&run.printed, &printed)
            );
            count += 1;
        }
    }
    assert!(count > 0, "{document} has no command to run");
}

macro_rules! documents {
    ($($(#[$attribute:meta])* $name:ident: $document:literal;)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $name() {
            run($document);
        }
    )*};
}

documents! {
    the_readme_shows_what_commands_print: "README.md";
    #[ignore = "compiles the dependencies of a new package, with features of its own"]
    the_guide_to_rust_servers_works: "docs/rust-servers.md";
    the_guide_to_the_guard_works: "docs/guard.md";
    the_guide_to_ci_works: "docs/ci.md";
    the_guide_to_the_validator_works: "docs/validator.md";
    the_guide_to_bundling_works: "docs/bundle.md";
}

/// The server of the guide, as this build has it.
#[test]
fn the_server_of_the_guide_runs() {
    let weather = example("toolbond", "weather").display().to_string();
    let mut shell = Shell::new(&repository()).merged();
    let mut count = 0;
    for block in blocks(&read("docs/rust-servers.md")) {
        let is_run = |run: &Run| run.command.contains("cargo run --quiet");
        for run in parse_console(&block).into_iter().filter(is_run) {
            let printed = shell.run(
                &run.command
                    .replace("cargo run --quiet", &weather)
                    .replace(" -- --help", " --help"),
            );
            assert!(matches(&run.printed, &printed), "{}", difference(&run.printed, &printed));
            count += 1;
        }
    }
    assert_eq!(count, 2);
}

/// The words of `toolbond …` in the text, as code and in blocks that are not run.
fn mentioned(text: &str) -> Vec<Vec<String>> {
    let blocks = blocks(text);
    let lines = blocks.iter().filter(|block| block.language == "sh").flat_map(|b| b.text.lines());
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    lines
        .chain(spans)
        .map(|line| line.split(" #").next().unwrap())
        .filter_map(|line| line.strip_prefix("toolbond "))
        .map(|line| line.split(['|', ' ', '[', ']']).map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_verb_and_option_in_the_documents_exists() {
    let mut documents = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in fs::read_dir(repository().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(format!("docs/{}", path.file_name().unwrap().to_str().unwrap()));
        }
    }
    let (mut seen, mut helps) = (0, HashMap::new());
    for document in documents {
        for words in mentioned(&read(&document)) {
            let verb = words[0].trim_end_matches('\\');
            if verb.starts_with('-') || verb.chars().all(|c| c.is_uppercase() || c == '…') {
                continue;
            }
            let help = helps.entry(verb.to_owned()).or_insert_with(|| {
                let help = toolbond(&[verb, "--help"]).output().unwrap();
                assert!(help.status.success(), "{document}: no verb `{verb}`");
                String::from_utf8(help.stdout).unwrap()
            });
            for word in words.iter().take_while(|word| *word != "--") {
                let option = word.split('=').next().unwrap();
                if option.starts_with("--") {
                    assert!(help.contains(option), "{document}: no option `{option}` of `{verb}`");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
}
