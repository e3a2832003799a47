//! Putting a guard in front of servers.

use serde_json::Value;

use crate::edit::{EditError, Edits, at_mut, quote, quoted};
use crate::remote;
use crate::server::{Server, Start};
use crate::tree::{Document, Node};
use crate::wrapper::Wrapper;

/// Puts a guard in front of `servers` and returns the new text. Those that have one stay as they are.
///
/// Fails if a server cannot be wrapped, or if the text would not say what it should.
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
    edits.apply(document, &expected)
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
