//! A client and a server of different eras, on standard input and output.
//!
//! Scripts say what both mean. The stage writes it as the era of each asks for, and takes out again what the other era adds.

use serde_json::{Value, json};

use super::script::Script;
use super::stage::{Members, Stage, member};
use crate::pair::Pair;

const MODERN: &str = "2026-07-28";
/// How members of `_meta` begin that the specification adds.
const RESERVED: &str = "io.modelcontextprotocol/";
/// What the specification adds to results.
const ADDED: [(&str, &str); 3] =
    [("resultType", "\"complete\""), ("ttlMs", "0"), ("cacheScope", "\"private\"")];

/// A legacy client in front of a server that is modern only.
pub(super) struct LegacyClient {
    pair: Pair,
    /// The subscription of the guard.
    listen: Value,
}

impl LegacyClient {
    pub(super) fn new(script: &Script) -> Self {
        let Script { name, revision, settings, .. } = script;
        assert!(revision.as_str() < MODERN, "{name}: add `not legacy-client: …`");
        let mut pair = Pair::new(settings.clone());
        let hello = json!({ "protocolVersion": revision, "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" } });
        pair.passes(&request("hello", "initialize", &hello));
        let data = json!({ "supported": [MODERN], "requested": revision });
        let error = json!({ "code": -32022, "message": "no such version", "data": data });
        pair.server.send(&json!({ "jsonrpc": "2.0", "id": "hello", "error": error }).to_string());
        let discover = pair.server.json();
        assert_eq!(discover["method"], "server/discover");
        pair.server.send(&answer(
            &discover["id"],
            &json!({ "resultType": "complete", "supportedVersions": [MODERN],
                "capabilities": capabilities(), "ttlMs": 0, "cacheScope": "private" }),
        ));
        assert_eq!(pair.client.json()["result"]["protocolVersion"], **revision);
        pair.client.send(&notification("initialized", &json!({})));
        let listen = pair.server.json();
        assert_eq!(listen["method"], "subscriptions/listen");
        let listen = listen["id"].clone();
        let told = json!({ "_meta": subscription(&listen), "notifications": { "toolsListChanged": true } });
        pair.server.send(&notification("subscriptions/acknowledged", &told));
        Self { pair, listen }
    }
}

impl Stage for LegacyClient {
    fn client_sends(&mut self, text: &str) {
        self.pair.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        let text = self.pair.server.line();
        let version = format!("{RESERVED}protocolVersion\":\"{MODERN}\"");
        assert_eq!(text.contains(&version), member(&text, "id").is_some(), "{text}");
        text
    }

    fn server_sends(&mut self, text: &str) {
        let mut text = text.to_owned();
        if member(&text, "result").is_some() {
            for (name, value) in ADDED {
                text = add(&text, &["result"], name, value);
            }
        }
        if member(&text, "method").is_some_and(|method| method.ends_with("/list_changed\"")) {
            let (name, id) = (format!("{RESERVED}subscriptionId"), self.listen.to_string());
            text = add(&text, &["params", "_meta"], &name, &id);
        }
        self.pair.server.send(&text);
    }

    fn client_receives(&mut self) -> String {
        self.pair.client.line()
    }

    fn form(&self, message: &str) -> String {
        form(message)
    }
}

/// A modern client in front of a server that is legacy only.
pub(super) struct ModernClient(Pair);

impl ModernClient {
    pub(super) fn new(script: &Script) -> Self {
        let Script { name, revision, settings, .. } = script;
        let is_any = ["2025-11-25", MODERN].contains(&revision.as_str());
        assert!(is_any, "{name}: add `not modern-client: …`");
        let mut stage = Self(Pair::new(settings.clone()));
        stage.client_sends(&request("hello", "server/discover", &json!({})));
        let Self(pair) = &mut stage;
        assert_eq!(pair.server.json()["method"], "server/discover");
        let error = json!({ "code": -32601, "message": "no such method" });
        pair.server.send(&json!({ "jsonrpc": "2.0", "id": "hello", "error": error }).to_string());
        let hello = pair.server.json();
        assert_eq!(hello["method"], "initialize");
        pair.server.send(&answer(
            &hello["id"],
            &json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities(),
                "serverInfo": { "name": "s", "version": "1" } }),
        ));
        assert_eq!(pair.server.json()["method"], "notifications/initialized");
        assert_eq!(pair.client.json()["result"]["supportedVersions"], json!([MODERN]));
        let listen = json!({ "notifications": { "toolsListChanged": true } });
        stage.client_sends(&request("listen", "subscriptions/listen", &listen));
        let told = stage.0.client.json();
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        stage
    }
}

impl Stage for ModernClient {
    fn client_sends(&mut self, text: &str) {
        let mut text = text.to_owned();
        if member(&text, "id").is_some() && member(&text, "method").is_some() {
            let version = format!("\"{MODERN}\"");
            let info = r#"{"name":"c","version":"1"}"#;
            for (name, value) in
                [("clientCapabilities", "{}"), ("clientInfo", info), ("protocolVersion", &version)]
            {
                text = add(&text, &["params", "_meta"], &format!("{RESERVED}{name}"), value);
            }
        }
        self.0.client.send(&text);
    }

    fn server_receives(&mut self) -> String {
        let text = self.0.server.line();
        assert!(!text.contains(RESERVED), "{text}");
        text
    }

    fn server_sends(&mut self, text: &str) {
        self.0.server.send(text);
    }

    fn client_receives(&mut self) -> String {
        let text = self.0.client.line();
        if let Some(result) = member(&text, "result") {
            assert_eq!(member(&result, "resultType").as_deref(), Some("\"complete\""), "{text}");
        }
        text
    }

    fn form(&self, message: &str) -> String {
        form(message)
    }
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": true } })
}

fn subscription(id: &Value) -> Value {
    json!({ format!("{RESERVED}subscriptionId"): id })
}

fn request(id: &str, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn answer(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
        .to_string()
}

/// `text` with the member `name` in the object at `path`, which is made where it is missing or null; all other bytes
/// stay. What is no object stays as it is.
fn add(text: &str, path: &[&str], name: &str, value: &str) -> String {
    let text = if text == "null" { "{}" } else { text };
    let Ok(Members(members)) = serde_json::from_str(text) else { return text.to_owned() };
    let [first, rest @ ..] = path else {
        let comma = if members.is_empty() { "" } else { "," };
        return text.replacen('{', &format!("{{\"{name}\":{value}{comma}"), 1);
    };
    match members.get(*first) {
        Some(inner) => {
            let start = inner.get().as_ptr().addr() - text.as_ptr().addr();
            let end = start + inner.get().len();
            let inner = add(inner.get(), rest, name, value);
            format!("{}{inner}{}", &text[..start], &text[end..])
        }
        None => add(text, &[], first, &add("{}", rest, name, value)),
    }
}

/// A message without what translation adds: its members in one order, each as the bytes that it is.
fn form(message: &str) -> String {
    let message = message.trim_end();
    let Ok(Members(mut members)) = serde_json::from_str(message) else {
        return message.to_owned();
    };
    let inner: Vec<_> = ["params", "result"]
        .into_iter()
        .filter_map(|name| Some((name, inner_form(members.remove(name)?.get()))))
        .filter(|(_, inner)| inner != "{}" && inner != "null")
        .collect();
    let members = members.iter().map(|(name, value)| (name.as_str(), value.get().to_owned()));
    object(members.chain(inner))
}

fn inner_form(text: &str) -> String {
    let Ok(Members(mut members)) = serde_json::from_str(text) else { return text.to_owned() };
    members.retain(|name, value| !ADDED.contains(&(name.as_str(), value.get())));
    let meta = members.remove("_meta").map(|meta| {
        let Members(mut meta) = serde_json::from_str(meta.get()).unwrap();
        meta.retain(|name, _| !name.starts_with(RESERVED));
        object(meta.iter().map(|(name, value)| (name.as_str(), value.get().to_owned())))
    });
    let meta = meta.filter(|meta| meta != "{}").map(|meta| ("_meta", meta));
    let members = members.iter().map(|(name, value)| (name.as_str(), value.get().to_owned()));
    object(members.chain(meta))
}

fn object<'a>(members: impl Iterator<Item = (&'a str, String)>) -> String {
    let members: Vec<_> = members.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}
