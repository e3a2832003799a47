//! How to start a server that is a process.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::process::{Child, StartError};
use super::stderr::Stderr;
use super::watchdog::Watchdog;

/// How to start a server that is a process.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables, beside those of this process.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory, if not that of this process.
    pub cwd: Option<PathBuf>,
    /// Starts a watchdog for a process group, in case this process is killed.
    pub watchdog: Option<fn(u32) -> Option<Watchdog>>,
}

/// Two of them are equal if they start the same process.
impl PartialEq for Launch {
    fn eq(&self, other: &Self) -> bool {
        (&self.program, &self.arguments, &self.env, &self.cwd)
            == (&other.program, &other.arguments, &other.env, &other.cwd)
    }
}

impl Launch {
    /// Checks that the program can be started, without starting it.
    ///
    /// Fails if it is not found or cannot be executed.
    pub fn check(&self) -> Result<(), StartError> {
        let wrong = |source| StartError::Start {
            program: self.program.to_string_lossy().into_owned(),
            source,
        };
        self.find().map_err(wrong)
    }

    /// The `PATH` of the new process.
    fn path(&self) -> OsString {
        let set = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = set.map(|(_, path)| path.clone()).or_else(|| std::env::var_os("PATH"));
        path.unwrap_or_else(|| "/bin:/usr/bin".into())
    }

    /// Finds the program as `execvp` will, from the folder and with the `PATH` of the new process. The crate `which`
    /// resolves a relative `PATH` from the folder of this process, and does not tell a missing file from a forbidden one.
    #[cfg(unix)]
    fn find(&self) -> io::Result<()> {
        use std::os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _};

        use rustix::io::Errno;

        let program = PathBuf::from(&self.program);
        let folders: Vec<PathBuf> = if self.program.as_bytes().contains(&b'/') {
            vec![PathBuf::new()]
        } else {
            std::env::split_paths(&self.path()).collect()
        };
        let here = self.cwd.clone().unwrap_or_default();
        let mut found = Errno::NOENT;
        for folder in folders {
            match std::fs::metadata(here.join(folder).join(&program)) {
                Ok(file) if file.is_file() && file.permissions().mode() & 0o111 != 0 => {
                    return Ok(());
                }
                Ok(_) => found = Errno::ACCESS,
                Err(_) => {}
            }
        }
        Err(found.into())
    }

    /// On other systems, only starting the program shows whether it exists.
    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "it can fail on Unix")]
    fn find(&self) -> io::Result<()> {
        Ok(())
    }

    /// Starts the process.
    pub(crate) fn start(self) -> Result<(Child, Option<Watchdog>), StartError> {
        self.start_with(Child::launch)
    }

    /// Starts the process, for a question or two: its standard error is not shown.
    ///
    /// Fails if the program is not found or cannot be executed.
    ///
    /// # Panics
    ///
    /// Outside of a `tokio` runtime.
    pub fn start_quietly(self) -> Result<(Child, Option<Watchdog>), StartError> {
        self.start_with(|command| Child::launch_with(command, Stderr::keep))
    }

    fn start_with(
        self,
        start: impl FnOnce(Command) -> Result<Child, StartError>,
    ) -> Result<(Child, Option<Watchdog>), StartError> {
        let script = if cfg!(windows) { find_script(&self.program, &self.path()) } else { None };
        let mut command = Command::new(script.map_or(self.program, Into::into));
        command.args(&self.arguments).envs(self.env);
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        let server = start(command)?;
        let watchdog = server.id().zip(self.watchdog).and_then(|(id, watch)| watch(id));
        Ok((server, watchdog))
    }
}

/// The script that `program` means on Windows, such as `npx.cmd` for `npx`: the system itself only looks for `.exe`.
fn find_script(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let name = Path::new(program);
    if name.extension().is_some() || name.components().count() != 1 {
        return None;
    }
    let files = std::env::split_paths(path).flat_map(|folder| {
        ["exe", "cmd", "bat"].map(|extension| folder.join(name).with_extension(extension))
    });
    let found = files.into_iter().find(|file| file.is_file())?;
    (found.extension()? != "exe").then_some(found)
}

#[cfg(all(test, unix))]
mod tests {
    use toolbond_harness::files::Folder;

    use super::{Launch, find_script};

    #[tokio::test]
    async fn is_found_where_it_would_be_started() {
        let own = Folder::new();
        let folder = own.path().to_owned();
        std::fs::create_dir_all(folder.join("bin/sub")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", folder.join("bin/here")).unwrap();
        std::fs::write(folder.join("bin/text"), "").unwrap();
        let path = |path: &str| vec![("PATH".into(), path.into())];
        let inside = folder.join("bin");
        let cases = [
            ("sh", vec![], None, true),
            ("/bin/sh", vec![], None, true),
            ("no-such-program-anywhere", vec![], None, false),
            ("", vec![], None, false),
            ("/", vec![], None, false),
            ("here", vec![], None, false),
            ("here", path(inside.to_str().unwrap()), None, true),
            ("text", path(inside.to_str().unwrap()), None, false),
            ("sub", path(inside.to_str().unwrap()), None, false),
            ("sh", path("/nowhere"), None, false),
            ("bin/here", vec![], Some(folder.clone()), true),
            ("./here", vec![], Some(folder.clone()), false),
            ("here", path("bin"), Some(folder.clone()), true),
        ];
        for (program, env, cwd, is_found) in cases {
            let arguments = vec!["-c".into(), "exit".into()];
            let launch = Launch { program: program.into(), arguments, env, cwd, watchdog: None };
            assert_eq!(launch.check().is_ok(), is_found, "{launch:?}");
            assert_eq!(launch.clone().start().is_ok(), is_found, "{launch:?}");
        }
    }

    #[test]
    fn scripts_are_found_by_their_names() {
        let own = Folder::new();
        own.write("npx.cmd", "");
        own.write("uvx.exe", "");
        let path = own.path().as_os_str();
        let found = |name: &str| find_script(name.as_ref(), path);
        assert_eq!(found("npx"), Some(own.path().join("npx.cmd")));
        for name in ["uvx", "npx.cmd", "node", "./npx", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }
}
