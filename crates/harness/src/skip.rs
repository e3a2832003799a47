//! A test that cannot run: it says why, and it is counted.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::thread;

/// Says why a test is skipped, and adds it to the list of skipped tests that the run counts.
///
/// The list is the file named by `TOOLBOND_SKIPPED`, one line a test: its name, a tab, the reason. A test
/// that calls this returns right after.
#[expect(clippy::print_stderr, reason = "whoever runs a single test reads it there")]
pub fn skip(reason: &str) {
    let reason = reason.replace('\n', " ");
    eprintln!("skipped: {reason}");
    let Some(list) = env::var_os("TOOLBOND_SKIPPED") else { return };
    let name = env::var("NEXTEST_TEST_NAME").ok();
    let name = name.or_else(|| thread::current().name().map(ToOwned::to_owned)).unwrap_or_default();
    // One write a line: lines of tests that run at the same time do not mix.
    let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
    list.write_all(format!("{name}\t{reason}\n").as_bytes()).unwrap();
}
