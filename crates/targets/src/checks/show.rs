//! Text of others in messages.

/// The number of characters of a text that a message repeats.
const SHOWN: usize = 60;

/// Returns `text` in backticks, with invisible characters escaped, up to 60 characters.
pub(super) fn quote(text: &str) -> String {
    format!("`{}`", shorten(text))
}

/// Returns `text` with invisible characters escaped, up to 60 characters.
pub(super) fn shorten(text: &str) -> String {
    let head: String = text.chars().take(SHOWN).collect();
    let more = if head.len() < text.len() { "…" } else { "" };
    format!("{}{more}", head.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"))
}
