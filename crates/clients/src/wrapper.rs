//! The words that start a guard, and recognising them.

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

/// What a guard stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// A command, which starts at this argument.
    Command(usize),
    /// A server on HTTP, whose URL is this argument.
    Upstream(usize),
    /// It does not say in a form that could be taken apart.
    Other,
}

/// What the guard stands before, if this command is one.
pub(crate) fn behind(program: &str, arguments: &[String]) -> Option<Behind> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let name =
        [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let verb = match name {
        "toolbond" => 0,
        "npx" | "uvx" | "bunx" | "pnpx" | "pipx" => {
            let is_option = |word: &&String| word.starts_with('-') || word.as_str() == "run";
            let package = arguments.iter().take_while(is_option).count();
            let is_ours = |word: &str| {
                word.strip_prefix("toolbond")
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '=']))
            };
            if !arguments.get(package).is_some_and(|word| is_ours(word)) {
                return None;
            }
            package + 1
        }
        _ => return None,
    };
    if arguments.get(verb)? != "guard" {
        return None;
    }
    let place = |wanted: &str| arguments[verb..].iter().position(|word| word == wanted);
    // What follows is the command, or the URL.
    let after = |at: usize| Some(verb + at + 1).filter(|at| *at < arguments.len());
    Some(match (place("--").and_then(after), place("--upstream").and_then(after)) {
        (Some(command), _) => Behind::Command(command),
        (None, Some(url)) => Behind::Upstream(url),
        (None, None) => Behind::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::{Behind, behind};

    #[test]
    fn guards_are_recognised() {
        for (words, expected) in [
            ("/usr/bin/toolbond guard -- npx -y x", Some(Behind::Command(2))),
            (r"C:\bin\Toolbond.exe guard --results enforce -- x", Some(Behind::Command(4))),
            ("npx -y toolbond@0.1.0 guard -- x", Some(Behind::Command(4))),
            ("npx.cmd toolbond guard -- x", Some(Behind::Command(3))),
            ("uvx toolbond==0.1.0 guard -- x", Some(Behind::Command(3))),
            ("toolbond guard --upstream https://a/mcp", Some(Behind::Upstream(2))),
            ("toolbond guard --config a.toml", Some(Behind::Other)),
            ("toolbond guard --", Some(Behind::Other)),
            ("toolbond demo --serve", None),
            ("npx -y toolbond-tools guard -- x", None),
            ("npx -y x toolbond guard -- x", None),
            ("guard -- x", None),
        ] {
            let mut words = words.split(' ').map(str::to_owned);
            let program = words.next().unwrap();
            assert_eq!(behind(&program, &words.collect::<Vec<_>>()), expected, "{program}");
        }
    }
}
