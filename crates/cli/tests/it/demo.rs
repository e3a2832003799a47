//! `toolbond demo`.

use std::net::TcpListener;

use crate::command::{texts, toolbond};

#[test]
fn fits_on_one_screen() {
    let (_, text, _) = texts(toolbond(&["demo"]).output().unwrap());
    assert!(text.lines().count() <= 45, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn complains_about_an_address_in_use() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (code, _, text) = texts(toolbond(&["demo", "--http", &address]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(text.starts_with(&format!("error: cannot listen on {address}")), "{text}");
}

#[test]
fn says_its_version() {
    let (_, text, _) = texts(toolbond(&["--version"]).output().unwrap());
    assert_eq!(text, concat!("toolbond ", env!("CARGO_PKG_VERSION"), "\n"));
}
