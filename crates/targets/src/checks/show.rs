//! Text of others in messages.

/// The number of characters of a text that a message repeats.
const SHOWN: usize = 60;

/// Returns `text` in backticks, with invisible characters escaped, up to 60 characters.
pub(super) fn quote(text: &str) -> String {
    let escape = |c: char| match c {
        '\\' | '"' | '\'' => c.to_string(),
        c => c.escape_debug().to_string(),
    };
    let head: String = text.chars().take(SHOWN).map(escape).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("`{head}{more}`")
}
