//! Transcripts: commands and what they print, which are run again and compared.
//!
//! ```text
//! # what this shows
//! $ toolbond check --schema weather.schema.json bad.json good.json
//! good.json: valid
//! ! error: what goes to standard error
//! [exit 1]
//! ```
//!
//! `[…]` alone in a line stands for any lines, and in a line for any text. A run after an empty line has a title, others
//! belong to the one before. A command that ends in `\` goes on in the next line. Spaces at the end of lines do not count.

use std::env::{join_paths, split_paths, var_os};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, iter};

use crate::process::{own_cache, program};

/// Stands for what is left out.
const ANYTHING: &str = "[…]";

/// After what a command prints, before the folder in which the next one runs.
const MARK: &str = "--- end of one command ---";

/// A command of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it shows; may be empty.
    pub title: String,
    /// The command, for `sh`.
    pub command: String,
    /// The lines that it prints.
    pub printed: Vec<String>,
}

impl Run {
    /// The line as it was expected before, where that leaves something out.
    fn generalise(&self, line: String) -> String {
        let is_it = |it: &&String| it.as_str() != ANYTHING && line_matches(it, &line);
        self.printed.iter().find(is_it).cloned().unwrap_or(line)
    }
}

/// Reads a transcript.
pub fn parse(text: &str) -> Vec<Run> {
    let lines: Vec<&str> = text.lines().collect();
    let mut runs: Vec<Run> = Vec::new();
    let mut title = "";
    for (index, line) in lines.iter().enumerate() {
        let is_before_a_command = lines.get(index + 1).is_some_and(|next| next.starts_with("$ "));
        let has_title = !(line.is_empty() && is_before_a_command);
        assert!(has_title, "expected `# what this shows` before `{}`", lines[index + 1]);
        if let Some(text) = line.strip_prefix("# ")
            && is_before_a_command
        {
            title = text;
            // The empty line between two runs.
            runs.last_mut().and_then(|run| run.printed.pop_if(|line| line.is_empty()));
            continue;
        }
        match (line.strip_prefix("$ "), runs.last_mut()) {
            (Some(command), _) => {
                let (title, command) = (std::mem::take(&mut title).to_owned(), command.to_owned());
                runs.push(Run { title, command, printed: Vec::new() });
            }
            (None, Some(run)) if run.command.ends_with('\\') => {
                run.command.push('\n');
                run.command.push_str(line);
            }
            (None, Some(run)) => run.printed.push(line.trim_end_matches(' ').to_owned()),
            (None, None) => panic!("expected `$ COMMAND`, found `{line}`"),
        }
    }
    runs
}

fn write(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        if !run.title.is_empty() {
            let line = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{line}# {}", run.title);
        }
        let _ = writeln!(text, "$ {}", run.command);
        text.extend(run.printed.iter().flat_map(|line| [line, "\n"]));
    }
    assert!(parse(&text) == runs, "a command prints what looks like a command or a title");
    text
}

/// A shell in which commands run one after the other. `cd` and `$?` hold for the next command, variables do not.
#[derive(Debug)]
pub struct Shell {
    folder: PathBuf,
    status: i32,
    environment: Vec<(&'static str, String)>,
    is_merged: bool,
}

impl Shell {
    /// A shell in `folder`, which finds the `toolbond` of this build.
    pub fn new(folder: &Path) -> Self {
        let path = var_os("PATH").unwrap();
        let path = iter::once(program().parent().unwrap().into()).chain(split_paths(&path));
        let path = join_paths(path).unwrap().into_string().unwrap();
        let (name, cache) = own_cache();
        let cache = cache.into_os_string().into_string().unwrap();
        let environment = vec![("PATH", path), ("NO_COLOR", "1".to_owned()), (name, cache)];
        Self { folder: folder.into(), status: 0, environment, is_merged: false }
    }

    /// As on a terminal: standard error is not marked, and the exit code not shown.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.is_merged = true;
        self
    }

    /// Sets a variable for all commands.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Where the next command runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `command`: the lines that it prints, as a transcript has them.
    pub fn run(&mut self, command: &str) -> Vec<String> {
        let (merge, status) = (if self.is_merged { "exec 2>&1" } else { "" }, self.status);
        let after = format!("status=$?; printf '%s' '{MARK}'; pwd; exit $status");
        let script = format!("{merge}\n(exit {status})\n{command}\n{after}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&self.folder).stdin(Stdio::null());
        let output = shell.envs(self.environment.iter().cloned()).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let (stdout, folder) = stdout
            .split_once(MARK)
            .unwrap_or_else(|| panic!("`{command}` is no command: {stderr}"));
        self.folder = folder.trim_end().into();
        self.status = output.status.code().unwrap();
        let mut lines = printed("", stdout);
        lines.extend(printed("! ", &stderr));
        if self.status != 0 && !self.is_merged {
            lines.push(format!("[exit {}]", self.status));
        }
        lines
    }
}

fn printed(mark: &str, text: &str) -> Vec<String> {
    let complete = text.strip_suffix('\n');
    let lines = complete.unwrap_or(text).split('\n');
    let lines = lines.map(|line| format!("{mark}{line}").trim_end_matches(' ').to_owned());
    let end = complete.is_none().then(|| format!("{mark}[no newline at the end]"));
    if text.is_empty() { Vec::new() } else { lines.chain(end).collect() }
}

/// Whether a command printed what was expected of it.
pub fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=printed.len()).any(|at| matches(rest, &printed[at..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, more)| line_matches(first, line) && matches(rest, more)),
    }
}

fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once(ANYTHING) {
        None => line == expected,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().any(|(at, _)| line_matches(after, &rest[at..]))
                || line_matches(after, "")
        }),
    }
}

/// The lines in which two outputs differ, with the line before and after them.
pub fn difference(expected: &[String], printed: &[String]) -> String {
    let same = |(one, other): &(&String, &String)| line_matches(one, other);
    let start = expected.iter().zip(printed).take_while(same).count();
    let (one, other) = (&expected[start..], &printed[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same).count();
    let mut text = String::new();
    let mut add = |mark: char, lines: &[String]| {
        text.extend(lines.iter().map(|line| format!("{mark} {line}\n")));
    };
    add(' ', &expected[start.saturating_sub(1)..start]);
    add('-', &one[..one.len() - end]);
    add('+', &other[..other.len() - end]);
    add(' ', &one[one.len() - end..one.len().min(one.len() - end + 1)]);
    text
}

/// Runs each command of the transcript at `path`, and names those that print something else. With `UPDATE=1` in the
/// environment the file is written anew instead.
#[track_caller]
pub fn replay(path: &Path, mut shell: Shell) {
    let text = fs::read_to_string(path).unwrap();
    let mut runs = parse(&text);
    assert!(!runs.is_empty(), "{} has no command to run", path.display());
    let mut differences = String::new();
    for run in &mut runs {
        let printed = shell.run(&run.command);
        let is_found = printed.last().is_none_or(|line| line != "[exit 127]");
        assert!(is_found, "{}: no such program: $ {}", path.display(), run.command);
        if !matches(&run.printed, &printed) {
            let difference = difference(&run.printed, &printed);
            let _ = writeln!(differences, "# {}\n$ {}\n{difference}", run.title, run.command);
            run.printed = printed.into_iter().map(|line| run.generalise(line)).collect();
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, write(&runs)).unwrap();
    } else {
        let name = path.file_name().unwrap().display();
        assert!(
            differences.is_empty(),
            "{name}: `-` was expected, `+` is printed; UPDATE=1 writes what is printed\n\n{differences}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, difference, line_matches, matches, parse, write};

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_transcript_is_written_as_it_is_read() {
        let text = "# one\n$ a \\\n  b\n# no title\n\n[exit 1]\n\n# two\n$ c\n$ d\n! e\n\n";
        let runs = parse(text);
        let printed: Vec<_> = runs.iter().map(|run| run.printed.join("|")).collect();
        assert_eq!(printed, ["# no title||[exit 1]", "", "! e|"]);
        assert_eq!(runs[0].command, "a \\\n  b");
        assert_eq!(
            runs.iter().map(|run| run.title.as_str()).collect::<Vec<_>>(),
            ["one", "two", ""]
        );
        assert_eq!(write(&runs), text);
    }

    #[test]
    #[should_panic(expected = "expected `# what this shows` before `$ b`")]
    fn a_run_of_its_own_has_a_title() {
        parse("# one\n$ a\n\n$ b\n");
    }

    #[test]
    #[should_panic(expected = "looks like a command")]
    fn output_that_looks_like_a_command_is_not_written() {
        let printed = lines("$ b");
        write(&[Run { title: "one".to_owned(), command: "a".to_owned(), printed }]);
    }

    #[test]
    fn only_what_is_left_out_may_differ() {
        for (expected, printed, is_so) in [
            ("a\nb", "a\nb", true),
            ("a\nb", "a", false),
            ("a", "a\nb", false),
            ("a\n[…]\nd", "a\nb\nc\nd", true),
            ("a\n[…]\nd", "a\nd", true),
            ("a\n[…]\nd", "a\nb", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(&lines(expected), &lines(printed)), is_so, "{expected} {printed}");
        }
        assert!(line_matches("fuel […], […]", "fuel 12, 3"));
        assert!(line_matches("fuel […]", "fuel "));
        assert!(!line_matches("fuel […] left", "fuel 12"));
    }

    #[test]
    fn a_difference_is_shown_with_what_is_around_it() {
        let (expected, printed) = (lines("a\nb\nc\nd\ne"), lines("a\nb\nx\nd\ne"));
        assert_eq!(difference(&expected, &printed), "  b\n- c\n+ x\n  d\n");
    }
}
