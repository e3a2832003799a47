//! `toolpact demo`.

use crate::command::toolpact;

#[test]
fn shows_every_kind_of_end_on_one_screen() {
    let output = toolpact(&["demo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["valid", "invalid", "refused", "unfinished", "did you mean", " ms)"] {
        assert!(text.contains(word), "`{word}` is missing in\n{text}");
    }
    assert!(text.lines().count() <= 40, "{text}");
}

#[test]
fn says_its_version() {
    let output = toolpact(&["--version"]).output().unwrap();
    let expected = concat!("toolpact ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
