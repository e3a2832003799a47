//! What a server is called that a command starts.

use std::ffi::OsString;

/// Programs that run others.
const RUNNERS: [&str; 16] = [
    "npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "npm", "pnpm", "yarn", "uv", "python",
    "python3", "env", "sh", "bash",
];

/// What a server that `command` starts is called in logs: the package or script rather than the program
/// that runs it.
pub(crate) fn server_name(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let file = |word: &str| {
        let parts: Vec<&str> = word.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        // An entry point says less than the folder that it stands in.
        let generic = |part: &&str| {
            let stem = part.split('.').next().unwrap_or_default();
            matches!(stem, "index" | "main" | "__main__" | "cli" | "dist" | "build" | "src" | "bin")
        };
        parts
            .iter()
            .rev()
            .find(|part| !generic(part))
            .or(parts.last())
            .map_or(word, |part| part)
            .to_owned()
    };
    let Some((program, rest)) = words.split_first() else { return String::new() };
    let program = file(program);
    if !RUNNERS.contains(&program.as_str()) {
        return program;
    }
    let is_name = |word: &&str| {
        let is_verb = matches!(*word, "run" | "exec" | "dlx" | "x" | "tool" | "create");
        !word.starts_with('-') && !word.contains('=') && !is_verb
    };
    let name = rest.iter().map(AsRef::as_ref).find(is_name);
    name.map_or(program, |name| {
        // The scope of a package is a part of its name.
        if name.starts_with('@') && !name.contains("node_modules") {
            let version = name.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
            return name[..version.unwrap_or(name.len())].to_owned();
        }
        file(name)
    })
}

#[cfg(test)]
mod tests {
    use super::server_name;

    #[test]
    fn a_server_is_called_what_it_is() {
        for (command, expected) in [
            (
                "npx -y @modelcontextprotocol/server-everything@2026.1.1 stdio",
                "@modelcontextprotocol/server-everything",
            ),
            ("node /opt/weather-server/dist/index.js", "weather-server"),
            ("python3 my_server.py", "my_server.py"),
            ("python -m mcp_server_git --repository .", "mcp_server_git"),
            ("uvx mcp-server-fetch", "mcp-server-fetch"),
            ("uv run server.py", "server.py"),
            ("/usr/local/bin/github-mcp-server stdio", "github-mcp-server"),
            ("node", "node"),
        ] {
            let words: Vec<_> = command.split(' ').map(Into::into).collect();
            assert_eq!(server_name(&words), expected, "{command}");
        }
    }
}
