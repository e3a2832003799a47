//! zod: the message of a `ZodError`, a JSON array of issues.

use serde_json::Value;

use super::super::advice::{Advice, Bound, Place, Wanted, find, nearest};
use super::Reading;

/// Reads `[{"code": "invalid_type", "expected": "number", "path": ["hours"], "message": …}]`.
pub(super) fn read(message: &str, arguments: &Value) -> Reading {
    let issues: Vec<Value> = serde_json::from_str(message).unwrap_or_default();
    let mut reading = Reading::default();
    for issue in &issues {
        reading.add(&issue.to_string(), read_issue(issue, &[], arguments));
    }
    reading
}

fn read_issue(issue: &Value, outer: &[String], arguments: &Value) -> Vec<Advice> {
    let steps = issue["path"].as_array().into_iter().flatten();
    let steps = steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
    let place: Place = outer.iter().cloned().chain(steps).collect();
    let code = issue["code"].as_str().unwrap_or_default();
    if code == "unrecognized_keys" {
        let keys = issue["keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
        return keys
            .map(|key| Advice::Remove { place: place.clone(), name: key.to_owned() })
            .collect();
    }
    if code == "invalid_union" {
        let branches = issue["errors"].as_array().into_iter().flatten();
        let branches = branches.map(|branch| {
            let issues = branch.as_array().into_iter().flatten();
            issues.flat_map(|issue| read_issue(issue, &place, arguments)).collect()
        });
        return nearest(&place, branches.collect());
    }
    let Some(wanted) = read_wanted(code, issue) else { return Vec::new() };
    // A missing property is one of the wrong type: undefined.
    match place.split_last() {
        Some((name, object)) if find(arguments, &place).is_none() => {
            vec![Advice::Add { place: object.to_vec(), name: name.clone(), wanted }]
        }
        _ => vec![Advice::Change { place, wanted }],
    }
}

fn read_wanted(code: &str, issue: &Value) -> Option<Wanted> {
    let limit = |member: &str| issue[member].as_f64();
    let is_number = ["number", "int", "bigint"].iter().any(|origin| issue["origin"] == *origin);
    let is_inclusive = issue["inclusive"] != false;
    Some(match code {
        "invalid_type" => Wanted::of_types([type_name(issue["expected"].as_str()?)]),
        "invalid_value" => Wanted::one_of(issue["values"].as_array()?.clone()),
        "too_small" | "too_big" if is_number => Wanted::within(match (code, is_inclusive) {
            ("too_small", true) => Bound::AtLeast(limit("minimum")?),
            ("too_small", false) => Bound::Above(limit("minimum")?),
            (_, true) => Bound::AtMost(limit("maximum")?),
            (_, false) => Bound::Below(limit("maximum")?),
        }),
        "too_small" => Wanted::within(Bound::Shortest(size(limit("minimum")?))),
        "too_big" => Wanted::within(Bound::Longest(size(limit("maximum")?))),
        "not_multiple_of" => Wanted::within(Bound::MultipleOf(limit("divisor")?)),
        "invalid_format" => {
            let pattern = issue["pattern"].as_str();
            let pattern = pattern.and_then(|it| it.strip_prefix('/')?.strip_suffix('/'));
            Wanted {
                format: issue["format"].as_str().filter(|it| *it != "regex").map(str::to_owned),
                pattern: pattern.map(|it| it.replace("\\/", "/")),
                ..Wanted::default()
            }
        }
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small")]
fn size(limit: f64) -> usize {
    limit.max(0.0) as usize
}

/// The JSON type for a type of zod.
fn type_name(expected: &str) -> &str {
    match expected {
        "int" => "integer",
        "record" | "map" => "object",
        "tuple" | "set" => "array",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Advice, Bound, Wanted, read};

    #[test]
    fn reads_issues() {
        let issues = json!([
            { "code": "invalid_type", "expected": "number", "path": ["days", 0, "hours"], "message": "" },
            { "code": "invalid_type", "expected": "string", "path": ["town"], "message": "" },
            { "code": "invalid_value", "values": ["c", "f"], "path": ["unit"], "message": "" },
            { "code": "too_small", "origin": "array", "minimum": 1, "inclusive": true, "path": ["days"], "message": "" },
            { "code": "unrecognized_keys", "keys": ["twon"], "path": [], "message": "" }
        ]);
        let arguments = json!({ "days": [{ "hours": "x" }], "unit": "k", "twon": "Bern" });
        let place = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
        let change = |steps: &[&str], wanted| Advice::Change { place: place(steps), wanted };
        let expected = [
            change(&["days", "0", "hours"], Wanted::of_types(["number"])),
            Advice::Add {
                place: vec![],
                name: "town".to_owned(),
                wanted: Wanted::of_types(["string"]),
            },
            change(&["unit"], Wanted::one_of([json!("c"), json!("f")])),
            change(&["days"], Wanted::within(Bound::Shortest(1))),
            Advice::Remove { place: vec![], name: "twon".to_owned() },
        ];
        assert_eq!(read(&issues.to_string(), &arguments).advice, expected);
    }

    #[test]
    fn takes_the_nearest_branch_of_a_union() {
        let issues = json!([{
            "code": "invalid_union", "path": ["at"], "message": "Invalid input",
            "errors": [
                [{ "code": "invalid_type", "expected": "string", "path": [], "message": "" }],
                [{ "code": "invalid_type", "expected": "number", "path": ["lat"], "message": "" }]
            ]
        }]);
        let wanted = Wanted::of_types(["number"]);
        let lat = Advice::Add { place: vec!["at".to_owned()], name: "lat".to_owned(), wanted };
        assert_eq!(read(&issues.to_string(), &json!({ "at": {} })).advice, [lat]);
    }
}
