//! Keeping secrets out of what is printed.

use std::collections::{BTreeMap, HashMap};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use toolbond_clients::{Document, Server, Start};

/// The fewest bytes of a secret: shorter values are everywhere.
const SHORTEST: usize = 4;

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// Values that are no secrets, whatever is called so.
const USUAL: [&str; 26] = [
    "true",
    "false",
    "none",
    "null",
    "auto",
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "trace",
    "local",
    "localhost",
    "server",
    "client",
    "production",
    "development",
    "staging",
    "test",
    "default",
    "stdio",
    "http",
    "https",
    "utf-8",
    "basic",
    "bearer",
];

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
        for (name, text) in document.named_texts() {
            secrets.add_named(name, text);
        }
        for server in servers {
            secrets.add_server(document, server);
        }
        secrets
    }

    /// Adds what a configuration says of `server`, as it stands there.
    pub(crate) fn add_server(&mut self, document: &Document<'_>, server: &Server) {
        self.add_variables(&server.env(document));
        match &server.start {
            Start::Command { program, arguments, .. } => self.add_command(program, arguments),
            Start::Remote { url, headers } => {
                self.add_url(url);
                self.add_headers(headers);
            }
            Start::Unknown(_) => {}
        }
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
            self.add_unusual(value);
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
            let words: Vec<_> =
                line.split_whitespace().map(|it| it.trim_matches(['"', '\''])).collect();
            if words.len() > 1 {
                self.add_words(&words);
            }
        }
    }

    fn add_words(&mut self, words: &[&str]) {
        for (index, word) in words.iter().enumerate() {
            self.add_url(word);
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None if word.starts_with('-') => (*word, words.get(index + 1).copied()),
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
            let rest = &text[at + 3..];
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if let Some((user, _)) = authority.rsplit_once('@') {
                self.add_encoded(user.split_once(':').map_or(user, |(_, password)| password));
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
        if names_secret(name) {
            self.add(value);
        }
        self.add_url(value);
    }

    /// Adds a value, unless it is short or an ordinary word.
    fn add_unusual(&mut self, value: &str) {
        let is_word = value.len() < 12
            && value.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'));
        if value.len() >= 6 && !is_word {
            self.add(value);
        }
    }

    /// Adds a value that is a secret as a whole, and what it may look like elsewhere.
    pub(crate) fn add(&mut self, value: &str) {
        let value = value.trim();
        if is_variable(value) {
            return;
        }
        // `Bearer TOKEN` is printed as `TOKEN` by some, and a key of several lines line by line.
        let lines = value.lines().filter(|_| value.contains('\n')).map(str::trim);
        for part in [value].into_iter().chain(value.split_whitespace().last()).chain(lines) {
            if USUAL.contains(&part.to_ascii_lowercase().as_str()) {
                continue;
            }
            let in_json = serde_json::Value::from(part).to_string();
            let forms = [
                part.to_owned(),
                in_json.trim_matches('"').to_owned(),
                utf8_percent_encode(part, &STRICT).to_string(),
                utf8_percent_encode(part, &COMPONENT).to_string(),
            ];
            for form in forms {
                let Some(start) = form.as_bytes().get(..SHORTEST) else { continue };
                let known = self.0.entry(start.to_vec()).or_default();
                if !known.contains(&form) {
                    known.push(form);
                }
            }
        }
    }

    /// `text` without them, and without the start of one at its end: it may have been cut there.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let known = rest.as_bytes().get(..SHORTEST).and_then(|start| self.0.get(start));
            let is_here = |it: &&String| rest.starts_with(it.as_str()) || it.starts_with(rest);
            let longest = known.into_iter().flatten().filter(is_here).map(String::len).max();
            let length = longest.map_or(next.len_utf8(), |length| length.min(rest.len()));
            shown.push_str(if longest.is_some() { HIDDEN } else { &rest[..length] });
            rest = &rest[length..];
        }
        shown
    }
}

/// Whether `value` only names a variable.
fn is_variable(value: &str) -> bool {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    match value.strip_prefix('$') {
        Some(braced) if braced.starts_with('{') => braced.ends_with('}'),
        Some(name) => name.chars().all(is_name),
        None => false,
    }
}

/// Whether `name` is that of a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_short_name = |part: &str| matches!(part, "pat" | "pw") || part.ends_with("pass");
    ["key", "token", "secret", "password", "passwd", "passphrase", "pwd", "auth", "credential"]
        .iter()
        .any(|word| name.contains(word) && !name.contains("author"))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(is_short_name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
            // Cut.
            ("the key is sk\"12", "the key is [secret]"),
            ("secret [secret]", "secret [secret]"),
        ] {
            assert_eq!(secrets.hide(text), expected);
        }
    }
}
