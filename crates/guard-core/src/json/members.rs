//! The members of an object that the guard reads, as text.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;
use toolbond_schema::string_end_or_special;

use super::scan::Scanner;

/// Finds the members called `names` in the object `text`.
///
/// Fails where `text` is no object, and where two readers may disagree about it: it repeats one of
/// `names`, or has a member whose name differs from one of them only in case.
pub fn members<'a, const N: usize>(
    text: &'a str,
    names: [&'static str; N],
) -> serde_json::Result<[Option<&'a str>; N]> {
    let (mut found, mut wrong) = ([None; N], None);
    let mut scanner = Scanner::new(text);
    let end = scanner.object(|scanner, name| match position(name, &names) {
        Ok(Some(index)) if found[index].is_some() => {
            wrong = Some(duplicate(names[index]));
            None
        }
        Ok(index) => {
            let value = scanner.value()?;
            if let Some(index) = index {
                found[index] = Some(value);
            }
            Some(())
        }
        Err(reason) => {
            wrong = Some(reason);
            None
        }
    });
    let at = scanner.at();
    match end.and_then(|()| scanner.finish()) {
        Some(()) => Ok(found),
        None => Err(error_at(text, at, wrong)),
    }
}

/// Which of `names` a member has, whose name is written as `name` with quotes.
///
/// Fails with the reason where two readers may disagree.
pub(crate) fn position(name: &str, names: &[&'static str]) -> Result<Option<usize>, String> {
    let plain = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    if let Some(index) = names.iter().position(|known| plain == Some(*known)) {
        return Ok(Some(index));
    }
    // Readers differ on what half of a surrogate pair becomes.
    let name = string(name).map_err(|error| error.to_string())?;
    match names.iter().position(|known| *known == name) {
        None => {
            case_variant(&name, names).map_or(Ok(None), |known| Err(differs_in_case(&name, known)))
        }
        found => Ok(found),
    }
}

/// Why a name that is there twice is refused.
pub(crate) fn duplicate(name: &str) -> String {
    let name: String = name.chars().take(60).collect();
    format!("duplicate key `{name}`")
}

/// Why `text` cannot be read, which was read up to `at`: what is `wrong` there, or else what `serde_json` says.
#[cold]
pub(crate) fn error_at(text: &str, at: usize, wrong: Option<String>) -> serde_json::Error {
    let Some(wrong) = wrong else {
        return match serde_json::from_str::<&RawValue>(text) {
            Err(error) => error,
            Ok(_) => Error::custom("expected an object"),
        };
    };
    let before = &text.as_bytes()[..at.min(text.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    Error::custom(format!("{wrong} at line {line} column {}", before.len() - line_start))
}

/// The name that is written as `text`, with quotes; what no string can hold stays as it is written.
pub(crate) fn unquoted(text: &str) -> Cow<'_, str> {
    string(text).unwrap_or(Cow::Borrowed(text))
}

/// The entries of the object `text`: the name, its text with quotes, and the text of the value.
pub fn entries(text: &str) -> Option<Vec<(Cow<'_, str>, &str, &str)>> {
    let (mut scanner, mut entries) = (Scanner::new(text), Vec::new());
    scanner.object(|scanner, name| {
        entries.push((string(name).ok()?, name, scanner.value()?));
        Some(())
    })?;
    scanner.finish()?;
    Some(entries)
}

/// The string that `json` is.
pub fn string(json: &str) -> serde_json::Result<Cow<'_, str>> {
    if let Some(inner) = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'))
        && string_end_or_special(inner.as_bytes(), 0) == inner.len()
    {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str::<Name<'_>>(json).map(|name| name.0)
}

/// What is wrong with an object that has the member `name` beside or in place of `known`.
pub(crate) fn differs_in_case(name: &str, known: &str) -> String {
    let name: String = name.chars().take(60).collect();
    format!("key `{name}` differs from `{known}` only in case")
}

/// The name in `names` that `name` differs from only in case, if there is one.
///
/// Some decoders ignore case (Go's folds `ſ` and the Kelvin sign, too), so such a member may count.
pub fn case_variant(name: &str, names: &[&'static str]) -> Option<&'static str> {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    if name.is_ascii() {
        let is_variant = |known: &&&str| known.eq_ignore_ascii_case(name) && name != **known;
        return names.iter().find(is_variant).copied();
    }
    names.iter().find(|known| name.chars().map(fold).eq(known.chars().map(fold))).copied()
}

/// A name, borrowed from the text unless it is written with escapes.
#[derive(Deserialize)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::members;

    fn read(text: &str) -> Result<Vec<Option<String>>, String> {
        members(text, ["id", "task"])
            .map(|found| found.map(|raw| raw.map(str::to_owned)).to_vec())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn finds_members_however_their_names_are_written() {
        assert_eq!(read(r#"{"a":{"id":1},"\u0069d": 2 }"#).unwrap(), [Some("2".into()), None]);
        assert_eq!(read("{}").unwrap(), [None, None]);
        assert_eq!(read(r#"{"id":null}"#).unwrap(), [Some("null".into()), None]);
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        for text in [
            r#"{"id":1,"\u0069d":2}"#,
            r#"{"Id":1}"#,
            r#"{"ta\u017fk":1}"#,
            "{\"tas\u{212a}\":1}",
            "[1]",
            "1",
            "{} {}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(r#"{"a":1,"a":2,"ids":3}"#).is_ok());
    }
}
