//! Text on a terminal: styles, errors and warnings, escaping.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

/// The style of errors.
pub(crate) const BAD: Style = AnsiColor::BrightRed.on_default().bold();
/// The style of success.
pub(crate) const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
/// The style of secondary text.
pub(crate) const DIM: Style = Style::new().dimmed();

/// Prints `error` and its causes on one line of standard error.
pub(crate) fn print_error(error: &anyhow::Error) {
    let text = format!("{error:#}");
    // If standard error is closed there is nowhere left to report to.
    let _ = writeln!(anstream::stderr().lock(), "{BAD}error{BAD:#}: {}", printable(&text));
}

/// Prints a warning on standard error.
pub(crate) fn print_warning(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{BAD}warning{BAD:#}: {}", printable(text));
}

/// Prints a note on standard error.
pub(crate) fn print_note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{DIM}note{DIM:#}: {}", printable(text));
}

/// Prints what was fixed on standard error.
pub(crate) fn print_fixed(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{GOOD}fixed{GOOD:#}: {}", printable(text));
}

/// Escapes characters that control a terminal as `\u{…}`: names and values come from untrusted input.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(controls_terminal) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if controls_terminal(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// The same for JSON text, which may go over several lines: escapes are those of JSON strings.
pub(crate) fn printable_json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && controls_terminal(c);
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether `c` is a control character, or reorders or hides the text around it.
fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{printable, printable_json};

    #[test]
    fn escapes_what_controls_a_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{202e}"), "a\\u{1b}[31m\\u{a}b\\u{202e}");
        assert_eq!(printable("größe ≤ 24"), "größe ≤ 24");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = json!({ "\u{9b}31m": ["\u{7f}\u{202e}\u{feff}", "größe"] });
        let text = format!("{value:#}");
        let shown = printable_json(&text);
        assert!(shown.contains("\\u009b31m") && shown.contains("\\u202e") && shown.contains('\n'));
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}
