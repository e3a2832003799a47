//! `toolbond demo`.

use std::net::TcpListener;

use crate::command::{commands, toolbond};

commands! {
    shows_two_clients_wrong_calls_and_hostile_schemas: ["demo"];
    explains_the_demo: ["demo", "--help"];
    serves_no_address_that_is_none: ["demo", "--http", "here"];
    serves_in_one_way: ["demo", "--stdio", "--http", "127.0.0.1:0"];
}

#[test]
fn fits_on_one_screen() {
    let output = toolbond(&["demo"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() <= 45, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn complains_about_an_address_in_use() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let output = toolbond(&["demo", "--http", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with(&format!("error: cannot listen on {address}")), "{text}");
}

#[test]
fn says_its_version() {
    let output = toolbond(&["--version"]).output().unwrap();
    let expected = concat!("toolbond ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
