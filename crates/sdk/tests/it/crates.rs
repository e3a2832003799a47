//! What a first server costs its author: crates beside those of `rmcp`.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use toolbond_harness::files::root;

/// The most crates that a server with the default features has beside a server on `rmcp` with the same transports.
const MOST_MORE: usize = 60;

/// The crates that a package with `dependency` is built of, the package included.
fn crates(name: &str, dependency: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
    let tokio = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread"] }"#;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\n{dependency}\n{tokio}\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none"]);
    let output = command.current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let package = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    text.lines().map(package).collect()
}

#[test]
fn a_first_server_has_few_crates_beside_those_of_rmcp() {
    let place = root().join("crates/sdk").canonicalize().unwrap();
    let ours = crates("first", &format!("toolbond = {{ path = {place:?} }}"));
    let features = r#"["macros", "server", "transport-io", "transport-streamable-http-server"]"#;
    let bare = crates(
        "bare",
        &format!(
            "rmcp = {{ version = \"=3.8.0\", default-features = false, features = {features} }}"
        ),
    );
    let (count, bare) = (ours.len(), bare.len());
    assert!(bare > 50, "{bare}");
    assert!(count <= bare + MOST_MORE, "{count} crates, and {bare} of `rmcp`: {ours:#?}");
}
