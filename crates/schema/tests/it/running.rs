//! Running out, and going on afterwards.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_schema::{Dialect, Limits, Options, Schema, Unfinished, Verdict};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("running/goes_on_after_running_out", goes_on_after_running_out),
        Trial::test("running/serves_many_threads_at_once", serves_many_threads_at_once),
        Trial::test("running/prints_nothing", prints_nothing),
        Trial::test("running/reports_its_fuel", reports_its_fuel),
        Trial::test("running/recursion_pays_for_its_cycle_check", recursion_pays),
        Trial::test("running/equality_ends_at_the_depth_of_instances", equality_ends),
        Trial::test("running/zero_and_negative_zero_are_equal", zeros_are_equal),
        Trial::test("running/two_schemas_in_turns_keep_their_prices", keeps_prices_apart),
        Trial::test("running/reads_every_dialect", reads_every_dialect),
        Trial::test("running/gives_basic_output", gives_basic_output),
        Trial::test("running/explaining_pays_for_what_it_compares", explaining_pays),
    ]
}

fn check(holds: bool, what: &str) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// A schema whose fuel lasts for small instances only.
fn short_of_fuel() -> Schema {
    let mut limits = Limits::default();
    limits.fuel = 1000;
    Options::default()
        .limits(limits)
        .compile(&json!({ "items": { "type": "integer" } }))
        .expect("it compiles")
}

fn long() -> Value {
    json!(vec![1; 5000])
}

fn is_unfinished(verdict: &Verdict) -> bool {
    *verdict == Verdict::Unfinished(Unfinished::Fuel { limit: 1000 })
}

fn goes_on_after_running_out() -> Result<(), Failed> {
    let schema = short_of_fuel();
    for _ in 0..3 {
        check(is_unfinished(&schema.validate(&long())), "ran out")?;
        check(!schema.is_valid(&long()), "unfinished counts as valid")?;
        check(schema.validate(&json!([1, 2])).is_valid(), "no longer valid")?;
        check(!schema.validate(&json!([1, "x"])).is_valid(), "no longer invalid")?;
    }
    Ok(())
}

fn serves_many_threads_at_once() -> Result<(), Failed> {
    let schema = short_of_fuel();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let schema = schema.clone();
            thread::spawn(move || {
                (0..200).all(|round| match (number + round) % 3 {
                    0 => is_unfinished(&schema.validate(&long())),
                    1 => schema.is_valid(&json!([1])),
                    _ => matches!(schema.validate(&json!(["x"])), Verdict::Invalid(_)),
                })
            })
        })
        .collect();
    for thread in threads {
        check(thread.join().unwrap_or(false), "a verdict was wrong")?;
    }
    Ok(())
}

fn prints_nothing() -> Result<(), Failed> {
    static HOOKED: AtomicUsize = AtomicUsize::new(0);
    let before = panic::take_hook();
    panic::set_hook(Box::new(|_| {
        HOOKED.fetch_add(1, Ordering::Relaxed);
    }));
    let verdict = short_of_fuel().validate(&long());
    panic::set_hook(before);
    check(is_unfinished(&verdict), "did not run out")?;
    check(HOOKED.load(Ordering::Relaxed) == 0, "the panic hook was called")
}

fn reports_its_fuel() -> Result<(), Failed> {
    let schema = Schema::compile(&json!({ "items": { "type": "integer" } })).expect("it compiles");
    let fuel = |length: usize| schema.measure(&json!(vec![1; length])).fuel;
    check(fuel(10) > 0, "no fuel was used")?;
    check(fuel(10) == fuel(10), "the same took different fuel")?;
    check(fuel(2000) - fuel(1000) == fuel(3000) - fuel(2000), "fuel is not linear")
}

/// The same levels, once by a reference to the whole and once written out.
fn recursion_pays() -> Result<(), Failed> {
    let levels = 20;
    let nested = |inner, step: fn(Value) -> Value| (0..levels).fold(inner, |inner, _| step(inner));
    let instance = nested(json!(1), |inner| json!([inner]));
    let written = nested(json!({}), |inner| json!({ "items": inner }));
    let fuel = |schema| Schema::compile(&schema).map(|schema| schema.measure(&instance).fuel);
    let (recursive, written) = (fuel(json!({ "items": { "$ref": "#" } }))?, fuel(written)?);
    check(recursive >= written + levels, &format!("{recursive} steps, written out {written}"))
}

fn equality_ends() -> Result<(), Failed> {
    let mut limits = Limits::default();
    limits.instance_depth = 5;
    let schema = Options::default().limits(limits).compile(&json!({ "uniqueItems": true }))?;
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    for (levels, is_compared) in [(5, true), (6, false)] {
        let verdict = schema.validate(&json!([nested(levels), nested(levels)]));
        check(matches!(verdict, Verdict::Invalid(_)) == is_compared, &format!("{verdict:?}"))?;
    }
    Ok(())
}

/// Few items are compared with each other, many by their hashes.
fn zeros_are_equal() -> Result<(), Failed> {
    let schema = Schema::compile(&json!({ "uniqueItems": true }))?;
    for more in [0, 20] {
        let mut items = vec![json!(0), json!(-0.0)];
        items.extend((0..more).map(|n| json!(n + 1)));
        check(!schema.is_valid(&json!(items)), &format!("with {more} more"))?;
    }
    Ok(())
}

fn explaining_pays() -> Result<(), Failed> {
    let fuel = |schema: Value, instance: &Value| {
        Schema::compile(&schema).map(|schema| schema.measure(instance).fuel)
    };
    let names = |count: usize| (0..count).map(|n| format!("name-{n:04}"));
    let options = |count| json!({ "enum": names(count).collect::<Vec<_>>() });
    let wrong = json!("name-x");
    let (few, many) = (fuel(options(20), &wrong)?, fuel(options(900), &wrong)?);
    check(many >= few + 800, &format!("an enum: {few}, {many}"))?;
    let properties = |count| {
        let members: serde_json::Map<_, _> = names(count).map(|name| (name, json!(true))).collect();
        json!({ "properties": members, "additionalProperties": false })
    };
    let wrong = json!({ "name-x": 1 });
    let (few, many) = (fuel(properties(20), &wrong)?, fuel(properties(900), &wrong)?);
    check(many >= few + 800, &format!("properties: {few}, {many}"))?;
    let branches = |count: usize| json!({ "anyOf": (0..count).map(|n| json!({ "const": n })).collect::<Vec<_>>() });
    let (few, many) = (fuel(branches(20), &wrong)?, fuel(branches(200), &wrong)?);
    check(many >= few + 180 * 32, &format!("branches: {few}, {many}"))
}

fn keeps_prices_apart() -> Result<(), Failed> {
    let cheap = Schema::compile(&json!({ "items": { "type": "integer" } })).expect("it compiles");
    let dear =
        Schema::compile(&json!({ "items": { "allOf": vec![true; 500] } })).expect("it compiles");
    let value = json!([1, 2, 3]);
    let alone = (cheap.measure(&value).fuel, dear.measure(&value).fuel);
    for _ in 0..3 {
        let turn = (cheap.measure(&value).fuel, dear.measure(&value).fuel);
        check(turn == alone, "one schema paid the prices of another")?;
    }
    check(alone.1 > alone.0, "the prices do not differ")
}

fn reads_every_dialect() -> Result<(), Failed> {
    for dialect in Dialect::ALL {
        let schema = json!({ "$schema": dialect.uri(), "type": "integer" });
        check(
            Schema::compile(&schema).expect("it compiles").dialect() == dialect,
            "wrong dialect",
        )?;
        let default = Options::default().dialect(dialect).compile(&json!({ "type": "integer" }));
        check(default.expect("it compiles").dialect() == dialect, "wrong default dialect")?;
    }
    Ok(())
}

fn gives_basic_output() -> Result<(), Failed> {
    let schema =
        Schema::compile(&json!({ "properties": { "a": { "maximum": 1 } } })).expect("it compiles");
    let Verdict::Invalid(violations) = schema.validate(&json!({ "a": 2 })) else {
        return Err("not invalid".into());
    };
    let basic = json!({ "valid": false, "errors": [{
        "keywordLocation": "/properties/a/maximum",
        "instanceLocation": "/a",
        "error": "expected a number ≤ 1, found 2"
    }] });
    check(violations.basic() == basic, "another shape")
}
