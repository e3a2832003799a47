//! Where the files of clients are on this machine.

use std::env;
use std::path::{Path, PathBuf};

use crate::client::Client;

/// An operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The system of this process.
    #[must_use]
    pub const fn this() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// The folders of a user.
#[derive(Debug)]
pub struct Folders {
    os: Os,
    home: PathBuf,
    variable: fn(&str) -> Option<PathBuf>,
}

/// A path in an environment variable. A relative one means nothing. Without one for the home folder, it is the one that
/// the system knows, as for most programs.
fn variable(name: &str) -> Option<PathBuf> {
    let path = match env::var_os(name) {
        None if name == Folders::home_variable(Os::this()) => env::home_dir(),
        value => value.map(PathBuf::from),
    };
    path.filter(|path| path.is_absolute())
}

impl Folders {
    /// The folders of the user of this process; `None` if the environment does not name a home folder.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        Self::new(Os::this(), variable)
    }

    fn new(os: Os, variable: fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let home = variable(Self::home_variable(os))?;
        Some(Self { os, home, variable })
    }

    /// The variable that names the home folder.
    #[must_use]
    pub const fn home_variable(os: Os) -> &'static str {
        match os {
            Os::Windows => "USERPROFILE",
            Os::Linux | Os::MacOs => "HOME",
        }
    }

    /// The home folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The files that `client` may have for this user.
    #[must_use]
    pub fn user_files(&self, client: &Client) -> Vec<PathBuf> {
        let paths = match self.os {
            Os::Linux => client.paths.linux,
            Os::MacOs => client.paths.macos,
            Os::Windows => client.paths.windows,
        };
        paths.iter().map(|path| self.expand(path)).collect()
    }

    /// Where the command keeps data of this user.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.expand(match self.os {
            Os::Linux => "{data}/toolbond",
            Os::MacOs => "{home}/Library/Application Support/toolbond",
            Os::Windows => "{local}/toolbond",
        })
    }

    /// The path that `template` stands for.
    fn expand(&self, template: &str) -> PathBuf {
        let named = |name, default: &str| {
            let path = (self.variable)(name);
            path.unwrap_or_else(|| default.split('/').fold(self.home.clone(), |at, it| at.join(it)))
        };
        let Some((word, rest)) = template.strip_prefix('{').and_then(|it| it.split_once("}/"))
        else {
            return PathBuf::from(template);
        };
        let folder = match word {
            "config" => named("XDG_CONFIG_HOME", ".config"),
            "data" => named("XDG_DATA_HOME", ".local/share"),
            "roaming" => named("APPDATA", "AppData/Roaming"),
            "local" => named("LOCALAPPDATA", "AppData/Local"),
            "codex" => named("CODEX_HOME", ".codex"),
            "claude" => (self.variable)("CLAUDE_CONFIG_DIR").unwrap_or_else(|| self.home.clone()),
            _ => self.home.clone(),
        };
        rest.split('/').fold(folder, |at, it| at.join(it))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Folders, Os};
    use crate::client::client;

    fn user(name: &str) -> Option<PathBuf> {
        match name {
            "HOME" | "USERPROFILE" => Some("/home/ada".into()),
            "APPDATA" => Some("/home/ada/Roaming".into()),
            "CODEX_HOME" => Some("/codex".into()),
            _ => None,
        }
    }

    #[test]
    fn finds_the_files_of_each_system() {
        for (os, name, expected) in [
            (Os::Linux, "claude-desktop", "/home/ada/.config/Claude/claude_desktop_config.json"),
            (
                Os::MacOs,
                "claude-desktop",
                "/home/ada/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (Os::Windows, "claude-desktop", "/home/ada/Roaming/Claude/claude_desktop_config.json"),
            (Os::Linux, "claude-code", "/home/ada/.claude.json"),
            (Os::Windows, "cursor", "/home/ada/.cursor/mcp.json"),
            (Os::MacOs, "vscode", "/home/ada/Library/Application Support/Code/User/mcp.json"),
            (Os::Linux, "vscode", "/home/ada/.config/Code/User/mcp.json"),
            (Os::Linux, "codex", "/codex/config.toml"),
        ] {
            let folders = Folders::new(os, user).unwrap();
            let files = folders.user_files(client(name).unwrap());
            assert_eq!(files[0], PathBuf::from(expected), "{os:?} {name}");
        }
        let data = |os| Folders::new(os, user).unwrap().data();
        assert_eq!(data(Os::Linux), PathBuf::from("/home/ada/.local/share/toolbond"));
        assert_eq!(data(Os::Windows), PathBuf::from("/home/ada/AppData/Local/toolbond"));
        assert!(Folders::new(Os::Linux, |_| None).is_none());
    }
}
