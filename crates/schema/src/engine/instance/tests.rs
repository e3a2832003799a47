//! Instances against the values that `serde_json` reads from the same text.

use serde_json::{Value, json};

use super::{Instance, InstanceErrorKind, ValueRef};

/// Texts that are JSON.
const JSON: [&str; 22] = [
    r#"[null, true, -1, 1.50, 1e2, "a\u0062", "ü", {}, {"\u0061": [[]]}]"#,
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "-0",
    "0.1",
    "-0.0",
    "1E+2",
    "5e-324",
    "1e-400",
    "1.7976931348623157e308",
    r#""\"\\\/\b\f\n\r\t\u0000\ud83e\udd80 end""#,
    r#""seven77" "#,
    r#""eight888""#,
    r#""a longer string without anything in it, and then\n""#,
    " \t\r\n{ \"a\" : { \"b\" : [ ] , \"c\" : \"\" } , \"\" : 0 } ",
    "[[],[[]],[[[]]]]",
    "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}",
    "\"\u{7f}\u{80}\u{10ffff}\"",
    "[false,null,true]",
];

/// Texts that are not.
const OTHER: [&str; 42] = [
    "",
    " ",
    "nul",
    "tru",
    "falsy",
    "nullx",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{",
    "}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{\"a\":1",
    "{,}",
    "{a:1}",
    "{\"a\" 1}",
    "[1}",
    "{\"a\":1]",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1e",
    "1e+",
    "0x1",
    "NaN",
    "\"",
    "\"a",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"",
    "1 2",
    "\"\t\"",
];

#[test]
fn is_the_value_of_its_text() {
    for text in JSON {
        let value: Value = serde_json::from_str(text).unwrap();
        let instance = Instance::parse(text).unwrap();
        assert_eq!(format!("{:?}", instance.to_value()), format!("{value:?}"), "{text}");
        assert!(size_of_val(&instance) < 200);
    }
    assert_eq!(Instance::parse(r#"[1, {"a": []}, [[]]]"#).unwrap().nesting(), 3);
}

#[test]
fn rejects_what_serde_json_rejects() {
    for text in OTHER.into_iter().chain(["1e309", "-1e999", "\u{feff}1", "[1]\u{0}"]) {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
        assert!(Instance::parse(text).is_err(), "{text}");
    }
    // Every text that is cut or has one byte changed.
    for text in JSON {
        for at in 0..text.len() {
            for other in
                ["", "\"", "\\", "0", "-", ".", "e", ",", ":", "[", "]", "{", "}", " ", "u"]
            {
                let Some((before, after)) = text.split_at_checked(at) else { continue };
                let after = after.get(1..).unwrap_or_default();
                let changed = format!("{before}{other}{after}");
                let value = serde_json::from_str::<Value>(&changed);
                match (Instance::parse(&changed), value) {
                    (Ok(instance), Ok(value)) => {
                        assert_eq!(instance.to_value(), value, "{changed}");
                    }
                    (Err(error), Ok(_)) => {
                        assert!(
                            matches!(error.kind, InstanceErrorKind::Duplicate { .. }),
                            "{changed}"
                        );
                    }
                    (found, value) => assert_eq!(found.is_ok(), value.is_ok(), "{changed}"),
                }
            }
        }
    }
}

fn object(names: impl Iterator<Item = String>) -> String {
    let members: Vec<_> = names.map(|name| format!("\"{name}\":[{{}}]")).collect();
    format!("[{{{}}}]", members.join(","))
}

#[test]
fn rejects_duplicate_members() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"[{"":{"b":0,"x":{},"b":1}}]"#,
        r#"{"\ud83e\udd80":1,"🦀":1}"#,
    ] {
        let error = Instance::parse(text).unwrap_err();
        assert!(matches!(error.kind, InstanceErrorKind::Duplicate { .. }), "{text}: {error}");
    }
    for count in [1, 2, 15, 16, 17, 18, 32, 33, 100, 5000] {
        let names = || (0..count).map(|n| format!("m{n}"));
        assert!(Instance::parse(&object(names())).is_ok(), "{count}");
        for again in [0, count / 2, count - 1] {
            let text = object(names().chain([format!("\\u006d{again}")]));
            let error = Instance::parse(&text).unwrap_err();
            let name = format!("m{again}");
            assert_eq!(error.kind, InstanceErrorKind::Duplicate { name }, "{count}");
        }
    }
}

#[test]
fn finds_every_member_of_small_and_large_objects() {
    for count in [0, 1, 32, 33, 1000] {
        let text = object((0..count).map(|n| format!("m\\u0030{n}")));
        let instance = Instance::parse(&text).unwrap();
        let object = instance.root().elements().unwrap().next().unwrap().members().unwrap();
        assert_eq!(object.count(), count);
        for n in 0..count {
            let name = format!("m0{n}");
            let found = object.find(&name, || super::hash_of(&name)).unwrap();
            assert_eq!(found.to_value(), json!([{}]));
        }
        assert!(object.find("m0", || super::hash_of("m0")).is_none());
    }
}

#[test]
fn is_as_deep_as_serde_json_reads() {
    for levels in [1, 126, 127, 128, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { "" } else { "0" };
            let text = format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
            let is_value = serde_json::from_str::<Value>(&text).is_ok();
            assert_eq!(is_value, levels < 128);
            match Instance::parse(&text) {
                Ok(instance) => assert_eq!((instance.nesting(), is_value), (levels, true)),
                Err(error) => {
                    assert!(!is_value);
                    assert_eq!(error.kind, InstanceErrorKind::Depth { limit: 127 });
                }
            }
        }
    }
}

#[test]
fn takes_no_more_memory_than_it_says() {
    let many = |what: &str, times: usize| what.repeat(times);
    for text in [
        "0".to_owned(),
        "[]".to_owned(),
        format!("[{}0]", many("0,", 100)),
        format!("[{}0]", many("0,", 100_000)),
        format!("[{}0]", many("[],", 100_000)),
        format!("[{}0]", many(r#""\n","#, 100_000)),
        format!("\"{}\"", many(",", 1_000_000)),
        format!("\"{}\"", many("\\u0041", 100_000)),
        object((0..32).map(|n| format!("m{n}"))),
        object((0..1000).map(|n| format!("m{n}"))),
        object((0..50_000).map(|n| format!("m{n}"))),
        format!("[{}0]", many(&(object((0..33).map(|n| format!("m{n}"))) + ","), 500)),
    ] {
        let instance = Instance::parse(&text).unwrap();
        let held =
            instance.nodes.capacity() * 12 + instance.decoded.capacity() + instance.index.held();
        let said = Instance::memory(&text);
        assert!(held <= said, "{held} > {said}: {}", &text[..20.min(text.len())]);
        if text.len() > 1 << 16 {
            assert!(said <= 6 * text.len() + 4096, "{said}: {}", &text[..20]);
        }
    }
    assert!(Instance::memory("\"unfinished \\") > 0);
}

#[test]
fn is_deserialized_from_a_part_of_a_message() {
    #[derive(serde::Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        part: Instance<'a>,
    }
    let text = r#"{"other":0,"part":{"a":["x",{}]}}"#;
    let message: Message<'_> = serde_json::from_str(text).unwrap();
    assert_eq!(message.part.to_value(), json!({ "a": ["x", {}] }));
    let ValueRef::Object(mut members) = message.part.view() else { panic!("an object") };
    assert!(matches!(members.next(), Some(("a", ValueRef::Array(_)))));
    assert!(serde_json::from_str::<Message<'_>>(r#"{"part":{"a":1,"a":1}}"#).is_err());
}
