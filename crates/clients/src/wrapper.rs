//! The words that start a guard.

/// How a client starts the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

/// What starts the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The program itself.
    Path,
    /// The package of npm.
    Npx,
    /// The package of Python.
    Uvx,
}

impl Wrapper {
    /// The program at `path`.
    #[must_use]
    pub fn program(path: &str) -> Self {
        Self { program: path.to_owned(), arguments: vec!["guard".to_owned()] }
    }

    /// This version of the package, started by `runner`.
    #[must_use]
    pub fn package(via: Via, runner: &str, version: &str) -> Self {
        let package = format!("toolbond@{version}");
        let words = match via {
            Via::Path => vec![],
            Via::Npx => vec!["-y".to_owned(), package],
            Via::Uvx => vec![package],
        };
        let arguments = [words, vec!["guard".to_owned()]].concat();
        Self { program: runner.to_owned(), arguments }
    }
}
