//! Characters that people do not see and models read.

/// The characters of `text` that are not visible and have no place in it, each with its byte index.
pub(super) fn find(text: &str) -> impl Iterator<Item = (usize, char)> {
    let is_right_to_left = text.chars().any(|c| matches!(c, '\u{590}'..='\u{8ff}'));
    let mut before = None;
    let mut in_flag = false;
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, c) = characters.next()?;
            let after = characters.peek().map(|(_, next)| *next);
            in_flag = c == '\u{1f3f4}' || (in_flag && is_tag(c));
            let is_fine = match c {
                '\n' | '\r' | '\t' => true,
                // A flag of a region is a black flag and tags.
                _ if is_tag(c) => in_flag,
                // Joiners belong into emoji and into words of many scripts.
                '\u{200c}' | '\u{200d}' => is_joined(before) && is_joined(after),
                '\u{200e}' | '\u{200f}' | '\u{61c}' => is_right_to_left,
                _ if is_selector(c) => before
                    .is_some_and(|before| !before.is_ascii_alphabetic() && !is_selector(before)),
                c => kind(c).is_empty(),
            };
            before = Some(c);
            if !is_fine {
                return Some((at, c));
            }
        }
    })
}

/// What `c` is, or the empty string if it is visible.
pub(super) fn kind(c: char) -> &'static str {
    match c {
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "a control of the direction of text"
        }
        '\u{ad}' => "a soft hyphen",
        '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{180e}' => {
            "a zero width character"
        }
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => "a filler",
        '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => "a format character",
        _ if is_tag(c) => "a tag character",
        _ if is_selector(c) => "a variation selector",
        _ if c.is_control() => "a control character",
        _ => "",
    }
}

const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_joined(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(|c| !c.is_ascii() && (kind(c).is_empty() || is_selector(c)))
}
