//! How strictly to judge.

use super::selection::{RuleSelectionError, Selection};
use crate::Policy;

/// Settings for [`judge_tools`](crate::judge_tools).
///
/// ```
/// use toolbond_contract::{JudgeOptions, Policy};
///
/// let options = JudgeOptions::default().policy(Policy::Repair).ignore_headers(true);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JudgeOptions {
    pub(crate) policy: Policy,
    pub(crate) ignore_headers: bool,
    pub(crate) schema: toolbond_schema::Options,
    pub(super) selection: Selection,
}

impl JudgeOptions {
    /// What to do with a tool that is not usable ([`Policy::Filter`] by default).
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Whether a wrong `x-mcp-header` annotation is only a warning. By default it is an error, because clients on
    /// Streamable HTTP must drop such a tool. Clients on other transports may ignore the annotation.
    #[must_use]
    pub fn ignore_headers(mut self, yes: bool) -> Self {
        self.ignore_headers = yes;
        self
    }

    /// Reports the warnings and infos of the rule `id`, and of other selected rules, only. Errors are always reported.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule.
    ///
    /// ```
    /// use toolbond_contract::JudgeOptions;
    ///
    /// assert!(JudgeOptions::default().select("tool-name-form").is_ok());
    /// assert_eq!(
    ///     JudgeOptions::default().select("tool-name-from").unwrap_err().to_string(),
    ///     "no rule `tool-name-from`; did you mean `tool-name-form`?"
    /// );
    /// ```
    pub fn select(mut self, id: &str) -> Result<Self, RuleSelectionError> {
        self.selection.select(id, crate::rules())?;
        Ok(self)
    }

    /// Does not report the rule `id`. Only warnings and infos can be ignored.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule, or if it is an error. A tool that breaks it is dropped, and ignoring the rule
    /// would only hide the reason.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{JudgeOptions, judge_tools};
    ///
    /// let options = JudgeOptions::default().ignore("tool-name-form")?;
    /// let tool = json!({ "name": "Search the web", "inputSchema": { "type": "object" } });
    /// let judged = judge_tools(tool, &options);
    /// assert!(judged.findings.iter().all(|finding| finding.rule != "tool-name-form"));
    ///
    /// assert!(JudgeOptions::default().ignore("external-ref").is_err());
    /// # Ok::<(), toolbond_contract::judge::RuleSelectionError>(())
    /// ```
    pub fn ignore(mut self, id: &str) -> Result<Self, RuleSelectionError> {
        self.selection.ignore(id, crate::rules())?;
        Ok(self)
    }

    /// Options for compiling schemas.
    #[must_use]
    pub fn schema(mut self, options: toolbond_schema::Options) -> Self {
        self.schema = options;
        self
    }
}
