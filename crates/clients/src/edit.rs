//! Edits of a text, and how what they add is laid out.

use std::ops::Range;

use serde_json::Value;

use crate::tree::{Document, Member, Node, Syntax};

/// Why a configuration cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// A server is configured in a way that has no other form.
    #[error("`{server}`: {reason}")]
    Unsupported {
        /// The server.
        server: String,
        /// What is in the way.
        reason: &'static str,
    },
    /// `unwrap` would not recognise the guard.
    #[error(
        "`{program}` would not be recognised as toolbond afterwards; name it `toolbond`, or use a package runner"
    )]
    Unrecognised {
        /// The program of the guard.
        program: String,
    },
    /// The text would say something else than it should.
    #[error("the servers are written in a way that cannot be edited without changing more")]
    Unsafe,
}

/// Changes of one text.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub(crate) fn replace(&mut self, range: &Range<usize>, text: impl Into<String>) {
        self.0.push((range.clone(), text.into()));
    }

    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at..at, text.into()));
    }

    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.0.push((range, String::new()));
    }

    /// Applies the changes to `document`, which has to say what `expected` does then.
    pub(crate) fn apply(
        mut self,
        document: &Document<'_>,
        expected: &Value,
    ) -> Result<String, EditError> {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut new = String::with_capacity(document.text.len() + 256);
        let mut done = 0;
        for (range, text) in self.0 {
            new.push_str(document.text.get(done..range.start).ok_or(EditError::Unsafe)?);
            new.push_str(&text);
            done = range.end;
        }
        new.push_str(document.text.get(done..).ok_or(EditError::Unsafe)?);
        let after = Document::parse(&new, document.syntax).map_err(|_| EditError::Unsafe)?;
        if after.root.to_value() == *expected { Ok(new) } else { Err(EditError::Unsafe) }
    }
}

/// `text` in quotes.
pub(crate) fn quote(syntax: Syntax, text: &str) -> String {
    let quoted = Value::from(text).to_string();
    match syntax {
        Syntax::Json => quoted,
        Syntax::Toml => quoted.replace('\u{7f}', "\\u007f"),
    }
}

/// `words`, each in quotes.
pub(crate) fn quoted(document: &Document<'_>, words: &[String]) -> Vec<String> {
    words.iter().map(|word| quote(document.syntax, word)).collect()
}

/// `name` as a key.
pub(crate) fn key(syntax: Syntax, name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match syntax {
        Syntax::Toml if !name.is_empty() && name.chars().all(is_bare) => name.to_owned(),
        _ => quote(syntax, name),
    }
}

/// The member of `value` at `path`.
pub(crate) fn at_mut<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, name| value.get_mut(name))
}

/// The white space before `at`.
fn space_before(text: &str, at: usize) -> &str {
    &text[text[..at].trim_end().len()..at]
}

/// The last line break of `space` and what follows.
fn last_line(space: &str) -> Option<&str> {
    let at = space.rfind('\n')?;
    Some(&space[at - usize::from(space[..at].ends_with('\r'))..])
}

/// The end of the line at `at`, without its line break.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}

/// What stands before `at` in its line.
fn line_before(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    text[start..at].trim_start_matches('\u{feff}')
}

impl Document<'_> {
    /// The text of `node`.
    pub(crate) fn raw(&self, node: &Node) -> &str {
        &self.text[node.range.clone()]
    }

    /// Whether the members of `table` are between braces.
    fn is_braced(&self, table: &Node) -> bool {
        self.text[table.range.clone()].starts_with('{')
    }

    /// What stands between a key and its value.
    fn colon(&self, member: &Member) -> &str {
        let between = &self.text[member.key.end..member.value.range.start];
        match self.syntax {
            _ if between.chars().all(|c| matches!(c, ':' | '=' | ' ' | '\t')) => between,
            Syntax::Json => ": ",
            Syntax::Toml => " = ",
        }
    }

    /// What stands between elements and members, next to `member`.
    fn gap(&self, member: &Member) -> &'static str {
        if self.colon(member).len() > 1 { " " } else { "" }
    }

    /// Puts `words` before the elements of `list`, which is the value of a member beside `sibling`.
    pub(crate) fn add_words(
        &self,
        edits: &mut Edits,
        list: &Node,
        words: &[String],
        sibling: &Member,
    ) {
        let gap = self.gap(sibling);
        match list.as_list().and_then(<[Node]>::first) {
            Some(first) => {
                let gap = last_line(space_before(self.text, first.range.start)).unwrap_or(gap);
                let separator = format!(",{gap}");
                let words = words.join(&separator);
                edits.insert(first.range.start, words + &separator);
            }
            None => edits.insert(list.range.start + 1, words.join(&format!(",{gap}"))),
        }
    }

    /// Adds the member `args` with `words` to `table`, after `before`.
    pub(crate) fn add_arguments(
        &self,
        edits: &mut Edits,
        table: &Node,
        before: &Member,
        words: &[String],
    ) {
        let (gap, colon) = (self.gap(before), self.colon(before));
        let words = format!("[{}]", words.join(&format!(",{gap}")));
        let name = key(self.syntax, "args");
        if self.syntax == Syntax::Json || self.is_braced(table) {
            let gap = last_line(space_before(self.text, before.key.start)).unwrap_or(gap);
            edits.insert(before.value.range.end, format!(",{gap}{name}{colon}{words}"));
        } else {
            let end = line_end(self.text, before.value.range.end);
            let line = if self.text[end..].starts_with('\r') { "\r\n" } else { "\n" };
            // The keys before a dot.
            let start = line_before(self.text, before.key.start);
            edits.insert(end, format!("{line}{start}{name}{colon}{words}"));
        }
    }

    /// Removes the member `args`, if it stands where [`Self::add_arguments`] puts it. Returns whether it does.
    pub(crate) fn remove_arguments(
        &self,
        edits: &mut Edits,
        table: &Node,
        before: &Member,
        arguments: &Member,
    ) -> bool {
        let (start, end) = (before.value.range.end, arguments.value.range.end);
        let is_next = |from: usize| from <= arguments.key.start;
        if self.syntax == Syntax::Json || self.is_braced(table) {
            let is_there = is_next(start) && self.text[start..arguments.key.start].trim() == ",";
            if is_there {
                edits.remove(start..end);
            }
            return is_there;
        }
        let start = line_end(self.text, start);
        let is_there = is_next(start)
            && last_line(&self.text[start..arguments.key.start]).is_some_and(|last| {
                // The whole of what is between is one line break and the keys before a dot.
                last.len() == arguments.key.start - start
            })
            && self.text[end..line_end(self.text, end)].trim().is_empty();
        if is_there {
            edits.remove(start..end);
        }
        is_there
    }

    /// Removes the elements of `array` before the one at `count`.
    pub(crate) fn remove_words(&self, edits: &mut Edits, array: &Node, count: usize) {
        let items = array.as_list().unwrap_or_default();
        let Some((first, last)) = items.first().zip(items.get(count.saturating_sub(1))) else {
            return;
        };
        let end = match items.get(count) {
            Some(next) => next.range.start,
            None => {
                let rest = &self.text[last.range.end..array.range.end];
                let comma = rest.len() - rest.trim_start().len();
                let has_comma = rest[comma..].starts_with(',');
                last.range.end + if has_comma { comma + 1 } else { 0 }
            }
        };
        edits.remove(first.range.start..end);
    }
}
