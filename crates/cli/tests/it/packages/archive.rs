//! The archive, the checksums, the bill of materials, and what `cargo binstall` makes of them.

use std::fs;
use std::process::Command;

use serde_json::Value;
use toolbond_harness::files::root;

use super::fresh::Fresh;
use super::{VERSION, built, demo, file};

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn the_archive_has_what_binstall_looks_for() {
    let Some(packages) = built() else { return };
    let fresh = Fresh::new();
    let archive = file(&packages, ".tar.gz");
    fresh.run(&["tar", "-xzf", archive.to_str().unwrap()]);
    let name = archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap();
    let target = name.strip_prefix(&format!("toolbond-{VERSION}-")).unwrap();

    let manifest = fs::read_to_string(root().join("crates/cli/Cargo.toml")).unwrap();
    let template = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        let text = line.unwrap().trim_end_matches('"').replace("{ version }", VERSION);
        let text = text.replace("{ target }", target).replace("{ bin }", "toolbond");
        text.replace("{ binary-ext }", "").replace("{ archive-suffix }", ".tar.gz")
    };
    assert!(template("pkg-url").ends_with(&format!("/v{VERSION}/{name}.tar.gz")));
    let program = fresh.folder.join(&template("bin-dir"));
    assert_eq!(fresh.run(&[&program, "demo"]), demo());
    for file in
        ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE", "README.md", "share/man/man1/toolbond.1"]
    {
        assert!(fresh.folder.path().join(name).join(file).is_file(), "{file}");
    }

    // All packages have the same program.
    let program = fs::read(program).unwrap();
    fresh.run(&["python3", "-m", "zipfile", "-e", file(&packages, ".whl").to_str().unwrap(), "w"]);
    let in_wheel = format!("w/toolbond-{VERSION}.data/scripts/toolbond");
    assert!(fs::read(fresh.folder.path().join(in_wheel)).unwrap() == program);
    let npm = file(&packages, &format!("-x64-{VERSION}.tgz"));
    fresh.run(&["tar", "-xzf", npm.to_str().unwrap()]);
    assert!(fs::read(fresh.folder.path().join("package/bin/toolbond")).unwrap() == program);
}

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn the_program_runs_on_the_glibc_of_2012() {
    let Some(packages) = built() else { return };
    let wheel = file(&packages, ".whl");
    let name = wheel.file_name().unwrap().to_str().unwrap();
    assert!(name.contains("manylinux_2_17_"), "{name}");
    let fresh = Fresh::new();
    fresh.run(&["python3", "-m", "zipfile", "-e", wheel.to_str().unwrap(), "."]);
    let program = fresh.folder.join(&format!("toolbond-{VERSION}.data/scripts/toolbond"));
    let program = fs::read(program).unwrap();
    // Versions of symbols stand in the program as text.
    let text = String::from_utf8_lossy(&program);
    let versions = text.split("GLIBC_2.").skip(1);
    let minors = versions.filter_map(|rest| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    assert!(minors.max().is_some_and(|minor| minor <= 17));
}

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn checksums_and_the_bill_of_materials_are_complete() {
    let Some(packages) = built() else { return };
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "SHA256SUMS"]).current_dir(&packages);
    let checked = check.output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let lines = String::from_utf8(checked.stdout).unwrap().lines().count();
    assert_eq!(lines + 1, packages.read_dir().unwrap().count());

    let materials = fs::read(file(&packages, ".cdx.json")).unwrap();
    let materials: Value = serde_json::from_slice(&materials).unwrap();
    assert_eq!(materials["bomFormat"], "CycloneDX");
    let components = materials["components"].as_array().unwrap();
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in ["clap", "jsonschema", "rustls", "tokio"] {
        let component = components.iter().find(|it| it["name"] == name).unwrap();
        let version = component["version"].as_str().unwrap();
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"");
        assert!(lock.contains(&locked), "{component}");
        assert!(component["licenses"].is_array(), "{component}");
    }
}
