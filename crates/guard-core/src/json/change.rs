//! Changing the text of arguments where a repair changed their value; all other bytes stay.

use std::fmt::Write as _;

use serde_json::Value;
use toolbond_contract::arguments::{ArgumentChange, Change};

use super::edit::{Span, apply, minify};
use super::members::entries;
use super::scan::elements;

/// `text` after `changes`, one after the other; `None` where one of them does not fit.
pub fn change_text(text: &str, changes: &[ArgumentChange]) -> Option<String> {
    let mut text = text.to_owned();
    for change in changes {
        text = change_once(&text, change)?;
    }
    Some(text)
}

fn change_once(text: &str, change: &ArgumentChange) -> Option<String> {
    let mut tokens: Vec<String> = change.pointer.tokens().collect();
    let member = if matches!(change.change, Change::Remove) { tokens.pop() } else { None };
    let mut place = text.trim();
    for token in &tokens {
        place = child(place, token)?;
    }
    let mut edits = Vec::new();
    match &change.change {
        Change::Replace { text: new, .. } => {
            edits.push((Span::locate(text, place)?, one_line(new)));
        }
        Change::Wrap(_) => edits.push((Span::locate(text, place)?, format!("[{place}]"))),
        Change::Remove => edits.extend(removals(text, place, &[member?])?),
        Change::RemoveMembers(names) => edits.extend(removals(text, place, names)?),
        Change::Rename { from, to } => {
            let members = entries(place)?;
            let (_, name, _) = members.iter().find(|(name, _, _)| name == from)?;
            edits.push((Span::locate(text, name)?, Value::from(to.as_str()).to_string()));
        }
        _ => return None,
    }
    apply(text, Span::from(0, text), edits).ok()
}

/// The member or element `token` of the value `text`.
fn child<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    if text.starts_with('[') {
        return elements(text)?.get(token.parse::<usize>().ok()?).copied();
    }
    entries(text)?.into_iter().find(|(name, _, _)| name == token).map(|(_, _, value)| value)
}

/// The edits that take the members `names` out of `object`, a part of `text`.
fn removals(text: &str, object: &str, names: &[String]) -> Option<Vec<(Span, String)>> {
    let members = entries(object)?;
    let is_kept = |name: &str| !names.iter().any(|it| it == name);
    let mut edits = Vec::new();
    // With nothing before it that stays, a member goes with the comma after it.
    let mut last_kept: Option<Span> = None;
    for (at, (name, name_text, value)) in members.iter().enumerate() {
        let (start, end) = (Span::locate(text, name_text)?, Span::locate(text, value)?);
        if is_kept(name) {
            last_kept = Some(end);
            continue;
        }
        let next = members.get(at + 1).map(|(_, name, _)| Span::locate(text, name));
        let span = match (last_kept, next) {
            (Some(before), _) => {
                let start =
                    if at > 0 { Span::locate(text, members[at - 1].2)?.end } else { before.end };
                Span { start, end: end.end }
            }
            (None, Some(next)) => Span { start: start.start, end: next?.start },
            (None, None) => Span { start: start.start, end: end.end },
        };
        edits.push((span, String::new()));
    }
    (!edits.is_empty()).then_some(edits)
}

/// `text` without characters that some readers of lines take for the end of one.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in minify(text).chars() {
        match character {
            '\u{85}' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string does not fail.
                let _ = write!(line, "\\u{:04x}", u32::from(character));
            }
            character => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolbond_contract::{ArgumentTerms, Contract, Mode, Repairs};

    use super::change_text;

    /// `text` after it was repaired for a tool that takes `properties` and nothing else.
    fn repaired(properties: &Value, text: &str) -> Option<String> {
        let contract = Contract::received(json!({ "name": "t", "inputSchema": {
            "type": "object", "properties": properties, "additionalProperties": false } }));
        let also =
            Repairs::optional().fold(Repairs::default(), |repairs, id| repairs.also(id).unwrap());
        let value: Value = serde_json::from_str(text).unwrap();
        let terms = ArgumentTerms::from(Mode::Repair).repairs(also);
        let judged = contract.unwrap().judge_arguments(Some(&value), terms);
        let repaired = judged.repaired?;
        let text = change_text(text, &repaired.changes)?;
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), repaired.arguments);
        Some(text)
    }

    #[test]
    fn all_other_bytes_stay() {
        let integer = json!({ "type": "integer" });
        let properties = json!({
            "n": integer, "m": integer, "path": { "type": "string" },
            "a": { "type": "array", "items": integer },
            "o": { "type": "object", "properties": { "n": integer } },
            "x": {}
        });
        for (text, expected) in [
            (r#"{ "x" : 1.50, "n" : "10" }"#, r#"{ "x" : 1.50, "n" : 10 }"#),
            (r#"{"n":"1\u0030","x":"\u0061"}"#, r#"{"n":10,"x":"\u0061"}"#),
            (r#"{"n": "10.0"}"#, r#"{"n": 10.0}"#),
            (r#"{"a":"[1,\n 2]", "x":[ ]}"#, r#"{"a":[1,2], "x":[ ]}"#),
            (r#"{"a": 1 }"#, r#"{"a": [1] }"#),
            (r#"{"a":"5"}"#, r#"{"a":[5]}"#),
            (r#"{"o":"{\"n\":\"3\"}"}"#, r#"{"o":{"n":3}}"#),
            (r#"{"n":null, "x":1e2}"#, r#"{"x":1e2}"#),
            (r#"{"x":1e2 , "n":null}"#, r#"{"x":1e2}"#),
            (r#"{"x":1, "n":null, "m":2}"#, r#"{"x":1, "m":2}"#),
            (r#"{ "n":null, "m":null }"#, "{  }"),
            (r#"{"n":null,"m":null,"x":[null]}"#, r#"{"x":[null]}"#),
            (r#"{ "pathx" : "\/tmp" }"#, r#"{ "path" : "\/tmp" }"#),
            (r#"{"why":1,"x":{"y": 2},"because":[]}"#, r#"{"x":{"y": 2}}"#),
        ] {
            assert_eq!(repaired(&properties, text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn nothing_that_ends_a_line_gets_in() {
        let properties = json!({ "a": { "type": "array" } });
        let text = "{\"a\":\"[\\n\\\"x\u{2028}\u{85}\\\"\\r]\"}";
        let expected = r#"{"a":["x\u2028\u0085"]}"#;
        assert_eq!(repaired(&properties, text).as_deref(), Some(expected));
    }
}
