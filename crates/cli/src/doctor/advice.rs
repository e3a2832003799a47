//! What to do about a server that gives no tools.

use std::env;
use std::io;
use std::path::Path;

use toolbond_clients::{Behind, Server, Start};
use toolbond_guard::live::ToolsError;

use crate::configs::{ConfigFile, command_for};

/// What to do about `~` before a path.
const TILDE: &str = "no shell replaces `~` here: write the whole path";

/// What to do about `error` of `server`.
pub(super) fn advice(
    file: &ConfigFile,
    server: &Server,
    folder: Option<&Path>,
    error: &anyhow::Error,
) -> Option<String> {
    let (program, arguments, guard) = match &server.start {
        Start::Command { program, arguments, guard } => (program, arguments, guard),
        Start::Remote { url, .. } if has_user(url) => {
            let headers = file.client.headers;
            return Some(format!("take the user out of its URL, and put the key into `{headers}`"));
        }
        Start::Remote { .. } => {
            let text = "start the server if it runs on this machine, or correct its URL";
            return Some(text.to_owned());
        }
        Start::Unknown(_) => return None,
    };
    let is_missing = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|it| matches!(it.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory));
    if let Some(folder) = folder.filter(|folder| is_missing && !folder.is_dir()) {
        let is = if folder.exists() { "is a file" } else { "does not exist" };
        return Some(format!("the folder that it is started in {is}"));
    }
    if is_missing && Path::new(program).is_absolute() && Path::new(program).exists() {
        let text = "the program that the first line of its command names does not exist";
        return Some(text.to_owned());
    }
    if is_missing && guard.is_some() && Path::new(program).is_absolute() {
        return Some(format!("this file does not exist; {}", command_for("wrap", file, server)));
    }
    if is_missing {
        return Some(about_missing(program).to_owned());
    }
    if let Some(Behind::Command(at)) = guard
        && let Some(inner) = arguments.get(*at).filter(|inner| !is_found(inner))
    {
        return Some(about_missing(inner).to_owned());
    }
    let text = match error.downcast_ref::<ToolsError>()? {
        ToolsError::Ended { .. } if arguments.iter().any(|it| it.starts_with("~/")) => TILDE,
        ToolsError::Ended { .. } => {
            "start its command in a terminal to see all that it says; it may want an argument or a variable in `env`"
        }
        ToolsError::Silent { noise: Some(_), .. } => {
            "have it write messages only to standard output, and its log to standard error"
        }
        ToolsError::Silent { .. } => {
            "start its command in a terminal; if it has to download something first, --timeout gives it longer"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Whether there is a user in `url`.
fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// What to do about a program that is not there.
fn about_missing(program: &str) -> &'static str {
    if program.starts_with("~/") {
        TILDE
    } else if program.split_whitespace().count() > 1 {
        "put the words after the first into `args`"
    } else if program.contains(['/', '\\']) {
        "this file does not exist"
    } else {
        "write the full path of the program: a client with a window rarely has the PATH of the shell"
    }
}

/// Whether `program` is a file, or one in a folder of `PATH`. What cannot be told here counts as found.
fn is_found(program: &str) -> bool {
    if cfg!(windows) || program.contains("${") {
        return true;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    if program.contains('/') {
        return Path::new(program).exists() || !Path::new(program).is_absolute();
    }
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
