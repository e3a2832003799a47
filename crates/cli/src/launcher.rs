//! The command that a client can start this program with tomorrow.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use toolbond_clients::{Via, Wrapper};

/// How a client starts the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Launcher {
    /// The path of this program
    Path,
    /// The package of npm, in this version
    Npx,
    /// The package of Python, in this version
    Uvx,
}

impl Launcher {
    /// What suits this program: a package runner purges its cache.
    fn of(program: &Path) -> Self {
        let words: Vec<_> = program.iter().map(|it| it.to_string_lossy()).collect();
        let has = |test: &dyn Fn(&str) -> bool| words.iter().any(|word| test(word));
        if has(&|word| matches!(word, "_npx" | "dlx") || word.starts_with("bunx-")) {
            Self::Npx
        } else if has(&|word| word.starts_with("archive-v") || word.starts_with("environments-v")) {
            Self::Uvx
        } else {
            Self::Path
        }
    }
}

/// The words that start the guard. In a file of a project, a runner is not at the place where it is on this machine.
pub(crate) fn wrapper(launcher: Option<Launcher>, is_project: bool) -> anyhow::Result<Wrapper> {
    let program = env::current_exe().context("the path of this program")?;
    let suited = Launcher::of(&program);
    let version = env!("CARGO_PKG_VERSION");
    let (via, runner) = match launcher.unwrap_or(suited) {
        Launcher::Path if suited != Launcher::Path => {
            bail!(
                "{}: this copy is in a cache that is purged: use --via npx or --via uvx",
                program.display()
            )
        }
        Launcher::Path => {
            let path = on_path(&program).unwrap_or(program);
            let path = path.to_str().ok_or_else(|| anyhow!("{}: no UTF-8", path.display()))?;
            return Ok(Wrapper::program(path));
        }
        Launcher::Npx => (Via::Npx, if cfg!(windows) { "npx.cmd" } else { "npx" }),
        Launcher::Uvx => (Via::Uvx, if cfg!(windows) { "uvx.exe" } else { "uvx" }),
    };
    let found = folders().map(|folder| folder.join(runner)).find(|path| path.is_file());
    let path = found.as_ref().and_then(|path| path.to_str());
    match path {
        _ if is_project => Ok(Wrapper::package(via, runner, version)),
        Some(path) => Ok(Wrapper::package(via, path, version)),
        None => bail!("`{runner}` is in no folder of PATH"),
    }
}

/// `toolbond`, or the name of `program`, in a folder of `PATH`, if it leads to `program`: it stays when a new version
/// comes, where `program` has the version in its path.
fn on_path(program: &Path) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|found| found == *program);
    let usual = format!("toolbond{}", env::consts::EXE_SUFFIX);
    let names = [usual.as_ref(), program.file_name()?];
    names.iter().flat_map(|name| folders().map(move |folder| folder.join(name))).find(is_it)
}

/// The folders of `PATH` that mean the same in every folder.
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory as _;
    use toolbond_clients::{GUARD_FLAGS, GUARD_OPTIONS};

    use super::Launcher;
    use crate::verbs::Toolbond;

    /// `unwrap` reads the command line of a guard, and needs to know which options take a value.
    #[test]
    fn the_options_of_the_guard_are_known() {
        let other = ["--check-config", "--config-schema", "--forget", "--watch"];
        let toolbond = Toolbond::command();
        let guard = toolbond.find_subcommand("guard").unwrap();
        let (mut with_value, mut without) = (Vec::new(), Vec::new());
        for option in guard.get_arguments().filter(|it| !it.is_positional()) {
            let long = option.get_long().map(|it| format!("--{it}"));
            let names = long.into_iter().chain(option.get_short().map(|it| format!("-{it}")));
            let takes_value = option.get_action().takes_values()
                && option.get_num_args().is_none_or(|it| it.takes_values());
            let list = if takes_value { &mut with_value } else { &mut without };
            list.extend(names.filter(|name| !other.contains(&name.as_str())));
        }
        for (mut found, known) in [(with_value, &GUARD_OPTIONS[..]), (without, &GUARD_FLAGS)] {
            let mut known = known.to_vec();
            found.sort();
            known.sort_unstable();
            assert_eq!(found, known);
        }
    }

    #[test]
    fn a_cache_is_no_place_to_stay() {
        for (program, expected) in [
            ("/usr/local/bin/toolbond", Launcher::Path),
            ("/home/ada/.npm/_npx/1f0/node_modules/@toolbond/linux-x64/toolbond", Launcher::Npx),
            ("/home/ada/.cache/pnpm/dlx/ab/node_modules/toolbond/toolbond", Launcher::Npx),
            ("/tmp/bunx-1000-toolbond@latest/node_modules/toolbond/toolbond", Launcher::Npx),
            ("/home/ada/.cache/uv/archive-v0/x1/bin/toolbond", Launcher::Uvx),
            ("/home/ada/.local/share/uv/tools/toolbond/bin/toolbond", Launcher::Path),
            ("/usr/lib/node_modules/@toolbond/linux-x64/toolbond", Launcher::Path),
        ] {
            assert_eq!(Launcher::of(Path::new(program)), expected, "{program}");
        }
    }
}
