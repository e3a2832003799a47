//! Answers that clients may read in another way than a guard, each to a call of a tool of its own. An error follows each of
//! them, so that no client waits for what was left out.

use serde_json::{Map, Value, json};

use crate::reader::{EVIL, answer, head, result};

const ERROR: &str = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"none"}}"#;

/// The names of the cases, and the bytes of the answers, as characters up to U+00FF.
pub(crate) type Answers = Vec<(String, String)>;

/// The bytes of a text as characters.
fn bytes(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// What some readers take for the end of a line, for white space, or for no text. What is no UTF-8 ends clients.
fn breaks() -> Vec<(&'static str, String)> {
    let breaks = [
        ("CR", "\r"),
        ("CR LF", "\r\n"),
        ("VT", "\u{b}"),
        ("FF", "\u{c}"),
        ("NEL", "\u{85}"),
        ("LS", "\u{2028}"),
        ("BOM", "\u{feff}"),
        ("NUL", "\0"),
        ("tab", "\t"),
    ];
    breaks.map(|(name, text)| (name, bytes(text))).into()
}

/// Texts of one message, without line feeds.
fn messages() -> Answers {
    let (evil, honest) = (answer("$ID", EVIL), answer("$ID", r#"{"n":1}"#));
    let mut all: Answers = vec![("plain".to_owned(), evil.clone())];
    let mut add = |name: String, text: String| all.push((name, text));
    for (name, text) in breaks() {
        add(format!("{name} before"), format!("{text}{evil}"));
        add(format!("{name} after"), format!("{evil}{text}"));
        add(
            format!("{name} after a colon"),
            evil.replacen("\"result\":", &format!("\"result\":{text}"), 1),
        );
        add(format!("{name} in an unknown member"), format!("{{\"x\":\"{text}\",{}", &evil[1..]));
        let start = r#"{"jsonrpc":"2.0","method":"notifications/x","params":"#;
        add(format!("{name} around, in a notification"), format!("{start}{text}{evil}{text}}}"));
        add(
            format!("{name} around, in a string"),
            format!("{start}{{\"x\":\"{text}{evil}{text}\"}}}}"),
        );
        add(format!("{name} after another answer"), format!("{honest}{text}{evil}"));
    }
    for id in [
        "$FIRST",
        "\"$ID\"",
        "$ID.0",
        "$IDe0",
        "[$ID]",
        "null",
        "\" $ID\"",
        "\"0$ID\"",
        "-0",
        "\"\"",
        "true",
        "\"\\ud800\"",
    ] {
        add(format!("id {id}"), answer(id, EVIL));
    }
    for name in ["jsonrpc", "id", "result", "structuredContent", "content"] {
        let quoted = format!("\"{name}\":");
        let escaped = format!("\"\\u{:04x}{}\":", name.as_bytes()[0], &name[1..]);
        add(format!("{name} escaped"), evil.replacen(&quoted, &escaped, 1));
        add(format!("{name} in upper case"), evil.replacen(&quoted, &quoted.to_uppercase(), 1));
        let harmless = match name {
            "jsonrpc" => "\"2.0\"".to_owned(),
            "id" => "98765".to_owned(),
            "result" => result(r#"{"n":1}"#),
            "content" => "[]".to_owned(),
            _ => r#"{"n":1}"#.to_owned(),
        };
        for other in [&quoted, &escaped, &quoted.to_uppercase()] {
            add(
                format!("harmless {other} before {name}"),
                evil.replacen(&quoted, &format!("{other}{harmless},{quoted}"), 1),
            );
        }
        add(
            format!("harmless {name} at the end"),
            format!("{},{quoted}{harmless}}}", &evil[..evil.len() - 1]),
        );
        let at_end = format!("{},{quoted}{harmless}}}}}", &evil[..evil.len() - 2]);
        add(format!("harmless {name} at the end of the result"), at_end);
    }
    all.extend(forms());
    all
}

/// Other forms of a message, and other members beside its result.
fn forms() -> Answers {
    let evil = answer("$ID", EVIL);
    let mut all: Answers = Vec::new();
    let mut add = |name: String, text: String| all.push((name, text));
    for (name, start, end) in [
        ("batch", "[", "]"),
        ("batch in a batch", "[[", "]]"),
        ("batch with garbage", "[1,", "]"),
        ("batch that does not end", "[", ""),
        ("garbage before", "x", ""),
        ("garbage after", "", "x"),
        ("a comma after", "", ","),
        ("two in a line", r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, ""),
    ] {
        add(name.to_owned(), format!("{start}{evil}{end}"));
    }
    for (old, new) in [
        ("\"result\":", "\"method\":\"x\",\"result\":"),
        ("\"result\":", "\"method\":null,\"result\":"),
        ("\"result\":", "\"error\":null,\"result\":"),
        ("\"result\":", "\"error\":{\"code\":1,\"message\":\"\"},\"result\":"),
        ("\"2.0\"", "\"1.0\""),
        ("\"jsonrpc\":\"2.0\",", ""),
        ("\"content\":", "\"isError\":\"false\",\"content\":"),
        ("\"content\":", "\"isError\":0,\"content\":"),
        ("\"content\":", "\"isError\":null,\"content\":"),
        ("\"content\":", "\"task\":{\"taskId\":\"a\"},\"content\":"),
        (
            "\"content\":",
            "\"_meta\":{\"dev.toolbond/projection\":{\"form\":\"natural\"}},\"content\":",
        ),
        ("\"content\":", "\"x\":1e400,\"content\":"),
        ("\"content\":", "\"x\":NaN,\"content\":"),
        ("\"complete\"", "\"input_required\""),
        ("\"complete\"", "\"task\""),
        ("\"evil\"", "\"ev\\u0069l\""),
        ("\"evil\"}", "\"evil\",\"x\":\"\\ud800\"}"),
    ] {
        add(format!("{old} -> {new}"), evil.replacen(old, new, 1));
    }
    for depth in [127, 129, 300] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        add(format!("{depth} levels beside it"), format!("{{\"x\":{open}{close},{}", &evil[1..]));
        add(
            format!("{depth} levels in it"),
            evil.replacen("\"evil\"", &format!("\"evil\",\"x\":{open}{close}"), 1),
        );
    }
    all
}

/// The answers of a process.
pub(crate) fn lines() -> Answers {
    let line = |(name, text)| (name, format!("{text}\n{ERROR}\n"));
    messages().into_iter().map(line).collect()
}

/// The answers of a server on HTTP: streams of events.
pub(crate) fn streams() -> Answers {
    let evil = answer("$ID", EVIL);
    let mut all: Answers = Vec::new();
    for (name, text) in messages() {
        all.push((name, format!("data: {text}\n\n")));
    }
    let (start, end) = evil.split_at(evil.find("\"result\"").unwrap());
    for (name, text) in [
        ("two fields", format!("data: {start}\ndata: {end}\n\n")),
        ("two fields and CR", format!("data: {start}\rdata: {end}\r\r")),
        ("no space", format!("data:{evil}\n\n")),
        ("a tab", format!("data:\t{evil}\n\n")),
        ("space before the colon", format!("data : {evil}\n\n")),
        ("upper case", format!("DATA: {evil}\n\n")),
        ("an event", format!("event: message\ndata: {evil}\n\n")),
        ("another event", format!("event: other\ndata: {evil}\n\n")),
        ("an empty event", format!("event:\ndata: {evil}\n\n")),
        ("an event of two", format!("event: other\nevent: message\ndata: {evil}\n\n")),
        ("an id with NUL", format!("id: \0\ndata: {evil}\n\n")),
        ("retry", format!("retry: 1\ndata: {evil}\n\n")),
        ("a comment", format!(": {{\ndata: {evil}\n\n")),
        ("an empty field first", format!("data\ndata: {evil}\n\n")),
        ("a BOM", format!("{}data: {evil}\n\n", bytes("\u{feff}"))),
        ("CR LF", format!("data: {evil}\r\n\r\n")),
        ("LF CR", format!("data: {evil}\n\r")),
        ("CR in a comment", format!(": x\rdata: {evil}\r\r")),
        ("CR in a field", format!("event: x\rdata: {evil}\r\r")),
        ("space in an empty line", format!("data: {evil}\n \n\n")),
    ] {
        all.push((format!("events: {name}"), text));
    }
    for (_, text) in &mut all {
        *text = format!("{}{text}data: {ERROR}\n\n", head("text/event-stream"));
    }
    all
}

/// A script with these answers.
pub(crate) fn script(answers: Answers) -> Value {
    let answers: Map<_, _> = answers.into_iter().map(|(name, text)| (name, json!(text))).collect();
    json!({ "answers": answers })
}
