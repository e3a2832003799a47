//! What the command writes about itself: manual pages and completions, where systems look for them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::command::{command, output, run};
use crate::workspace;

/// Where each shell looks below `share`.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/toolbond"),
    ("zsh", "zsh/site-functions/_toolbond"),
    ("fish", "fish/vendor_completions.d/toolbond.fish"),
];

/// Has `program` write them into a folder `share`, which is returned.
pub(super) fn write(program: &Path, work: &Path) -> anyhow::Result<PathBuf> {
    let share = work.join("share");
    let program = program.to_string_lossy();
    let mut man = command(&program, ["man"]);
    man.arg(share.join("man/man1"));
    run(man)?;
    for (shell, place) in SHELLS {
        let place = share.join(place);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(place, output(command(&program, ["completions", shell]))?)?;
    }
    Ok(share)
}

/// Copies what every package has: what it is, and its licence.
pub(super) fn copy_documents(to: &Path) -> anyhow::Result<()> {
    let root = workspace::root();
    for file in ["packages/python/README.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"] {
        let file = root.join(file);
        fs::copy(&file, to.join(file.file_name().unwrap_or_default()))
            .with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let from = entry?.path();
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
