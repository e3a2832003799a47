//! Taking the guard away again.

use serde_json::Value;

use crate::behind::Behind;
use crate::edit::{EditError, Edits, at_mut};
use crate::remote;
use crate::server::{Server, Start};
use crate::tree::{Document, Node};

/// Takes the guard away from `servers` and returns the new text. Those without one stay as they are.
///
/// `before` is what the file was before it was wrapped, if that is known: an empty list of arguments and none mean the
/// same, and the text does not tell which it was.
///
/// Fails if a guard was written by hand in a form that cannot be taken apart, or if the text would not say what it should.
pub fn unwrap(
    document: &Document<'_>,
    servers: &[Server],
    before: Option<&Document<'_>>,
) -> Result<String, EditError> {
    let mut edits = Edits::default();
    let mut expected = document.root.to_value();
    for server in servers.iter().filter(|server| server.is_guarded()) {
        let value = at_mut(&mut expected, &server.path).ok_or(EditError::Unsafe)?;
        unwrap_one(&mut edits, document, server, before, value)?;
    }
    edits.apply(document, &expected)
}

/// Fails if the guard of `server` cannot be taken apart.
pub fn can_unwrap(
    document: &Document<'_>,
    server: &Server,
    before: Option<&Document<'_>>,
) -> Result<(), EditError> {
    let node = document.root.at(&server.path).ok_or(EditError::Unsafe)?;
    unwrap_one(&mut Edits::default(), document, server, before, &mut node.to_value())
}

/// Takes the guard away from `server`, which is `value`.
fn unwrap_one(
    edits: &mut Edits,
    document: &Document<'_>,
    server: &Server,
    before: Option<&Document<'_>>,
    value: &mut Value,
) -> Result<(), EditError> {
    let Start::Command { guard: Some(guard), .. } = &server.start else { return Ok(()) };
    let node = document.root.at(&server.path).ok_or(EditError::Unsafe)?;
    let unsupported = |reason| EditError::Unsupported { server: server.name.clone(), reason };
    let before = before.and_then(|before| Some((before, before.root.at(&server.path)?)));
    match guard {
        Behind::Command(at) => {
            let had_arguments = before.is_none_or(|(_, node)| node.get("args").is_some());
            unwrap_command(edits, document, node, *at, had_arguments, value);
            Ok(())
        }
        Behind::Upstream(at) => {
            remote::unwrap(edits, document, node, server.client, *at, before, value)
                .map_err(unsupported)
        }
        Behind::Other(reason) => Err(unsupported(reason)),
    }
}

/// Makes the argument at `at` the command again.
fn unwrap_command(
    edits: &mut Edits,
    document: &Document<'_>,
    node: &Node,
    at: usize,
    had_arguments: bool,
    value: &mut Value,
) {
    let (Some(command), Some(arguments)) = (node.member("command"), node.member("args")) else {
        return;
    };
    let items = arguments.value.as_list().unwrap_or_default();
    let Some(program) = items.get(at) else { return };
    edits.replace(&command.value.range, document.raw(program));
    value["command"] = program.to_value();
    let is_empty = items.len() == at + 1;
    if is_empty && !had_arguments && document.remove_arguments(edits, node, command, arguments) {
        if let Value::Object(members) = value {
            members.shift_remove("args");
        }
        return;
    }
    document.remove_words(edits, &arguments.value, at + 1);
    value["args"] = items[at + 1..].iter().map(Node::to_value).collect();
}
