//! Selecting and ignoring rules.

use crate::{Finding, Rule, Severity, rule, rules};

/// The rules whose warnings and infos are reported. Errors are always reported, also if they were repaired.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Empty for all rules.
    selected: Vec<&'static str>,
    ignored: Vec<&'static str>,
}

impl Selection {
    pub(super) fn select(&mut self, id: &str) -> Result<(), RuleSelectionError> {
        self.selected.push(find(id)?.id);
        Ok(())
    }

    pub(super) fn ignore(&mut self, id: &str) -> Result<(), RuleSelectionError> {
        let rule = find(id)?;
        if rule.severity == Severity::Error {
            return Err(RuleSelectionError::NotIgnorable { rule: rule.id });
        }
        self.ignored.push(rule.id);
        Ok(())
    }

    /// Whether `finding` is reported.
    pub(super) fn includes(&self, finding: &Finding) -> bool {
        if self.selected.is_empty() && self.ignored.is_empty() {
            return true;
        }
        let is_selected = self.selected.is_empty() || self.selected.contains(&finding.rule);
        // An error stays an error of its rule after a repair made it a warning.
        let is_error = || rule(finding.rule).is_some_and(|rule| rule.severity == Severity::Error);
        (is_selected && !self.ignored.contains(&finding.rule)) || finding.is_error() || is_error()
    }
}

fn find(id: &str) -> Result<&'static Rule, RuleSelectionError> {
    rule(id).ok_or_else(|| {
        let similar = rules()
            .map(|rule| (strsim::jaro_winkler(rule.id, id), rule.id))
            .filter(|(similarity, _)| *similarity > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, similar)| similar);
        RuleSelectionError::Unknown { found: id.to_owned(), similar }
    })
}

/// Why a rule cannot be selected or ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleSelectionError {
    /// There is no such rule.
    #[error("no rule `{found}`; {}", match similar {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "`toolpact explain` lists the rules".to_owned(),
    })]
    Unknown {
        /// The id given.
        found: String,
        /// The id of a rule that is spelled similarly.
        similar: Option<&'static str>,
    },
    /// The rule is an error. Ignoring it would not make the tool usable, and would hide why it is dropped.
    #[error(
        "`{rule}` is an error and cannot be ignored: it says why a tool, a member or a call is refused"
    )]
    NotIgnorable {
        /// The id of the rule.
        rule: &'static str,
    },
}
