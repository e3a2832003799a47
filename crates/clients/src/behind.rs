//! What a guard in a configuration stands before: its command, read as `toolbond guard` reads it.

use std::env;
use std::fs;
use std::path::Path;

/// The options of `toolbond guard` that take a value.
pub const GUARD_OPTIONS: [&str; 22] = [
    "--upstream",
    "--header",
    "--listen",
    "--allow-host",
    "--ca-file",
    "--tools",
    "--arguments",
    "--also-repair",
    "--results",
    "--client-validates",
    "--for",
    "--limit",
    "--fuel",
    "--max-message",
    "--allow-fetch",
    "--fetch-lock",
    "--results-file",
    "--max-memory",
    "--log",
    "--log-file",
    "--status",
    "--config",
];

/// The options of `toolbond guard` that take none, and with which it still guards a server.
pub const GUARD_FLAGS: [&str; 10] = [
    "--no-project",
    "--keep-dialects",
    "--keep-eras",
    "--require-list",
    "--log-values",
    "--export-values",
    "--quiet",
    "-q",
    "--verbose",
    "-v",
];

/// What a guard stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// A command, which starts at this argument.
    Command(usize),
    /// A server on HTTP, whose URL is this argument.
    Upstream(usize),
    /// It cannot be taken apart. Says why.
    Other(&'static str),
}

/// What the guard stands before, if this command is one.
pub(crate) fn behind(program: &str, arguments: &[String]) -> Option<Behind> {
    let mut at = verb(program, arguments)? + 1;
    let mut url = None;
    let value_at = |at: usize| {
        let is_value = |word: &String| !word.starts_with('-') || word == "-";
        arguments.get(at).filter(|word| is_value(word)).map(|_| at)
    };
    while let Some(word) = arguments.get(at).filter(|word| word.len() > 1 && word.starts_with('-'))
    {
        at += 1;
        if word == "--" {
            break;
        }
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(it, value)| (it, Some(value)));
        if value.is_none() && GUARD_FLAGS.contains(&name) {
            continue;
        }
        if !GUARD_OPTIONS.contains(&name) {
            return Some(Behind::Other("its guard has an option that is not known"));
        }
        if matches!(name, "--listen" | "--config") {
            return Some(Behind::Other("its guard does not stand before one command or URL"));
        }
        if value.is_some() {
            if name == "--upstream" {
                return Some(Behind::Other("its guard has `--upstream=` and the URL in one word"));
            }
            continue;
        }
        let Some(value) = value_at(at) else {
            return Some(Behind::Other("an option of its guard has no value"));
        };
        if name == "--upstream" {
            url = Some(value);
        }
        at += 1;
    }
    Some(match (url, at < arguments.len()) {
        (None, true) => Behind::Command(at),
        (Some(url), false) => Behind::Upstream(url),
        (None, false) => Behind::Other("its guard has neither a command nor a URL"),
        (Some(_), true) => Behind::Other("its guard has both a command and a URL"),
    })
}

/// The argument `guard`, if this command starts a guard.
pub(crate) fn verb(program: &str, arguments: &[String]) -> Option<usize> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let name =
        [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let is_guard = |at: usize| arguments.get(at).is_some_and(|word| word == "guard");
    if matches!(name, "npx" | "uvx" | "bunx" | "pnpx" | "pipx") {
        let is_option = |word: &&String| word.starts_with('-') || word.as_str() == "run";
        let package = arguments.iter().take_while(is_option).count();
        let rest = arguments.get(package)?.strip_prefix("toolbond")?;
        let is_ours = rest.is_empty() || rest.starts_with(['@', '=']);
        return Some(package + 1).filter(|at| is_ours && is_guard(*at));
    }
    (is_guard(0) && (is_our_name(name) || is_this_program(program))).then_some(0)
}

/// Whether `name` is `toolbond`, also with a version behind it.
fn is_our_name(name: &str) -> bool {
    name.strip_prefix("toolbond").is_some_and(|rest| {
        rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | 'v'))
    })
}

/// Whether `program` is the path of the program that runs, whatever it is called.
fn is_this_program(program: &str) -> bool {
    let path = Path::new(program);
    let real = |path: &Path| fs::canonicalize(path).ok();
    let this = || env::current_exe().ok().and_then(|this| real(&this));
    path.is_absolute() && real(path).is_some_and(|path| this() == Some(path))
}

/// The values of `--header` in the arguments of a guard.
pub(crate) fn headers<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut words = arguments.iter();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) =
            word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        if !GUARD_OPTIONS.contains(&name) {
            continue;
        }
        let value = value.or_else(|| words.next().copied());
        found.extend(value.filter(|_| name == "--header"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Behind, behind};

    #[test]
    fn guards_are_recognised() {
        let other = |reason| Some(Behind::Other(reason));
        for (words, expected) in [
            ("/usr/bin/toolbond guard -- npx -y x", Some(Behind::Command(2))),
            (r"C:\bin\Toolbond.exe guard --results enforce -- x", Some(Behind::Command(4))),
            ("npx -y toolbond@0.1.0 guard -- x", Some(Behind::Command(4))),
            ("npx.cmd toolbond guard -- x", Some(Behind::Command(3))),
            ("uvx toolbond==0.1.0 guard -- x", Some(Behind::Command(3))),
            ("/opt/toolbond-0.1.0 guard -- x", Some(Behind::Command(2))),
            ("toolbond2 guard -- x", Some(Behind::Command(2))),
            ("toolbond guard npx -y x", Some(Behind::Command(1))),
            ("toolbond guard npm run mcp -- --stdio", Some(Behind::Command(1))),
            ("toolbond guard node p.js --upstream https://x", Some(Behind::Command(1))),
            ("toolbond guard -q --fuel=9 --for auto x -- y", Some(Behind::Command(5))),
            ("toolbond guard -- -x", Some(Behind::Command(2))),
            ("toolbond guard --upstream https://a/mcp", Some(Behind::Upstream(2))),
            ("toolbond guard --header A:$B --upstream u -q", Some(Behind::Upstream(4))),
            ("toolbond guard --new x -- y", other("its guard has an option that is not known")),
            ("toolbond guard -qv x", other("its guard has an option that is not known")),
            ("toolbond guard --results -- x", other("an option of its guard has no value")),
            (
                "toolbond guard --config a.toml",
                other("its guard does not stand before one command or URL"),
            ),
            (
                "toolbond guard --upstream=u",
                other("its guard has `--upstream=` and the URL in one word"),
            ),
            ("toolbond guard --upstream u x", other("its guard has both a command and a URL")),
            ("toolbond guard --", other("its guard has neither a command nor a URL")),
            ("toolbond demo --serve", None),
            ("toolbond-tools guard -- x", None),
            ("npx -y toolbond-tools guard -- x", None),
            ("npx -y x toolbond guard -- x", None),
            ("guard -- x", None),
        ] {
            let mut split = words.split(' ').map(str::to_owned);
            let program = split.next().unwrap();
            assert_eq!(behind(&program, &split.collect::<Vec<_>>()), expected, "{words}");
        }
    }
}
