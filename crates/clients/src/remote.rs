//! Servers on HTTP: the guard connects to the URL, and the client starts the guard.
//!
//! Headers become environment variables, because other users can read a command line.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::behind::headers;
use crate::client::Client;
use crate::edit::{Edits, key, quote, quoted};
use crate::tree::{Document, Node};
use crate::wrapper::Wrapper;

/// What the names of environment variables with headers start with.
const VARIABLE: &str = "TOOLBOND_HEADER_";

/// Members that say how the client signs in. A guard cannot do that.
const SIGN_IN: [&str; 6] = [
    "bearer_token_env_var",
    "env_http_headers",
    "headersHelper",
    "oauth",
    "auth",
    "authProviderType",
];

/// Makes the URL an argument of the guard. Fails with the reason if that is not possible.
pub(crate) fn wrap(
    edits: &mut Edits,
    document: &Document<'_>,
    node: &Node,
    client: &Client,
    wrapper: &Wrapper,
    value: &mut Value,
) -> Result<(), &'static str> {
    let syntax = document.syntax;
    let url = client.url.iter().find_map(|name| node.member(name)).ok_or("it has no URL")?;
    let address = url.value.as_text().ok_or("its URL is no string")?;
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    if address.contains(['?', '#']) || host.split('/').next().is_some_and(|host| host.contains('@'))
    {
        return Err("its URL may hold a secret, which would stand in a command line");
    }
    if SIGN_IN.iter().any(|name| node.get(name).is_some()) {
        return Err("the client signs in to it, which a guard cannot do");
    }
    if node.get("args").is_some() || node.get("env").is_some() {
        return Err("it has a URL, and `args` or `env` of a command");
    }
    let headers = node.member(client.headers);
    let mut variables: BTreeMap<String, &str> = BTreeMap::new();
    let mut env = Map::new();
    let mut words = quoted(document, &wrapper.arguments);
    words.extend([quote(syntax, "--upstream"), document.raw(&url.value).to_owned()]);
    let mut arguments: Vec<Value> = wrapper.arguments.iter().map(|it| it.as_str().into()).collect();
    arguments.extend(["--upstream".into(), address.into()]);
    for header in headers.map_or(&[][..], |headers| headers.value.members()) {
        let Some(text) = header.value.as_text() else { return Err("a header is no string") };
        let variable = variable(&header.name);
        if variables.insert(variable.clone(), &header.name).is_some() {
            return Err("two headers have nearly the same name");
        }
        let argument = format!("{}:${variable}", header.name);
        words.extend([quote(syntax, "--header"), quote(syntax, &argument)]);
        arguments.extend(["--header".into(), argument.into()]);
        edits.replace(&header.key, key(syntax, &variable));
        env.insert(variable, text.into());
    }
    edits.replace(&url.key, key(syntax, "command"));
    edits.replace(&url.value.range, quote(syntax, &wrapper.program));
    document.add_arguments(edits, node, url, &words);
    let Value::Object(members) = value else { return Err("it is no object") };
    members.shift_remove(&url.name);
    members.insert("command".to_owned(), wrapper.program.as_str().into());
    members.insert("args".to_owned(), arguments.into());
    if let Some(kind) = node.get("type") {
        edits.replace(&kind.range, quote(syntax, "stdio"));
        members.insert("type".to_owned(), "stdio".into());
    }
    if let Some(headers) = headers {
        edits.replace(&headers.key, key(syntax, "env"));
        members.shift_remove(client.headers);
        members.insert("env".to_owned(), env.into());
    }
    Ok(())
}

/// Makes the argument at `at` the URL again. Fails with the reason if that is not possible.
pub(crate) fn unwrap(
    edits: &mut Edits,
    document: &Document<'_>,
    node: &Node,
    client: &Client,
    at: usize,
    before: Option<(&Document<'_>, &Node)>,
    value: &mut Value,
) -> Result<(), &'static str> {
    const OTHER: &str = "its guard is not written as `toolbond wrap` does";
    const UNSET: &str = "a header of its guard is a variable that its `env` does not set";
    let syntax = document.syntax;
    let (command, arguments) = node.member("command").zip(node.member("args")).ok_or(OTHER)?;
    let items = arguments.value.as_list().unwrap_or_default();
    let url = items.get(at).ok_or(OTHER)?;
    let before = before.filter(|(_, node)| node.get("command").is_none());
    let had = |name: &str| before.is_some_and(|(_, node)| node.get(name).is_some());
    let url_key = client.url.iter().find(|name| had(name)).unwrap_or(&client.url[0]);
    edits.replace(&command.key, key(syntax, url_key));
    edits.replace(&command.value.range, document.raw(url));
    if !document.remove_arguments(edits, node, command, arguments) {
        return Err("its `args` do not follow its `command`");
    }
    let Value::Object(members) = value else { return Err(OTHER) };
    members.shift_remove("command");
    members.shift_remove("args");
    members.insert((*url_key).to_owned(), url.to_value());
    if let Some(kind) = node.get("type") {
        let known = before.and_then(|(before, node)| Some((before, node.get("type")?)));
        let (raw, kind_before) = known.map_or_else(
            || (quote(syntax, "http"), Value::from("http")),
            |(before, node)| (before.raw(node).to_owned(), node.to_value()),
        );
        edits.replace(&kind.range, raw);
        members.insert("type".to_owned(), kind_before);
    }
    let words: Vec<_> = items.iter().filter_map(Node::as_text).collect();
    let variables = header_variables(&words)
        .ok_or("a header of its guard is not the value of a variable alone")?;
    let Some(env) = node.member("env") else {
        return if variables.is_empty() { Ok(()) } else { Err(UNSET) };
    };
    if variables.is_empty() && !had(client.headers) {
        return Ok(());
    }
    let mut headers = Map::new();
    for member in env.value.members() {
        let name = variables.get(&member.name).ok_or("its `env` has more than headers")?;
        edits.replace(&member.key, key(syntax, name));
        headers.insert(name.clone(), member.value.to_value());
    }
    if headers.len() != variables.len() {
        return Err(UNSET);
    }
    edits.replace(&env.key, key(syntax, client.headers));
    members.shift_remove("env");
    members.insert(client.headers.to_owned(), headers.into());
    Ok(())
}

/// The headers in the arguments of the guard, by their variables.
fn header_variables(arguments: &[&str]) -> Option<BTreeMap<String, String>> {
    let header = |header: &str| {
        let (name, variable) = header.split_once(':')?;
        Some((variable.trim().strip_prefix('$')?.to_owned(), name.to_owned()))
    };
    headers(arguments).into_iter().map(header).collect()
}

/// The environment variable for the header `name`.
fn variable(name: &str) -> String {
    let upper =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    format!("{VARIABLE}{}", upper.collect::<String>())
}
