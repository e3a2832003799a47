//! Options of a server.

use toolbond_contract::Revision;

use super::checks::{Checks, check_setters};
use crate::views::ViewFor;

/// Options for [`enforce_with`](crate::enforce_with) and for serving.
///
/// ```
/// use toolbond::{Limits, Mode, Policy, ServerOptions, Severity};
///
/// let mut limits = Limits::default();
/// limits.depth = 16;
/// let options = ServerOptions::default()
///     .policy(Policy::Filter)
///     .results(Mode::Warn)
///     .limits(limits)
///     .on_finding(|finding| {
///         if finding.severity == Severity::Error {
///             eprintln!("{finding}");
///         }
///     });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ServerOptions {
    pub(crate) checks: Checks,
    pub(crate) keep_dialects: bool,
    pub(crate) declared_capabilities_only: bool,
    pub(crate) max_revision: Option<Revision>,
    pub(crate) view_for: ViewFor,
}

/// Repairs tools and arguments, enforces results, and answers every request that the handler answers.
impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            checks: Checks::default(),
            keep_dialects: false,
            declared_capabilities_only: false,
            max_revision: None,
            view_for: ViewFor::None,
        }
    }
}

impl ServerOptions {
    check_setters!();

    /// The default options of a served program.
    #[cfg(feature = "serve")]
    pub(crate) fn of_program() -> Self {
        Self::default().declared_capabilities_only(true)
    }

    /// Sets whether schemas stay in the dialect that they declare. By default, schemas of an older dialect, such as
    /// draft-07, are listed as 2020-12 and without `$schema`, because some clients read nothing else
    /// ([`convert_tool`](crate::contract::convert_tool)). Calls are checked against the schema as it was written.
    pub fn keep_dialects(mut self, yes: bool) -> Self {
        self.keep_dialects = yes;
        self
    }

    /// Sets whether requests for capabilities that the server does not declare (prompts, resources, subscriptions,
    /// completions, logging) are answered with "method not found". The default is `false`: the handler answers, and
    /// `rmcp` answers some of them with empty lists.
    pub fn declared_capabilities_only(mut self, yes: bool) -> Self {
        self.declared_capabilities_only = yes;
        self
    }

    /// Sets the newest protocol revision that the server agrees to. The default is the newest that `rmcp` knows.
    pub fn max_revision(mut self, revision: Revision) -> Self {
        self.max_revision = Some(revision);
        self
    }

    /// Sets the target, such as a model API or a host, whose form of the tools clients get. Calls are restored, and
    /// checked against the tools as they were written. The default is [`ViewFor::None`]; with [`ViewFor::Auto`] the name
    /// of the client decides. Needs the feature `targets`.
    ///
    /// ```
    /// use toolbond::{ServerOptions, targets::target};
    ///
    /// let options = ServerOptions::default().view_for(target("gemini")?);
    /// # Ok::<(), toolbond::targets::UnknownTarget>(())
    /// ```
    #[cfg(feature = "targets")]
    pub fn view_for(mut self, view_for: impl Into<ViewFor>) -> Self {
        self.view_for = view_for.into();
        self
    }
}
