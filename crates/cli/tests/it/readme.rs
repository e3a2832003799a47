//! The README and the guides: their commands run and print what the documents show.
//!
//! A `console` block is run in a new folder, one folder for each document: after `$ ` stands a command, below it what
//! the command prints. A line `[…]` stands for lines that are left out. A block with `title="FILE"` is written to that
//! file first. In `sh` blocks and in the text, verbs and options of `toolbond` exist.
#![cfg(unix)]

use std::env::{join_paths, split_paths, var_os};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Separates the outputs of the commands of one block.
const MARK: &str = "--- end of one command ---";

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    title: Option<&'a str>,
    text: &'a str,
}

fn repository() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
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

/// The commands of a `console` block, each with what it prints.
fn commands(block: &str) -> Vec<(String, Vec<&str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((command, _))) if command.ends_with('\\') => {
                command.push('\n');
                command.push_str(line);
            }
            (None, Some((_, printed))) => printed.push(line.trim_end()),
            (None, None) => panic!("expected `$ COMMAND`, found `{line}`"),
        }
    }
    commands
}

/// A new folder, with the repository in it as `toolbond`. `cd` in one block holds for the next.
struct Folder {
    root: PathBuf,
    current: PathBuf,
}

impl Folder {
    fn new(document: &str) -> Self {
        let name = format!("toolbond-{}-{}", std::process::id(), document.replace('/', "-"));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        symlink(repository(), folder.join("toolbond")).unwrap();
        Self { current: folder.clone(), root: folder }
    }

    /// Runs the commands of one block in one shell.
    fn run(&mut self, commands: &[(String, Vec<&str>)]) -> Vec<String> {
        let mut script = String::new();
        for (command, _) in commands {
            // `$?` after it is that of the command.
            script.extend([command, "\nstatus=$?; echo '", MARK, "'; (exit $status)\n"]);
        }
        script.push_str("pwd");
        let binary = Path::new(env!("CARGO_BIN_EXE_toolbond"));
        let path = var_os("PATH").unwrap();
        let path = [binary.parent().unwrap().to_owned()].into_iter().chain(split_paths(&path));
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .current_dir(&self.current)
            .env("PATH", join_paths(path).unwrap())
            .env("NO_COLOR", "1")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_QUIET", "true")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TARGET_DIR", repository().join("target/guides"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut printed: Vec<_> = text.split(&format!("{MARK}\n")).map(str::to_owned).collect();
        self.current = printed.pop().unwrap().trim_end().into();
        assert!(self.current.is_dir(), "{text}");
        printed
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_file(self.root.join("toolbond"));
        _ = fs::remove_dir_all(&self.root);
    }
}

/// Whether `printed` is `expected`, in which `[…]` stands for any lines.
fn matches(printed: &[&str], expected: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((&"[…]", rest)) => (0..=printed.len()).any(|at| matches(&printed[at..], rest)),
        Some((first, rest)) => {
            printed.split_first().is_some_and(|(line, more)| line == first && matches(more, rest))
        }
    }
}

/// Runs every `console` block of `document`, and says how many commands there were.
fn run(document: &str) -> usize {
    let text = read(document);
    let mut folder = Folder::new(document);
    let mut count = 0;
    for block in blocks(&text) {
        if let Some(title) = block.title {
            let file = folder.current.join(title);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{}\n", block.text)).unwrap();
        }
        if block.language != "console" {
            continue;
        }
        let commands = commands(block.text);
        for ((command, expected), printed) in commands.iter().zip(folder.run(&commands)) {
            let lines: Vec<_> = printed.lines().map(str::trim_end).collect();
            assert!(
                matches(&lines, expected),
                "{document}: `{command}` prints\n{printed}\ninstead of\n{}",
                expected.join("\n")
            );
            count += 1;
        }
    }
    count
}

macro_rules! documents {
    ($($name:ident: $document:literal;)*) => {$(
        #[test]
        fn $name() {
            assert!(run($document) > 0, "{} has no command to run", $document);
        }
    )*};
}

documents! {
    the_readme_shows_what_commands_print: "README.md";
    the_guide_to_rust_servers_works: "docs/rust-servers.md";
    the_guide_to_the_guard_works: "docs/guard.md";
    the_guide_to_ci_works: "docs/ci.md";
    the_guide_to_the_validator_works: "docs/validator.md";
    the_guide_to_bundling_works: "docs/bundle.md";
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
    let mut seen = 0;
    for document in documents {
        for words in mentioned(&read(&document)) {
            let verb = words[0].trim_end_matches('\\');
            if verb.starts_with('-') || verb.chars().all(|c| c.is_uppercase() || c == '…') {
                continue;
            }
            let help = Command::new(env!("CARGO_BIN_EXE_toolbond")).args([verb, "--help"]).output();
            let help = help.unwrap();
            assert!(help.status.success(), "{document}: no verb `{verb}`");
            let help = String::from_utf8(help.stdout).unwrap();
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
