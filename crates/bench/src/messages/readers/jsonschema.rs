//! Python's `jsonschema`: a line for each error, its `json_path` and its message.

use serde_json::Value;

use super::super::advice::{Advice, Bound, Place, Wanted};
use super::Reading;
use super::literal::{python, python_list};

/// Reads `$.hours: 'ten' is not of type 'integer'`.
pub(super) fn read(message: &str) -> Reading {
    let mut reading = Reading::default();
    for line in message.lines() {
        reading.add(line, read_line(line).unwrap_or_default());
    }
    reading
}

fn read_line(line: &str) -> Option<Vec<Advice>> {
    let (place, text) = read_place(line.strip_prefix('$')?)?;
    if let Some(name) = text.strip_suffix(" is a required property") {
        let (name, _) = python(name)?;
        let name = name.as_str()?.to_owned();
        return Some(vec![Advice::Add { place, name, wanted: Wanted::default() }]);
    }
    let unexpected =
        ["Additional properties are not allowed (", "Unevaluated properties are not allowed ("];
    if let Some(names) = unexpected.iter().find_map(|start| text.strip_prefix(start)) {
        let names = python_list(names).into_iter();
        let names = names.filter_map(|name| name.as_str().map(str::to_owned));
        return Some(names.map(|name| Advice::Remove { place: place.clone(), name }).collect());
    }
    let wanted = read_wanted(text)?;
    Some(vec![Advice::Change { place, wanted }])
}

/// Reads `.days[0].hours: …` or `['a b']: …`, and returns what follows the colon.
fn read_place(text: &str) -> Option<(Place, &str)> {
    let mut place = Place::new();
    let mut rest = text;
    loop {
        if let Some(message) = rest.strip_prefix(": ") {
            return Some((place, message));
        }
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[', ':'])?;
            place.push(name[..end].to_owned());
            rest = &name[end..];
        } else {
            let (step, after) = python(rest.strip_prefix('[')?)?;
            place.push(step.as_str().map_or_else(|| step.to_string(), str::to_owned));
            rest = after.strip_prefix(']')?;
        }
    }
}

fn read_wanted(text: &str) -> Option<Wanted> {
    let limit = |separator: &str| text.rsplit_once(separator)?.1.parse::<f64>().ok();
    if let Some((_, types)) = text.rsplit_once(" is not of type ") {
        let types = python_list(types).into_iter();
        return Some(Wanted::of_types(types.filter_map(|name| name.as_str().map(str::to_owned))));
    }
    if let Some((_, allowed)) = text.rsplit_once(" is not one of ") {
        return Some(Wanted::one_of(python_list(allowed)));
    }
    if let Some(value) = text.strip_suffix(" was expected") {
        let (value, _): (Value, _) = python(value)?;
        return Some(Wanted::one_of([value]));
    }
    if let Some((_, pattern)) = text.rsplit_once(" does not match ")
        && let Some((pattern, _)) = python(pattern)
    {
        return Some(Wanted::matching(pattern.as_str()?));
    }
    if text.ends_with(" should be non-empty") {
        return Some(Wanted::within(Bound::Shortest(1)));
    }
    let bounds = [
        limit(" is less than the minimum of ").map(Bound::AtLeast),
        limit(" is greater than the maximum of ").map(Bound::AtMost),
        limit(" is less than or equal to the minimum of ").map(Bound::Above),
        limit(" is greater than or equal to the maximum of ").map(Bound::Below),
        limit(" is not a multiple of ").map(Bound::MultipleOf),
    ];
    bounds.into_iter().flatten().next().map(Wanted::within)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Advice, Bound, Wanted, read};

    #[test]
    fn reads_places_types_values_and_bounds() {
        let advice = read(
            "$.days[0].hours: 'ten' is not of type 'integer', 'null'\n\
             $['unit of it']: \"it's\" is not one of ['c', 'f', None]\n\
             $.limit: 9 is greater than the maximum of 5\n\
             $.at: {} is not valid under any of the given schemas",
        );
        let place = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
        let change = |steps: &[&str], wanted| Advice::Change { place: place(steps), wanted };
        let expected = [
            change(&["days", "0", "hours"], Wanted::of_types(["integer", "null"])),
            change(&["unit of it"], Wanted::one_of([json!("c"), json!("f"), json!(null)])),
            change(&["limit"], Wanted::within(Bound::AtMost(5.0))),
        ];
        assert_eq!(advice.advice, expected);
    }

    #[test]
    fn reads_names() {
        let advice = read(
            "$: 'town' is a required property\n\
             $: Additional properties are not allowed ('twon', 'x y' were unexpected)",
        );
        let remove = |name: &str| Advice::Remove { place: vec![], name: name.to_owned() };
        let town = "town".to_owned();
        let expected = [
            Advice::Add { place: vec![], name: town, wanted: Wanted::default() },
            remove("twon"),
            remove("x y"),
        ];
        assert_eq!(advice.advice, expected);
    }
}
