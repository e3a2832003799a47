//! Putting a guard in front of servers.

use std::collections::HashSet;

use serde_json::Value;

use crate::edit::{EditError, Edits, at_mut, quote, quoted};
use crate::remote;
use crate::server::{Server, Start};
use crate::tree::{Document, Node, Syntax};
use crate::wrapper::Wrapper;

/// Puts a guard in front of `servers` and returns the new text. Those that have one stay as they are.
///
/// Fails if a server cannot be wrapped, if the guard would not be recognised afterwards, or if the text would not say what
/// it should.
pub fn wrap(
    document: &Document<'_>,
    servers: &[Server],
    wrapper: &Wrapper,
) -> Result<String, EditError> {
    let mut edits = Edits::default();
    let mut expected = document.root.to_value();
    for server in servers.iter().filter(|server| !server.is_guarded()) {
        let node = document.root.at(&server.path).ok_or(EditError::Unsafe)?;
        let value = at_mut(&mut expected, &server.path).ok_or(EditError::Unsafe)?;
        let unsupported = |reason| EditError::Unsupported { server: server.name.clone(), reason };
        match &server.start {
            Start::Command { .. } => wrap_command(&mut edits, document, node, wrapper, value),
            Start::Remote { .. } => {
                remote::wrap(&mut edits, document, node, server.client, wrapper, value)
                    .map_err(unsupported)?;
            }
            Start::Unknown(reason) => return Err(unsupported(reason)),
        }
    }
    recognised(edits.apply(document, &expected)?, document.syntax, servers, wrapper)
}

/// Has the guards of `servers` start with `wrapper`, with the options that they have, and returns the new text. Those
/// without one stay as they are.
///
/// Fails as [`wrap`] does.
pub fn repoint(
    document: &Document<'_>,
    servers: &[Server],
    wrapper: &Wrapper,
) -> Result<String, EditError> {
    let mut edits = Edits::default();
    let mut expected = document.root.to_value();
    // Before `guard`.
    let words = wrapper.arguments.split_last().map_or(&[][..], |(_, words)| words);
    let guarded: Vec<_> = servers.iter().filter(|server| server.is_guarded()).cloned().collect();
    for server in &guarded {
        let verb = server.verb().ok_or(EditError::Unsafe)?;
        let node = document.root.at(&server.path).ok_or(EditError::Unsafe)?;
        let value = at_mut(&mut expected, &server.path).ok_or(EditError::Unsafe)?;
        let (command, list) =
            node.member("command").zip(node.get("args")).ok_or(EditError::Unsafe)?;
        edits.replace(&command.value.range, quote(document.syntax, &wrapper.program));
        if !words.is_empty() {
            document.add_words(&mut edits, list, &quoted(document, words), command);
        }
        if verb > 0 {
            document.remove_words(&mut edits, list, verb);
        }
        let rest = value.get("args").and_then(Value::as_array).and_then(|all| all.get(verb..));
        let rest = rest.unwrap_or_default().iter().cloned();
        value["args"] = words.iter().map(|word| Value::from(word.as_str())).chain(rest).collect();
        value["command"] = Value::from(wrapper.program.as_str());
    }
    recognised(edits.apply(document, &expected)?, document.syntax, &guarded, wrapper)
}

/// `text`, if the guards of `servers`, which are of one client, are recognised in it.
fn recognised(
    text: String,
    syntax: Syntax,
    servers: &[Server],
    wrapper: &Wrapper,
) -> Result<String, EditError> {
    let document = Document::parse(&text, syntax).map_err(|_| EditError::Unsafe)?;
    let all = servers.first().map_or_else(Vec::new, |server| document.servers(server.client));
    let guarded = all.iter().filter(|it| it.is_guarded()).map(|it| &it.path);
    let guarded: HashSet<_> = guarded.collect();
    if servers.iter().any(|server| !guarded.contains(&server.path)) {
        return Err(EditError::Unrecognised { program: wrapper.program.clone() });
    }
    Ok(text)
}

/// Makes the command an argument of the guard.
fn wrap_command(
    edits: &mut Edits,
    document: &Document<'_>,
    node: &Node,
    wrapper: &Wrapper,
    value: &mut Value,
) {
    let Some(command) = node.member("command") else { return };
    let mut words = quoted(document, &wrapper.arguments);
    words.extend([quote(document.syntax, "--"), document.raw(&command.value).to_owned()]);
    edits.replace(&command.value.range, quote(document.syntax, &wrapper.program));
    match node.get("args") {
        Some(list) => document.add_words(edits, list, &words, command),
        None => document.add_arguments(edits, node, command, &words),
    }
    let own = wrapper.arguments.iter().map(|word| Value::from(word.as_str()));
    let all = own.chain(["--".into(), command.value.to_value()]);
    let list = value.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
    value["args"] = all.chain(list).collect();
    value["command"] = Value::from(wrapper.program.as_str());
}
