//! The difference of two texts by lines, in the unified form.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use crate::secrets::Secrets;
use crate::terminal;

/// The lines around a change.
const CONTEXT: usize = 3;

/// The most lines of which a changed part is compared line by line; a longer one is shown as a whole.
const MAX_COMPARED: usize = 2000;

/// A line of the difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Same,
    Removed,
    Added,
}

/// Writes the difference of two texts to standard output, without `secrets`: as it is to a file, without what controls a
/// terminal to one.
pub(crate) fn write_diff(
    name: &str,
    before: &str,
    after: &str,
    secrets: &Secrets,
) -> io::Result<()> {
    let diff = secrets.hide(&unified(name, before, after));
    let mut out = io::stdout().lock();
    if !out.is_terminal() {
        return out.write_all(diff.as_bytes());
    }
    for line in diff.lines() {
        let cells: Vec<_> = line.split('\t').map(terminal::printable).collect();
        writeln!(out, "{}", cells.join("\t"))?;
    }
    Ok(())
}

/// How `before` becomes `after`, for `patch -p0`; empty if they are equal.
fn unified(name: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let steps = steps(&old, &new);
    let mut text = String::new();
    let is_change = |index: usize| steps[index] != Step::Same;
    let mut index = 0;
    let (mut old_at, mut new_at) = (0, 0);
    while index < steps.len() {
        if !is_change(index) {
            (index, old_at, new_at) = (index + 1, old_at + 1, new_at + 1);
            continue;
        }
        // Changes with few lines between them are one hunk.
        let mut end = index + 1;
        let mut last = index;
        while end < steps.len() && end - last <= 2 * CONTEXT {
            if is_change(end) {
                last = end;
            }
            end += 1;
        }
        let lead = CONTEXT.min(old_at).min(index);
        let tail = (last + 1 + CONTEXT).min(steps.len());
        let part = &steps[index - lead..tail];
        let count = |skipped| part.iter().filter(|step| **step != skipped).count();
        let (removed, added) = (count(Step::Added), count(Step::Removed));
        if text.is_empty() {
            // Writing to a `String` does not fail.
            _ = write!(text, "--- {name}\n+++ {name}\n");
        }
        let (mut old_line, mut new_line) = (old_at - lead, new_at - lead);
        let start = |line: usize, count: usize| if count == 0 { line } else { line + 1 };
        _ = writeln!(
            text,
            "@@ -{},{removed} +{},{added} @@",
            start(old_line, removed),
            start(new_line, added)
        );
        for step in part {
            let (mark, line) = match step {
                Step::Same => (' ', old[old_line]),
                Step::Removed => ('-', old[old_line]),
                Step::Added => ('+', new[new_line]),
            };
            old_line += usize::from(*step != Step::Added);
            new_line += usize::from(*step != Step::Removed);
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
        (index, old_at, new_at) = (tail, old_line, new_line);
    }
    text
}

/// The lines that are the same, removed and added, in order.
fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[prefix..], &new[prefix..]);
    let suffix = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
    let mut steps = vec![Step::Same; prefix];
    if old.len().max(new.len()) > MAX_COMPARED {
        steps.extend(vec![Step::Removed; old.len()]);
        steps.extend(vec![Step::Added; new.len()]);
    } else {
        compare(old, new, &mut steps);
    }
    steps.extend(vec![Step::Same; suffix]);
    steps
}

/// Adds the steps of a longest common subsequence.
fn compare(old: &[&str], new: &[&str], steps: &mut Vec<Step>) {
    let width = new.len() + 1;
    // The most common lines of what is left of both.
    let mut common = vec![0_u16; (old.len() + 1) * width];
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            common[i * width + j] = if line == other {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let step = if i < old.len() && j < new.len() && old[i] == new[j] {
            Step::Same
        } else if j == new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            Step::Removed
        } else {
            Step::Added
        };
        i += usize::from(step != Step::Added);
        j += usize::from(step != Step::Removed);
        steps.push(step);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unified;

    #[test]
    fn shows_hunks() {
        assert_eq!(unified("a", "x\n", "x\n"), "");
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let after = before.replace("4\n", "four\n").replace("12\n", "12");
        assert_eq!(
            unified("a", before, &after),
            "--- a\n+++ a\n@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+12\n\\ No newline at end of file\n"
        );
    }

    /// Applies a difference.
    fn patched(before: &str, diff: &str) -> String {
        let old: Vec<_> = before.split_inclusive('\n').collect();
        let (mut after, mut at) = (String::new(), 0);
        for line in diff.split_inclusive('\n').skip(2) {
            if let Some(range) = line.strip_prefix("@@ -") {
                let (start, rest) = range.split_once(',').unwrap();
                let count: usize = rest.split(' ').next().unwrap().parse().unwrap();
                let start = start.parse::<usize>().unwrap() - usize::from(count > 0);
                after.extend(old[at..start].iter().copied());
                at = start;
            } else if line.starts_with('\\') {
                after.pop();
            } else {
                let text = &line[1..];
                at += usize::from(!line.starts_with('+'));
                if !line.starts_with('-') {
                    after.push_str(text);
                }
            }
        }
        after.extend(old[at..].iter().copied());
        after
    }

    proptest! {
        #[test]
        fn patching_makes_one_of_the_other(before in "([ab]\n){0,30}", after in "([ab]\n){0,30}") {
            prop_assert_eq!(patched(&before, &unified("a", &before, &after)), after);
        }
    }
}
