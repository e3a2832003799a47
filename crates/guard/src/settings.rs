//! What a guard does, as its operator sets it.

use std::collections::HashMap;
use std::time::Duration;

use toolpact_contract::{Mode, Policy};

/// What a guard does.
///
/// ```
/// use toolpact_contract::Mode;
/// use toolpact_guard::Settings;
///
/// let mut settings = Settings::default();
/// assert_eq!(settings.arguments, Mode::Enforce);
/// settings.results = Mode::Enforce;
/// assert!(settings.looks());
/// assert!(!Settings::off().looks());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// What becomes of a list with a tool that cannot be used; `None` leaves lists as they are.
    pub tools: Option<Policy>,
    /// What becomes of wrong arguments.
    pub arguments: Mode,
    /// What becomes of wrong results.
    pub results: Mode,
    /// Whether tools and results are shaped for the revision that the client speaks.
    pub project: bool,
    /// How schemas are compiled, their limits and the fuel of a validation included.
    pub schema: toolpact_schema::Options,
    /// Whether a wrong `x-mcp-header` annotation is a warning only, as it may be where the transport
    /// is not HTTP.
    pub ignore_headers: bool,
    /// The most bytes of one message; a longer one is not read.
    pub max_message: usize,
    /// How long the guard waits for a tool list that it asks for itself.
    pub list_timeout: Duration,
    /// What is done otherwise for single tools, by name.
    pub overrides: HashMap<String, Override>,
}

/// What is done otherwise for one tool.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Override {
    /// What becomes of wrong arguments.
    pub arguments: Option<Mode>,
    /// What becomes of wrong results.
    pub results: Option<Mode>,
    /// Whether clients do not get the tool, nor may call it.
    pub hide: bool,
}

/// The most bytes of one message, unless set: 16 MiB.
pub const MAX_MESSAGE: usize = 16 << 20;

impl Default for Settings {
    fn default() -> Self {
        Self {
            tools: Some(Policy::Filter),
            arguments: Mode::Enforce,
            results: Mode::Warn,
            project: true,
            schema: toolpact_schema::Options::default(),
            ignore_headers: true,
            max_message: MAX_MESSAGE,
            list_timeout: Duration::from_secs(30),
            overrides: HashMap::new(),
        }
    }
}

impl Settings {
    /// Everything off: messages are forwarded as they are.
    #[must_use]
    pub fn off() -> Self {
        Self {
            tools: None,
            arguments: Mode::Off,
            results: Mode::Off,
            project: false,
            ..Self::default()
        }
    }

    /// Whether any tool is looked at.
    #[must_use]
    pub fn looks(&self) -> bool {
        self.tools.is_some()
            || self.arguments != Mode::Off
            || self.results != Mode::Off
            || self.project
            || !self.overrides.is_empty()
    }

    /// What becomes of wrong arguments of `tool`.
    #[must_use]
    pub fn arguments_of(&self, tool: &str) -> Mode {
        self.overrides.get(tool).and_then(|tool| tool.arguments).unwrap_or(self.arguments)
    }

    /// What becomes of wrong results of `tool`.
    #[must_use]
    pub fn results_of(&self, tool: &str) -> Mode {
        self.overrides.get(tool).and_then(|tool| tool.results).unwrap_or(self.results)
    }

    /// Whether clients do not get `tool`.
    #[must_use]
    pub fn hides(&self, tool: &str) -> bool {
        self.overrides.get(tool).is_some_and(|tool| tool.hide)
    }

    /// Whether results are looked at.
    pub(crate) fn looks_at_results(&self) -> bool {
        self.project || self.results != Mode::Off || !self.overrides.is_empty()
    }
}
