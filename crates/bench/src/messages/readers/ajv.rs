//! Ajv: `errorsText()`, and the errors as JSON.

use serde_json::Value;

use super::super::advice::{Advice, Bound, Place, Wanted, nearest, pointer};
use super::Reading;

/// Reads `data/hours must be integer, data must have required property 'town'`.
pub(super) fn read_text(message: &str) -> Reading {
    let mut parts: Vec<String> = Vec::new();
    for part in message.split(", ") {
        // A comma may also be a part of a message.
        match parts.last_mut() {
            Some(last) if !(part.starts_with("data/") || part.starts_with("data ")) => {
                last.push_str(", ");
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    let mut reading = Reading::default();
    for part in &parts {
        reading.add(part, read_part(part).into_iter().collect());
    }
    reading
}

fn read_part(part: &str) -> Option<Advice> {
    let part = part.strip_prefix("data")?;
    let (place, text) = part.split_once(" must ")?;
    let place = pointer(place);
    if let Some(name) = text.strip_prefix("have required property ") {
        let name = name.trim_matches('\'').to_owned();
        return Some(Advice::Add { place, name, wanted: Wanted::default() });
    }
    if text.starts_with("NOT have additional properties")
        || text.starts_with("NOT have unevaluated properties")
    {
        return Some(Advice::RemoveSome { place });
    }
    let wanted = read_wanted(text)?;
    Some(Advice::Change { place, wanted })
}

fn read_wanted(text: &str) -> Option<Wanted> {
    if let Some(format) = text.strip_prefix("match format ") {
        let format = Some(format.trim_matches('"').to_owned());
        return Some(Wanted { format, ..Wanted::default() });
    }
    if let Some(pattern) = text.strip_prefix("match pattern ") {
        let pattern = pattern.strip_prefix('"')?.strip_suffix('"')?;
        return Some(Wanted::matching(pattern));
    }
    if let Some(size) = text.strip_prefix("NOT have fewer than ") {
        return Some(Wanted::within(Bound::Shortest(first_number(size)?)));
    }
    if let Some(size) = text.strip_prefix("NOT have more than ") {
        return Some(Wanted::within(Bound::Longest(first_number(size)?)));
    }
    let rule = text.strip_prefix("be ")?;
    if let Some(unit) = rule.strip_prefix("multiple of ") {
        return Some(Wanted::within(Bound::MultipleOf(unit.parse().ok()?)));
    }
    for (sign, bound) in SIGNS {
        if let Some(limit) = rule.strip_prefix(sign) {
            return Some(Wanted::within(bound(limit.trim().parse().ok()?)));
        }
    }
    let is_type = |name: &&str| TYPES.contains(name);
    let types: Vec<&str> = rule.split(',').map(str::trim).filter(is_type).collect();
    (!types.is_empty()).then(|| Wanted::of_types(types))
}

const TYPES: [&str; 7] = ["integer", "number", "string", "boolean", "array", "object", "null"];

type MakeBound = fn(f64) -> Bound;

/// Two letters before one.
const SIGNS: [(&str, MakeBound); 4] =
    [(">= ", Bound::AtLeast), ("<= ", Bound::AtMost), ("> ", Bound::Above), ("< ", Bound::Below)];

fn first_number(text: &str) -> Option<usize> {
    text.split(' ').next()?.parse().ok()
}

/// Reads `[{"instancePath": "/hours", "schemaPath": …, "keyword": "type", "params": {"type": "integer"}}]`.
pub(super) fn read_json(message: &str) -> Reading {
    let mut errors: Vec<Value> = serde_json::from_str(message).unwrap_or_default();
    let mut unions: Vec<Value> = errors.clone();
    unions.retain(is_union);
    unions.sort_by_key(|error| text(error, "schemaPath").len());
    for union in unions {
        let inside = |error: &Value| {
            let is_below = text(error, "instancePath").starts_with(text(&union, "instancePath"));
            let rest = text(error, "schemaPath").strip_prefix(text(&union, "schemaPath"))?;
            let branch = rest.strip_prefix('/')?.split('/').next()?;
            is_below.then(|| branch.to_owned())
        };
        let mut branches: Vec<(String, Vec<Advice>)> = Vec::new();
        for error in &errors {
            let Some(branch) = inside(error) else { continue };
            if branches.iter().all(|(name, _)| *name != branch) {
                branches.push((branch.clone(), Vec::new()));
            }
            let list = branches.iter_mut().find(|(name, _)| *name == branch);
            if let Some((_, list)) = list {
                list.extend(read_error(error));
            }
        }
        let place = pointer(text(&union, "instancePath"));
        let lists = branches.iter().map(|(_, list)| list.clone()).collect();
        let chosen = nearest(&place, lists);
        let chosen = branches.iter().find(|(_, list)| *list == chosen).map(|(name, _)| name);
        errors.retain(|error| inside(error).is_none_or(|branch| Some(&branch) == chosen));
    }
    let mut reading = Reading::default();
    // A union says nothing beside what its branches say.
    for error in errors.iter().filter(|error| !is_union(error)) {
        reading.add(&error.to_string(), read_error(error).into_iter().collect());
    }
    reading
}

fn is_union(error: &Value) -> bool {
    ["anyOf", "oneOf"].iter().any(|keyword| error["keyword"] == *keyword)
}

fn text<'a>(error: &'a Value, member: &str) -> &'a str {
    error[member].as_str().unwrap_or_default()
}

fn read_error(error: &Value) -> Option<Advice> {
    let place: Place = pointer(text(error, "instancePath"));
    let params = &error["params"];
    let wanted = match text(error, "keyword") {
        "required" => {
            let name = params["missingProperty"].as_str()?.to_owned();
            return Some(Advice::Add { place, name, wanted: Wanted::default() });
        }
        "additionalProperties" => {
            let name = params["additionalProperty"].as_str()?.to_owned();
            return Some(Advice::Remove { place, name });
        }
        "unevaluatedProperties" => {
            let name = params["unevaluatedProperty"].as_str()?.to_owned();
            return Some(Advice::Remove { place, name });
        }
        "enum" => Wanted::one_of(params["allowedValues"].as_array()?.clone()),
        "const" => Wanted::one_of([params["allowedValue"].clone()]),
        _ => read_wanted(text(error, "message").strip_prefix("must ")?)?,
    };
    Some(Advice::Change { place, wanted })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Advice, Bound, Wanted, read_json, read_text};

    #[test]
    fn reads_the_text_of_errors() {
        let advice = read_text(
            "data must have required property 'town', data must NOT have additional properties, \
             data/days/0/hours must be integer,null, data/unit must be equal to one of the allowed values, \
             data/limit must be <= 5, data/names must NOT have fewer than 2 items",
        );
        let place = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
        let change = |steps: &[&str], wanted| Advice::Change { place: place(steps), wanted };
        let town = "town".to_owned();
        let expected = vec![
            Advice::Add { place: vec![], name: town, wanted: Wanted::default() },
            Advice::RemoveSome { place: vec![] },
            change(&["days", "0", "hours"], Wanted::of_types(["integer", "null"])),
            change(&["limit"], Wanted::within(Bound::AtMost(5.0))),
            change(&["names"], Wanted::within(Bound::Shortest(2))),
        ];
        assert_eq!(advice.advice, expected);
        assert_eq!(advice.unread, ["data/unit must be equal to one of the allowed values"]);
    }

    #[test]
    fn reads_errors_as_json_and_takes_the_nearest_branch() {
        let errors = json!([
            { "instancePath": "/at", "schemaPath": "#/properties/at/anyOf/0/type", "keyword": "type",
              "params": { "type": "string" }, "message": "must be string" },
            { "instancePath": "/at", "schemaPath": "#/properties/at/anyOf/1/required", "keyword": "required",
              "params": { "missingProperty": "lat" }, "message": "must have required property 'lat'" },
            { "instancePath": "/at", "schemaPath": "#/properties/at/anyOf", "keyword": "anyOf",
              "params": {}, "message": "must match a schema in anyOf" },
            { "instancePath": "/unit", "schemaPath": "#/properties/unit/enum", "keyword": "enum",
              "params": { "allowedValues": ["c", "f"] }, "message": "must be equal to one of the allowed values" }
        ]);
        let lat = Advice::Add {
            place: vec!["at".to_owned()],
            name: "lat".to_owned(),
            wanted: Wanted::default(),
        };
        let unit = Advice::Change {
            place: vec!["unit".to_owned()],
            wanted: Wanted::one_of([json!("c"), json!("f")]),
        };
        assert_eq!(read_json(&errors.to_string()).advice, [lat, unit]);
    }
}
