//! The wheel.

use std::fs;
use std::path::Path;

use super::fresh::Fresh;
use super::{VERSION, built, clients_talk_through, demo, file};
use crate::command::texts;

/// A virtual environment with the wheel: the folder of its programs.
fn installed(fresh: &Fresh, packages: &Path) -> String {
    fresh.run(&["python3", "-m", "venv", "venv"]);
    let wheel = file(packages, ".whl");
    fresh.run(&["venv/bin/python", "-m", "pip", "install", wheel.to_str().unwrap()]);
    fresh.folder.join("venv/bin")
}

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn pip_installs_the_command() {
    let Some(packages) = built() else { return };
    let fresh = Fresh::new();
    let bin = installed(&fresh, &packages);
    let (toolbond, python) = (format!("{bin}/toolbond"), format!("{bin}/python"));
    assert_eq!(fresh.run(&[&toolbond, "demo"]), demo());
    let as_module = [&python, "-m", "toolbond"];
    let demo_of_module = fresh.run(&[&as_module[..], &["demo"]].concat());
    assert_eq!(demo_of_module, demo());
    let (code, _, said) =
        texts(fresh.command(&[&as_module[..], &["lint", "none.json"]].concat()).output().unwrap());
    assert_eq!(code, Some(2), "{said}");

    // What belongs to the command is where systems look for it.
    let venv = Path::new(&bin).parent().unwrap();
    for name in [
        "man/man1/toolbond.1",
        "man/man1/toolbond-guard.1",
        "bash-completion/completions/toolbond",
        "zsh/site-functions/_toolbond",
        "fish/vendor_completions.d/toolbond.fish",
    ] {
        assert!(venv.join("share").join(name).is_file(), "{name}");
    }

    // The program may be gone, and a folder of packages has it elsewhere.
    let wheel = file(&packages, ".whl");
    fresh.run(&[&python, "-m", "pip", "install", "--target", "here", wheel.to_str().unwrap()]);
    fresh.run(&[&python, "-m", "pip", "uninstall", "--yes", "toolbond"]);
    assert!(!Path::new(&toolbond).exists());
    let here = fresh.folder.join("here");
    let mut by_path = fresh.command(&["python3", "-m", "toolbond", "--version"]);
    let (code, printed, said) = texts(by_path.env("PYTHONPATH", &here).output().unwrap());
    assert_eq!((code, printed), (Some(0), format!("toolbond {VERSION}\n")), "{said}");
    fs::remove_dir_all(format!("{here}/bin")).unwrap();
    let (code, _, said) = texts(by_path.output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
}

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn uvx_runs_the_command() {
    let Some(packages) = built() else { return };
    let fresh = Fresh::new();
    let uvx = toolbond_harness::peers::installed("python/packages").join("bin/uvx");
    let words = [uvx.to_str().unwrap(), "--find-links", packages.to_str().unwrap(), "toolbond"];
    assert_eq!(fresh.run(&[&words[..], &["demo"]].concat()), demo());
    let pinned = format!("toolbond@{VERSION}");
    let version = fresh.run(&[words[0], words[1], words[2], &pinned, "--version"]);
    assert_eq!(version, format!("toolbond {VERSION}\n"));
}

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn clients_talk_to_a_server_through_the_wheel() {
    let Some(packages) = built() else { return };
    let fresh = Fresh::new();
    let bin = installed(&fresh, &packages);
    clients_talk_through(&format!("{bin}/toolbond"));
}
