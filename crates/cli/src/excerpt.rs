//! Excerpts of a JSON file with an annotation.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use toolpact_schema::Pointer;

use crate::terminal::printable;

/// A JSON text with the positions of its values.
pub(crate) struct Positions<'a> {
    name: &'a str,
    text: &'a str,
    first_line: usize,
    root: Option<ast::Value<'a>>,
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
        Self { name, text, first_line, root: root.ok().and_then(|parsed| parsed.value) }
    }

    /// Returns the bytes to mark for `pointer`: the value, or the name of a member whose value has several lines, or the
    /// opening bracket of the root.
    pub(crate) fn span(&self, pointer: &Pointer) -> Option<Range<usize>> {
        let mut value = self.root.as_ref()?;
        let mut name = None;
        for token in pointer.tokens() {
            (name, value) = match value {
                ast::Value::Object(object) => {
                    // Of duplicate keys the last one counts, as in `serde_json`.
                    let member =
                        object.properties.iter().rev().find(|p| p.name.as_str() == token)?;
                    (Some(member.name.range()), &member.value)
                }
                ast::Value::Array(array) => {
                    (None, array.elements.get(token.parse::<usize>().ok()?)?)
                }
                _ => return None,
            };
        }
        let range = value.range();
        if !self.text[range.start..range.end].contains('\n') {
            return Some(range.start..range.end);
        }
        Some(name.map_or(range.start..range.start + 1, |name| name.start..name.end))
    }

    /// Returns the line and the column of `pointer`, counted from 1. The column counts characters.
    pub(crate) fn line_column(&self, pointer: &Pointer) -> Option<(usize, usize)> {
        let start = self.span(pointer)?.start;
        let line_start = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let line = self.first_line + self.text[..line_start].matches('\n').count();
        Some((line, self.text[line_start..start].chars().count() + 1))
    }

    /// Renders the remark with the lines around `pointer`, or without an excerpt if the text has no such value.
    pub(crate) fn render(&self, pointer: &Pointer, remark: &Remark<'_>) -> String {
        let Some(span) = self.span(pointer) else {
            return remark.render_without_excerpt(self.name);
        };
        let line_start = self.text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        let line_end =
            self.text[span.end..].find(['\r', '\n']).map_or(self.text.len(), |n| span.end + n);
        let line = self.first_line + self.text[..line_start].matches('\n').count();
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
