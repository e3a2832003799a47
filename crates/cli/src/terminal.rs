//! What may be shown on a terminal, and where complaints go.

use std::borrow::Cow;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

/// The style of what went wrong.
pub(crate) const BAD: Style = AnsiColor::BrightRed.on_default().bold();
/// The style of what is right.
pub(crate) const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
/// The style of what is beside the point.
pub(crate) const DIM: Style = Style::new().dimmed();

/// Tells `error` and its causes on standard error, in one line.
pub(crate) fn complain(error: &anyhow::Error) {
    let text = format!("{error:#}");
    // Standard error is the last resort: nobody is left to hear that it is gone.
    let _ = writeln!(anstream::stderr().lock(), "{BAD}error{BAD:#}: {}", printable(&text));
}

/// Tells on standard error what is probably not meant.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{BAD}warning{BAD:#}: {}", printable(text));
}

/// `text` with whatever steers a terminal written as `\u{…}`: names and values come from others.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if steers(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Control characters, and those that reorder or hide the text around them.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn escapes_what_steers_a_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{202e}"), "a\\u{1b}[31m\\u{a}b\\u{202e}");
        assert_eq!(printable("größe ≤ 24"), "größe ≤ 24");
    }
}
