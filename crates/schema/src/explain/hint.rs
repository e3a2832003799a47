//! "Did you mean": the nearest name.

use serde_json::Value;

/// Longer names and longer lists are not compared: a hint is not worth their cost.
const LONGEST: usize = 64;
const MOST: usize = 1000;

/// The one of `candidates` that `name` was probably meant to be.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            let allowed = name.chars().count().max(candidate.chars().count()) / 3;
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The names in `properties` of a subschema.
pub(crate) fn properties(subschema: Option<&Value>) -> impl Iterator<Item = &str> {
    subschema
        .and_then(|subschema| subschema.get("properties"))
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str))
}
