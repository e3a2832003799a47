//! Words of a command line, for people to copy.

use std::borrow::Cow;

/// `word` in quotes, if a shell would read it as something else.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./~-[]{}".contains(c) || !c.is_ascii();
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("@a/b-c:8", "@a/b-c:8"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
