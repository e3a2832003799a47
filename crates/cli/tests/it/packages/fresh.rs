//! A home folder with nothing in it, and a path without a Rust toolchain.

use std::path::PathBuf;
use std::process::Command;

use toolbond_harness::files::Folder;
use toolbond_harness::{missing, peers};

use crate::command::texts;

/// A home folder in which commands run.
pub(super) struct Fresh {
    pub(super) folder: Folder,
    path: String,
}

impl Fresh {
    /// With Node, npm and Python as far as the system has them.
    pub(super) fn new() -> Self {
        let folder = Folder::new();
        let bin = folder.path().join("path");
        std::fs::create_dir(&bin).unwrap();
        for name in ["node", "npm", "npx", "python3", "git"] {
            if let Some(program) = found(name) {
                std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
            }
        }
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let fresh = Self { folder, path };
        for name in ["cargo", "rustc"] {
            let found = fresh.command(&["sh", "-c", &format!("command -v {name}")]).output();
            assert!(!found.unwrap().status.success(), "{name} is in /usr/bin");
        }
        fresh
    }

    /// A command of this home folder, which runs there.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("/usr/bin/env");
        command.args(words).current_dir(self.folder.path()).env_clear();
        command.env("PATH", &self.path).env("HOME", self.folder.path());
        command.env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        // Nothing is fetched but from the folder of the packages.
        command.env("PIP_NO_INDEX", "1").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        command.env("UV_OFFLINE", "1").env("UV_NO_INDEX", "1").env("UV_PYTHON_DOWNLOADS", "never");
        command
    }

    /// What `command` prints; it ends with exit code 0.
    #[track_caller]
    pub(super) fn run(&self, words: &[&str]) -> String {
        let (code, printed, said) = texts(self.command(words).output().unwrap());
        assert_eq!(code, Some(0), "{words:?}: {printed}{said}");
        printed
    }
}

/// A program on the path of the test itself. Python is asked, for it may be started by a script of a version manager.
fn found(name: &str) -> Option<PathBuf> {
    if name == "python3" {
        let ask = Command::new(name).args(["-c", "import sys; print(sys.executable)"]).output();
        let Ok(output) = ask else { missing(name) };
        return Some(String::from_utf8(output.stdout).unwrap().trim().into());
    }
    if name == "node" {
        peers::node();
    }
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
