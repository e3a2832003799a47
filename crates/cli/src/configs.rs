//! The configurations of clients on this machine: which are meant, reading them, and replacing them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use toolbond_clients::{
    CLIENTS, Client, Document, Folders, Os, Server, UnknownName, client, client_of_file,
};

use crate::input::read_text;
use crate::replace::{remove_left, replace_if};
use crate::secrets::Secrets;
use crate::words::quoted;

/// Which servers are meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Choice {
    /// The client: `claude-desktop`, `claude-code`, `cursor`, `vscode`, `codex` or `gemini-cli`. Without
    /// one, all that have a configuration, for the user or in this folder
    #[arg(value_name = "CLIENT")]
    client: Option<String>,

    /// The servers, by their names in the configuration
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,

    /// This configuration, wherever it is. All names are those of servers then
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Clients whose files `--file` has to name.
const OTHERS: [&str; 6] = ["windsurf", "zed", "cline", "roo", "goose", "lm-studio"];

/// The configuration of a client.
pub(crate) struct ConfigFile {
    pub(crate) client: &'static Client,
    path: PathBuf,
    /// The path for people.
    pub(crate) name: String,
    /// The path without links.
    pub(crate) real: PathBuf,
    pub(crate) text: String,
    /// Whether it belongs to a project, and others may use it.
    pub(crate) is_project: bool,
}

/// The folders of the user.
pub(crate) fn folders() -> anyhow::Result<Folders> {
    let name = Folders::home_variable(Os::this());
    Folders::of_user().ok_or_else(|| anyhow!("no home folder: {name} is not set to a path"))
}

impl Choice {
    /// The names of servers in it. With a file, there is no client to name.
    pub(crate) fn settle(mut self) -> Self {
        if self.file.is_some() {
            self.servers.splice(0..0, self.client.take());
        }
        self
    }

    /// Whether servers are named.
    pub(crate) fn is_named(&self) -> bool {
        !self.servers.is_empty()
    }

    /// The configurations that are there, or why they cannot be read.
    pub(crate) fn files(
        &self,
        folders: &Folders,
    ) -> anyhow::Result<Vec<anyhow::Result<ConfigFile>>> {
        if let Some(path) = &self.file {
            let name = path.display().to_string();
            return Ok(vec![ConfigFile::read(client_of_file(path), path, name, true)]);
        }
        let clients: Vec<&Client> = match &self.client {
            Some(name) => vec![client(name).map_err(|error| self.with_client(folders, error))?],
            None => CLIENTS.iter().collect(),
        };
        let (mut files, mut missing) = (Vec::<anyhow::Result<ConfigFile>>::new(), Vec::new());
        for client in clients {
            let of_user = folders.user_files(client).into_iter().map(|path| (path, false));
            let of_project = client.paths.project.iter().map(|path| (PathBuf::from(path), true));
            for (path, is_project) in of_user.chain(of_project) {
                // A link to nothing and a folder that cannot be read are errors, not nothing.
                if fs::symlink_metadata(&path)
                    .is_err_and(|it| it.kind() == std::io::ErrorKind::NotFound)
                {
                    missing.push(shown(&path, folders));
                    continue;
                }
                let file = ConfigFile::read(client, &path, shown(&path, folders), is_project);
                // In the home folder, a file of the project is one of the user.
                let is_same =
                    |file: &ConfigFile| files.iter().flatten().any(|known| known.real == file.real);
                if !file.as_ref().is_ok_and(is_same) {
                    files.push(file);
                }
            }
        }
        match &self.client {
            _ if !files.is_empty() => Ok(files),
            Some(name) => {
                bail!("no configuration of {name}: there is no {}", missing.join(", no "))
            }
            None => bail!("no configuration of a client found; --file names one"),
        }
    }

    /// `error`, or what to write if its name is that of another client, of a file or of a server.
    fn with_client(&self, folders: &Folders, error: UnknownName) -> anyhow::Error {
        let found = &error.found;
        let extension = Path::new(found).extension();
        let is_file = extension.is_some_and(|it| it == "json" || it == "toml");
        match found.to_lowercase().as_str() {
            "claude" => {
                return anyhow!(
                    "no client `{found}`; did you mean `claude-desktop` or `claude-code`?"
                );
            }
            "code" | "vs-code" => return anyhow!("no client `{found}`; did you mean `vscode`?"),
            _ if OTHERS.contains(&found.to_lowercase().as_str()) || is_file => {
                return anyhow!("no client `{found}`; --file names the configuration of any other");
            }
            _ => {}
        }
        let any = Self { client: None, servers: Vec::new(), file: None };
        let files = any.files(folders).unwrap_or_default();
        let has_it = |file: &&ConfigFile| {
            file.servers().is_ok_and(|servers| servers.iter().any(|it| it.name == *found))
        };
        let near = |file: &ConfigFile| {
            let servers = file.servers().ok()?;
            let names = servers.iter().map(|server| server.name.as_str());
            Some((file.client, UnknownName::new("server", found, names).similar?))
        };
        let exact = files.iter().flatten().find(has_it).map(|file| (file.client, found.clone()));
        let similar = || error.similar.is_none().then(|| files.iter().flatten().find_map(near));
        match exact.or_else(|| similar().flatten()) {
            Some((client, server)) if self.servers.is_empty() => {
                anyhow!("no client `{found}`; did you mean `{} {server}`?", client.name)
            }
            _ => error.into(),
        }
    }

    /// Fails if a server that is named is in none of these lists.
    pub(crate) fn check_names<'a>(
        &self,
        servers: impl Iterator<Item = &'a Server> + Clone,
    ) -> anyhow::Result<()> {
        for name in &self.servers {
            if !servers.clone().any(|server| server.name == *name) {
                let known = servers.map(|server| server.name.as_str());
                return Err(UnknownName::new("server", name, known).into());
            }
        }
        Ok(())
    }

    /// Whether `server` is one of those that are named.
    pub(crate) fn names(&self, server: &Server) -> bool {
        self.servers.contains(&server.name)
    }
}

impl ConfigFile {
    fn read(
        client: &'static Client,
        path: &Path,
        name: String,
        is_project: bool,
    ) -> anyhow::Result<Self> {
        let text = read(path)?;
        let real = fs::canonicalize(path).with_context(|| name.clone())?;
        let file = Self { client, path: path.to_owned(), name, real, text, is_project };
        file.document()?;
        Ok(file)
    }

    /// What is in it.
    pub(crate) fn document(&self) -> anyhow::Result<Document<'_>> {
        let parsed = Document::parse(&self.text, self.client.syntax);
        parsed.map_err(|error| anyhow!("{}:{error}", self.name))
    }

    /// The servers in it.
    pub(crate) fn servers(&self) -> anyhow::Result<Vec<Server>> {
        Ok(self.document()?.servers(self.client))
    }

    /// What in it is not to be printed.
    pub(crate) fn secrets(&self) -> anyhow::Result<Secrets> {
        let document = self.document()?;
        Ok(Secrets::of_document(&document, &document.servers(self.client)))
    }

    /// Fails if the file cannot be replaced by another one: it is read-only, or it was changed since it was read.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let name = &self.name;
        if fs::metadata(&self.real).is_ok_and(|data| data.permissions().readonly()) {
            bail!("{name}: the file is read-only; nothing was written");
        }
        if read(&self.path)? != self.text {
            bail!("{name}: the file was changed meanwhile; nothing was written");
        }
        Ok(())
    }

    /// Replaces the file, unless it was changed since it was read. The lock is held.
    pub(crate) fn write(&self, text: &str) -> anyhow::Result<()> {
        remove_left(&self.real);
        replace_if(&self.real, text.as_bytes(), || self.check())
    }
}

/// The text of the file at `path`. A pipe or a device might never end.
fn read(path: &Path) -> anyhow::Result<String> {
    if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        bail!("{}: expected a regular file", path.display());
    }
    read_text(path)
}

/// The name of `server`, with the project where it has one.
pub(crate) fn full_name(server: &Server) -> String {
    match &server.project {
        Some(project) => format!("{} (in {project})", server.name),
        None => server.name.clone(),
    }
}

/// The command that does `verb` with `server`.
pub(crate) fn command_for(verb: &str, file: &ConfigFile, server: &Server) -> String {
    // `other` is the name of no client.
    if file.client.name == "other" {
        format!("toolbond {verb} --file {} {}", quoted(&file.name), quoted(&server.name))
    } else {
        format!("toolbond {verb} {} {}", file.client.name, quoted(&server.name))
    }
}

/// `path` for people: `~` stands for the home folder.
pub(crate) fn shown(path: &Path, folders: &Folders) -> String {
    match path.strip_prefix(folders.home()) {
        Ok(rest) => Path::new("~").join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
