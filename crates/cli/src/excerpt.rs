//! The lines of a file that a violation is about.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use toolpact_schema::Pointer;

use crate::terminal::printable;

/// A JSON text whose places can be looked up.
pub(crate) struct Positions<'a> {
    name: &'a str,
    text: &'a str,
    first_line: usize,
    root: Option<ast::Value<'a>>,
}

/// What is said about a place.
pub(crate) struct Remark<'a> {
    /// One line: what is wrong.
    pub(crate) title: String,
    /// What stands beside the excerpt.
    pub(crate) label: &'a str,
    /// What to do about it.
    pub(crate) hint: Option<&'a str>,
}

impl<'a> Positions<'a> {
    /// Reads `text`, the lines of `name` from `first_line` on. It has been read as JSON before: its
    /// nesting is bounded.
    pub(crate) fn of(name: &'a str, text: &'a str, first_line: usize) -> Self {
        let root = jsonc_parser::parse_to_ast(
            text,
            &jsonc_parser::CollectOptions::default(),
            &jsonc_parser::ParseOptions::default(),
        );
        Self { name, text, first_line, root: root.ok().and_then(|parsed| parsed.value) }
    }

    /// The bytes of the text that `pointer` is about: the value; the name of a member whose value has
    /// several lines; the bracket that opens the root.
    pub(crate) fn span(&self, pointer: &Pointer) -> Option<Range<usize>> {
        let mut value = self.root.as_ref()?;
        let mut name = None;
        for token in pointer.tokens() {
            (name, value) = match value {
                ast::Value::Object(object) => {
                    // Of members with one name the last one counts, as in `serde_json`.
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

    /// The line and the column of `pointer`, from 1; the column counts characters.
    pub(crate) fn line_column(&self, pointer: &Pointer) -> Option<(usize, usize)> {
        let start = self.span(pointer)?.start;
        let line_start = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let line = self.first_line + self.text[..line_start].matches('\n').count();
        Some((line, self.text[line_start..start].chars().count() + 1))
    }

    /// The remark with the lines around `pointer`; without them where the place is not in the text.
    pub(crate) fn render(&self, pointer: &Pointer, remark: &Remark<'_>) -> String {
        let Some(span) = self.span(pointer) else { return remark.plain(self.name) };
        let line_start = self.text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        let line_end =
            self.text[span.end..].find(['\r', '\n']).map_or(self.text.len(), |n| span.end + n);
        let line = self.first_line + self.text[..line_start].matches('\n').count();
        let (shown, mark) =
            clean(&self.text[line_start..line_end], span.start - line_start, span.end - line_start);
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
    /// The remark about a text that cannot be shown.
    pub(crate) fn plain(&self, name: &str) -> String {
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

/// `line` without what steers a terminal, and where `start..end` has gone.
fn clean(line: &str, start: usize, end: usize) -> (String, Range<usize>) {
    let show = |part: &str| printable(&part.replace('\t', " ")).into_owned();
    let (before, marked, after) =
        (show(&line[..start]), show(&line[start..end]), show(&line[end..]));
    let mark = before.len()..before.len() + marked.len();
    (format!("{before}{marked}{after}"), mark)
}
