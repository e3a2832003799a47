//! Excerpts of a JSON file with an annotation.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use toolbond_schema::Pointer;

use crate::terminal::printable;

/// A JSON text with the positions of its values.
pub(crate) struct Positions<'a> {
    name: &'a str,
    text: &'a str,
    first_line: usize,
    root: Option<ast::Value<'a>>,
    index: LineIndex,
}

/// A message about a value.
pub(crate) struct Remark<'a> {
    /// What is wrong, on one line.
    pub(crate) title: String,
    /// The label in the excerpt.
    pub(crate) label: &'a str,
    /// What to do about it.
    pub(crate) hint: Option<&'a str>,
}

impl<'a> Positions<'a> {
    /// Parses `text`, the lines of `name` from `first_line` on. It was parsed as JSON before, so its nesting is limited.
    pub(crate) fn parse(name: &'a str, text: &'a str, first_line: usize) -> Self {
        let root = jsonc_parser::parse_to_ast(
            text,
            &jsonc_parser::CollectOptions::default(),
            &jsonc_parser::ParseOptions::default(),
        );
        let root = root.ok().and_then(|parsed| parsed.value);
        Self { name, text, first_line, root, index: LineIndex::new(text) }
    }

    /// Returns the bytes to mark for `pointer`: the value, or the name of a member whose value has several lines, or the
    /// opening bracket of the root.
    pub(crate) fn span(&self, pointer: &Pointer) -> Option<Range<usize>> {
        let (name, value) = find(self.root.as_ref()?, pointer)?;
        let range = value.range();
        if !self.text[range.start..range.end].contains('\n') {
            return Some(range.start..range.end);
        }
        Some(name.map_or(range.start..range.start + 1, |name| name.start..name.end))
    }

    /// Returns the line and the column of `pointer`, counted from 1. The column counts characters.
    pub(crate) fn line_column(&self, pointer: &Pointer) -> Option<(usize, usize)> {
        Some(self.line_column_at(self.span(pointer)?.start))
    }

    /// Returns the line and the column of the byte at `offset`.
    pub(crate) fn line_column_at(&self, offset: usize) -> (usize, usize) {
        let (line, column) = self.index.line_column(self.text, offset);
        (self.first_line + line, column + 1)
    }

    /// Returns the bytes of the value at `pointer`.
    pub(crate) fn range(&self, pointer: &Pointer) -> Option<Range<usize>> {
        let (_, value) = find(self.root.as_ref()?, pointer)?;
        Some(value.start()..value.end())
    }

    /// Renders the remark with the lines around `pointer`, or without an excerpt if the text has no such value.
    pub(crate) fn render(&self, pointer: &Pointer, remark: &Remark<'_>) -> String {
        let Some(span) = self.span(pointer) else {
            return remark.render_without_excerpt(self.name);
        };
        let line_start = self.text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        let line_end =
            self.text[span.end..].find(['\r', '\n']).map_or(self.text.len(), |n| span.end + n);
        let (line, _) = self.line_column_at(span.start);
        let (shown, mark) = escape(
            &self.text[line_start..line_end],
            span.start - line_start,
            span.end - line_start,
        );
        let title = printable(&remark.title).into_owned();
        let label = printable(remark.label);
        let snippet = Snippet::source(shown)
            .path(printable(self.name))
            .line_start(line)
            .annotation(AnnotationKind::Primary.span(mark).label(label));
        let mut group = Level::ERROR.primary_title(title).element(snippet);
        if let Some(hint) = remark.hint {
            group = group.element(Level::HELP.message(printable(hint)));
        }
        Renderer::styled().render(&[group])
    }
}

/// Returns the value at `pointer` below `root`, and the name of the member that it is.
fn find<'v, 'a>(
    root: &'v ast::Value<'a>,
    pointer: &Pointer,
) -> Option<(Option<jsonc_parser::common::Range>, &'v ast::Value<'a>)> {
    let mut found = (None, root);
    for token in pointer.tokens() {
        found = match found.1 {
            ast::Value::Object(object) => {
                let member = member(object, &token)?;
                (Some(member.name.range()), &member.value)
            }
            ast::Value::Array(array) => (None, array.elements.get(token.parse::<usize>().ok()?)?),
            _ => return None,
        };
    }
    Some(found)
}

/// Returns the member of `object` with this name. Of duplicate keys the last one counts, as in `serde_json`.
fn member<'v, 'a>(object: &'v ast::Object<'a>, name: &str) -> Option<&'v ast::ObjectProp<'a>> {
    object.properties.iter().rev().find(|member| member.name.as_str() == name)
}

/// Where the lines of a text start, and how many characters stand before each block of it.
struct LineIndex {
    lines: Vec<usize>,
    characters: Vec<usize>,
}

impl LineIndex {
    const BLOCK: usize = 1024;

    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let mut characters = vec![0];
        for block in text.as_bytes().chunks(Self::BLOCK) {
            characters.push(characters[characters.len() - 1] + count_characters(block));
        }
        Self { lines, characters }
    }

    /// Line and column of the byte at `offset`, both from 0.
    fn line_column(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let column =
            self.characters_before(text, offset) - self.characters_before(text, self.lines[line]);
        (line, column)
    }

    fn characters_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / Self::BLOCK;
        self.characters[block] + count_characters(&text.as_bytes()[block * Self::BLOCK..offset])
    }
}

/// Counts the bytes that start a character.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

impl Remark<'_> {
    /// Renders the remark without an excerpt.
    pub(crate) fn render_without_excerpt(&self, name: &str) -> String {
        let mut group = annotate_snippets::Group::with_title(
            Level::ERROR.primary_title(printable(&self.title).into_owned()),
        )
        .element(annotate_snippets::Origin::path(printable(name)));
        if let Some(hint) = self.hint {
            group = group.element(Level::HELP.message(printable(hint)));
        }
        Renderer::styled().render(&[group])
    }
}

/// Escapes `line` for a terminal. Returns it with the new position of `start..end`.
fn escape(line: &str, start: usize, end: usize) -> (String, Range<usize>) {
    let show = |part: &str| printable(&part.replace('\t', " ")).into_owned();
    let (before, marked, after) =
        (show(&line[..start]), show(&line[start..end]), show(&line[end..]));
    let mark = before.len()..before.len() + marked.len();
    (format!("{before}{marked}{after}"), mark)
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[test]
    fn lines_and_columns_are_those_of_a_count_from_the_start() {
        let text = "ä\n€uro\r\n".repeat(400) + &"𝄞x".repeat(700) + "\nend";
        let index = LineIndex::new(&text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let before = &text[..offset];
            let line = before.matches('\n').count();
            let column = before.rsplit('\n').next().unwrap().chars().count();
            assert_eq!(index.line_column(&text, offset), (line, column), "{offset}");
        }
    }
}
