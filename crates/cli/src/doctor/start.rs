//! Starting a server as its client does, and asking it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use toolbond_clients::{Behind, Document, Server, Start};
use toolbond_guard::Launch;
use toolbond_guard::live::Listed;

use super::advice::{advice, wrap_command};
use super::checkup::{Checkup, State};
use super::secrets::Secrets;
use super::variables::expand;
use crate::configs::ConfigFile;
use crate::live::is_interrupted;
use crate::probe::{SignIn, ask_command, ask_url};
use crate::watchdog::start_watchdog;

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
    match ask(document, server, limit, &mut secrets).await {
        Ok(Ok(listed)) => {
            let unguarded = match unguarded(server) {
                Some(unguarded) => ask(document, &unguarded, limit, &mut secrets).await,
                None => Err(String::new()),
            };
            match unguarded {
                Ok(Ok(unguarded)) => checkup.compare(&listed.first, &unguarded.first),
                Ok(Err(error)) if is_interrupted(&error) => return Err(error),
                _ => {}
            }
            checkup.judge(file.client, listed, &wrap_command(file, server));
        }
        Ok(Err(error)) if is_interrupted(&error) => return Err(error),
        Ok(Err(error)) => {
            if error.is::<SignIn>() {
                checkup.reason = Some(error.to_string());
            } else {
                checkup.state = State::Fails;
                checkup.reason = Some(format!("{error:#}"));
                checkup.advice.extend(advice(file, server, &error));
            }
        }
        Err(reason) => checkup.reason = Some(reason),
    }
    checkup.hide(&secrets);
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

/// Asks `server` for its tools. The outer error says why it cannot be asked.
async fn ask(
    document: &Document<'_>,
    server: &Server,
    limit: Duration,
    secrets: &mut Secrets,
) -> Result<anyhow::Result<Listed>, String> {
    let unknown = |it: String| {
        format!("it needs {it}, which is not set here; if the client knows it, all may be well")
    };
    let all = |texts: &BTreeMap<String, String>| {
        let texts = texts.iter().map(|(name, text)| Ok((name.clone(), expand(text)?)));
        texts.collect::<Result<BTreeMap<_, _>, _>>().map_err(unknown)
    };
    secrets.add_inherited();
    match &server.start {
        Start::Unknown(reason) => Err((*reason).to_owned()),
        Start::Remote { url, headers } => {
            let (url, headers) = (expand(url).map_err(unknown)?, all(headers)?);
            secrets.add_all(&headers);
            if let Some((_, query)) = url.split_once('?') {
                secrets.add(query);
            }
            Ok(ask_url(&url, &headers, limit).await)
        }
        Start::Command { program, arguments, .. } => {
            let env = all(&server.env(document))?;
            secrets.add_all(&env);
            let arguments = arguments.iter().map(|word| expand(word));
            let arguments: Vec<_> = arguments.collect::<Result<_, _>>().map_err(unknown)?;
            secrets.add_arguments(&arguments);
            let cwd = server.cwd(document).map(|cwd| expand(&cwd)).transpose().map_err(unknown)?;
            let launch = Launch {
                program: expand(program).map_err(unknown)?.into(),
                arguments: arguments.into_iter().map(Into::into).collect(),
                env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
                cwd: cwd.map(PathBuf::from),
                watchdog: Some(start_watchdog),
            };
            Ok(ask_command(&launch, limit).await)
        }
    }
}

impl Checkup {
    /// Takes the secrets out of all that a server may have said.
    fn hide(&mut self, secrets: &Secrets) {
        let problems = self.problems.iter_mut().map(|it| &mut it.text);
        for text in problems.chain(&mut self.reason).chain(&mut self.name) {
            *text = secrets.hide(text);
        }
    }
}
