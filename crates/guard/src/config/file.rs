//! The configuration file: what it holds, and how it is read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolbond_fetch::tls::check_certificates;
use toolbond_fetch::{Fetcher, Policy};

use super::error::ConfigError;
use super::fetch::FetchConfig;
use super::lint::LintConfig;
use super::terms::{Terms, ToolTerms};
use crate::back::child::Launch;
use crate::back::http::parse_upstream;
use crate::results_file::ResultsPlace;
use toolbond_guard_core::settings::{Deployment, Settings};

/// The most bytes of a configuration file.
const MAX_FILE: u64 = 1 << 20;

/// How long a service for a gateway waits for a tool list: less than the `message_timeout` of the examples.
const GATEWAY_LIST_TIMEOUT: Duration = Duration::from_secs(20);

/// The default name of a configuration file.
pub const FILE: &str = "toolbond.toml";

/// A configuration file.
///
/// ```
/// use toolbond_guard::config::Config;
///
/// let text = "[servers.files]\ncommand = 'files-server'\n[servers.files.contract]\nresults = 'enforce'";
/// let config = Config::parse("toolbond.toml".as_ref(), text)?;
/// assert!(config.server_names().eq(["files"]));
///
/// let wrong = Config::parse("toolbond.toml".as_ref(), "[servers.files]\ncomand = 'x'").unwrap_err();
/// assert!(wrong.to_string().starts_with("toolbond.toml:2:1: unknown key `comand`"));
/// assert!(wrong.to_string().ends_with("did you mean `command`?"));
/// # Ok::<(), toolbond_guard::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "toolbond.toml")]
#[non_exhaustive]
pub struct Config {
    /// The address to listen on for clients (default: 127.0.0.1:8080). Each server has the path `/NAME/mcp`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// The address of the status page and the metrics (default: none).
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub status: Option<SocketAddr>,
    /// The file that remembers what the guard learned of output schemas, relative to the folder of this file, or `none`
    /// (default: `toolbond/results-1.json` in the cache folder of the user). `toolbond ext-proc` remembers nothing.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub results_file: Option<ResultsPlace>,
    /// Host names to accept in `Host` and `Origin`, beside `localhost` and its addresses.
    #[serde(default)]
    pub(crate) allow_hosts: Vec<String>,
    /// A PEM file with certificates to trust, beside those of the system.
    #[serde(default)]
    #[schemars(with = "Option<PathBuf>")]
    pub(crate) ca_file: Option<Spanned<PathBuf>>,
    /// The contract of all servers, unless they override it.
    #[serde(default)]
    pub(crate) contract: Terms,
    /// Which documents may be fetched for schemas that refer to them (default: none).
    #[serde(default)]
    #[schemars(with = "Option<FetchConfig>")]
    pub(crate) fetch: Option<Box<Spanned<FetchConfig>>>,
    /// The policy that follows from that.
    #[serde(skip)]
    pub(crate) policy: Option<Policy>,
    /// Who sends the requests of clients.
    #[serde(skip)]
    pub(crate) front: Front,
    /// What `toolbond lint` checks; the guard does not use it.
    #[serde(default)]
    // Boxed: the futures of the guard hold the configuration.
    pub(crate) lint: Box<LintConfig>,
    /// The servers, by name: letters, digits, `-` and `_`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ServerConfig>")]
    pub(crate) servers: BTreeMap<String, Spanned<ServerConfig>>,
}

/// Who sends the requests of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Front {
    /// The clients themselves.
    #[default]
    Clients,
    /// A gateway, such as Envoy: to this process, which may be one of several replicas.
    Gateway,
}

/// One server: a command, or a URL.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ServerConfig {
    /// The program of a server on standard input and output.
    pub(crate) command: Option<String>,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Environment variables, beside those of the guard.
    pub(crate) env: BTreeMap<String, String>,
    /// Its working directory, relative to the folder of this file.
    pub(crate) cwd: Option<PathBuf>,
    /// The most sessions at a time, each with its own process (default: 64).
    #[schemars(range(min = 1))]
    pub(crate) max_sessions: Option<usize>,
    /// After how many idle seconds a session ends (default: 1800).
    pub(crate) idle_seconds: Option<u64>,
    /// The URL of a server on Streamable HTTP.
    pub(crate) url: Option<String>,
    /// The names of its routes in Envoy, for `toolbond ext-proc`; `*` at the end stands for anything (default: the name of
    /// the server).
    pub(crate) routes: Vec<String>,
    /// The contract of this server.
    pub(crate) contract: Terms,
    /// Different options for single tools, by name.
    pub(crate) tools: BTreeMap<String, ToolTerms>,
}

impl Config {
    /// Reads a file.
    ///
    /// Fails if the file cannot be read or is longer than 1 MiB, if [`Config::parse`] fails, or if a
    /// file, folder or command that it names does not exist.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::read_for(path, Front::Clients)
    }

    /// Reads a file for servers whose requests come from `front`.
    ///
    /// Fails if [`Config::read`] does, or if a gateway cannot be in front of a server because that is a command.
    pub fn read_for(path: &Path, front: Front) -> Result<Self, ConfigError> {
        let text = read_text(path)?;
        let config = Self { front, ..Self::parse(path, &text)? };
        config.check_paths(path, &text)?;
        if front == Front::Gateway
            && let Some((name, server)) =
                config.servers.iter().find(|(_, server)| server.get_ref().url.is_none())
        {
            let message = format!(
                "server `{name}`: expected a `url`: a gateway reaches servers over HTTP; `toolbond guard` serves commands there"
            );
            return Err(ConfigError::at(path, &text, server.span().start, message));
        }
        Ok(config)
    }

    /// Who sends the requests of clients.
    pub(crate) fn front(&self) -> Front {
        self.front
    }

    /// The servers in the file at `path`, in one line.
    #[must_use]
    pub fn summary(&self, path: &Path) -> String {
        let names = self.server_names().collect::<Vec<_>>();
        let noun = if names.len() == 1 { "server" } else { "servers" };
        format!("{}: {} {noun}: {}", path.display(), names.len(), names.join(", "))
    }

    /// Checks that everything the file names exists.
    fn check_paths(&self, path: &Path, text: &str) -> Result<(), ConfigError> {
        if let Some(file) = &self.ca_file {
            check_certificates(file.get_ref()).map_err(|error| {
                let message = format!("`ca-file`: {}", describe(&error));
                ConfigError::at(path, text, file.span().start, message)
            })?;
        }
        if let (Some(fetch), Some(policy)) = (&self.fetch, &self.policy) {
            Fetcher::new(policy.clone()).map_err(|error| {
                ConfigError::at(path, text, fetch.span().start, format!("`fetch`: {error}"))
            })?;
        }
        for (name, server) in &self.servers {
            server.get_ref().check_paths().map_err(|wrong| {
                let message = format!("server `{name}`: {wrong}");
                ConfigError::at(path, text, server.span().start, message)
            })?;
        }
        Ok(())
    }

    /// Parses the text of the file at `path`, without opening any file.
    ///
    /// Fails if it is not TOML, has unknown keys or invalid values, or a server that is neither a
    /// command nor a URL.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let mut config: Self =
            toml::from_str(text).map_err(|error| ConfigError::toml(path, text, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(file) = &mut config.ca_file {
            *file.get_mut() = folder.join(file.get_ref());
        }
        config.results_file = config.results_file.map(|place| place.within(folder));
        if let Some(fetch) = &config.fetch {
            let ca_file = config.ca_file.as_ref().map(|file| &**file.get_ref());
            config.policy = fetch.get_ref().policy(folder, ca_file).map_err(|wrong| {
                let message = format!("`fetch`: {wrong}");
                ConfigError::at(path, text, fetch.span().start, message)
            })?;
        }
        if config.servers.is_empty() {
            return Err(ConfigError::at(path, text, 0, "expected a server, found none"));
        }
        for (name, server) in &mut config.servers {
            let start = server.span().start;
            let server = server.as_mut();
            server.cwd = server.cwd.take().map(|cwd| folder.join(cwd));
            let contradiction = || server.contract.contradiction(&config.contract, &server.tools);
            if let Err(wrong) =
                check_name(name).and_then(|()| server.check()).and_then(|()| contradiction())
            {
                let message = format!("server `{name}`: {wrong}");
                return Err(ConfigError::at(path, text, start, message));
            }
        }
        Ok(config)
    }

    /// Reads the results file that the file at `path` names. The servers in the file are not looked at.
    ///
    /// Fails if the file cannot be read, is longer than 1 MiB, is not TOML, or has unknown keys or values.
    pub fn read_results_file(path: &Path) -> Result<Option<ResultsPlace>, ConfigError> {
        let text = read_text(path)?;
        let config: Self =
            toml::from_str(&text).map_err(|error| ConfigError::toml(path, &text, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(config.results_file.map(|place| place.within(folder)))
    }

    /// The settings of the server `name`, whose clients are on HTTP.
    pub(crate) fn settings(&self, name: &str) -> Settings {
        let is_replica = self.front == Front::Gateway;
        let mut settings = Settings::default();
        settings.deployment = if is_replica { Deployment::Replica } else { Deployment::Http };
        settings.require_list = is_replica;
        self.contract.apply(&mut settings);
        if let Some(server) = self.servers.get(name) {
            let server = server.get_ref();
            server.contract.apply_over(&self.contract, &mut settings);
            settings.overrides =
                server.tools.iter().map(|(name, tool)| (name.clone(), tool.into())).collect();
        }
        if is_replica {
            // Before the gateway gives up, which tells the client less.
            settings.list_timeout = GATEWAY_LIST_TIMEOUT;
        }
        // A bridge has sessions of its own at the server, which other replicas would not know.
        settings.translate.eras &= !is_replica;
        settings
    }

    /// What may be fetched for schemas that refer to other documents; by default nothing is.
    pub(crate) fn fetch_policy(&self) -> Option<toolbond_fetch::Policy> {
        self.policy.clone()
    }

    /// The names of the servers, in alphabetical order.
    pub fn server_names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The JSON Schema of the file.
    #[must_use]
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }
}

impl ServerConfig {
    /// How to start it, if it is a process.
    pub(crate) fn launch(&self) -> Option<Launch> {
        Some(Launch {
            program: self.command.as_ref()?.into(),
            arguments: self.args.iter().map(Into::into).collect(),
            env: self.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: self.cwd.clone(),
            watchdog: None,
        })
    }

    /// Whether the route `name` of Envoy leads to it.
    pub(crate) fn has_route(&self, name: &str) -> bool {
        let is_it = |route: &String| match route.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => route == name,
        };
        self.routes.iter().any(is_it)
    }

    /// Checks that its folder and its program exist.
    fn check_paths(&self) -> Result<(), String> {
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(format!("`cwd`: no such folder: {}", cwd.display()));
        }
        self.launch().map_or(Ok(()), |launch| launch.check()).map_err(|error| describe(&error))
    }

    fn check(&self) -> Result<(), String> {
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Err("expected `command` or `url`, found both".to_owned()),
            (None, None) => Err("expected `command` or `url`, found neither".to_owned()),
            (Some(command), None) if command.is_empty() => Err("`command` is empty".to_owned()),
            (Some(_), None) if !self.routes.is_empty() => {
                Err("`routes` is for servers with a `url`".to_owned())
            }
            (Some(_), None) if self.max_sessions == Some(0) => {
                Err("`max-sessions` is 0, expected at least 1".to_owned())
            }
            (Some(_), None) => Ok(()),
            (None, Some(url)) => {
                let of_commands = [
                    ("args", !self.args.is_empty()),
                    ("env", !self.env.is_empty()),
                    ("cwd", self.cwd.is_some()),
                    ("max-sessions", self.max_sessions.is_some()),
                    ("idle-seconds", self.idle_seconds.is_some()),
                ];
                if let Some((key, _)) = of_commands.into_iter().find(|(_, is_set)| *is_set) {
                    return Err(format!("`{key}` is for servers with a `command`"));
                }
                parse_upstream(url).map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

impl LintConfig {
    /// Reads the section of the file at `path`. The servers in the file are not looked at.
    ///
    /// Fails if the file cannot be read, is longer than 1 MiB, or if [`LintConfig::parse`] fails.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::parse(path, &read_text(path)?)
    }

    /// Parses the text of the file at `path`.
    ///
    /// Fails if it is not TOML, or has unknown keys or values.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config: Config =
            toml::from_str(text).map_err(|error| ConfigError::toml(path, text, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut lint = *config.lint;
        lint.baseline = lint.baseline.map(|file| folder.join(file));
        Ok(lint)
    }
}

/// Reads the file at `path`, up to [`MAX_FILE`] bytes.
fn read_text(path: &Path) -> Result<String, ConfigError> {
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| ConfigError::unread(path, &error))?;
    file.take(MAX_FILE + 1)
        .read_to_string(&mut text)
        .map_err(|error| ConfigError::unread(path, &error))?;
    if text.len() as u64 > MAX_FILE {
        let message = format!("file exceeds the limit of {MAX_FILE} bytes");
        return Err(ConfigError { path: path.to_owned(), place: None, message });
    }
    Ok(text)
}

/// Returns an error and its cause as one line.
fn describe(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) {
        Ok(())
    } else {
        Err("expected a name of 1 to 64 letters, digits, `-` and `_`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toolbond_contract::{Mode, Policy};

    use super::Config;

    #[test]
    fn a_server_overrides_what_holds_for_all() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let parse =
            |path: &Path| Config::parse(path, &std::fs::read_to_string(path).unwrap()).unwrap();
        let config = parse(&here.join("examples/several.toml"));
        let (memory, search) = (config.settings("memory"), config.settings("search"));
        assert_eq!((memory.tools, memory.results), (Some(Policy::Repair), Mode::Enforce));
        assert_eq!((search.tools, search.results), (Some(Policy::Repair), Mode::Warn));
        let target = |settings: &crate::Settings, client| settings.target(client).map(|it| it.name);
        assert_eq!(target(&memory, Some("claude-code")), Some("claude-code"));
        assert_eq!(target(&memory, None), None);
        assert_eq!(target(&search, Some("claude-code")), None);
        assert_eq!(target(&search, Some("my-agent")), Some("gemini"));
        let memory = config.servers["memory"].get_ref();
        assert_eq!(memory.cwd.as_deref(), Some(&*here.join("examples/data")));

        let config = parse(&here.join("examples/tools.toml"));
        let files = config.settings("files");
        assert_eq!(files.arguments_mode("search"), Mode::Warn);
        assert_eq!(files.results_mode("search"), Mode::Off);
        assert_eq!(files.arguments_mode("another"), Mode::Repair);
        assert!(files.is_hidden("delete_everything") && !files.is_hidden("search"));
    }
}
