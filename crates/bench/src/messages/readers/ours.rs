//! Toolbond: the text of a refused call, a line for each mistake.

use serde_json::Value;

use super::Reading;
use super::literal::json;
use crate::messages::advice::{Advice, Bound, Place, Wanted, find, pointer};
use crate::messages::follow::{make, of_format};

/// Words before a complete call.
const EXAMPLE_CALL: [&str; 3] = ["example of valid arguments: ", "example call: ", "example: "];

/// Words before an example of one value.
const EXAMPLE: [&str; 9] = [
    "example: ",
    "example ",
    "for example ",
    "for example, ",
    "e.g. ",
    "such as ",
    "default: ",
    "default is ",
    "default ",
];

/// Reads ``hours: expected integer, found string "ten"`` and ``missing required property `town` ``.
pub(super) fn read(message: &str, arguments: &Value) -> Reading {
    let mut reading = Reading::default();
    for line in message.lines() {
        let line = line.trim().trim_start_matches("- ");
        let call = EXAMPLE_CALL.iter().find_map(|start| line.strip_prefix(start));
        if let Some((call, _)) = call.and_then(|call| json(call.trim_matches('`'))) {
            reading.example = call.is_object().then_some(call);
        } else if !line.starts_with("invalid arguments for tool") {
            let (place, text) = read_place(line);
            reading.add(line, read_mistake(place, text, arguments));
        }
    }
    reading
}

/// The place at the start of a line, and what follows it: `#/days/0/hours: …`, `days[0].hours: …`, or none for the
/// arguments as a whole.
fn read_place(line: &str) -> (Place, &str) {
    if let Some(rest) = line.strip_prefix('#') {
        let (place, text) = rest.split_once(": ").unwrap_or(("", rest));
        return (pointer(place), text);
    }
    read_path(line).unwrap_or((Place::new(), line))
}

fn read_path(line: &str) -> Option<(Place, &str)> {
    let mut place = Place::new();
    let mut rest = line.strip_prefix('`').unwrap_or(line);
    loop {
        let (step, after) = read_step(rest)?;
        place.push(step);
        rest = after.strip_prefix('`').unwrap_or(after);
        if let Some(text) = rest.strip_prefix(": ") {
            return Some((place, text));
        }
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None if rest.starts_with('[') => {}
            None => return None,
        }
    }
}

fn read_mistake(place: Place, text: &str, arguments: &Value) -> Vec<Advice> {
    for start in ["missing required property ", "missing required properties ", "missing property "]
    {
        if let Some(rest) = text.strip_prefix(start) {
            return read_missing(&place, rest, arguments);
        }
    }
    for start in ["unknown ", "unexpected "] {
        let rest = text.strip_prefix(start);
        let rest = rest.and_then(|rest| {
            rest.strip_prefix("property ").or_else(|| rest.strip_prefix("properties "))
        });
        if let Some(rest) = rest {
            return read_unknown(&place, rest, arguments);
        }
    }
    let Some((_, rest)) = text.split_once("expected ") else { return Vec::new() };
    let (expected, found) = rest.split_once(", found ").unwrap_or((rest, ""));
    let mut wanted = read_wanted(expected);
    // What is said after the value that was found: a hint, or more about the value that is wanted.
    for start in ["did you mean ", "; ", " ("] {
        let Some((_, hint)) = found.rsplit_once(start) else { continue };
        if start == "did you mean " {
            if let Some((value, _)) = json(hint) {
                wanted.allowed = vec![value];
            }
            break;
        }
        let more = read_wanted(hint.trim_end_matches(')'));
        wanted.example = wanted.example.or(more.example);
    }
    if wanted.is_empty() { Vec::new() } else { vec![Advice::Change { place, wanted }] }
}

/// Reads `` `town`: string `` or `` `town` (string, default "Bern") `` or `` `town` (`twon` looks like it) ``.
fn read_missing(place: &[String], text: &str, arguments: &Value) -> Vec<Advice> {
    let (names, rest) = read_names(text);
    if let Some((before, _)) = rest.split_once("` looks like it")
        && let (Some((_, from)), [to]) = (before.rsplit_once('`'), names.as_slice())
    {
        let (from, to) = (from.to_owned(), to.clone());
        return vec![Advice::Rename { place: place.to_vec(), from, to }];
    }
    let wanted = read_wanted(rest);
    let add = |name: String| {
        let (place, name) = locate(place, &name, arguments);
        Advice::Add { place, name, wanted: wanted.clone() }
    };
    names.into_iter().map(add).collect()
}

/// Reads `` `twon`; did you mean `town`? ``.
fn read_unknown(place: &[String], text: &str, arguments: &Value) -> Vec<Advice> {
    let (names, rest) = read_names(text);
    let hints = rest.split_once("did you mean ").map(|(_, hints)| read_names(hints).0);
    let mut hints = hints.unwrap_or_default();
    let mut advice = Vec::new();
    for name in names {
        let (place, name) = locate(place, &name, arguments);
        let letters = |hint: &String| strsim::osa_distance(hint, &name);
        let near = (0..hints.len()).min_by_key(|at| letters(&hints[*at]));
        let near = near.filter(|at| letters(&hints[*at]) <= name.len().max(3) / 2);
        advice.push(match near {
            Some(at) => Advice::Rename { place, from: name, to: hints.remove(at) },
            None => Advice::Remove { place, name },
        });
    }
    advice
}

/// The object and the property that `days[0].hours` names: steps that the arguments have lead to the object.
fn locate(place: &[String], name: &str, arguments: &Value) -> (Place, String) {
    let mut place = place.to_vec();
    let mut rest = name;
    while let Some(value) = find(arguments, &place) {
        // A name may contain dots and brackets.
        if value.get(rest).is_some() {
            break;
        }
        let Some((step, after)) = read_step(rest) else { break };
        let mut next = place.clone();
        next.push(step);
        let after = after.strip_prefix('.').unwrap_or(after);
        if after.is_empty() || find(arguments, &next).is_none() {
            break;
        }
        (place, rest) = (next, after);
    }
    (place, rest.to_owned())
}

/// The name, `[0]` or `["a b"]` at the start of a path, and what follows it.
fn read_step(path: &str) -> Option<(String, &str)> {
    let Some(step) = path.strip_prefix('[') else {
        let end = path.find(['.', '[', ':', '`', ' ']).unwrap_or(path.len());
        return Some((path[..end].to_owned(), &path[end..]));
    };
    let (step, after) = json(step)?;
    let step = step.as_str().map_or_else(|| step.to_string(), str::to_owned);
    Some((step, after.strip_prefix(']')?))
}

/// The names in backticks at the start of `text`, and what follows them.
fn read_names(text: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        names.push(name.to_owned());
        let separators = [", ", " and ", " or "];
        let next = separators.iter().find_map(|separator| after.strip_prefix(separator));
        match next {
            Some(next) if next.starts_with('`') => rest = next,
            _ => return (names, after),
        }
    }
    (names, rest)
}

/// Reads what a value has to be: types, allowed values, bounds, an example or a default.
fn read_wanted(text: &str) -> Wanted {
    let text = text.trim_start_matches([' ', '(', ':', ';', ',']);
    let text = text.trim_start_matches("one of ").trim_start_matches("exactly ");
    let mut wanted = Wanted::default();
    let mut rest = text;
    let mut is_first = true;
    // Words outside of quotes and backticks.
    let mut words = String::new();
    while let Some(letter) = rest.chars().next() {
        let starts_word = words.chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        let example = EXAMPLE.iter().find_map(|start| rest.strip_prefix(start));
        if starts_word && let Some(example) = example {
            let (value, after) = json(example).unwrap_or_else(|| read_bare(example));
            wanted.example = wanted.example.or(Some(value));
            rest = after;
        } else if letter == '`' {
            let (quoted, after) = rest[1..].split_once('`').unwrap_or((rest, ""));
            if words.trim_end().ends_with("matching") && !quoted.ends_with('…') {
                wanted.pattern = Some(quoted.to_owned());
            }
            rest = after;
        } else if letter == '(' && [" item ", " items "].iter().any(|end| words.ends_with(end)) {
            wanted.items = read_inside(&rest[1..]).map(|(items, _)| Box::new(items));
            rest = rest.rsplit_once(')').map_or("", |(_, after)| after);
        } else if starts_word && let Some((inside, after)) = read_container(rest) {
            read_words(&std::mem::take(&mut words), &mut wanted);
            wanted.types.extend(inside.types);
            wanted.items = wanted.items.or(inside.items);
            wanted.members.extend(inside.members);
            rest = after;
        } else if letter == '"'
            || (is_first && !letter.is_alphabetic() || is_literal(rest, is_first))
        {
            match json(rest) {
                Some((value, after)) => {
                    wanted.allowed.push(value);
                    rest = ["one of ", ", ", " or "].iter().fold(after, |rest, separator| {
                        rest.strip_prefix(separator).unwrap_or(rest)
                    });
                    // Another value may follow.
                    continue;
                }
                None => rest = &rest[letter.len_utf8()..],
            }
        } else {
            words.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
        is_first = false;
    }
    read_words(&words, &mut wanted);
    wanted
}

/// Reads `array of …`, `array […]`, `object {…}` or `{…}` at the start of `text`, and returns what follows.
fn read_container(text: &str) -> Option<(Wanted, &str)> {
    if let Some(rest) = text.strip_prefix("array of ") {
        let (items, rest) = read_inside(rest)?;
        let wanted = Wanted { items: Some(Box::new(items)), ..Wanted::of_types(["array"]) };
        return Some((wanted, rest));
    }
    if let Some(mut rest) = text.strip_prefix("array [") {
        let mut list = Vec::new();
        while let Some((item, after)) = read_inside(rest) {
            list.push(make(&item));
            rest = after.strip_prefix(", ").unwrap_or(after);
        }
        let wanted = Wanted { example: Some(list.into()), ..Wanted::of_types(["array"]) };
        return Some((wanted, rest.strip_prefix(']')?));
    }
    let mut rest = text.strip_prefix("object ").unwrap_or(text).strip_prefix('{')?;
    let mut wanted = Wanted::of_types(["object"]);
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((wanted, after));
        }
        rest = rest.strip_prefix(", ").unwrap_or(rest);
        if let Some(after) = rest.strip_prefix('…') {
            rest = after;
            continue;
        }
        let (name, after) = rest.split_at(rest.find([':', ',', '}', '?'])?);
        let (is_optional, after) = match after.strip_prefix('?') {
            Some(after) => (true, after),
            None => (false, after),
        };
        let (member, after) = match after.strip_prefix(": ") {
            Some(kind) => read_inside(kind)?,
            None => (Wanted::default(), after),
        };
        if !is_optional && !name.starts_with('[') {
            wanted.members.push((name.to_owned(), member));
        }
        rest = after;
    }
}

/// Reads what a member or an item has to be, with bars between alternatives.
fn read_inside(text: &str) -> Option<(Wanted, &str)> {
    let mut wanted = Wanted::default();
    let mut rest = text;
    loop {
        if let Some((inside, after)) = read_container(rest) {
            wanted.types.extend(inside.types);
            wanted.items = wanted.items.or(inside.items);
            wanted.members.extend(inside.members);
            rest = after;
        } else if let Some((value, after)) = json(rest).filter(|(value, _)| *value != Value::Null) {
            wanted.allowed.push(value);
            rest = after;
        } else {
            let (words, after) =
                rest.split_at(rest.find(['|', ',', '}', ']', ')']).unwrap_or(rest.len()));
            if words.is_empty() {
                return None;
            }
            read_words(words, &mut wanted);
            rest = after;
        }
        match rest.strip_prefix('|') {
            Some(next) => rest = next,
            None => return Some((wanted, rest)),
        }
    }
}

/// Whether a word before `string` names a format that the fixer knows.
fn is_format(word: &str) -> bool {
    of_format(word) != "text"
}

/// Whether a value that is no string starts here, in a list of allowed values.
fn is_literal(text: &str, is_first: bool) -> bool {
    is_first && ["true", "false", "null"].iter().any(|word| text.starts_with(word))
}

/// An example that is not JSON: the text up to the next mark.
fn read_bare(text: &str) -> (Value, &str) {
    let end = text.find([',', ';', ')']).unwrap_or(text.len());
    (text[..end].trim().into(), &text[end..])
}

fn read_words(text: &str, wanted: &mut Wanted) {
    const TYPES: [&str; 7] = ["integer", "number", "string", "boolean", "array", "object", "null"];
    let words: Vec<&str> = text
        .split([' ', ',', ';', '(', ')', ':', '|', '…'])
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let next = words.get(at + 1).copied().unwrap_or_default();
        let number = next.parse::<f64>().ok();
        let name = TYPES.iter().find(|name| *word == **name || *word == format!("{name}s"));
        match (name, *word) {
            (Some(name), _) => {
                wanted.types.push((*name).to_owned());
                if is_format(before) {
                    wanted.format = Some(before.to_owned());
                }
            }
            (_, "valid") => wanted.format = Some(next.to_owned()),
            (_, "≥" | "from" | "between") => wanted.bounds.extend(number.map(Bound::AtLeast)),
            (_, "≤" | "to" | "and") => wanted.bounds.extend(number.map(Bound::AtMost)),
            (_, ">") => wanted.bounds.extend(number.map(Bound::Above)),
            (_, "<") => wanted.bounds.extend(number.map(Bound::Below)),
            (_, "of") if before == "multiple" => {
                wanted.bounds.extend(number.map(Bound::MultipleOf));
            }
            (_, "exactly") => {
                let size = next.parse().ok();
                wanted.bounds.extend(size.map(Bound::Shortest));
                wanted.bounds.extend(size.map(Bound::Longest));
            }
            (_, "least") => wanted.bounds.extend(next.parse().ok().map(Bound::Shortest)),
            (_, "most") => wanted.bounds.extend(next.parse().ok().map(Bound::Longest)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::super::follow::follow;
    use super::{Advice, Bound, Wanted, read, read_place, read_wanted};

    fn fixed(message: &str, mut arguments: Value) -> Value {
        let reading = read(message, &arguments);
        follow(&mut arguments, reading.advice, reading.example.as_ref());
        arguments
    }

    #[test]
    fn reads_places_as_pointers_and_as_paths() {
        let place = |line| read_place(line).0.join(" ");
        assert_eq!(place("#/days/0/hours: expected integer"), "days 0 hours");
        assert_eq!(place("days[0].hours: expected integer"), "days 0 hours");
        assert_eq!(place("`days[0].hours`: expected integer"), "days 0 hours");
        assert_eq!(place("[\"a b\"][1]: expected integer"), "a b 1");
        assert_eq!(place("missing required property `town`: string"), "");
        assert_eq!(place("#: missing required property `town`"), "");
    }

    #[test]
    fn reads_what_is_wanted() {
        assert_eq!(read_wanted("integer or null").types, ["integer", "null"]);
        assert_eq!(
            read_wanted("\"a\", \"b\" or \"c\"").allowed,
            [json!("a"), json!("b"), json!("c")]
        );
        assert_eq!(read_wanted("1, 2 or 3").allowed, [json!(1), json!(2), json!(3)]);
        assert_eq!(
            read_wanted(" (string, one of \"a\" or \"b\")").allowed,
            [json!("a"), json!("b")]
        );
        assert_eq!(read_wanted(" (integer, default 10)").example, Some(json!(10)));
        assert_eq!(read_wanted(": string, e.g. \"Bern\"").example, Some(json!("Bern")));
        assert_eq!(read_wanted("at least 3 characters").bounds, [Bound::Shortest(3)]);
        let filled = read_wanted("at least 1 item (object {a: string})");
        assert_eq!(filled.types, [] as [&str; 0]);
        assert_eq!(filled.items.unwrap().types, ["object"]);
        assert_eq!(read_wanted("date string").format.as_deref(), Some("date"));
        assert_eq!(read_wanted("a string matching `^a$`").pattern.as_deref(), Some("^a$"));
        let strings = read_wanted("array of string, exactly 2 items");
        assert_eq!(strings.items, Some(Box::new(Wanted::of_types(["string"]))));
        assert_eq!(strings.bounds, [Bound::Shortest(2), Bound::Longest(2)]);
        let places =
            read_wanted("array of {lat: number, unit: \"c\"|\"f\", note?: string, …} or null");
        assert_eq!(places.types, ["array", "null"]);
        let unit = Wanted::one_of([json!("c"), json!("f")]);
        let members =
            vec![("lat".to_owned(), Wanted::of_types(["number"])), ("unit".to_owned(), unit)];
        let place = Wanted { members, ..Wanted::of_types(["object"]) };
        assert_eq!(places.items, Some(Box::new(place.clone())));
        assert_eq!(read_wanted("object {lat: number, unit: \"c\"|\"f\"}"), place);
        let range = [Bound::AtLeast(1.0), Bound::AtMost(24.0)];
        assert_eq!(read_wanted("integer from 1 to 24").bounds, range);
    }

    #[test]
    fn follows_messages() {
        let message = "invalid arguments for tool `forecast`:\n\
            unknown property `twon`; did you mean `town`?\n\
            days[0].hours: expected a number ≤ 24, found 30\n\
            unit: expected \"c\" or \"f\", found \"K\"\n\
            #: missing required property `limit` (integer)\n\
            missing required property `days[0].unit` (\"c\" or \"f\")\n\
            #: unexpected property `verbose`";
        let arguments =
            json!({ "twon": "Bern", "days": [{ "hours": 30 }], "unit": "K", "verbose": 1 });
        let expected = json!({ "town": "Bern", "days": [{ "hours": 24, "unit": "c" }], "unit": "c", "limit": 1 });
        assert_eq!(fixed(message, arguments), expected);
    }

    #[test]
    fn takes_values_of_named_places_from_an_example_call() {
        let message = "hours: expected integer, found string \"ten\"\n\
            example of valid arguments: {\"town\": \"Bern\", \"hours\": 24}";
        let fixed = fixed(message, json!({ "town": "Thun", "hours": "ten" }));
        assert_eq!(fixed, json!({ "town": "Thun", "hours": 24 }));
    }

    #[test]
    fn reads_nothing_into_other_text() {
        assert_eq!(read("something else", &json!({})).advice, [] as [Advice; 0]);
        assert!(read_wanted("").is_empty());
        assert_eq!(read_wanted(""), Wanted::default());
    }
}
