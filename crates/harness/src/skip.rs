//! A test that cannot run: it says why, and it is counted.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::thread;

use crate::process;

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

/// Ends a test that needs a program or a download that is not there. `cargo xtask test` skips it unless `CI` is set; else
/// it fails.
#[expect(clippy::exit, reason = "the process is that of one test")]
#[track_caller]
pub fn missing(what: &str) -> ! {
    let is_set = |name| env::var_os(name).is_some();
    if is_set("NEXTEST") && is_set("TOOLBOND_SKIPPED") && !is_set("CI") {
        skip(&format!("missing: {what}"));
        process::kill_all();
        std::process::exit(0);
    }
    // Without nextest, `cargo xtask test` finds this line in the output of a failed test.
    panic!("missing: {what} (run `cargo xtask setup`)");
}
