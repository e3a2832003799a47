//! Starting a server as its client does, and asking it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use toolbond_clients::{Behind, Document, Server, Start};
use toolbond_guard::live::{Listed, ToolsError};
use toolbond_guard::{Launch, StartError};

use super::advice::advice;
use super::checkup::{Checkup, State};
use super::variables::expand;
use crate::configs::{ConfigFile, command_for};
use crate::live::is_interrupted;
use crate::probe::{SignIn, ask_command, ask_url};
use crate::secrets::Secrets;
use crate::watchdog::start_watchdog;

/// How the warning of a guard about the end of its server starts.
const ENDED: &str = "server: the server ended before it answered (";

/// Asks `server` for its tools and judges them. Fails only if a signal ends this.
pub(crate) async fn check(
    file: &ConfigFile,
    document: &Document<'_>,
    server: &Server,
    limit: Duration,
) -> anyhow::Result<Checkup> {
    let mut checkup = Checkup {
        client: file.client.name,
        file: file.name.clone(),
        server: server.name.clone(),
        project: server.project.clone(),
        is_guarded: server.is_guarded(),
        state: State::Unchecked,
        reason: None,
        revision: None,
        name: None,
        tools: None,
        problems: Vec::new(),
        left_out: Vec::new(),
        guard: Vec::new(),
        advice: Vec::new(),
    };
    if server.is_disabled(document) {
        checkup.reason = Some("it is disabled".to_owned());
        return Ok(checkup);
    }
    let mut secrets = Secrets::default();
    match ask(file, document, server, limit, &mut secrets).await {
        Ok(Ok(listed)) => {
            let unguarded = match unguarded(server) {
                Some(unguarded) => ask(file, document, &unguarded, limit, &mut secrets).await,
                None => Err(String::new()),
            };
            match unguarded {
                Ok(Ok(unguarded)) => checkup.compare(&listed.first, &unguarded.first),
                Ok(Err(error)) if is_interrupted(&error) => return Err(error),
                _ => {}
            }
            checkup.judge(file.client, listed, &command_for("wrap", file, server));
        }
        Ok(Err(error)) if is_interrupted(&error) => return Err(error),
        Ok(Err(error)) => {
            if error.is::<SignIn>() {
                checkup.reason = Some(error.to_string());
            } else {
                checkup.state = State::Fails;
                checkup.reason = Some(format!("{error:#}"));
                let folder = folder(file, document, server).ok().flatten();
                checkup.advice.extend(advice(file, server, folder.as_deref(), &error));
            }
        }
        Err(reason) => checkup.reason = Some(reason),
    }
    checkup.hide_names(&secrets);
    Ok(checkup)
}

/// `server` without its guard, which may leave out tools.
fn unguarded(server: &Server) -> Option<Server> {
    let Start::Command { arguments, guard: Some(Behind::Command(at)), .. } = &server.start else {
        return None;
    };
    let (program, arguments) = arguments.get(*at..)?.split_first()?;
    let mut unguarded = server.clone();
    unguarded.start =
        Start::Command { program: program.clone(), arguments: arguments.to_vec(), guard: None };
    Some(unguarded)
}

/// Says that the client may know the variable `it`.
fn unknown(it: &str) -> String {
    format!("it needs {it}, which is not set here; if the client knows it, all may be well")
}

/// The folder that the client starts `server` in, if it is not its own: that of its project, if it does not say.
fn folder(
    file: &ConfigFile,
    document: &Document<'_>,
    server: &Server,
) -> Result<Option<PathBuf>, String> {
    let project = server.project.as_ref().map(PathBuf::from);
    let Some(cwd) = server.cwd(document) else { return Ok(project) };
    if cwd.starts_with('~') {
        return Err("its `cwd` starts with `~`, which only the client can replace".to_owned());
    }
    let cwd = expand(&cwd, file.client.variables).map_err(|it| unknown(&it))?;
    Ok(Some(project.unwrap_or_default().join(cwd)))
}

/// Asks `server` for its tools. What comes back is without secrets. The outer error says why it cannot be asked.
async fn ask(
    file: &ConfigFile,
    document: &Document<'_>,
    server: &Server,
    limit: Duration,
    secrets: &mut Secrets,
) -> Result<anyhow::Result<Listed>, String> {
    let asked = ask_as_is(file, document, server, limit, secrets).await?;
    Ok(asked.map(|listed| without(listed, secrets)).map_err(|error| hidden(error, secrets)))
}

/// `listed` without the secrets in what is printed of it.
fn without(mut listed: Listed, secrets: &Secrets) -> Listed {
    listed.name = listed.name.map(|name| secrets.hide(&name));
    listed.noise = listed.noise.map(|line| secrets.hide_cut(&line));
    listed.revision = secrets.hide(&listed.revision);
    listed
}

/// What a guard says of the end of its server, where `how` quotes that; else `how`.
fn inside(how: &str) -> &str {
    let found = how.split_once("stderr: toolbond: ").and_then(|(_, line)| line.split_once(ENDED));
    found.map_or(how, |(_, inside)| inside.strip_suffix(')').unwrap_or(inside))
}

/// `error` without the secrets in what it quotes.
fn hidden(mut error: anyhow::Error, secrets: &Secrets) -> anyhow::Error {
    if let Some(StartError::Start { program, .. }) = error.downcast_mut() {
        *program = secrets.hide(program);
    } else if let Some(error) = error.downcast_mut::<ToolsError>() {
        if let Some(quote) = error.quote_mut() {
            *quote = secrets.hide_cut(inside(quote));
        }
    } else if !error.is::<SignIn>() {
        return anyhow!(secrets.hide(&format!("{error:#}")));
    }
    error
}

async fn ask_as_is(
    file: &ConfigFile,
    document: &Document<'_>,
    server: &Server,
    limit: Duration,
    secrets: &mut Secrets,
) -> Result<anyhow::Result<Listed>, String> {
    let expand = |text: &str| expand(text, file.client.variables).map_err(|it| unknown(&it));
    let all = |texts: &BTreeMap<String, String>| {
        let texts = texts.iter().map(|(name, text)| Ok((name.clone(), expand(text)?)));
        texts.collect::<Result<BTreeMap<_, _>, String>>()
    };
    secrets.add_inherited();
    secrets.add_server(document, server);
    match &server.start {
        Start::Unknown(reason) => Err((*reason).to_owned()),
        Start::Command { .. } if server.has_env_file(document) => {
            Err("its variables are in a file (`envFile`), which only the client reads".to_owned())
        }
        Start::Remote { url, headers } => {
            let (url, headers) = (expand(url)?, all(headers)?);
            secrets.add_headers(&headers);
            secrets.add_url(&url);
            Ok(ask_url(&url, &headers, limit).await)
        }
        Start::Command { program, arguments, .. } => {
            let env = all(&server.env(document))?;
            secrets.add_variables(&env);
            let arguments = arguments.iter().map(|word| expand(word));
            let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
            let program = expand(program)?;
            secrets.add_command(&program, &arguments);
            let launch = Launch {
                program: program.into(),
                arguments: arguments.into_iter().map(Into::into).collect(),
                env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
                cwd: folder(file, document, server)?,
                watchdog: Some(start_watchdog),
            };
            Ok(ask_command(&launch, limit).await)
        }
    }
}

impl Checkup {
    /// Takes the secrets out of the names of tools.
    fn hide_names(&mut self, secrets: &Secrets) {
        for problem in &mut self.problems {
            problem.tools = problem.tools.iter().map(|name| secrets.hide(name)).collect();
        }
        for name in &mut self.left_out {
            *name = secrets.hide(name);
        }
    }
}
