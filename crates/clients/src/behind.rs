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
    let Some(verb) = verb(program, arguments) else {
        let reason = "its guard is started in a way that cannot be taken apart";
        return mentions_guard(program, arguments).then_some(Behind::Other(reason));
    };
    let mut at = verb + 1;
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
    let name = name_of(program);
    let name = name.as_str();
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

/// What starts the rest of its command line.
const RUNNERS: [&str; 33] = [
    "npx",
    "npm",
    "pnpm",
    "pnpx",
    "yarn",
    "bun",
    "bunx",
    "uv",
    "uvx",
    "pipx",
    "poetry",
    "python",
    "python3",
    "py",
    "mise",
    "asdf",
    "direnv",
    "dotenv",
    "dotenvx",
    "op",
    "doppler",
    "infisical",
    "env",
    "sudo",
    "doas",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "flatpak-spawn",
    "systemd-run",
    "chronic",
    "time",
];

/// What such a program does.
const RUNS: [&str; 6] = ["run", "exec", "x", "dlx", "tool", "start"];

/// What reads a line as a command.
const SHELLS: [&str; 9] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "cmd", "powershell"];

/// Whether `toolbond guard` and what it guards stand somewhere in a command: behind a package runner with options, `env`,
/// or in a line for a shell. After `--`, only if nothing but such programs stands before it.
fn mentions_guard(program: &str, arguments: &[String]) -> bool {
    let mut words: Vec<_> = program.split_whitespace().collect();
    let mut in_shell = words.iter().any(|word| is_shell(word));
    for argument in arguments {
        if in_shell && argument.contains(char::is_whitespace) {
            words.push("&&");
            // What follows `#` is a comment.
            words.extend(argument.split_whitespace().take_while(|word| !word.starts_with('#')));
        } else {
            words.push(argument);
        }
        in_shell |= is_shell(argument);
    }
    let (mut only_runners, mut is_after, mut is_option) = (true, false, false);
    for (index, word) in words.iter().enumerate() {
        let is_guard = is_ours(word) && words.get(index + 1) == Some(&"guard");
        if is_guard && words.len() > index + 2 && (only_runners || !is_after) {
            return true;
        }
        if *word == "--" {
            is_after = true;
            is_option = false;
        } else if in_shell
            && (matches!(*word, "&&" | "||" | "|" | "&" | "exec") || word.ends_with(';'))
        {
            (only_runners, is_after, is_option) = (true, false, false);
        } else {
            let name = name_of(word);
            let is_runner = RUNNERS.contains(&name.as_str()) || RUNS.contains(&name.as_str());
            let is_flag = word.starts_with('-');
            only_runners &=
                is_runner || is_flag || is_option || word.contains('=') || is_shell(word);
            // The next word may be its value.
            is_option = is_flag && !matches!(*word, "-y" | "--yes" | "-i" | "-q");
        }
    }
    false
}

/// The name of a program, without its folder, quotes and extension.
fn name_of(program: &str) -> String {
    let program = program.trim_matches(['"', '\'']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let end = [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end));
    end.map(str::to_owned).unwrap_or(name)
}

fn is_shell(word: &str) -> bool {
    let name = name_of(word);
    SHELLS.contains(&name.as_str()) || name == "pwsh"
}

/// Whether `word` is our program, our package or our image.
fn is_ours(word: &str) -> bool {
    let name = name_of(word);
    let rest = name.strip_prefix("toolbond");
    rest.is_some_and(|it| it.starts_with(['@', '=', ':'])) || is_our_name(&name)
}

/// Whether `name` is `toolbond`, also with a version or a platform behind it.
fn is_our_name(name: &str) -> bool {
    let is_platform = |part: &str| {
        let systems = ["linux", "darwin", "windows"];
        systems.iter().any(|system| part.contains(system))
            && ["x86_64", "aarch64", "arm", "i686", "riscv64"].iter().any(|it| part.contains(it))
    };
    name.strip_prefix("toolbond").is_some_and(|rest| {
        rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | 'v'))
            || (rest.starts_with('-') && is_platform(rest))
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
            ("toolbond-linux guard -- x", None),
            ("toolbond-x86_64-unknown-linux-gnu guard -- x", Some(Behind::Command(2))),
            ("npx -y server-filesystem /src/toolbond guard", None),
            ("npx -y srv -- toolbond guard x", None),
            ("npm run mcp -- y toolbond guard x", None),
            ("npx -y toolbond-tools guard -- x", None),
            ("npx -y x -- y toolbond guard", None),
            ("x toolbond --help guard", None),
            ("guard -- x", None),
        ] {
            let mut split = words.split(' ').map(str::to_owned);
            let program = split.next().unwrap();
            assert_eq!(behind(&program, &split.collect::<Vec<_>>()), expected, "{words}");
        }
    }

    #[test]
    fn a_guard_behind_another_program_is_not_wrapped_again() {
        let reason = "its guard is started in a way that cannot be taken apart";
        for words in [
            "cmd /c toolbond guard -- x",
            "npx -y -p toolbond toolbond guard -- x",
            "npm exec -- toolbond guard -- x",
            "npm exec toolbond@0.1.0 guard x",
            "pnpm dlx toolbond guard -- x",
            "yarn dlx toolbond guard -- x",
            "bun x toolbond guard -- x",
            "bunx --bun -p toolbond toolbond guard -- x",
            "uvx --from toolbond toolbond guard -- x",
            "uvx --python 3.12 toolbond==0.1.0 guard -- x",
            "uv tool run toolbond guard -- x",
            "python3 -m toolbond guard -- x",
            "env A=b toolbond guard -- x",
            "sudo /opt/toolbond guard -- x",
            r"cmd.exe /c C:\bin\Toolbond.exe guard -- x",
            "op run --env-file .env -- npx -y toolbond guard -- x",
            "dotenv -- npx toolbond guard -- x",
            "mise exec -- npx -y toolbond guard -- x",
            "sudo -- env A=b toolbond guard -- x",
            "uv run --with toolbond -- python -m toolbond guard -- x",
            "env A=b toolbond-aarch64-apple-darwin guard -- x",
            "docker run -i --rm ghcr.io/ada/toolbond:0.1.0 guard -- x",
        ] {
            let mut split = words.split(' ').map(str::to_owned);
            let program = split.next().unwrap();
            let found = behind(&program, &split.collect::<Vec<_>>());
            assert_eq!(found, Some(Behind::Other(reason)), "{words}");
        }
        for (program, word, line, is_guard) in [
            ("sh", "-c", "exec 'toolbond' guard -- x", true),
            ("bash", "-lc", "\"/opt/my tools/toolbond\" guard -- x", true),
            ("sh", "-c", "cd /x && op run -- npx -y toolbond guard -- x", true),
            ("powershell", "-Command", r"& 'C:\tb\toolbond.exe' guard -- x", true),
            ("sh", "-c", "exec x # was: toolbond guard -- x", false),
            ("sh", "-c", "srv -- toolbond guard y", false),
            ("npx", "srv", "Ask whether toolbond guard is on", false),
        ] {
            let found = behind(program, &[word, line].map(str::to_owned));
            assert_eq!(found, is_guard.then_some(Behind::Other(reason)), "{line}");
        }
        assert_eq!(behind("toolbond guard -- x", &[]), Some(Behind::Other(reason)));
    }
}
