//! How a server is held to its contract.

use std::{fmt, sync::Arc};

use toolpact_contract::{Finding, JudgeOptions, Mode, Policy, Projection, Revision, Unmarked};
use toolpact_schema::Limits;

use crate::report::Listener;

/// Settings for [`enforce_with`](crate::enforce_with).
///
/// ```
/// use toolpact::{Limits, Mode, Options, Policy, Severity};
///
/// let mut limits = Limits::default();
/// limits.depth = 16;
/// let options = Options::default()
///     .policy(Policy::Filter)
///     .results(Mode::Warn)
///     .limits(limits)
///     .on_finding(|finding| {
///         if finding.severity == Severity::Error {
///             eprintln!("{finding}");
///         }
///     });
/// ```
#[derive(Clone)]
#[must_use]
pub struct Options {
    pub(crate) policy: Policy,
    pub(crate) arguments: Mode,
    pub(crate) results: Mode,
    pub(crate) projection: Projection,
    pub(crate) schema: toolpact_schema::Options,
    pub(crate) limits: Limits,
    pub(crate) absent_nulls: bool,
    pub(crate) declared_only: bool,
    pub(crate) up_to: Option<Revision>,
    pub(crate) listener: Option<Listener>,
}

/// Tools are repaired, arguments and results enforced.
impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::Repair,
            arguments: Mode::Enforce,
            results: Mode::Enforce,
            projection: Projection::default().unmarked(Unmarked::Recognised),
            schema: toolpact_schema::Options::default(),
            limits: Limits::default(),
            absent_nulls: true,
            declared_only: false,
            up_to: None,
            listener: None,
        }
    }
}

impl Options {
    /// What becomes of a tool that cannot be used as it is: mended where that does not change its
    /// meaning ([`Policy::Repair`], unless set), left out, or the whole list refused.
    ///
    /// Repairing is the default here, unlike in `toolpact-contract` and the guard, which stand between others: whoever
    /// puts this layer into a program wants its tools to work, and is told of every repair in the log.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// What becomes of a call with wrong arguments ([`Mode::Enforce`] unless set).
    pub fn arguments(mut self, mode: Mode) -> Self {
        self.arguments = mode;
        self
    }

    /// What becomes of a wrong result ([`Mode::Enforce`] unless set).
    pub fn results(mut self, mode: Mode) -> Self {
        self.results = mode;
        self
    }

    /// How tools are written for legacy revisions.
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }

    /// How schemas are compiled; their limits are those of [`Options::limits`].
    pub fn schema(mut self, options: toolpact_schema::Options) -> Self {
        self.schema = options;
        self
    }

    /// What a schema may be, and what a validation may cost.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether `null` for an argument that is not required and may not be `null` is read as no argument (so unless
    /// set), in objects inside of arguments too: models write what is optional that way. The handler does not see them.
    pub fn absent_nulls(mut self, yes: bool) -> Self {
        self.absent_nulls = yes;
        self
    }

    /// Whether requests for prompts, resources, subscriptions to them, completions and logging are answered with "method not
    /// found" where the server does not declare the capability. `rmcp` answers some with empty lists.
    pub fn declared_only(mut self, yes: bool) -> Self {
        self.declared_only = yes;
        self
    }

    /// The newest protocol revision that the server agrees to; all that `rmcp` knows unless set.
    pub fn up_to(mut self, revision: Revision) -> Self {
        self.up_to = Some(revision);
        self
    }

    /// Hands every finding to `listener`, beside the log.
    pub fn on_finding(mut self, listener: impl Fn(&Finding) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }
}

impl Options {
    /// How tools are judged.
    pub(crate) fn judging(&self) -> JudgeOptions {
        let schema = self.schema.clone().limits(self.limits.clone());
        JudgeOptions::default().policy(self.policy).schema(schema)
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("policy", &self.policy)
            .field("arguments", &self.arguments)
            .field("results", &self.results)
            .field("declared_only", &self.declared_only)
            .finish_non_exhaustive()
    }
}
