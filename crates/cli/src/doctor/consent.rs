//! What is asked before servers are started.

use toolbond_clients::{Document, Server, Start};

use crate::configs::full_name;
use crate::secrets::Secrets;
use crate::words::quoted;

/// The most characters of a command that are shown.
const MAX_SHOWN: usize = 200;

/// A line for each of `servers` that would be asked: its command without secrets, or the host of its URL.
pub(crate) fn lines(document: &Document<'_>, servers: &[Server]) -> Vec<String> {
    let asked = servers.iter().filter(|server| !server.is_disabled(document));
    asked
        .filter_map(|server| Some(format!("  {}: {}", full_name(server), what(document, server)?)))
        .collect()
}

fn what(document: &Document<'_>, server: &Server) -> Option<String> {
    let mut secrets = Secrets::default();
    secrets.add_server(document, server);
    match &server.start {
        Start::Command { program, arguments, .. } => {
            let words: Vec<_> =
                [program].into_iter().chain(arguments).map(|it| quoted(it)).collect();
            let line = secrets.hide(&words.join(" "));
            let start: String = line.chars().take(MAX_SHOWN).collect();
            Some(if start == line { line } else { format!("{start}…") })
        }
        Start::Remote { url, .. } => {
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            Some(format!("on HTTP at {}", secrets.hide(host)))
        }
        Start::Unknown(_) => None,
    }
}
