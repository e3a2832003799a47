//! What a guard does with the messages of a server.

use std::collections::HashMap;
use std::time::Duration;

use toolbond_contract::{Mode, Policy, Repairs, Revision, Side};
use toolbond_targets::{Target, ViewFor};

use crate::audience::Validation;
use crate::validating_clients::{reads_only_text, validation};

/// What a guard does with the messages of a server.
///
/// ```
/// use toolbond_contract::Mode;
/// use toolbond_guard_core::settings::Settings;
///
/// let mut settings = Settings::default();
/// assert_eq!(settings.arguments, Mode::Repair);
/// settings.results = Mode::Enforce;
/// assert!(settings.is_inspecting());
/// assert!(!Settings::off().is_inspecting());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// What to do with a tool that clients cannot use; `None` leaves tool lists as they are.
    pub tools: Option<Policy>,
    /// What to do with invalid arguments.
    pub arguments: Mode,
    /// The repairs of arguments under [`Mode::Repair`].
    pub repairs: Repairs,
    /// What to do with invalid results.
    pub results: Mode,
    pub translate: Translations,
    /// The target whose form of the tools clients get.
    pub view_for: ViewFor,
    /// The same for clients of these names.
    pub view_for_clients: HashMap<String, ViewFor>,
    /// How schemas are compiled, their limits and the fuel of a validation included.
    pub schema: toolbond_schema::Options,
    pub deployment: Deployment,
    /// Whether clients of these names validate results, where the guard does not know it or is wrong.
    pub client_validates: HashMap<String, bool>,
    pub show_values: ShowValues,
    /// The most bytes of one message. Longer messages are not read; whoever waits for one gets an error.
    pub max_message: usize,
    /// How long the guard waits for a tool list that it requests itself.
    pub list_timeout: Duration,
    /// Whether calls that have no contract are refused instead of being forwarded unchecked: while the tool list cannot be
    /// fetched, and of tools that the server does not list. [`Mode::Enforce`] implies that.
    pub require_list: bool,
    /// Different settings for single tools, by name.
    pub overrides: HashMap<String, Override>,
}

/// What the guard translates for clients that could not read it otherwise; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Translations {
    /// Whether tools and results get the shape that the client's protocol revision can carry.
    pub revisions: bool,
    /// Whether clients and servers of different eras of the protocol understand each other: before 2026-07-28, and from
    /// then on.
    pub eras: bool,
    /// Whether schemas in older dialects are converted to 2020-12.
    pub dialects: bool,
}

/// Where the guard shows the values of arguments and results; nowhere by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShowValues {
    /// In findings about calls.
    pub in_log: bool,
    /// In the spans of calls, shortened and without what looks like a secret.
    pub in_spans: bool,
}

/// Where a guard stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deployment {
    /// In front of one client on a pipe. A wrong `x-mcp-header` annotation is only a warning: nobody uses headers.
    #[default]
    Pipe,
    /// In front of clients on HTTP.
    Http,
    /// Behind a gateway, beside other replicas that serve the same clients, so that this one may not hear of a changed
    /// list. The list is then requested again before a call is refused because of it, and when it is a minute old.
    Replica,
}

/// Different settings for one tool.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Override {
    /// What to do with invalid arguments.
    pub arguments: Option<Mode>,
    /// What to do with invalid results.
    pub results: Option<Mode>,
    /// Whether to hide the tool: clients neither see it nor can call it.
    pub hide: bool,
}

/// The default of [`Settings::max_message`]: 16 MiB.
pub const MAX_MESSAGE: usize = 16 << 20;

impl Default for Settings {
    fn default() -> Self {
        Self {
            tools: Some(Policy::Repair),
            arguments: Mode::Repair,
            repairs: Repairs::default(),
            results: Mode::Repair,
            translate: Translations { revisions: true, eras: true, dialects: true },
            view_for: ViewFor::None,
            view_for_clients: HashMap::new(),
            schema: toolbond_schema::Options::default(),
            deployment: Deployment::default(),
            client_validates: HashMap::new(),
            show_values: ShowValues::default(),
            max_message: MAX_MESSAGE,
            list_timeout: Duration::from_secs(30),
            require_list: false,
            overrides: HashMap::new(),
        }
    }
}

impl Settings {
    /// Everything off: the guard forwards all messages as they are.
    #[must_use]
    pub fn off() -> Self {
        Self {
            tools: None,
            arguments: Mode::Off,
            results: Mode::Off,
            translate: Translations::default(),
            ..Self::default()
        }
    }

    /// Whether the guard looks at any message.
    #[must_use]
    pub fn is_inspecting(&self) -> bool {
        self.tools.is_some()
            || self.arguments != Mode::Off
            || self.results != Mode::Off
            || self.translate.revisions
            || self.translate.dialects
            || self.has_views()
            || !self.overrides.is_empty()
    }

    /// Whether other replicas serve the same clients.
    pub fn is_replica(&self) -> bool {
        self.deployment == Deployment::Replica
    }

    /// Whether some clients get tools in the form of a target.
    pub fn has_views(&self) -> bool {
        self.view_for != ViewFor::None || !self.view_for_clients.is_empty()
    }

    /// The target whose form of the tools a client that calls itself `client` gets.
    pub fn target(&self, client: Option<&str>) -> Option<&'static Target> {
        let own = client.and_then(|client| self.view_for_clients.get(client));
        own.unwrap_or(&self.view_for).target(client)
    }

    /// Whether a client that calls itself `client` and speaks `revision` validates results.
    pub fn validation(&self, client: Option<&str>, revision: &Revision) -> Validation {
        let Some(client) = client else { return Validation::Unknown };
        match self.client_validates.get(client) {
            Some(true) => Validation::Always,
            Some(false) => Validation::Unknown,
            None => validation(client, revision),
        }
    }

    /// Whether the model of a client that calls itself `client` is known to read only the text of results.
    pub fn reads_only_text(&self, client: Option<&str>) -> bool {
        client.is_some_and(reads_only_text)
    }

    /// What to do with invalid arguments of `tool`.
    pub fn arguments_mode(&self, tool: &str) -> Mode {
        self.overrides.get(tool).and_then(|tool| tool.arguments).unwrap_or(self.arguments)
    }

    /// What to do with invalid results of `tool`.
    pub fn results_mode(&self, tool: &str) -> Mode {
        self.overrides.get(tool).and_then(|tool| tool.results).unwrap_or(self.results)
    }

    /// Whether a call of `tool` needs a contract that it, or its result, is held to.
    pub fn requires_contract(&self, tool: &str) -> bool {
        let modes = [self.arguments_mode(tool), self.results_mode(tool)];
        self.require_list || modes.contains(&Mode::Enforce)
    }

    /// Whether arguments or results are enforced, unless single tools differ.
    pub fn enforces(&self) -> bool {
        [self.arguments, self.results].contains(&Mode::Enforce)
    }

    /// Whether invalid results are refused, be it only those of some tools.
    pub fn may_refuse_results(&self) -> bool {
        let of_tools = self.overrides.values().filter_map(|tool| tool.results);
        of_tools.chain([self.results]).any(|mode| mode.refuses_on(Side::Result))
    }

    /// Whether `tool` is hidden from clients.
    pub fn is_hidden(&self, tool: &str) -> bool {
        self.overrides.get(tool).is_some_and(|tool| tool.hide)
    }

    /// Whether the guard looks at results of calls.
    pub fn inspects_results(&self) -> bool {
        self.translate.revisions || self.results != Mode::Off || !self.overrides.is_empty()
    }
}
