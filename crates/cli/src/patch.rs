//! Changes of a JSON text that leave the rest of it byte for byte.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use serde_json::{Map, Value};

use crate::layout::Layout;

/// Rewrites `text`, which contains `before`, so that it contains `after`. Numbers, escapes, white space and the order of
/// members stay as they are wherever the two agree.
///
/// Returns `None` if `text` cannot be parsed. It was parsed as JSON before, so its nesting is limited.
pub(crate) fn patch(text: &str, before: &Value, after: &Value) -> Option<String> {
    let parsed = jsonc_parser::parse_to_ast(
        text,
        &jsonc_parser::CollectOptions::default(),
        &jsonc_parser::ParseOptions::default(),
    );
    let root = parsed.ok()?.value?;
    let mut patch = Patch { text, layout: Layout::of(text), edits: Vec::new() };
    patch.visit(&root, before, after);
    Some(patch.apply())
}

/// The changes of one text. No two of them overlap.
struct Patch<'a> {
    text: &'a str,
    layout: Layout,
    edits: Vec<(Range<usize>, String)>,
}

impl Patch<'_> {
    /// Adds the smallest changes that make `after` of `before`, which stands at `place`.
    fn visit(&mut self, place: &ast::Value<'_>, before: &Value, after: &Value) {
        match (place, before, after) {
            _ if before == after => {}
            (ast::Value::Object(place), Value::Object(before), Value::Object(after)) => {
                self.visit_object(place, before, after);
            }
            (ast::Value::Array(place), Value::Array(before), Value::Array(after))
                if before.len() == after.len() =>
            {
                for (place, (before, after)) in place.elements.iter().zip(before.iter().zip(after))
                {
                    self.visit(place, before, after);
                }
            }
            (ast::Value::Array(place), Value::Array(before), Value::Array(after))
                if is_part(after, before) =>
            {
                let mut rest = after.iter().peekable();
                let kept: Vec<_> =
                    before.iter().map(|value| rest.next_if_eq(&value).is_some()).collect();
                let places: Vec<_> =
                    place.elements.iter().map(|one| one.start()..one.end()).collect();
                self.remove(place.start() + 1..place.end() - 1, &places, &kept);
            }
            _ => {
                let new = self.layout.render_at(self.text, place.start(), after);
                self.edits.push((place.start()..place.end(), new));
            }
        }
    }

    fn visit_object(
        &mut self,
        place: &ast::Object<'_>,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) {
        let members = &place.properties;
        // Of duplicate keys the last one counts, as in `serde_json`.
        let last: HashMap<_, _> =
            members.iter().enumerate().map(|(at, member)| (member.name.as_str(), at)).collect();
        let mut kept = Vec::with_capacity(members.len());
        for (at, member) in members.iter().enumerate() {
            let name = member.name.as_str();
            kept.push(after.contains_key(name));
            if let (Some(before), Some(after)) = (before.get(name), after.get(name))
                && last.get(name) == Some(&at)
            {
                self.visit(&member.value, before, after);
            }
        }
        let added: Vec<_> = after.iter().filter(|(name, _)| !before.contains_key(*name)).collect();
        let places: Vec<_> = members.iter().map(|member| member.start()..member.end()).collect();
        match members
            .iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(member, _)| member)
            .next_back()
        {
            Some(last) => {
                let is_only = kept.iter().filter(|kept| **kept).count() == 1;
                self.add_after(last, is_only, &added);
                self.remove(place.start() + 1..place.end() - 1, &places, &kept);
            }
            None => {
                let members: Vec<_> = added
                    .iter()
                    .map(|(name, value)| {
                        let name = Value::from(name.as_str());
                        let value = self.layout.render_at(self.text, place.start(), value);
                        format!("{name}{}{value}", self.layout.colon())
                    })
                    .collect();
                let new = format!("{{{}}}", members.join(self.layout.comma()));
                self.edits.push((place.start()..place.end(), new));
            }
        }
    }

    /// Adds members after `last`, written as `last` is.
    fn add_after(
        &mut self,
        last: &ast::ObjectProp<'_>,
        is_only: bool,
        added: &[(&String, &Value)],
    ) {
        let before = &self.text[..last.start()];
        let gap = &before[before.trim_end().len()..];
        let gap = if is_only && !gap.contains('\n') { " " } else { gap };
        let gap = if self.layout.is_spaced { gap } else { gap.trim_matches(' ') };
        let between = &self.text[last.name.end()..last.value.start()];
        for (name, value) in added {
            let name = Value::from(name.as_str());
            let value = self.layout.render_at(self.text, last.start(), value);
            self.edits.push((last.end()..last.end(), format!(",{gap}{name}{between}{value}")));
        }
    }

    /// Removes the elements or members at `places` that are not `kept`. `inside` is what stands between the brackets.
    fn remove(&mut self, inside: Range<usize>, places: &[Range<usize>], kept: &[bool]) {
        let mut at = 0;
        while at < places.len() {
            let end = at + kept[at..].iter().take_while(|kept| !**kept).count();
            if end > at {
                let range = match (at.checked_sub(1), places.get(end)) {
                    (_, Some(next)) => places[at].start..next.start,
                    (Some(previous), None) => places[previous].end..places[end - 1].end,
                    (None, None) => inside.clone(),
                };
                self.edits.push((range, String::new()));
            }
            at = end + 1;
        }
    }

    fn apply(mut self) -> String {
        // What is added at one place stays in order.
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut new = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, text) in self.edits {
            new.push_str(&self.text[done..range.start]);
            new.push_str(&text);
            done = range.end;
        }
        new.push_str(&self.text[done..]);
        new
    }
}

/// Whether `part` is what is left of `whole` without some of its elements.
fn is_part(part: &[Value], whole: &[Value]) -> bool {
    let mut rest = part.iter().peekable();
    for value in whole {
        rest.next_if_eq(&value);
    }
    rest.peek().is_none()
}
