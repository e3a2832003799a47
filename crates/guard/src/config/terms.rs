//! Options of the contract: the same on the command line and in the file.

use std::collections::BTreeMap;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toolbond_contract::{Mode, Policy};
use toolbond_schema::{Limits, Schema};
use toolbond_targets::ViewFor;

use toolbond_guard_core::settings::{Override, Settings};

/// How the contract of a server is applied. Unset options are as in [`Settings::default`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Contract"))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Terms {
    /// What to do with an unusable tool: `filter` drops it, `repair` fixes it if its meaning stays the
    /// same and drops it otherwise, `reject` refuses the list, `off` does not check lists (default:
    /// repair)
    #[cfg_attr(feature = "clap", arg(long, value_name = "POLICY", hide_possible_values = true))]
    pub(crate) tools: Option<PolicyName>,

    /// What to do with invalid arguments: `off` does not check them, `warn` reports them, `repair` fixes
    /// what can only mean one thing, leaves out unknown properties that are like no declared one and
    /// refuses the rest, `enforce` answers with a tool error that a model can act on (default: repair)
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", hide_possible_values = true))]
    pub(crate) arguments: Option<ModeName>,

    /// Also apply this repair of arguments, which is off by default: `arguments-misspelt-property`
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE"))]
    pub(crate) also_repair: Vec<RepairName>,

    /// What to do with invalid results: `off` does not check them, `warn` reports them, `repair` fixes what can only
    /// mean one thing and hands out the tool with an output schema that its server keeps, `enforce` withholds them
    /// (default: repair)
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", hide_possible_values = true))]
    pub(crate) results: Option<ModeName>,

    /// Under `repair`, a client of this name (`clientInfo`) validates results itself, or does not with `NAME=false`; may
    /// be repeated. The first result that breaks a schema reaches clients that do as a tool error with the data
    #[cfg_attr(feature = "clap", arg(long = "client-validates", value_name = "NAME[=false]"))]
    #[serde(deserialize_with = "client_validates")]
    #[schemars(with = "BTreeMap<String, bool>")]
    pub(crate) client_validates: Vec<ClientValidates>,

    /// Do not adapt tools and results to the protocol revision of the client
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) no_project: Option<bool>,

    /// Do not convert schemas of older JSON Schema dialects, such as draft-07, to 2020-12
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) keep_dialects: Option<bool>,

    /// Do not translate between clients and servers of different eras of the protocol, before 2026-07-28 and since
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) keep_eras: Option<bool>,

    /// Give clients tools in the form that this model API or host accepts, and restore their calls: a name of
    /// `toolbond targets`, `auto` to go by the name of the client, or `none` (default: none)
    #[cfg_attr(feature = "clap", arg(long = "for", value_name = "TARGET"))]
    #[serde(rename = "for", deserialize_with = "view_for")]
    #[schemars(with = "Option<String>")]
    pub(crate) view_for: Option<ViewFor>,

    /// The same for clients of these names, which they give in `clientInfo`.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(deserialize_with = "views_for")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) for_clients: BTreeMap<String, ViewFor>,

    /// Refuse calls that have no contract, instead of forwarding them unchecked: while the tool list of the server cannot
    /// be fetched, and of tools that it does not list (default: with `enforce`, and for `toolbond ext-proc`)
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) require_list: Option<bool>,

    /// Show the values of arguments and results in findings; they may contain secrets
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) log_values: Option<bool>,

    /// Export the arguments and results of calls with their traces, shortened and without what looks like a secret by
    /// its name; they may contain other secrets
    #[cfg_attr(feature = "clap", arg(long, num_args = 0, default_missing_value = "true"))]
    pub(crate) export_values: Option<bool>,

    /// Set a limit on schemas or validations, for example `--limit depth=32`; may be repeated.
    /// `toolbond check --help` lists the names
    #[cfg_attr(feature = "clap", arg(long = "limit", value_name = "NAME=N"))]
    #[serde(deserialize_with = "limits")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub(crate) limits: Vec<Limit>,

    /// Limit the steps of one validation; the same as `--limit fuel=N`
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub(crate) fuel: Option<u64>,

    /// Limit the size of one message (default: 16 MiB)
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", value_parser = super::size::parse_bytes))]
    pub(crate) max_message: Option<usize>,
}

/// Different options for one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ToolTerms {
    /// What to do with invalid arguments.
    pub(crate) arguments: Option<ModeName>,
    /// What to do with invalid results.
    pub(crate) results: Option<ModeName>,
    /// Whether to hide the tool: clients neither see it nor can call it.
    pub(crate) hide: bool,
}

/// What to do with unusable tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum PolicyName {
    /// Lists are not checked.
    Off,
    /// The tool is dropped.
    Filter,
    /// The tool is fixed if its meaning stays the same, and dropped otherwise.
    Repair,
    /// The whole list is refused.
    Reject,
}

/// A repair of arguments that is off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub(crate) enum RepairName {
    /// A misspelt property gets its declared name.
    #[serde(rename = "arguments-misspelt-property")]
    #[cfg_attr(feature = "clap", value(name = "arguments-misspelt-property"))]
    MisspeltProperty,
}

impl RepairName {
    const fn rule(self) -> &'static str {
        match self {
            Self::MisspeltProperty => "arguments-misspelt-property",
        }
    }
}

/// What to do with invalid arguments or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    /// Nothing is checked.
    Off,
    /// Invalid values are reported and forwarded.
    Warn,
    /// What can only mean one thing is repaired. A call is answered with a tool error otherwise; for a result, the tool
    /// gets an output schema that its server keeps.
    Repair,
    /// A tool error takes the place of the call or the result.
    Enforce,
}

/// A limit on schemas or validations: a name of [`Limits::NAMES`] and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit(String, u64);

impl Limit {
    fn new(name: &str, n: u64) -> Result<Self, String> {
        if Limits::NAMES.contains(&name) {
            Ok(Self(name.to_owned(), n))
        } else {
            Err(format!("no limit `{name}`, expected one of {}", Limits::NAMES.join(", ")))
        }
    }
}

/// `NAME=N`.
impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, n) = text.split_once('=').ok_or("expected NAME=N")?;
        let n = n.parse().map_err(|_| format!("expected a whole number, found `{n}`"))?;
        Self::new(name, n)
    }
}

fn limits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Limit>, D::Error> {
    let limits = BTreeMap::<String, u64>::deserialize(deserializer)?;
    limits.iter().map(|(name, n)| Limit::new(name, *n).map_err(D::Error::custom)).collect()
}

/// Whether a client of this name validates results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientValidates(String, bool);

/// `NAME`, `NAME=true` or `NAME=false`.
impl FromStr for ClientValidates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, validates) = match text.rsplit_once('=') {
            Some((name, "true")) => (name, true),
            Some((name, "false")) => (name, false),
            Some(_) => return Err("expected NAME, NAME=true or NAME=false".to_owned()),
            None => (text, true),
        };
        Ok(Self(name.to_owned(), validates))
    }
}

fn client_validates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ClientValidates>, D::Error> {
    let clients = BTreeMap::<String, bool>::deserialize(deserializer)?;
    Ok(clients.into_iter().map(|(name, validates)| ClientValidates(name, validates)).collect())
}

fn view_for<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewFor>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(D::Error::custom)
}

fn views_for<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ViewFor>, D::Error> {
    let names = BTreeMap::<String, String>::deserialize(deserializer)?;
    let read = |(client, name): (String, String)| {
        let view = name.parse().map_err(|error| D::Error::custom(format!("`{client}`: {error}")));
        Ok((client, view?))
    };
    names.into_iter().map(read).collect()
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Off => Self::Off,
            ModeName::Warn => Self::Warn,
            ModeName::Repair => Self::Repair,
            ModeName::Enforce => Self::Enforce,
        }
    }
}

impl From<PolicyName> for Option<Policy> {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Off => None,
            PolicyName::Filter => Some(Policy::Filter),
            PolicyName::Repair => Some(Policy::Repair),
            PolicyName::Reject => Some(Policy::Reject),
        }
    }
}

impl From<&ToolTerms> for Override {
    fn from(terms: &ToolTerms) -> Self {
        let mut tool = Self::default();
        tool.arguments = terms.arguments.map(Mode::from);
        tool.results = terms.results.map(Mode::from);
        tool.hide = terms.hide;
        tool
    }
}

impl Terms {
    /// Sets the options in `settings` that are set here.
    pub fn apply(&self, settings: &mut Settings) {
        self.apply_over(&Self::default(), settings);
    }

    /// Checks that these options of a server, which override those of `before`, do not contradict each other.
    pub(crate) fn contradiction(
        &self,
        before: &Self,
        tools: &BTreeMap<String, ToolTerms>,
    ) -> Result<(), String> {
        if self.require_list.or(before.require_list) != Some(false) {
            return Ok(());
        }
        let enforces = |all: Option<ModeName>, of: fn(&ToolTerms) -> Option<ModeName>| {
            tools.values().map(of).chain([all]).any(|mode| mode == Some(ModeName::Enforce))
        };
        let key = if enforces(self.arguments.or(before.arguments), |tool| tool.arguments) {
            "arguments"
        } else if enforces(self.results.or(before.results), |tool| tool.results) {
            "results"
        } else {
            return Ok(());
        };
        Err(format!(
            "`require-list = false` contradicts `{key} = \"enforce\"`, which forwards nothing unchecked; \
             set `{key} = \"off\"` for the tools that cannot be checked"
        ))
    }

    /// Like [`Terms::apply`], after `before` was applied. Limits of both hold.
    pub(crate) fn apply_over(&self, before: &Self, settings: &mut Settings) {
        set(&mut settings.tools, self.tools.map(Into::into));
        set(&mut settings.arguments, self.arguments.map(Into::into));
        for repair in &self.also_repair {
            // The names are those of repairs.
            if let Ok(repairs) = settings.repairs.also(repair.rule()) {
                settings.repairs = repairs;
            }
        }
        set(&mut settings.results, self.results.map(Into::into));
        let clients = self.client_validates.iter();
        settings.client_validates.extend(clients.map(|it| (it.0.clone(), it.1)));
        set(&mut settings.max_message, self.max_message);
        set(&mut settings.show_values.in_log, self.log_values);
        set(&mut settings.show_values.in_spans, self.export_values);
        set(&mut settings.require_list, self.require_list);
        set(&mut settings.translate.revisions, self.no_project.map(|no| !no));
        set(&mut settings.translate.dialects, self.keep_dialects.map(|keep| !keep));
        set(&mut settings.translate.eras, self.keep_eras.map(|keep| !keep));
        set(&mut settings.view_for, self.view_for);
        let clients = self.for_clients.iter().map(|(name, view)| (name.clone(), *view));
        settings.view_for_clients.extend(clients);
        let mut limits = Limits::default();
        for terms in [before, self] {
            let fuel = terms.fuel.map(|fuel| Limit("fuel".to_owned(), fuel));
            for Limit(name, n) in terms.limits.iter().chain(&fuel) {
                // The names were checked when they were read.
                let _ = limits.set(name, *n);
            }
        }
        settings.schema = Schema::options().limits(limits);
    }
}

/// Sets `place` to `value`, if there is one.
fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
