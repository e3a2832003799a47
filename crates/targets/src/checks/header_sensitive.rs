//! `header-sensitive`.

use serde_json::Value;
use toolbond_contract::{Role, declare_rule, subschemas::Member};

use super::{Found, show::quote};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// Secrets or personal data are copied into HTTP headers.
    ///
    /// ## What it does
    ///
    /// Finds parameters with `x-mcp-header` whose name, or the name of the header, is that of a secret or of personal data:
    /// a password, a token, an API key, a credential, an email address.
    ///
    /// ## Why is this bad
    ///
    /// Clients copy the parameter into the header `Mcp-Param-{name}`. Proxies, gateways and their logs see headers. By
    /// revision 2026-07-28 servers SHOULD NOT mark such parameters.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "api_key": { "type": "string", "x-mcp-header": "Api-Key" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } }
    /// ```
    HEADER_SENSITIVE = "header-sensitive", Warning
}

/// Words that name a secret or personal data.
const SENSITIVE: [&str; 21] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "email",
    "jwt",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "phone",
    "privatekey",
    "pwd",
    "secret",
    "secrets",
    "ssn",
    "token",
];

/// Words before `key` that make it a secret.
const SECRET_KEYS: [&str; 6] = ["access", "api", "encryption", "private", "secret", "signing"];

/// Words before `token` that make it something else.
const OTHER_TOKENS: [&str; 6] = ["continuation", "cursor", "max", "next", "page", "sync"];

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    let Some(Value::String(header)) = node.get("x-mcp-header") else { return };
    if found.role() != Some(Role::Input) || node.keyword != Some("properties") {
        return;
    }
    let property = match node.path.steps().last().and_then(|step| step.member) {
        Some(Member::Name(name)) => name,
        _ => "",
    };
    if let Some(name) = [property, header.as_str()].into_iter().find(|name| is_sensitive(name)) {
        let message = format!("expected nothing sensitive in a header, found {}", quote(name));
        if let Some((at, finding)) = found.node(node, &["x-mcp-header"], message) {
            let edits = vec![Edit::Remove { pointer: at.join("x-mcp-header") }];
            finding.fix = Some(Fix::suggestion("remove `x-mcp-header`", edits));
        }
    }
}

fn is_sensitive(name: &str) -> bool {
    let words = words(name);
    let before = |index: usize| index.checked_sub(1).map_or("", |index| words[index].as_str());
    words.iter().enumerate().any(|(index, word)| match word.as_str() {
        "key" => SECRET_KEYS.contains(&before(index)),
        "token" => !OTHER_TOKENS.contains(&before(index)),
        word => SENSITIVE.contains(&word),
    })
}

/// The words of a name in snake case, kebab case or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}
