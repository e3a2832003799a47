//! The guards in a configuration, as far as they can be told from its commands and from what was kept of it.

use std::collections::HashMap;
use std::path::Path;

use toolbond_clients::{Document, EditError, Record, Server, Start, can_unwrap, unwrap};

use crate::configs::{ConfigFile, full_name};

/// What is known of the guards in a file.
pub(crate) struct Guards {
    /// What was kept of it.
    pub(crate) record: Option<Record>,
    /// The servers that it had before, by their full names.
    before: HashMap<String, Server>,
    /// Whether it is as it was written then.
    pub(crate) is_unchanged: bool,
}

impl Guards {
    pub(crate) fn read(file: &ConfigFile, data: &Path) -> anyhow::Result<Self> {
        let record = Record::read(data, &file.real);
        let is_unchanged = record.as_ref().is_some_and(|it| it.is_unchanged(&file.text));
        let before = match &record {
            Some(record) => {
                Document::parse(&record.before, file.client.syntax)?.servers(file.client)
            }
            None => Vec::new(),
        };
        let before = before.into_iter().map(|server| (full_name(&server), server)).collect();
        Ok(Self { record, before, is_unchanged })
    }

    fn before(&self, server: &Server) -> Option<&Server> {
        self.before.get(&full_name(server))
    }

    /// Whether a guard stands before `server`.
    pub(crate) fn is_guarded(&self, server: &Server) -> bool {
        server.is_guarded() || self.was_written(server)
    }

    /// Whether the record tells that `toolbond wrap` wrote the command of `server`, whatever the program is called.
    fn was_written(&self, server: &Server) -> bool {
        let before = self.before(server).filter(|_| self.is_unchanged);
        before.is_some_and(|before| !before.is_guarded() && before.start != server.start)
    }

    /// Whether the guard of `server` is as `toolbond wrap` wrote it, without options.
    pub(crate) fn is_ours(&self, server: &Server) -> bool {
        let had_one = self.before(server).is_some_and(Server::is_guarded);
        let is_as_written =
            server.is_wrapped() || (!server.is_guarded() && self.was_written(server));
        is_as_written && !had_one
    }

    /// Whether it is known what `server` was before its guard came, whatever options the guard has now.
    pub(crate) fn is_known(&self, server: &Server) -> bool {
        self.is_guarded(server) && self.before(server).is_some_and(|before| !before.is_guarded())
    }

    /// Why the guard of `server` goes only if that is named.
    pub(crate) fn why_named(server: &Server) -> &'static str {
        let Start::Command { arguments, .. } = &server.start else { return "" };
        let first = server.verb().and_then(|verb| arguments.get(verb + 1));
        if !server.is_wrapped() && first.is_some_and(|word| word.starts_with('-')) {
            "its guard has options"
        } else {
            "`toolbond wrap` did not write its guard"
        }
    }

    /// What the file was before any of its servers was wrapped. Without a record, whatever guards it has are not of `wrap`.
    pub(crate) fn text_before(&self, file: &ConfigFile) -> anyhow::Result<String> {
        if self.record.is_none() {
            return Ok(file.text.clone());
        }
        if let Some(record) = self.record.as_ref().filter(|_| self.is_unchanged) {
            return Ok(record.before.clone());
        }
        let document = file.document()?;
        let servers = document.servers(file.client).into_iter();
        let is_new = |server: &Server| self.is_ours(server) || self.is_known(server);
        let ours: Vec<_> = servers.filter(is_new).collect();
        Ok(self.unwrap(file, &ours)?.text)
    }

    /// Takes the guards of `servers` away, each as far as that is possible.
    pub(crate) fn unwrap(
        &self,
        file: &ConfigFile,
        servers: &[Server],
    ) -> anyhow::Result<Unwrapped> {
        let document = file.document()?;
        let known = self.record.as_ref().map(|it| Document::parse(&it.before, file.client.syntax));
        let known = known.transpose()?;
        let (mut going, mut staying) = (Vec::new(), Vec::new());
        for server in servers {
            match can_unwrap(&document, server, known.as_ref()) {
                _ if !server.is_guarded() => {
                    staying.push((server.clone(), "its command is not recognised as a guard"));
                }
                Ok(()) => going.push(server.clone()),
                Err(EditError::Unsupported { reason, .. }) => {
                    staying.push((server.clone(), reason));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let text = unwrap(&document, &going, known.as_ref())?;
        Ok(Unwrapped { text, going, staying })
    }
}

/// A file without guards.
#[derive(Default)]
pub(crate) struct Unwrapped {
    pub(crate) text: String,
    /// The servers that have no guard in it.
    pub(crate) going: Vec<Server>,
    /// The servers whose guard stays, and why.
    pub(crate) staying: Vec<(Server, &'static str)>,
}

/// The program of the guard before `server`, if it is at a path where there is none any more.
pub(crate) fn missing_program(server: &Server) -> Option<&Path> {
    let Start::Command { program, guard: Some(_), .. } = &server.start else { return None };
    // Of a guard behind another program, it is not known what to write.
    server.verb()?;
    Some(Path::new(program)).filter(|path| path.is_absolute() && !path.exists())
}
