//! Keeping secrets out of what is printed.

mod words;

use std::collections::{BTreeMap, HashMap};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use toolbond_clients::{Document, NamedText, Server, Start};

use self::words::{is_border, is_harmless, is_setting, is_word, names_secret, shell_words};

/// The fewest bytes of a secret: shorter values are everywhere.
const SHORTEST: usize = 4;

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// From how many bytes on a secret is also hidden within a word.
const LONG: usize = 8;

/// How deep lines for shells are taken apart.
const MAX_NESTED: usize = 4;

/// What `encodeURIComponent` leaves, and what others do.
const COMPONENT: AsciiSet =
    STRICT.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const STRICT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Values that are not to be printed, by their first bytes.
#[derive(Debug, Default)]
pub(crate) struct Secrets(HashMap<Vec<u8>, Vec<String>>);

impl Secrets {
    /// Those in the servers of a configuration, and in what else has a name such as `apiKey` there.
    pub(crate) fn of_document(document: &Document<'_>, servers: &[Server]) -> Self {
        let mut secrets = Self::default();
        let texts = document.named_texts(servers);
        for text in &texts {
            secrets.add_text(text);
        }
        for server in servers {
            secrets.add_server(document, server);
        }
        // As the file writes them: `\/` and `\u0026` are other characters there.
        for NamedText { text, raw, .. } in &texts {
            let raw = raw.trim_matches(['"', '\'']);
            if raw != *text && raw != in_json(text) && secrets.hide(text) != **text {
                raw.lines().for_each(|line| secrets.add_form(line.trim().to_owned()));
            }
        }
        secrets
    }

    /// Adds what a configuration says of `server`, as it stands there.
    pub(crate) fn add_server(&mut self, document: &Document<'_>, server: &Server) {
        let texts = document.texts_of(server);
        for text in &texts {
            self.add_text(text);
        }
        self.add_variables(&server.env(document));
        match &server.start {
            Start::Command { program, arguments, .. } => self.add_command(program, arguments),
            Start::Remote { url, headers } => {
                self.add_url(url);
                self.add_headers(headers);
            }
            Start::Unknown(_) => {
                for NamedText { names, text, .. } in &texts {
                    let is_set = |name: &&str| name.contains("env") || name.contains("header");
                    if names.iter().any(is_set) {
                        self.add_unusual(text);
                    }
                }
                let words: Vec<_> = texts.iter().map(|it| it.text.to_owned()).collect();
                self.add_command("", &words);
            }
        }
    }

    /// Adds a text of a configuration that is a secret if a member that it is in says so.
    fn add_text(&mut self, NamedText { names, text, .. }: &NamedText<'_>) {
        // The names of some tables are paths.
        let is_secret = names.iter().any(|name| names_secret(name) && !name.contains(['/', '\\']));
        self.add_value(is_secret, names.last().unwrap_or(&""), text);
    }

    /// Adds the values of headers.
    pub(crate) fn add_headers(&mut self, headers: &BTreeMap<String, String>) {
        for value in headers.values() {
            self.add(value);
        }
    }

    /// Adds the values of variables, but for words that may stand anywhere.
    pub(crate) fn add_variables(&mut self, variables: &BTreeMap<String, String>) {
        for (name, value) in variables {
            self.add_named(name, value);
            if !is_setting(name, value) {
                self.add_unusual(value);
            }
        }
    }

    /// Adds the variables of this process that a server inherits.
    pub(crate) fn add_inherited(&mut self) {
        for (name, value) in std::env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
                && !matches!(name, "PWD" | "OLDPWD")
            {
                self.add_named(name, value);
            }
        }
    }

    /// Adds what follows options such as `--api-key` or `--header`, and what is secret in URLs. Words may be whole lines.
    pub(crate) fn add_command(&mut self, program: &str, arguments: &[String]) {
        let words = [program].into_iter().chain(arguments.iter().map(String::as_str));
        let words: Vec<_> = words.collect();
        self.add_words(&words);
        for line in words {
            self.add_line(line, MAX_NESTED);
        }
    }

    /// Adds what is secret in a line, which a shell may split or not, and in lines that are words of it.
    fn add_line(&mut self, line: &str, depth: usize) {
        let plain: Vec<_> =
            line.split_whitespace().map(|it| it.trim_matches(['"', '\''])).collect();
        if plain.len() > 1 {
            self.add_words(&plain);
        }
        let words = shell_words(line);
        if words.len() > 1 && depth > 0 {
            self.add_words(&words.iter().map(String::as_str).collect::<Vec<_>>());
            for word in &words {
                self.add_line(word, depth - 1);
            }
        }
    }

    fn add_words(&mut self, words: &[&str]) {
        for (index, word) in words.iter().enumerate() {
            self.add_url(word);
            let (name, value) = match word.split_once('=') {
                _ if word.starts_with(['{', '[']) => ("", Some(*word)),
                Some((name, value)) => (name, Some(value)),
                None if word.starts_with('-') => {
                    (*word, words.get(index + 1).copied().filter(|it| !it.starts_with("--")))
                }
                None => ("", Some(*word)),
            };
            let Some(value) = value else { continue };
            match name {
                "--header" | "-H" => self.add(value.split_once(':').map_or(value, |it| it.1)),
                "-p" => self.add_unusual(value),
                _ => self.add_named(name, value),
            }
        }
    }

    /// Adds the user and the values in the query of each URL in `text`.
    pub(crate) fn add_url(&mut self, text: &str) {
        for (at, _) in text.match_indices("://") {
            let rest = text[at + 3..].split(|c: char| c.is_whitespace() || c == '"').next();
            let rest = rest.unwrap_or_default();
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if let Some((user, _)) = authority.rsplit_once('@') {
                match user.split_once(':').filter(|(_, password)| !password.is_empty()) {
                    Some((user, password)) => {
                        self.add_unusual(user);
                        self.add_encoded(password);
                    }
                    // A key may stand in the place of the user.
                    None => self.add_encoded(user.trim_end_matches(':')),
                }
            }
            for pair in rest.split(['?', '&', '#']).skip(1) {
                match pair.split_once('=') {
                    Some((name, value)) if names_secret(name) => self.add_encoded(value),
                    Some((_, value)) => self.add_unusual(value),
                    None => self.add_unusual(pair),
                }
            }
        }
    }

    fn add_encoded(&mut self, value: &str) {
        self.add(value);
        self.add(&percent_decode_str(value).decode_utf8_lossy());
    }

    /// Adds a value that is a secret if its name says so.
    fn add_named(&mut self, name: &str, value: &str) {
        self.add_value(names_secret(name), name, value);
    }

    /// Adds a value, if it `is_secret`, and what in it is one: of a URL, of JSON, of `Server=a;Password=b`.
    fn add_value(&mut self, is_secret: bool, name: &str, value: &str) {
        if is_secret && !is_setting(name, value) {
            self.add(value);
            // In a line for a shell, the command ends there.
            value.split(';').take(1).for_each(|start| self.add(start));
        }
        self.add_url(value);
        if value.contains(';') {
            for (name, value) in value.split(';').filter_map(|it| it.split_once('=')) {
                if names_secret(name) && !is_setting(name, value) {
                    self.add(value);
                }
            }
        }
        if value.trim_start().starts_with(['{', '['])
            && let Ok(json) = serde_json::from_str(value)
        {
            self.add_json(is_secret, name, &json);
        }
    }

    fn add_json(&mut self, is_secret: bool, name: &str, json: &Value) {
        match json {
            Value::String(text) => self.add_value(is_secret, name, text),
            Value::Number(number) => self.add_value(is_secret, name, &number.to_string()),
            Value::Array(items) => items.iter().for_each(|it| self.add_json(is_secret, name, it)),
            Value::Object(members) => {
                for (name, value) in members {
                    self.add_json(is_secret || names_secret(name), name, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Adds a value, unless it is short or an ordinary word.
    fn add_unusual(&mut self, value: &str) {
        if value.len() >= 6 && !is_word(value) {
            self.add(value);
        }
    }

    /// Adds a value that is a secret as a whole, and what it may look like elsewhere.
    pub(crate) fn add(&mut self, value: &str) {
        let value = value.trim();
        if is_harmless(value) {
            return;
        }
        // `Bearer TOKEN` is printed as `TOKEN` by some, and a key of several lines line by line.
        let lines = value.lines().filter(|_| value.contains('\n')).map(str::trim);
        for part in [value].into_iter().chain(value.split_whitespace().last()).chain(lines) {
            if !is_harmless(part) {
                self.add_form(part.to_owned());
                self.add_form(in_json(part));
                self.add_form(utf8_percent_encode(part, &STRICT).to_string());
                self.add_form(utf8_percent_encode(part, &COMPONENT).to_string());
            }
        }
    }

    fn add_form(&mut self, form: String) {
        let Some(start) = form.as_bytes().get(..SHORTEST) else { return };
        let known = self.0.entry(start.to_vec()).or_default();
        if !known.contains(&form) {
            known.push(form);
        }
    }

    /// `text` without them.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.hide_in(text, false)
    }

    /// `text` without them, and without the start of one at its end: it may have been cut there.
    pub(crate) fn hide_cut(&self, text: &str) -> String {
        self.hide_in(text, true)
    }

    fn hide_in(&self, text: &str, is_cut: bool) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let (before, rest) = text.split_at(at);
            let is_here = |form: &&String| {
                // Short ones are part of many words.
                let ends = |end: usize| {
                    form.len() >= LONG
                        || (is_border(before, rest) && is_border(&rest[..end], &rest[end..]))
                };
                (rest.starts_with(form.as_str()) && ends(form.len()))
                    || (is_cut && form.starts_with(rest) && ends(rest.len()))
            };
            let known = rest.as_bytes().get(..SHORTEST).and_then(|start| self.0.get(start));
            let longest = known.into_iter().flatten().filter(is_here).map(String::len).max();
            let length = longest.map_or(next.len_utf8(), |length| length.min(rest.len()));
            shown.push_str(if longest.is_some() { HIDDEN } else { &rest[..length] });
            at += length;
        }
        shown
    }
}

/// `text` as JSON writes it, without quotes.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolbond_clients::Document;

    use super::Secrets;

    fn command(words: &str) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add_command("x", &words.split('|').map(str::to_owned).collect::<Vec<_>>());
        secrets
    }

    #[test]
    fn secrets_of_commands_are_hidden() {
        for (words, text, expected) in [
            (
                "--api-key|k-777|--token=t-888|--port|8080",
                "k-777 t-888 8080",
                "[secret] [secret] 8080",
            ),
            ("--header|Authorization: Bearer X-1", "X-1, Bearer X-1.", "X-1, [secret]."),
            ("--header|Authorization: Bearer sk-12345", "sk-12345", "[secret]"),
            ("--header=X-Key: hunter", "hunter", "[secret]"),
            ("-H|X-Key:hunter", "hunter", "[secret]"),
            ("postgresql://u:hunter@h/db", "user u, hunter at h", "user u, [secret] at h"),
            ("postgresql://u:p%40ss@h/db", "p@ss p%40ss", "[secret] [secret]"),
            ("--url|https://h/?a=1&token=hunter#x", "a=1 hunter x", "a=1 [secret] x"),
            ("https://h/?a=1&token=hunter", "token=hunter", "token=[secret]"),
            ("https://ghp-12@h/", "ghp-12", "[secret]"),
            (
                "-p|hunter22|--pat|abcd|--pass|efgh|--pwd|ijkl",
                "hunter22 abcd efgh ijkl",
                "[secret] [secret] [secret] [secret]",
            ),
            ("-c|exec y --api-key 'k-777'", "k-777", "[secret]"),
            (
                r#"--config|{"exaApiKey":"q7-Zx","a":[{"auth":{"n":12345678}}]}"#,
                "q7-Zx 12345678",
                "[secret] [secret]",
            ),
            (r#"--headers|{"Authorization":"Bearer q7Zx"}"#, "q7Zx", "[secret]"),
            ("Server=h;User=sa;Password=Hunter22;", "Hunter22", "[secret]"),
            ("-c|AccountName=x;AccountKey=aGVsbG8=;", "aGVsbG8= x", "[secret] x"),
            ("https://ghp_Ab1:x-oauth-basic@h/", "ghp_Ab1", "[secret]"),
            ("https://sk_live:@h/", "sk_live", "[secret]"),
            ("postgres://postgres:pw12@h/", "postgres pw12", "postgres [secret]"),
            (
                "-c|y --header 'Authorization: Bearer q7Zx' -H \"X-Key: q8Zx\"",
                "q7Zx q8Zx",
                "[secret] [secret]",
            ),
            ("-c|sh -c 'y \"--api-key=q7 Zx\"'", "q7 Zx", "[secret]"),
            ("-c|export KEY=q7Zx&&y; TOKEN=q8Zx; z", "q7Zx q8Zx", "[secret] [secret]"),
            ("-eTOKEN=q7Zx", "q7Zx", "[secret]"),
            ("--max-tokens|1000|--use-auth|--port|8080", "1000 --port 8080", "1000 --port 8080"),
            ("--token|/home/ada/token", "/home/ada/token", "/home/ada/token"),
            // Within a word, and within a name.
            (
                "--key|rate",
                "generated rate; rate_1 \\nrate",
                "generated [secret]; [secret]_1 \\n[secret]",
            ),
            ("--key|add_note,x", "add_note", "add_note"),
            ("--use-auth|true|-p|toolbond|--key|abc", "true toolbond abc", "true toolbond abc"),
        ] {
            assert_eq!(command(words).hide(text), expected, "{words}");
        }
        let mut secrets = Secrets::default();
        secrets.add_command("python3 /x --api-key k-777", &[]);
        assert_eq!(secrets.hide("python3 /x --api-key k-777"), "python3 /x --api-key [secret]");
    }

    #[test]
    fn values_of_variables_are_hidden_in_every_form() {
        let variables = [
            ("A", "sk\"12/345"),
            ("PEM", "-----BEGIN-----\nMIIabc\n-----END-----"),
            ("DATABASE_URL", "mysql://u:hunter@h"),
            ("PGPASS", "swordfish"),
            ("MODE", "server"),
            ("LEVEL", "before"),
            ("NAME", "ada"),
            ("FROM_HERE_KEY", "${HERE}"),
            ("DOLLAR_KEY", "$w0rd"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut secrets = Secrets::default();
        secrets.add_variables(&BTreeMap::from(variables));
        for (text, expected) in [
            (r#"sk"12/345, sk\"12/345, sk%2212%2F345"#, "[secret], [secret], [secret]"),
            ("MIIabc", "[secret]"),
            ("hunter, swordfish, $w0rd", "[secret], [secret], [secret]"),
            ("the server said before that ada ${HERE}", "the server said before that ada ${HERE}"),
            ("the key is sk\"12", "the key is sk\"12"),
            ("secret [secret]", "secret [secret]"),
        ] {
            assert_eq!(secrets.hide(text), expected);
        }
        assert_eq!(secrets.hide_cut("the key is sk\"12"), "the key is [secret]");
    }

    #[test]
    fn secrets_of_files_are_hidden() {
        let json = toolbond_clients::client("cursor").unwrap();
        let toml = toolbond_clients::client("codex").unwrap();
        for (client, text, expected) in [
            (
                json,
                r#"{"mcpServers":{"key":{"command":"serve","env":{"A_KEY":"aGVs\/bG8=","B":"ab\u0026s9x"}}}}"#,
                r#"{"mcpServers":{"key":{"command":"serve","env":{"A_KEY":"[secret]","B":"[secret]"}}}}"#,
            ),
            (
                json,
                r#"{"mcpServers":{"b":{"cmd":"serve","environment":{"PIN":"Yy8x8x"},"args":["--token","Zz8x"]}}}"#,
                r#"{"mcpServers":{"b":{"cmd":"serve","environment":{"PIN":"[secret]"},"args":["--token","[secret]"]}}}"#,
            ),
            (
                json,
                r#"{"apiKey":{"value":"Zz8x","n":[12345678]},"/home/keys":{"a":"word"},"tokens":12345,"cookies":"Yy8x"}"#,
                r#"{"apiKey":{"value":"[secret]","n":[[secret]]},"/home/keys":{"a":"word"},"tokens":12345,"cookies":"[secret]"}"#,
            ),
            (
                toml,
                "[mcp_servers.b]\nurl = 'https://h'\nbearer_token = 'zz9x'\n[mcp_servers.b.auth]\nid = \"a\\u0026bc\"\n",
                "[mcp_servers.b]\nurl = 'https://h'\nbearer_token = '[secret]'\n[mcp_servers.b.auth]\nid = \"[secret]\"\n",
            ),
        ] {
            let document = Document::parse(text, client.syntax).unwrap();
            let secrets = Secrets::of_document(&document, &document.servers(client));
            assert_eq!(secrets.hide(text), expected);
        }
    }
}
