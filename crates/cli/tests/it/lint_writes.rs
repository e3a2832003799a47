//! What `toolbond lint` writes to files: the old file or the new one, whatever happens.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::process::{self, program};

use crate::command::{texts, toolbond};

/// A list that `--fix` changes, of more than two blocks.
fn broken() -> String {
    let tool = |number: usize| {
        json!({
            "name": format!("tool_{number}"),
            "description": "A tool.",
            "inputSchema": { "properties": { "list": { "type": "array", "description": "L." } } }
        })
    };
    format!("{:#}\n", json!({ "tools": (0..20).map(tool).collect::<Vec<_>>() }))
}

/// Each way to write: the file that is written, and the arguments.
const WRITES: [(&str, &[&str]); 2] = [
    ("tools.json", &["lint", "--fix", "tools.json"]),
    ("known.json", &["lint", "--baseline", "known.json", "--write-baseline", "tools.json"]),
];

/// A folder with a list and a baseline.
fn folder() -> (Folder, [String; 2]) {
    let folder = Folder::new();
    let baseline = json!({ "version": 1, "findings": [] }).to_string();
    folder.write("tools.json", broken());
    folder.write("known.json", &baseline);
    (folder, [broken(), baseline])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// `toolbond` in a shell that may write files of at most so many blocks.
fn limited(folder: &Folder, blocks: usize, setup: &str, arguments: &[&str]) -> Command {
    let script = format!("{setup}ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = process::command(&["sh", "-c", &script]);
    command.arg(program()).args(arguments).current_dir(folder.path());
    command
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    for (file, arguments) in WRITES {
        let (folder, before) = folder();
        // Without the signal, the write fails as on a full disk, in the middle.
        let output = limited(&folder, 1, "trap '' XFSZ; ", arguments).output().unwrap();
        let (code, _, err) = texts(output);
        assert_eq!(code, Some(2), "{file}: {err}");
        assert!(err.contains(&format!("error: {file}: not written: File too large")), "{err}");
        assert!(!err.contains("fixed"), "{err}");
        assert_eq!(before, ["tools.json", "known.json"].map(|name| read(&folder, name)));
        assert_eq!(names(folder.path()), ["known.json", "tools.json"], "nothing is left behind");
    }
}

#[test]
fn a_kill_in_the_middle_leaves_the_old_file() {
    for (file, arguments) in WRITES {
        let (folder, before) = folder();
        let output = limited(&folder, 1, "", arguments).output().unwrap();
        // SIGXFSZ, at the first byte past the limit.
        assert_eq!(output.status.signal(), Some(25), "{file}: {:?}", texts(output));
        assert_eq!(before, ["tools.json", "known.json"].map(|name| read(&folder, name)));
    }
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_read_only_folder_leaves_the_old_file() {
    for (file, arguments) in WRITES {
        let (folder, before) = folder();
        let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
        let mut command = toolbond(arguments);
        command.current_dir(folder.path());
        if is_root {
            // No permission stops root.
            for name in ["tools.json", "known.json"] {
                fs::set_permissions(folder.join(name), Permissions::from_mode(0o666)).unwrap();
            }
            command.uid(65534);
        }
        let (code, _, err) = texts(command.output().unwrap());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(code, Some(2), "{file}: {err}");
        assert!(err.contains(&format!("error: {file}: not written: Permission denied")), "{err}");
        assert!(!err.contains("fixed"), "{err}");
        assert_eq!(before, ["tools.json", "known.json"].map(|name| read(&folder, name)));
    }
}

/// A file that must not be written is not replaced, either.
#[test]
fn permissions_and_links_stay() {
    for (file, arguments) in WRITES {
        let (folder, _) = folder();
        let target = folder.write("target.json", read(&folder, file));
        fs::remove_file(folder.join(file)).unwrap();
        symlink("target.json", folder.join(file)).unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        let before = fs::read_to_string(&target).unwrap();
        let output = toolbond(arguments).current_dir(folder.path()).output().unwrap();
        let (code, _, err) = texts(output);
        assert_ne!(code, Some(2), "{err}");
        assert_ne!(fs::read_to_string(&target).unwrap(), before, "{file}");
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_link(folder.join(file)).unwrap(), Path::new("target.json"));
        assert!(!names(folder.path()).iter().any(|name| name.contains(".tmp")));
    }
}

#[test]
fn a_patch_changes_nothing_and_says_what_would_change() {
    let (folder, before) = folder();
    let run = |arguments: &[&str]| {
        texts(toolbond(arguments).current_dir(folder.path()).output().unwrap())
    };
    let (code, patch, err) = run(&["lint", "--diff", "tools.json"]);
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert!(patch.starts_with("--- tools.json\n+++ tools.json\n@@ -"), "{patch}");
    assert_eq!(read(&folder, "tools.json"), before[0]);
    folder.write("a.patch", &patch);
    let apply = process::run(in_folder(&folder, &["patch", "-p0", "-i", "a.patch"]), "");
    assert!(apply.status.success(), "{:?}", texts(apply));
    let patched = read(&folder, "tools.json");
    folder.write("tools.json", &before[0]);
    assert_eq!(run(&["lint", "--fix", "--quiet", "--fail-on", "never", "tools.json"]).0, Some(0));
    assert_eq!(read(&folder, "tools.json"), patched);
    assert_eq!(run(&["lint", "--diff", "tools.json"]), (Some(0), String::new(), String::new()));
}

fn in_folder(folder: &Folder, words: &[&str]) -> Command {
    let mut command = process::command(words);
    command.current_dir(folder.path());
    command
}
