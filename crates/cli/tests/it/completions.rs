//! `toolbond completions` and `toolbond man`: what a shell completes, and what `man` shows.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use toolbond_harness::files::Folder;

use crate::command::{texts, toolbond};

/// The verbs of `toolbond --help`, without `help`.
fn verbs() -> BTreeSet<String> {
    let (_, help, _) = texts(toolbond(&["--help"]).output().unwrap());
    let commands = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names = rows.filter(|row| !row.starts_with(' ')).map(|row| row.split(' ').next().unwrap());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// What bash offers for the last of `words`.
fn bash(words: &[&str]) -> BTreeSet<String> {
    let (_, script, _) = texts(toolbond(&["completions", "bash"]).output().unwrap());
    let (last, position) = (words[words.len() - 1], words.len() - 1);
    let line = format!("'{}'", words.join("' '"));
    let ask = format!(
        "{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={position}\n_toolbond toolbond '{last}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[position - 1]
    );
    let output = Command::new("bash").args(["--noprofile", "--norc", "-c", &ask]).output();
    let (_, printed, said) = texts(output.unwrap());
    assert_eq!(said, "");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_and_values() {
    let offered = bash(&["toolbond", ""]);
    assert!(verbs().is_subset(&offered) && verbs().len() > 10, "{offered:?}");
    assert_eq!(bash(&["toolbond", "gu"]), BTreeSet::from(["guard".to_owned()]));
    assert_eq!(bash(&["toolbond", "lint", "--fail"]), BTreeSet::from(["--fail-on".to_owned()]));
    let formats = bash(&["toolbond", "lint", "--format", ""]);
    assert!(formats.contains("sarif") && formats.contains("junit"), "{formats:?}");
}

#[test]
fn other_shells_get_every_verb_too() {
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let (code, script, _) = texts(toolbond(&["completions", shell]).output().unwrap());
        assert_eq!(code, Some(0));
        for verb in verbs() {
            assert!(script.contains(&verb), "{shell}: {verb}");
        }
    }
    let (code, _, said) = texts(toolbond(&["completions", "csh"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(said.contains("possible values: bash, elvish, fish, powershell, zsh"), "{said}");
}

#[test]
fn every_verb_has_a_manual_page() {
    let folder = Folder::new();
    let place = folder.join("share/man");
    assert_eq!(texts(toolbond(&["man", &place]).output().unwrap()).0, Some(0));
    let pages = fs::read_dir(&place).unwrap().map(|page| page.unwrap());
    let pages: BTreeSet<_> = pages.map(|page| page.file_name().into_string().unwrap()).collect();
    let page = |verb: &String| format!("toolbond-{verb}.1");
    let expected: BTreeSet<_> = verbs().iter().map(page).chain(["toolbond.1".to_owned()]).collect();
    assert_eq!(pages, expected);
    let guard = fs::read_to_string(folder.join("share/man/toolbond-guard.1")).unwrap();
    assert!(
        guard.contains("\\-\\-results\\-file") && guard.contains("Check the calls of a server"),
        "{guard}"
    );

    let file = folder.write("file", "");
    let (code, _, said) = texts(toolbond(&["man", &file]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(said.starts_with("error: cannot write manual pages into "), "{said}");
}

/// The formatter that `man` uses has nothing to complain about.
#[test]
fn manual_pages_are_valid() {
    if Command::new("groff").arg("--version").output().is_err() {
        return toolbond_harness::skip("no groff");
    }
    let folder = Folder::new();
    let place = folder.join("man");
    assert_eq!(texts(toolbond(&["man", &place]).output().unwrap()).0, Some(0));
    for page in fs::read_dir(&place).unwrap() {
        let page = page.unwrap().path();
        let mut groff = Command::new("groff");
        let output =
            groff.args(["-Kutf8", "-man", "-Tutf8", "-ww", "-z"]).arg(&page).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", page.display());
    }
}
