//! The hooks for pre-commit.

use std::fs;

use toolbond_harness::files::root;
use toolbond_harness::{peers, skip};

use super::built;
use super::fresh::Fresh;
use crate::command::texts;

const FINE: &str = r#"[{ "name": "now", "description": "Says the time.", "inputSchema": { "type": "object", "properties": {} } }]"#;

#[test]
#[ignore = "long matrix: needs the packages of `cargo xtask dist`"]
fn the_hook_tells_findings_from_failures() {
    let Some(packages) = built() else { return };
    let repository = root().canonicalize().unwrap();
    if !repository.join(".git").exists() {
        return skip("pre-commit tries a hook from a git repository");
    }
    let fresh = Fresh::new();
    let (tools, bin) = (peers::installed("python/packages"), fresh.folder.path().join("path"));
    // The Python that installs the hook has the build backend that it would fetch.
    let run = |words: &[&str]| {
        let mut command = fresh.command(words);
        command.env("PYTHONPATH", &tools).env("PIP_NO_BUILD_ISOLATION", "0");
        command.env("PIP_FIND_LINKS", &packages).env("GIT_CONFIG_COUNT", "1");
        // The repository may belong to another user.
        command.env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
        texts(command.current_dir(fresh.folder.path().join("mine")).output().unwrap())
    };
    fs::create_dir(fresh.folder.path().join("mine")).unwrap();
    assert!(bin.join("git").exists(), "git");
    assert_eq!(run(&["git", "init", "--quiet"]).0, Some(0));
    let hook = |text: &str| {
        fs::write(fresh.folder.path().join("mine/tools.json"), text).unwrap();
        assert_eq!(run(&["git", "add", "tools.json"]).0, Some(0));
        let python = ["python3", "-m", "pre_commit", "try-repo", "--all-files"];
        let (code, printed, said) =
            run(&[&python[..], &[repository.to_str().unwrap(), "toolbond-lint"]].concat());
        (code, format!("{printed}{said}"))
    };

    let (code, printed) = hook(FINE);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("Passed"), "{printed}");

    let (code, printed) = hook(&FINE.replace(r#""object""#, r#""array""#));
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("- exit code: 1") && printed.contains("error["), "{printed}");

    let (code, printed) = hook("[{");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("- exit code: 2"), "{printed}");
    assert!(printed.contains("error: tools.json") && !printed.contains("error["), "{printed}");
}
