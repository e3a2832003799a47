//! The first screen of `toolbond lint`: published servers, a server of our own macro, and a bad list.

use std::path::Path;

use toolbond_harness::files::{Folder, root};
use toolbond_harness::transcript::{Shell, replay};
use toolbond_harness::{peers, skip};

fn here(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

#[test]
fn published_servers() {
    if !root().join("target/testkit/peers/node_modules").exists() {
        return skip("the published servers are not installed: `cargo xtask setup` installs them");
    }
    let folder = Folder::copy_of(&here("data"));
    let shell = Shell::new(folder.path()).env("NODE", peers::node_modules().to_str().unwrap());
    replay(&here("screens/published.txt"), shell);
}

#[test]
fn own_and_bad_servers() {
    let folder = Folder::copy_of(&here("data"));
    replay(&here("screens/own.txt"), Shell::new(folder.path()));
}
