//! Messages that servers may read in another way than a guard, each around a call whose argument is its place in the list.

use crate::recorder::call;

/// Arguments from here on are not valid.
pub(crate) const FIRST: i64 = 1000;

/// A message, and what it tries.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The messages. The call in each has the argument that is its place in the list, beyond `FIRST`.
#[derive(Default)]
pub(crate) struct Cases(pub(crate) Vec<Case>);

impl Cases {
    /// Adds what `write` makes of a call and of its argument.
    fn add(&mut self, name: impl Into<String>, write: impl FnOnce(&str, i64) -> Vec<u8>) {
        let n = FIRST + i64::try_from(self.0.len()).unwrap();
        let bytes = write(&call(&n.to_string(), n), n);
        self.0.push(Case { name: name.into(), bytes });
    }

    /// Adds a call in which `old` is `new`.
    fn replace(&mut self, old: &str, new: &str) {
        self.add(format!("{old} -> {new}"), |call, n| {
            let new = new.replace("$N", &n.to_string());
            assert!(call.contains(old), "{old}");
            call.replacen(old, &new, 1).into_bytes()
        });
    }

    /// Adds calls with these bytes before them, after them, between members, in a string, around them.
    fn insert(&mut self, name: &str, bytes: &[u8]) {
        let places = [("before", 0), ("after a colon", 11)];
        for (place, at) in places {
            self.add(format!("{name} {place}"), |call, _| {
                [&call.as_bytes()[..at], bytes, &call.as_bytes()[at..]].concat()
            });
        }
        self.add(format!("{name} after"), |call, _| [call.as_bytes(), bytes].concat());
        self.add(format!("{name} in a string"), |call, _| {
            let (start, end) = call.split_once("tools/call").unwrap();
            [start.as_bytes(), b"tools/", bytes, b"call", end.as_bytes()].concat()
        });
        self.add(format!("{name} around, in a notification"), |call, _| {
            let start = br#"{"jsonrpc":"2.0","method":"notifications/x","params":"#;
            [&start[..], bytes, call.as_bytes(), bytes, b"}"].concat()
        });
        self.add(format!("{name} around, in a string"), |call, _| {
            let start = br#"{"jsonrpc":"2.0","method":"notifications/x","params":{"x":""#;
            [&start[..], bytes, call.as_bytes(), bytes, br#""}}"#].concat()
        });
        self.add(format!("{name} after another message"), |call, _| {
            let start = br#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
            [&start[..], bytes, call.as_bytes()].concat()
        });
        self.add(format!("{name} in an unknown member"), |call, _| {
            [br#"{"x":""#, bytes, br#"","#, &call.as_bytes()[1..]].concat()
        });
    }
}

/// Every case, the same ones at each run.
pub(crate) fn cases() -> Cases {
    let mut cases = Cases::default();
    cases.add("plain", |call, _| call.as_bytes().to_vec());
    for add in [breaks, ids, members, texts, arguments, wrappings, large] {
        add(&mut cases);
    }
    cases
}

/// Bytes that some readers take for the end of a line, for white space, or for no text.
fn breaks(cases: &mut Cases) {
    let breaks: [(&str, &[u8]); 16] = [
        ("CR", b"\r"),
        ("LF", b"\n"),
        ("CR LF", b"\r\n"),
        ("VT", b"\x0b"),
        ("FF", b"\x0c"),
        ("RS", b"\x1e"),
        ("NEL", "\u{85}".as_bytes()),
        ("LS", "\u{2028}".as_bytes()),
        ("PS", "\u{2029}".as_bytes()),
        ("BOM", "\u{feff}".as_bytes()),
        ("NUL", b"\0"),
        ("a bare FF", b"\xff"),
        ("an overlong slash", b"\xc0\xaf"),
        ("a surrogate", b"\xed\xa0\x80"),
        ("tab", b"\t"),
        ("a comment", b"/**/"),
    ];
    for (name, bytes) in breaks {
        cases.insert(name, bytes);
    }
}

/// Ids that are none, or that two readers may write in two ways.
fn ids(cases: &mut Cases) {
    for id in [
        "null",
        "true",
        "false",
        "[]",
        "[1]",
        "{}",
        "\"\"",
        "\"a\"",
        "1.5",
        "1.0",
        "1e0",
        "-0",
        "0",
        "-1",
        "9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1e400",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\udc00a\"",
        "\"\\ud800\\ud800\"",
        "NaN",
        "Infinity",
        "01",
        "+1",
        "\"toolbond-guard/0\"",
    ] {
        cases.add(format!("id {id}"), |call, n| {
            call.replacen(&format!("\"id\":{n}"), &format!("\"id\":{id}"), 1).into()
        });
    }
    cases.add("no id", |call, n| call.replacen(&format!("\"id\":{n},"), "", 1).into());
    for id in ["null", "true", "[1]"] {
        cases.add(format!("batch, id {id}"), |call, n| {
            let call = call.replacen(&format!("\"id\":{n}"), &format!("\"id\":{id}"), 1);
            format!("[{call}]").into()
        });
    }
    cases.add("batch, no id", |call, n| {
        format!("[{}]", call.replacen(&format!("\"id\":{n},"), "", 1)).into()
    });
}

/// Members under another name, and twice.
fn members(cases: &mut Cases) {
    for name in ["jsonrpc", "id", "method", "params", "name", "arguments"] {
        let quoted = format!("\"{name}\"");
        let upper = name.to_uppercase();
        let title = format!("{}{}", &upper[..1], &name[1..]);
        let escaped = format!("\\u{:04x}{}", name.as_bytes()[0], &name[1..]);
        for other in [&upper, &title, &escaped, &format!("{name} "), &format!("{name}\\u0000")] {
            cases.replace(&quoted, &format!("\"{other}\""));
        }
        // Twice: what counts may be the first or the last.
        for (first, last) in
            [(name, &title[..]), (&title, name), (name, name), (&escaped, name), (name, &escaped)]
        {
            for good_first in [true, false] {
                let harmless = match name {
                    "jsonrpc" => "\"2.0\"",
                    "id" => "7",
                    "method" => "\"ping\"",
                    "params" => r#"{"name":"ranged","arguments":{"n":1}}"#,
                    "name" => "\"other\"",
                    _ => r#"{"n":1}"#,
                };
                cases.add(
                    format!("{first} and {last}, harmless first: {good_first}"),
                    |call, n| {
                        let value = value_of(call, name, n);
                        let (one, two) = if good_first {
                            (harmless, &value[..])
                        } else {
                            (&value[..], harmless)
                        };
                        let members = format!("\"{first}\":{one},\"{last}\":{two}");
                        call.replacen(&format!("{quoted}:{value}"), &members, 1).into()
                    },
                );
            }
        }
        cases.replace(&format!("{quoted}:"), &format!("{quoted} \t\r:"));
    }
}

/// Other texts of methods, names and parameters.
fn texts(cases: &mut Cases) {
    for (old, new) in [
        ("\"2.0\"", "\"1.0\""),
        ("\"2.0\"", "2.0"),
        ("\"jsonrpc\":\"2.0\",", ""),
        ("tools/call", "Tools/Call"),
        ("tools/call", "tools\\/call"),
        ("tools/call", "\\u0074ools/call"),
        ("tools/call", "tools/call\\u0000"),
        ("tools/call", " tools/call"),
        ("\"tools/call\"", "[\"tools/call\"]"),
        ("\"ranged\"", "\"RANGED\""),
        ("\"ranged\"", "\"\\u0072anged\""),
        ("\"ranged\"", "\"ranged\\u0000\""),
        // U+017F folds to `s` for decoders that compare without case.
        ("\"arguments\"", "\"argument\u{17f}\""),
        ("\"method\"", "\"method\":\"ping\",\"METHOD\""),
        ("\"method\"", "\"result\":{},\"method\""),
        ("\"method\"", "\"error\":{\"code\":1,\"message\":\"\"},\"method\""),
        ("\"method\"", "\"result\":null,\"method\""),
        ("\"params\":{", "\"params\":{\"task\":{\"ttl\":1},"),
        (
            "\"params\":{",
            "\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"},",
        ),
        ("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":1},"),
        ("\"params\":{", "\"params\":{\"_meta\":[],"),
        ("\"params\":{", "\"params\":{\"_meta\":null,"),
        ("{\"n\":", "{\"n\":1,\"n\":"),
        ("{\"n\":", "{\"\\u006e\":1,\"n\":"),
        ("{\"n\":", "{\"n\":1,\"\\u006e\":"),
        ("{\"n\":", "{\"__proto__\":{\"n\":1},\"n\":"),
        ("\"arguments\":{", "\"arguments\":{\"toString\":1,"),
    ] {
        cases.replace(old, new);
    }
}

/// Other arguments.
fn arguments(cases: &mut Cases) {
    for n in [
        "$N.5",
        "\"$N\"",
        "[$N]",
        "{\"$N\":1}",
        "$Ne0",
        "$N.0",
        "1e400",
        "-1e400",
        "NaN",
        "Infinity",
        "null",
        "true",
        "0x$N",
    ] {
        cases.add(format!("n {n}"), |call, own| {
            let text = n.replace("$N", &own.to_string());
            call.replacen(&format!("\"n\":{own}"), &format!("\"n\":{text},\"own\":{own}"), 1).into()
        });
    }
}

/// Batches, and what is no message.
fn wrappings(cases: &mut Cases) {
    for (name, start, end) in [
        ("batch", "[", "]"),
        ("batch in a batch", "[[", "]]"),
        ("batch after a ping", "[{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"},", "]"),
        ("batch with garbage", "[1,", "]"),
        ("batch that does not end", "[", ""),
        ("batch of a string", "[\"", "\"]"),
        ("trailing comma", "", ","),
        ("two in a line", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", ""),
        ("garbage before", "x", ""),
        ("garbage after", "", "x"),
        ("a closing brace after", "", "}"),
        ("headers of LSP", "Content-Length: 10\r\n\r\n", ""),
        ("headers of LSP, apart", "Content-Length: 10\n\n", ""),
        ("in parentheses", "(", ")"),
        ("a prefix against script inclusion", ")]}',\n", ""),
    ] {
        cases.add(name, |call, _| format!("{start}{call}{end}").into());
    }
}

/// What is deep or long.
fn large(cases: &mut Cases) {
    for depth in [64, 127, 128, 129, 200, 1000, 5000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        cases.add(format!("{depth} levels beside it"), |call, _| {
            format!("{{\"x\":{open}{close},{}", &call[1..]).into()
        });
        cases.add(format!("{depth} levels in its arguments"), |call, _| {
            call.replacen("{\"n\":", &format!("{{\"x\":{open}{close},\"n\":"), 1).into()
        });
    }
    cases.add("a long string beside it", |call, _| {
        format!("{{\"x\":\"{}\",{}", "a".repeat(200_000), &call[1..]).into()
    });
    cases.add("many members beside it", |call, _| {
        let members: Vec<_> = (0..2000).map(|n| format!("\"m{n}\":{n}")).collect();
        format!("{{{},{}", members.join(","), &call[1..]).into()
    });
}

/// The text of a member of a call.
fn value_of(call: &str, name: &str, n: i64) -> String {
    match name {
        "jsonrpc" => "\"2.0\"".to_owned(),
        "id" => n.to_string(),
        "method" => "\"tools/call\"".to_owned(),
        "params" => call.split_once("\"params\":").unwrap().1.strip_suffix('}').unwrap().to_owned(),
        "name" => "\"ranged\"".to_owned(),
        _ => format!("{{\"n\":{n}}}"),
    }
}
