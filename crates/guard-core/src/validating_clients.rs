//! Clients that are known to validate results against the output schema that they were given.

use toolbond_contract::Revision;

/// A client that validates results.
struct Client {
    /// What it calls itself in `clientInfo`. What ends with `-` is the start of a name.
    name: &'static str,
    /// Whether it validates results only where it speaks 2026-07-28 or a later revision.
    only_modern: bool,
    /// How that is known, and since when.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers; tests look at it"))]
    evidence: &'static str,
}

const CLIENTS: [Client; 5] = [
    Client {
        name: "claude-ai",
        only_modern: false,
        evidence: "reported for Claude Desktop, github.com: meho#2774, 2026-11-16",
    },
    Client {
        name: "claude-code",
        only_modern: true,
        evidence: "measured, @anthropic-ai/claude-code 2.1.327, 2026-11-17",
    },
    Client {
        name: "gemini-cli-mcp-client",
        only_modern: false,
        evidence: "measured, @google/gemini-cli 0.61.0, 2026-11-17",
    },
    // Some versions add the name that they have for the server.
    Client {
        name: "gemini-cli-mcp-client-",
        only_modern: false,
        evidence: "measured, @google/gemini-cli 0.61.0, 2026-11-17",
    },
    Client {
        name: "mcp",
        only_modern: false,
        evidence: "measured, the default of the Python SDK 1.30.0 and 2.3.0, 2026-11-17",
    },
];

/// Whether a client that calls itself `name` and speaks `revision` is known to validate results. Names are compared without
/// case, and a proxy may have added to them, as in `claude-ai (via mcp-remote 0.1.37)`.
pub(crate) fn validates(name: &str, revision: &Revision) -> bool {
    let name = name.split(" (").next().unwrap_or_default().to_ascii_lowercase();
    CLIENTS.iter().any(|client| {
        let known = client.name;
        (name == known || (known.ends_with('-') && name.starts_with(known)))
            && (!client.only_modern || revision.is_natural())
    })
}

#[cfg(test)]
mod tests {
    use toolbond_contract::Revision;

    use super::{CLIENTS, validates};

    #[test]
    fn clients_are_known_by_their_names() {
        let (legacy, modern) = (&Revision::V2025_11_25, &Revision::V2026_07_28);
        for client in &CLIENTS {
            let name = format!("{} (via mcp-remote 1)", client.name.to_uppercase());
            assert!(validates(&name, modern), "{name}");
            assert_eq!(validates(&name, legacy), !client.only_modern, "{name}");
            assert!(client.evidence.contains(", 2026-"), "{name}");
        }
        assert!(validates("gemini-cli-mcp-client-files", legacy));
        assert!(!validates("codex-mcp-client", modern));
        assert!(!validates("claude-code", legacy));
    }
}
