//! What a server is called in a results file.

use hmac_sha256::Hash;

use crate::back::child::Launch;
use crate::url::without_query;

/// The SHA-256 digest of how a server is started or reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerDigest(pub(super) [u8; 32]);

impl ServerDigest {
    /// The server that a command starts: the program and its arguments.
    #[must_use]
    pub fn of_command(launch: &Launch) -> Self {
        let arguments = launch.arguments.iter().map(|it| it.as_encoded_bytes());
        let program = launch.program.as_encoded_bytes();
        Self::of([&b"command"[..], program].into_iter().chain(arguments))
    }

    /// The server at a URL, without what may be secret in it: user, password, query and fragment.
    #[must_use]
    pub fn of_url(url: &str) -> Self {
        let url = without_query(url);
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        Self::of(["url", scheme, host, path].map(str::as_bytes))
    }

    fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Hash::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::ServerDigest;
    use crate::back::child::Launch;

    fn command(program: &str, arguments: &[&str]) -> ServerDigest {
        let arguments = arguments.iter().map(Into::into).collect();
        ServerDigest::of_command(&Launch {
            program: program.into(),
            arguments,
            ..Launch::default()
        })
    }

    #[test]
    fn a_server_is_its_command_or_its_url_without_secrets() {
        let url = ServerDigest::of_url;
        assert_eq!(url("https://a.example/mcp?key=1#x"), url("https://u:p@a.example/mcp?key=2"));
        assert_ne!(url("https://a.example/mcp"), url("https://b.example/mcp"));
        assert_ne!(url("https://a.example/mcp"), url("https://a.example/other"));
        assert_eq!(command("node", &["a.js"]), command("node", &["a.js"]));
        assert_ne!(command("node", &["a", "b"]), command("node", &["ab"]));
        assert_ne!(command("node", &["a"]), command("npx", &["a"]));
    }
}
