//! Texts before and after.

use serde_json::json;
use toolbond_clients::{
    CLIENTS, Client, Document, EditError, Start, UnknownName, Via, Wrapper, can_unwrap, client,
    client_of_file, repoint, unwrap, wrap,
};

fn wrapped(text: &str, client: &'static Client) -> Result<String, EditError> {
    let document = Document::parse(text, client.syntax).unwrap();
    wrap(&document, &document.servers(client), &Wrapper::program("/bin/toolbond"))
}

fn unwrapped(text: &str, client: &'static Client) -> String {
    let document = Document::parse(text, client.syntax).unwrap();
    unwrap(&document, &document.servers(client), None).unwrap()
}

#[test]
fn what_is_added_looks_like_what_is_there() {
    let json = |servers: &str| format!("{{\"mcpServers\": {{{servers}}}}}");
    for (before, after) in [
        (
            "\"a\": { \"command\": \"npx\", \"args\": [ \"-y\", \"x\" ] } /* c */",
            "\"a\": { \"command\": \"/bin/toolbond\", \"args\": [ \"guard\", \"--\", \"npx\", \"-y\", \"x\" ] } /* c */",
        ),
        (
            "\"a\":{\"command\":\"x\",\"env\":{}}",
            "\"a\":{\"command\":\"/bin/toolbond\",\"args\":[\"guard\",\"--\",\"x\"],\"env\":{}}",
        ),
        (
            "\n\t\"a\": {\r\n\t\t// how\r\n\t\t\"args\": [\r\n\t\t\t\"-y\", // yes\r\n\t\t],\r\n\t\t\"command\": \"n\\u0070x\"\r\n\t}",
            "\n\t\"a\": {\r\n\t\t// how\r\n\t\t\"args\": [\r\n\t\t\t\"guard\",\r\n\t\t\t\"--\",\r\n\t\t\t\"n\\u0070x\",\r\n\t\t\t\"-y\", // yes\r\n\t\t],\r\n\t\t\"command\": \"/bin/toolbond\"\r\n\t}",
        ),
        (
            "\"a\": {\n  \"type\": \"http\",\n  \"url\": \"https://a.example/mcp\",\n  \"headers\": { \"X-Key\": \"secret\" }\n}",
            "\"a\": {\n  \"type\": \"stdio\",\n  \"command\": \"/bin/toolbond\",\n  \"args\": [\"guard\", \"--upstream\", \"https://a.example/mcp\", \"--header\", \"X-Key:$TOOLBOND_HEADER_X_KEY\"],\n  \"env\": { \"TOOLBOND_HEADER_X_KEY\": \"secret\" }\n}",
        ),
    ] {
        let (before, after) = (json(before), json(after));
        let cursor = client("cursor").unwrap();
        assert_eq!(wrapped(&before, cursor).unwrap(), after);
        let guarded = Document::parse(&after, cursor.syntax).unwrap();
        let known = Document::parse(&before, cursor.syntax).unwrap();
        let plain = unwrap(&guarded, &guarded.servers(cursor), Some(&known)).unwrap();
        assert_eq!(plain, before);
    }
}

#[test]
fn another_wrapper_is_a_command_like_others() {
    let vscode = client("vscode").unwrap();
    let before = "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"a\": { \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"mcp-remote\", \"https://a.example/mcp\"] },\n\t},\n}\n";
    let after = wrapped(before, vscode).unwrap();
    let words = "\"args\": [\"guard\", \"--\", \"npx\", \"mcp-remote\", \"https://a.example/mcp\"]";
    assert!(after.contains(words), "{after}");
    assert_eq!(unwrapped(&after, vscode), before);
}

#[test]
fn toml_keeps_its_forms() {
    for (before, after) in [
        (
            "# mine\n[mcp_servers.a]\ncommand = 'npx' # run\nargs = [\n  \"x\", # what\n]\n",
            "# mine\n[mcp_servers.a]\ncommand = \"/bin/toolbond\" # run\nargs = [\n  \"guard\",\n  \"--\",\n  'npx',\n  \"x\", # what\n]\n",
        ),
        (
            "mcp_servers.a = { command = \"npx\", args = [\"x\"] }\r\n",
            "mcp_servers.a = { command = \"/bin/toolbond\", args = [\"guard\", \"--\", \"npx\", \"x\"] }\r\n",
        ),
    ] {
        let codex = client("codex").unwrap();
        assert_eq!(wrapped(before, codex).unwrap(), after);
        assert_eq!(unwrapped(after, codex), before);
    }
    let before =
        "[mcp_servers.a]\r\n  command = \"npx\" # run\r\n\r\n[mcp_servers.a.env]\r\nA = \"b\"\r\n";
    let after = wrapped(before, client("codex").unwrap()).unwrap();
    assert_eq!(
        after,
        "[mcp_servers.a]\r\n  command = \"/bin/toolbond\" # run\r\n  args = [\"guard\", \"--\", \"npx\"]\r\n\r\n[mcp_servers.a.env]\r\nA = \"b\"\r\n"
    );
}

#[test]
fn a_guard_that_somebody_wrote_is_read_as_the_guard_reads_it() {
    let cursor = client("cursor").unwrap();
    let config = |program: &str, arguments: &str| {
        format!(r#"{{"mcpServers":{{"a":{{"command":"{program}","args":[{arguments}]}}}}}}"#)
    };
    for (guarded, program, arguments) in [
        (r#""guard","--results","enforce","--","x","y""#, "x", r#""y""#),
        (r#""guard","npm","run","mcp","--","--stdio""#, "npm", r#""run","mcp","--","--stdio""#),
        (
            r#""guard","node","proxy.js","--upstream","https://x""#,
            "node",
            r#""proxy.js","--upstream","https://x""#,
        ),
    ] {
        let text = config("toolbond", guarded);
        assert_eq!(wrapped(&text, cursor).unwrap(), text);
        assert_eq!(unwrapped(&text, cursor), config(program, arguments));
    }
}

#[test]
fn a_guard_with_options_before_a_url_goes_with_them() {
    let cursor = client("cursor").unwrap();
    let text = r#"{"mcpServers":{"a":{"command":"toolbond","args":["guard","--header","A:$V","--results","enforce","--upstream","u","-q"],"env":{"V":"1"}}}}"#;
    let plain = r#"{"mcpServers":{"a":{"url":"u","headers":{"A":"1"}}}}"#;
    assert_eq!(unwrapped(text, cursor), plain);
}

#[test]
fn a_guard_starts_with_another_program() {
    let cursor = client("cursor").unwrap();
    let config = |program: &str, arguments: &str| {
        format!(r#"{{"mcpServers":{{"a":{{"command":"{program}","args":[{arguments}]}}}}}}"#)
    };
    let path = Wrapper::program("/new/toolbond");
    let npx = Wrapper::package(Via::Npx, "npx", "0.1.0");
    let (one, other) = (r#""guard", "-q", "x""#, r#""-y", "toolbond@0.1.0", "guard", "-q", "x""#);
    for (program, arguments, wrapper, expected) in [
        ("/old/toolbond", one, &path, config("/new/toolbond", one)),
        ("/old/toolbond", one, &npx, config("npx", &other.replace(", ", ","))),
        ("/old/npx", other, &path, config("/new/toolbond", one)),
        ("/old/npx", other, &npx, config("npx", other)),
    ] {
        let text = config(program, arguments);
        let document = Document::parse(&text, cursor.syntax).unwrap();
        let after = repoint(&document, &document.servers(cursor), wrapper).unwrap();
        assert_eq!(after.replace("\", \"", "\",\""), expected.replace("\", \"", "\",\""));
    }
}

#[test]
fn a_guard_that_would_not_be_recognised_is_not_written() {
    let cursor = client("cursor").unwrap();
    let text = r#"{"mcpServers":{"a":{"command":"x"}}}"#;
    let document = Document::parse(text, cursor.syntax).unwrap();
    let wrapper = Wrapper::program("/bin/guardian");
    let error = wrap(&document, &document.servers(cursor), &wrapper).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/bin/guardian` would not be recognised as toolbond afterwards; name it `toolbond`, or use a package runner"
    );
}

#[test]
fn of_duplicate_keys_the_last_one_counts() {
    let cursor = client("cursor").unwrap();
    let text =
        r#"{"mcpServers":{"a":{"command":"x"}},"mcpServers":{"b":{"command":"w","command":"y"}}}"#;
    let after = r#"{"mcpServers":{"a":{"command":"x"}},"mcpServers":{"b":{"command":"w","command":"/bin/toolbond","args":["guard","--","y"]}}}"#;
    assert_eq!(wrapped(text, cursor).unwrap(), after);
}

#[test]
fn what_cannot_be_wrapped_says_why() {
    let cursor = client("cursor").unwrap();
    for (server, expected) in [
        ("{}", "it has neither a command nor a URL"),
        ("[]", "it has neither a command nor a URL"),
        (r#"{"command": ["x"]}"#, "its `command` is no string"),
        (r#"{"command": "x", "args": "y"}"#, "its `args` is no array of strings"),
        (r#"{"command": "x", "args": [1]}"#, "its `args` is no array of strings"),
        (r#"{"command": "x", "url": "y"}"#, "it has both a command and a URL"),
        (
            r#"{"url": "https://a.example/mcp?key=1"}"#,
            "its URL may hold a secret, which would stand in a command line",
        ),
        (
            r#"{"url": "https://a.example/mcp#key"}"#,
            "its URL may hold a secret, which would stand in a command line",
        ),
        (
            r#"{"url": "https://ada:key@a.example/mcp"}"#,
            "its URL may hold a secret, which would stand in a command line",
        ),
        (
            r#"{"url": "https://a.example/mcp", "auth": {}}"#,
            "the client signs in to it, which a guard cannot do",
        ),
        (
            r#"{"url": "https://a.example/mcp", "headers": {"A-B": "", "A_B": ""}}"#,
            "two headers have nearly the same name",
        ),
    ] {
        let text = format!("{{\"mcpServers\": {{\"a\": {server}}}}}");
        let error = wrapped(&text, cursor).unwrap_err();
        assert_eq!(error.to_string(), format!("`a`: {expected}"));
    }
}

#[test]
fn a_server_on_http_that_was_changed_since_is_not_taken_apart() {
    let cursor = client("cursor").unwrap();
    for (server, expected) in [
        (
            r#"{"command":"toolbond","args":["guard","--upstream","u","--header","A:$V"],"env":{"V":"","W":""}}"#,
            "its `env` has more than headers",
        ),
        (
            r#"{"command":"toolbond","args":["guard","--upstream","u","--header","A:x"]}"#,
            "a header of its guard is not the value of a variable alone",
        ),
        (
            r#"{"command":"toolbond","args":["guard","--header","A:$V","--upstream","u"]}"#,
            "a header of its guard is a variable that its `env` does not set",
        ),
        (
            r#"{"command":"toolbond","args":["guard","--upstream","u","--header","A:$V"],"env":{}}"#,
            "a header of its guard is a variable that its `env` does not set",
        ),
        (
            r#"{"command":"toolbond","args":["guard","--new","u"]}"#,
            "its guard has an option that is not known",
        ),
        (
            r#"{"args":["guard","--upstream","u"],"command":"toolbond"}"#,
            "its `args` do not follow its `command`",
        ),
    ] {
        let text = format!("{{\"mcpServers\": {{\"a\": {server}}}}}");
        let document = Document::parse(&text, cursor.syntax).unwrap();
        let error = unwrap(&document, &document.servers(cursor), None).unwrap_err();
        assert_eq!(error.to_string(), format!("`a`: {expected}"));
    }
}

#[test]
fn a_text_that_cannot_be_parsed_says_where() {
    for (name, text, expected) in [
        ("cursor", "{\n  \"a\": 1 2\n}", "2:9: invalid JSON: expected comma"),
        ("cursor", "\u{feff}{ 'a': 1 }", "1:3: invalid JSON: "),
        ("cursor", "{} {}", "1:4: invalid JSON: "),
        ("codex", "a = 1\nb = \n", "2:5: invalid TOML: "),
    ] {
        let client = client(name).unwrap();
        let error = Document::parse(text, client.syntax).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let deep = "[".repeat(100_000);
    for name in ["cursor", "codex"] {
        let text = if name == "codex" { format!("a = {deep}") } else { deep.clone() };
        assert!(Document::parse(&text, client(name).unwrap().syntax).is_err());
    }
    let empty = Document::parse("", client("cursor").unwrap().syntax).unwrap();
    assert!(empty.servers(client("cursor").unwrap()).is_empty());
}

#[test]
fn names_are_suggested() {
    let error = |found: &str| client(found).unwrap_err().to_string();
    assert_eq!(
        error("claude_desktop"),
        "no client `claude_desktop`; did you mean `claude-desktop`?"
    );
    assert_eq!(error("claude"), "no client `claude`; did you mean `claude-desktop`?");
    assert_eq!(
        error("emacs"),
        "no client `emacs`; expected `claude-desktop`, `claude-code`, `cursor`, `vscode`, `codex`, `gemini-cli`"
    );
    let error = UnknownName::new("server", "a", []);
    assert_eq!(error.to_string(), "no server `a`; there are no servers");
}

/// Time grows with the number of servers: with its cube, this would take an hour.
#[test]
fn many_servers_are_wrapped_and_unwrapped() {
    let of_project = json!({ "mcpServers": { "a": { "command": "x" }, "b": { "command": "y" } } });
    let projects = (0..1000).map(|index| (format!("/p/{index}"), of_project.clone()));
    let projects: serde_json::Map<_, _> = projects.collect();
    let text = json!({ "projects": projects }).to_string();
    let client = client("claude-code").unwrap();
    let after = wrapped(&text, client).unwrap();
    let document = Document::parse(&after, client.syntax).unwrap();
    let known = Document::parse(&text, client.syntax).unwrap();
    let servers = document.servers(client);
    assert_eq!(servers.len(), 2000);
    for server in &servers {
        can_unwrap(&document, server, Some(&known)).unwrap();
    }
    assert_eq!(unwrap(&document, &servers, Some(&known)).unwrap(), text);
}

#[test]
fn a_server_with_two_urls_says_so() {
    let gemini = client("gemini-cli").unwrap();
    let text = r#"{"mcpServers": {"a": {"url": "u", "httpUrl": "v"}}}"#;
    assert_eq!(wrapped(text, gemini).unwrap_err().to_string(), "`a`: it has two URLs");
}

#[test]
fn a_file_belongs_to_the_client_that_calls_it_so() {
    for (path, expected) in [
        ("/x/claude_desktop_config.json", "other"),
        ("/x/Claude/claude_desktop_config.json", "claude-desktop"),
        ("/x/.claude.json", "claude-code"),
        ("/x/.mcp.json", "claude-code"),
        ("/x/.cursor/mcp.json", "cursor"),
        ("/x/Code/User/mcp.json", "vscode"),
        ("/x/.vscode/mcp.json", "vscode"),
        ("/x/settings.toml", "codex"),
        ("/x/.gemini/settings.json", "gemini-cli"),
        ("/x/mcp.json", "other"),
    ] {
        assert_eq!(client_of_file(path.as_ref()).name, expected, "{path}");
    }
    // What an unknown client may call servers.
    let other = client_of_file("mcp.json".as_ref());
    let text = r#"{"servers":{"a":{"command":"x"}},"mcpServers":{"b":{"url":"u"}}}"#;
    let document = Document::parse(text, other.syntax).unwrap();
    assert_eq!(document.servers(other).len(), 2);
    assert!(CLIENTS.iter().all(|client| !client.servers.is_empty()));
    assert!(matches!(document.servers(other)[0].start, Start::Remote { .. }));
}
