//! Text of others in messages.

/// The most characters of a text or value that a message echoes.
pub(crate) const ECHO: usize = 60;

/// `text` in one line, cut to what a message may echo.
pub(crate) fn shorten(text: &str) -> String {
    shorten_to(ECHO, text)
}

/// `text` in one line, cut to `most` characters.
pub(crate) fn shorten_to(most: usize, text: &str) -> String {
    if text.len() <= most && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut short = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == most - 1 && text.chars().nth(most).is_some() {
            short.push('…');
            break;
        }
        match c {
            c if c.is_control() => short.extend(c.escape_default()),
            c => short.push(c),
        }
    }
    short
}
