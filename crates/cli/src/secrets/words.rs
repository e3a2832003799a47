//! What names and values look like, and the words of a line.

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

/// Ends of names whose values are a choice or an amount, as in `AUTH_TYPE`.
const SETTINGS: [&str; 11] = [
    "type", "method", "mode", "provider", "scheme", "enabled", "required", "limit", "count", "ttl",
    "timeout",
];

/// Whether `value` is no secret, whatever is called so: an ordinary word, the name of a variable, a path.
pub(super) fn is_harmless(value: &str) -> bool {
    USUAL.contains(&value.to_ascii_lowercase().as_str()) || is_variable(value) || is_path(value)
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

/// Whether `value` is an absolute path. Keys in Base64 may start with `/`, too, but rarely with the name of a folder.
fn is_path(value: &str) -> bool {
    let is_first = |name: &str| {
        matches!(name, "Users" | "Library" | "Volumes" | "Applications" | "~")
            || (name.len() > 1 && name.chars().all(|c| c.is_ascii_lowercase()))
    };
    let drive = value.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && value.get(1..3).is_some_and(|it| matches!(it, ":\\" | ":/"));
    let folder = value.strip_prefix('/').or_else(|| value.starts_with("~/").then_some(value));
    let first = folder.and_then(|rest| rest.split_once('/'));
    !value.contains("://") && (drive || first.is_some_and(|(first, _)| is_first(first)))
}

/// Whether `value` is a lower-case word that may stand anywhere.
pub(super) fn is_word(value: &str) -> bool {
    value.len() < 12 && value.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'))
}

/// Whether `value` of `name` is a choice or an amount.
pub(super) fn is_setting(name: &str, value: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let is_number = value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_choice = SETTINGS.iter().any(|end| name.ends_with(end));
    (is_choice && (is_number || is_word(value))) || (is_number && name.ends_with("tokens"))
}

/// Whether `name` is that of a secret.
pub(super) fn names_secret(name: &str) -> bool {
    let mut name = name.to_ascii_lowercase().replace("authorization", "auth");
    for other in ["author", "tokenizer", "keyboard", "keybinding", "keyword", "monkey"] {
        name = name.replace(other, "");
    }
    let is_short_name = |part: &str| matches!(part, "pat" | "pw") || part.ends_with("pass");
    let words = ["key", "token", "secret", "passwd", "passphrase", "pwd", "auth", "credential"];
    words.iter().chain(&["password", "cookie"]).any(|word| name.contains(word))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(is_short_name)
}

/// The words of `line` as a shell splits them: quotes and backslashes go, and what separates commands does too.
pub(super) fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match quote {
            Some(end) if c == end => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() || ";&|()".contains(c) => {
                words.push(std::mem::take(&mut word));
            }
            None | Some('"') if c == '\\' => word.extend(rest.next()),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a word ends with `before`, or another one starts with `after`.
pub(super) fn is_border(before: &str, after: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_escape = || {
        let percent = before.as_bytes().iter().rev().nth(2) == Some(&b'%');
        percent || ["\\n", "\\r", "\\t"].iter().any(|escape| before.ends_with(escape))
    };
    !is_part(before.chars().next_back()) || !is_part(after.chars().next()) || is_escape()
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, is_setting, names_secret, shell_words};

    #[test]
    fn names_and_values_are_told_apart() {
        for (name, value, expected) in [
            ("API_KEY", "abcdef", true),
            ("Authorization", "abcdef", true),
            ("session-cookie", "abcdef", true),
            ("AUTHOR", "abcdef", false),
            ("AUTH_TYPE", "token", false),
            ("authMethod", "login", false),
            ("AUTH_MODE", "q7Zx91K", true),
            ("--max-tokens", "1000", false),
            ("--max-tokens", "12345678", true),
            ("API_TOKENS", "abcdef", true),
            ("tokenizer", "q7Zx91K", false),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/keys/gcp.json", false),
            ("SSH_KEY", "~/.ssh/id", false),
            ("SSH_KEY", r"C:\keys\id", false),
            ("API_KEY", "/9j4AAQ/Sk+Z=", true),
            ("API_KEY", "/home", true),
            ("API_KEY", "$HERE", false),
        ] {
            let found = names_secret(name) && !is_setting(name, value) && !is_harmless(value);
            assert_eq!(found, expected, "{name} {value}");
        }
    }

    #[test]
    fn lines_are_split_as_a_shell_does() {
        let line = r#"export A="b c"&&x -H 'D: "e"' f\ g "h\"i"; j"#;
        let expected = ["export", "A=b c", "x", "-H", "D: \"e\"", "f g", "h\"i", "j"];
        assert_eq!(shell_words(line), expected);
    }
}
