//! Pydantic: the text of a `ValidationError`.

use serde_json::Value;

use super::super::advice::{Advice, Bound, Place, Wanted, nearest};
use super::Reading;
use super::literal::{python, python_list};

/// What is wrong with each branch of a union, by name.
type Branches = Vec<(String, Vec<Advice>)>;

/// Reads blocks of a place, a message with its type in brackets, and a link.
pub(super) fn read(message: &str, arguments: &Value) -> Reading {
    let mut reading = Reading::default();
    let mut unions: Vec<(Place, Branches)> = Vec::new();
    let mut place = "";
    for line in message.lines().skip(1) {
        if !line.starts_with(' ') {
            place = line;
            continue;
        }
        let Some((text, details)) = line.trim_start().split_once(" [type=") else { continue };
        let kind = details.split([',', ']']).next().unwrap_or_default();
        let walked = walk(place, kind, arguments);
        let read = read_error(kind, text, walked.place.clone(), walked.name);
        let (Some(read), Some((union, branch))) = (&read, walked.branch) else {
            reading.add(&format!("{place}: {text}"), read.into_iter().collect());
            continue;
        };
        reading.statements += 1;
        if unions.iter().all(|(place, _)| *place != union) {
            unions.push((union.clone(), Vec::new()));
        }
        for (_, branches) in unions.iter_mut().filter(|(place, _)| *place == union) {
            match branches.iter_mut().find(|(name, _)| *name == branch) {
                Some((_, list)) => list.push(read.clone()),
                None => branches.push((branch.clone(), vec![read.clone()])),
            }
        }
    }
    for (place, branches) in unions {
        let branches = branches.into_iter().map(|(_, list)| list).collect();
        reading.advice.extend(nearest(&place, branches));
    }
    reading
}

/// Where an error is.
#[derive(Default)]
struct Walked {
    place: Place,
    /// The property that is missing or not allowed.
    name: Option<String>,
    /// The first union on the way: its place, and the name of the branch.
    branch: Option<(Place, String)>,
}

/// Follows `days.0.hours`. Steps that the arguments do not have are names of branches.
fn walk(location: &str, kind: &str, arguments: &Value) -> Walked {
    let mut walked = Walked::default();
    let (mut rest, mut value) = (location, Some(arguments));
    let is_about_name = kind == "missing" || kind == "extra_forbidden";
    while !rest.is_empty() {
        let known = match value {
            Some(Value::Object(members)) => members
                .keys()
                .filter(|key| after(rest, key).is_some())
                .max_by_key(|key| key.len())
                .cloned(),
            Some(Value::Array(items)) => {
                let step = rest.split('.').next().unwrap_or_default();
                step.parse().is_ok_and(|index: usize| index < items.len()).then(|| step.to_owned())
            }
            _ => None,
        };
        let step = known.clone().unwrap_or_else(|| {
            let step = rest.split('.').next().unwrap_or_default();
            if rest.contains('[') && !is_about_name { rest.to_owned() } else { step.to_owned() }
        });
        let next = after(rest, &step).unwrap_or_default();
        if next.is_empty() && is_about_name {
            walked.name = Some(step);
            break;
        }
        if known.is_some() {
            value = match value {
                Some(Value::Object(members)) => members.get(&step),
                Some(Value::Array(items)) => step.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
            walked.place.push(step);
        } else if walked.branch.is_none() {
            walked.branch = Some((walked.place.clone(), step));
        }
        rest = next;
    }
    walked
}

/// What follows `step` and a dot in `location`, if it starts with that.
fn after<'a>(location: &'a str, step: &str) -> Option<&'a str> {
    let rest = location.strip_prefix(step)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }
}

fn read_error(kind: &str, text: &str, place: Place, name: Option<String>) -> Option<Advice> {
    let last_number = || text.split(' ').rev().find_map(|word| word.parse::<f64>().ok());
    let first_size = || text.split(' ').find_map(|word| word.parse::<usize>().ok());
    let wanted = match kind {
        "missing" => {
            return Some(Advice::Add { place, name: name?, wanted: Wanted::default() });
        }
        "extra_forbidden" => return Some(Advice::Remove { place, name: name? }),
        "int_type" | "int_parsing" | "int_from_float" => Wanted::of_types(["integer"]),
        "float_type" | "float_parsing" => Wanted::of_types(["number"]),
        "string_type" => Wanted::of_types(["string"]),
        "bool_type" | "bool_parsing" => Wanted::of_types(["boolean"]),
        "list_type" | "tuple_type" | "set_type" => Wanted::of_types(["array"]),
        "dict_type" | "model_type" | "model_attributes_type" => Wanted::of_types(["object"]),
        "none_required" => Wanted::of_types(["null"]),
        "literal_error" | "enum" => {
            Wanted::one_of(python_list(text.strip_prefix("Input should be ")?))
        }
        "string_pattern_mismatch" => {
            let pattern = text.strip_prefix("String should match pattern ")?;
            // Written between quotes, but not escaped.
            let plain = pattern.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
            let quoted = || python(pattern)?.0.as_str().map(str::to_owned);
            Wanted::matching(plain.map(str::to_owned).or_else(quoted)?)
        }
        "greater_than_equal" => Wanted::within(Bound::AtLeast(last_number()?)),
        "greater_than" => Wanted::within(Bound::Above(last_number()?)),
        "less_than_equal" => Wanted::within(Bound::AtMost(last_number()?)),
        "less_than" => Wanted::within(Bound::Below(last_number()?)),
        "multiple_of" => Wanted::within(Bound::MultipleOf(last_number()?)),
        "too_short" | "string_too_short" => Wanted::within(Bound::Shortest(first_size()?)),
        "too_long" | "string_too_long" => Wanted::within(Bound::Longest(first_size()?)),
        "union_tag_invalid" => {
            let (before, tags) = text.split_once(" does not match any of the expected tags: ")?;
            let tag = before.rsplit_once("found using '")?.1.trim_end_matches('\'');
            let place = place.into_iter().chain([tag.to_owned()]).collect();
            return Some(Advice::Change { place, wanted: Wanted::one_of(python_list(tags)) });
        }
        "union_tag_not_found" => {
            let tag = text.rsplit_once("discriminator '")?.1.trim_end_matches('\'').to_owned();
            return Some(Advice::Add { place, name: tag, wanted: Wanted::default() });
        }
        _ => return None,
    };
    Some(Advice::Change { place, wanted })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Advice, Bound, Wanted, read};

    #[test]
    fn reads_places_types_values_and_names() {
        let message = "5 validation errors for forecast\n\
            days.0.hours\n  Input should be a valid integer [type=int_type, input_value='x', input_type=str]\n    \
            For further information visit https://errors.pydantic.dev/2.14/v/int_type\n\
            unit\n  Input should be 'c', 'f' or 3 [type=literal_error, input_value='k', input_type=str]\n\
            town\n  Field required [type=missing, input_value={'twon': 'Bern'}, input_type=dict]\n\
            twon\n  Extra inputs are not permitted [type=extra_forbidden, input_value='Bern', input_type=str]\n\
            days\n  List should have at least 2 items after validation, not 1 [type=too_short, input_value=[], input_type=list]\n";
        let arguments = json!({ "days": [{ "hours": "x" }], "unit": "k", "twon": "Bern" });
        let place = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
        let change = |steps: &[&str], wanted| Advice::Change { place: place(steps), wanted };
        let expected = [
            change(&["days", "0", "hours"], Wanted::of_types(["integer"])),
            change(&["unit"], Wanted::one_of([json!("c"), json!("f"), json!(3)])),
            Advice::Add { place: vec![], name: "town".to_owned(), wanted: Wanted::default() },
            Advice::Remove { place: vec![], name: "twon".to_owned() },
            change(&["days"], Wanted::within(Bound::Shortest(2))),
        ];
        assert_eq!(read(message, &arguments).advice, expected);
    }

    #[test]
    fn takes_the_nearest_branch_of_a_union() {
        let message = "3 validation errors for forecast\n\
            at.str\n  Input should be a valid string [type=string_type, input_value={'t': 'a'}, input_type=dict]\n\
            at.Point.lat\n  Field required [type=missing, input_value={'t': 'a'}, input_type=dict]\n\
            at.Point.lon\n  Field required [type=missing, input_value={'t': 'a'}, input_type=dict]\n";
        let add = |name: &str| Advice::Add {
            place: vec!["at".to_owned()],
            name: name.to_owned(),
            wanted: Wanted::default(),
        };
        let advice = read(message, &json!({ "at": { "t": "a" } })).advice;
        assert_eq!(advice, [add("lat"), add("lon")]);
    }
}
