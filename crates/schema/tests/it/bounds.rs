//! The table of docs/limits.md says what the default limits are.

use libtest_mimic::{Failed, Trial};
use serde_json::json;
use toolbond_harness::trials;
use toolbond_schema::{Limits, Options, SchemaErrorKind};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("bounds/every_limit_is_documented", || {
            let names = Limits::NAMES.into_iter();
            trials::check_all(names.map(|name| (name.to_owned(), name)), is_documented)
        }),
        Trial::test("bounds/every_limit_can_be_set", can_be_set),
        Trial::test("bounds/depth_is_refused_where_it_is", names_the_deepest_place),
        Trial::test("bounds/an_anchor_hides_no_other", anchors_of_one_name),
    ]
}

fn is_documented(name: &&str) -> Result<(), Failed> {
    let text = include_str!("../../../../docs/limits.md");
    let mark = format!("`{name}` (");
    let limit = Limits::default().get(name);
    let mut rows = text.lines().filter(|line| line.starts_with('|'));
    let Some(row) = rows.find(|line| line.contains(&mark)) else {
        return Err(format!("no row of a table says {mark}…)").into());
    };
    let rest = row.split(&mark).nth(1).unwrap_or_default();
    let said = rest.split([')', ' ']).next().unwrap_or_default().replace(',', "");
    let unit = if rest[said.len()..].starts_with(" MiB") { 1 << 20 } else { 1 };
    let said = said.parse::<u64>().ok().map(|number| number * unit);
    if said != limit {
        return Err(format!("the table says {said:?}, the limit is {limit:?}").into());
    }
    Ok(())
}

fn can_be_set() -> Result<(), Failed> {
    for name in Limits::NAMES {
        let mut limits = Limits::default();
        limits.set(name, 7)?;
        if limits.get(name) != Some(7) || limits == Limits::default() {
            return Err(format!("`{name}` is not set").into());
        }
    }
    if Limits::default().set("", 7).is_ok() || Limits::default().get("").is_some() {
        return Err("a limit without a name".into());
    }
    Ok(())
}

fn names_the_deepest_place() -> Result<(), Failed> {
    let mut limits = Limits::default();
    limits.depth = 4;
    let schema = json!({ "allOf": [{}, { "allOf": [{ "not": {} }] }] });
    let refused = Options::default().limits(limits).compile(&schema);
    match refused.map_err(|error| error.pointer.to_string()) {
        Err(place) if place == "#/allOf/1/allOf/0" => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}

/// Before each anchor of a chain that doubles 25 times stands a harmless one of the same name.
fn anchors_of_one_name() -> Result<(), Failed> {
    let mut definitions = serde_json::Map::new();
    for level in 0..25 {
        let next = json!({ "$ref": format!("#a{}", level + 1) });
        let name = format!("a{level}");
        definitions.insert(format!("{level} first"), json!({ "$anchor": name }));
        definitions
            .insert(format!("{level} last"), json!({ "$anchor": name, "allOf": [next, next] }));
    }
    definitions.insert("end".to_owned(), json!({ "$anchor": "a25" }));
    let schema = json!({ "$ref": "#a0", "$defs": definitions });
    match Options::default().compile(&schema).map_err(|error| error.kind) {
        Err(SchemaErrorKind::Expansion { .. }) => Ok(()),
        found => Err(format!("{found:?}").into()),
    }
}
