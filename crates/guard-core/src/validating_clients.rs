//! Clients that are known to validate results against the output schema that they were given, and what their models read.

use toolbond_contract::Revision;

use crate::audience::Validation;

/// A client that validates results.
struct Client {
    /// What it calls itself in `clientInfo`. What ends with `-` is the start of a name.
    name: &'static str,
    /// Whether it validates results only where it speaks 2026-07-28 or a later revision.
    only_modern: bool,
    /// Whether its model reads the text of results, and not their structured content.
    only_text: bool,
    /// How that is known, and since when.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers; tests look at it"))]
    evidence: &'static str,
}

const CLIENTS: [Client; 5] = [
    Client {
        name: "claude-ai",
        only_modern: false,
        only_text: false,
        evidence: "reported for Claude Desktop, github.com: meho#2774, 2026-11-16",
    },
    Client {
        name: "claude-code",
        only_modern: true,
        only_text: false,
        evidence: "measured, @anthropic-ai/claude-code 2.1.327, 2026-11-17",
    },
    Client {
        name: "gemini-cli-mcp-client",
        only_modern: false,
        only_text: true,
        evidence: "measured, @google/gemini-cli 0.61.0, 2026-11-17",
    },
    // Some versions add the name that they have for the server.
    Client {
        name: "gemini-cli-mcp-client-",
        only_modern: false,
        only_text: true,
        evidence: "measured, @google/gemini-cli 0.61.0, 2026-11-17",
    },
    Client {
        name: "mcp",
        only_modern: false,
        only_text: false,
        evidence: "measured, the default of the Python SDK 1.30.0 and 2.3.0, 2026-11-17",
    },
];

/// The client that calls itself `name`. Names are compared without case, and a proxy may have added to them, as in
/// `claude-ai (via mcp-remote 0.1.37)`.
fn find(name: &str) -> Option<&'static Client> {
    let name = name.split(" (").next().unwrap_or_default().to_ascii_lowercase();
    CLIENTS.iter().find(|client| {
        let known = client.name;
        name == known || (known.ends_with('-') && name.starts_with(known))
    })
}

/// Whether the model of a client that calls itself `name` is known to read only the text of results.
pub(crate) fn reads_only_text(name: &str) -> bool {
    find(name).is_some_and(|client| client.only_text)
}

/// Whether a client that calls itself `name` and speaks `revision` is known to validate results.
pub(crate) fn validation(name: &str, revision: &Revision) -> Validation {
    match find(name) {
        Some(Client { only_modern: false, .. }) => Validation::Always,
        Some(_) if revision.is_natural() => Validation::OnlyModern { is_bridged: false },
        _ => Validation::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use toolbond_contract::Revision;

    use super::{CLIENTS, reads_only_text, validation};
    use crate::audience::Validation;

    #[test]
    fn clients_are_known_by_their_names() {
        let (legacy, modern) = (&Revision::V2025_11_25, &Revision::V2026_07_28);
        for client in &CLIENTS {
            let name = format!("{} (via mcp-remote 1)", client.name.to_uppercase());
            let [legacy, modern] = [legacy, modern].map(|revision| validation(&name, revision));
            let expected = if client.only_modern {
                [Validation::Unknown, Validation::OnlyModern { is_bridged: false }]
            } else {
                [Validation::Always; 2]
            };
            assert_eq!([legacy, modern], expected, "{name}");
            assert!(client.evidence.contains(", 2026-"), "{name}");
        }
        assert_eq!(validation("gemini-cli-mcp-client-files", legacy), Validation::Always);
        assert_eq!(validation("codex-mcp-client", modern), Validation::Unknown);
        assert!(reads_only_text("gemini-cli-mcp-client-files") && !reads_only_text("claude-code"));
    }
}
