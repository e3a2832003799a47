//! What servers and clients set about checks.

use std::fmt;

use toolbond_contract::{
    ArgumentTerms, Finding, JudgeOptions, Mode, Policy, Projection, Repairs, project::Unmarked,
};
use toolbond_schema::Limits;

use crate::fetched::Documents;
use crate::report::{Listener, report};

/// The options that servers and clients share: how tools, arguments and results are checked.
#[derive(Clone)]
pub(crate) struct Checks {
    pub(crate) policy: Policy,
    pub(crate) arguments: Mode,
    pub(crate) repairs: Repairs,
    pub(crate) results: Mode,
    pub(crate) projection: Projection,
    pub(crate) schema: toolbond_schema::Options,
    pub(crate) limits: Limits,
    pub(crate) documents: Documents,
    pub(crate) listener: Option<Listener>,
}

/// Repairs tools and arguments, enforces results.
impl Default for Checks {
    fn default() -> Self {
        Self {
            policy: Policy::Repair,
            arguments: Mode::Repair,
            repairs: Repairs::default(),
            results: Mode::Enforce,
            projection: Projection::default().unmarked(Unmarked::Recognised),
            schema: toolbond_schema::Options::default(),
            limits: Limits::default(),
            documents: Documents::default(),
            listener: None,
        }
    }
}

impl Checks {
    /// The options for checking a tool list.
    pub(crate) fn judge_options(&self) -> JudgeOptions {
        let schema = self.schema.clone().limits(self.limits.clone());
        JudgeOptions::default().policy(self.policy).schema(schema)
    }

    /// How arguments are judged.
    pub(crate) fn argument_terms(&self) -> ArgumentTerms {
        ArgumentTerms::from(self.arguments).repairs(self.repairs)
    }

    /// Logs `findings` and passes them to the listener.
    pub(crate) fn report(&self, findings: &[Finding]) {
        report(findings, self.listener.as_ref());
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("policy", &self.policy)
            .field("arguments", &self.arguments)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

/// The setters that `ServerOptions` and `ClientOptions` share.
macro_rules! check_setters {
    () => {
        /// Sets what happens to a tool that cannot be used as it is. The default,
        /// [`Policy::Repair`](crate::Policy::Repair), repairs it where that does not change its meaning and leaves it
        /// out otherwise. Every repair is logged.
        pub fn policy(mut self, policy: crate::Policy) -> Self {
            self.checks.policy = policy;
            self
        }

        /// Sets what happens to a call with invalid arguments. The default is
        /// [`Mode::Repair`](crate::Mode::Repair): arguments that can only mean one thing are repaired, properties that
        /// the schema refuses and that are like no declared one are left out, and other calls are refused.
        pub fn arguments(mut self, mode: crate::Mode) -> Self {
            self.checks.arguments = mode;
            self
        }

        /// Sets which repairs of arguments apply under [`Mode::Repair`](crate::Mode::Repair).
        pub fn repairs(mut self, repairs: crate::Repairs) -> Self {
            self.checks.repairs = repairs;
            self
        }

        /// Sets what happens to an invalid result. The default is [`Mode::Enforce`](crate::Mode::Enforce): an error
        /// takes its place. Under [`Mode::Repair`](crate::Mode::Repair), a client repairs a result that can only mean one
        /// thing and returns others as they are, with a finding; for a server it is the same as
        /// [`Mode::Enforce`](crate::Mode::Enforce).
        pub fn results(mut self, mode: crate::Mode) -> Self {
            self.checks.results = mode;
            self
        }

        /// Sets how output schemas and results are converted for protocol revisions before 2026-07-28, and back.
        pub fn projection(mut self, projection: crate::Projection) -> Self {
            self.checks.projection = projection;
            self
        }

        /// Sets how schemas are compiled. Limits are set with [`limits`](Self::limits), which takes precedence.
        pub fn schema(mut self, options: crate::schema::Options) -> Self {
            self.checks.schema = options;
            self
        }

        /// Sets the limits on schemas and on the cost of one validation.
        pub fn limits(mut self, limits: crate::Limits) -> Self {
            self.checks.limits = limits;
            self
        }

        /// Fetches the documents that schemas refer to, as far as `policy` allows: such a tool is used and listed with
        /// them. They are fetched in the background, each once. A list waits for them at most a second; a tool whose
        /// documents are not there by then is left out until they are.
        ///
        /// By default nothing is fetched, and tools whose schemas refer to other documents cannot be used. Needs the
        /// feature `fetch`.
        ///
        /// # Errors
        ///
        /// Fails if the lock file of the policy cannot be read.
        #[cfg(feature = "fetch")]
        pub fn fetch(
            mut self,
            policy: crate::fetch::Policy,
        ) -> Result<Self, crate::fetch::LockError> {
            self.checks.documents = crate::fetched::Documents::new(policy)?;
            Ok(self)
        }

        /// Calls `listener` with every finding. Findings are logged as well.
        pub fn on_finding(
            mut self,
            listener: impl Fn(&crate::Finding) + Send + Sync + 'static,
        ) -> Self {
            self.checks.listener = Some(std::sync::Arc::new(listener));
            self
        }
    };
}
pub(super) use check_setters;
