//! The guards in a configuration, as far as they can be told from its commands and from what was kept of it.

use std::path::Path;

use toolbond_clients::{Document, EditError, Record, Server, Start, unwrap};

use crate::configs::{ConfigFile, full_name};

/// What is known of the guards in a file.
pub(crate) struct Guards {
    /// What was kept of it.
    pub(crate) record: Option<Record>,
    /// The servers that it had before.
    before: Vec<Server>,
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
        Ok(Self { record, before, is_unchanged })
    }

    fn before(&self, server: &Server) -> Option<&Server> {
        self.before.iter().find(|it| full_name(it) == full_name(server))
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

    /// Whether `toolbond wrap` wrote the guard of `server`: it had none before, or its guard is as `wrap` writes one.
    pub(crate) fn is_ours(&self, server: &Server) -> bool {
        match self.before(server) {
            Some(before) => self.is_guarded(server) && !before.is_guarded(),
            None => server.is_wrapped(),
        }
    }

    /// What the file was before any of its servers was wrapped.
    pub(crate) fn text_before(&self, file: &ConfigFile) -> anyhow::Result<String> {
        if let Some(record) = self.record.as_ref().filter(|_| self.is_unchanged) {
            return Ok(record.before.clone());
        }
        let document = file.document()?;
        let servers = document.servers(file.client).into_iter();
        let ours: Vec<_> = servers.filter(|server| self.is_ours(server)).collect();
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
        let without = |servers: &[Server]| unwrap(&document, servers, known.as_ref());
        let (mut going, mut staying) = (Vec::new(), Vec::new());
        for server in servers {
            match without(std::slice::from_ref(server)) {
                _ if !server.is_guarded() => {
                    staying.push((server.clone(), "its command is not recognised as a guard"));
                }
                Ok(_) => going.push(server.clone()),
                Err(EditError::Unsupported { reason, .. }) => {
                    staying.push((server.clone(), reason));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Unwrapped { text: without(&going)?, going, staying })
    }
}

/// A file without guards.
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
    Some(Path::new(program)).filter(|path| path.is_absolute() && !path.exists())
}
