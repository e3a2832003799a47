//! Selecting and ignoring rules.

use crate::{Finding, Rule, Severity, rule};

/// The rules whose findings are reported. Errors of the contract are always reported, also if they were repaired: they
/// say why a tool, a member or a call is refused.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Empty for all rules.
    selected: Vec<&'static str>,
    ignored: Vec<&'static str>,
}

impl Selection {
    /// Reports the rule `id` of `rules`, and other selected rules, only.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule.
    pub fn select(
        &mut self,
        id: &str,
        rules: impl Iterator<Item = &'static Rule>,
    ) -> Result<(), RuleSelectionError> {
        self.selected.push(find_rule(id, rules)?.id);
        Ok(())
    }

    /// Does not report the rule `id` of `rules`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule, or if it is an error of the contract.
    pub fn ignore(
        &mut self,
        id: &str,
        rules: impl Iterator<Item = &'static Rule>,
    ) -> Result<(), RuleSelectionError> {
        let found = find_rule(id, rules)?;
        if rule(found.id).is_some_and(|rule| rule.severity == Severity::Error) {
            return Err(RuleSelectionError::NotIgnorable { rule: found.id });
        }
        self.ignored.push(found.id);
        Ok(())
    }

    /// Whether `finding` is reported.
    #[must_use]
    pub fn includes(&self, finding: &Finding) -> bool {
        if self.selected.is_empty() && self.ignored.is_empty() {
            return true;
        }
        let is_selected = self.selected.is_empty() || self.selected.contains(&finding.rule);
        // An error stays an error of its rule after a repair made it a warning.
        let is_contract_error = || {
            rule(finding.rule)
                .is_some_and(|rule| rule.severity == Severity::Error || finding.is_error())
        };
        (is_selected && !self.ignored.contains(&finding.rule)) || is_contract_error()
    }
}

/// Finds the rule `id` in `rules`.
///
/// # Errors
///
/// Fails if there is none, and names one that is spelled similarly.
pub fn find_rule(
    id: &str,
    rules: impl Iterator<Item = &'static Rule>,
) -> Result<&'static Rule, RuleSelectionError> {
    let rules: Vec<_> = rules.collect();
    rules.iter().copied().find(|rule| rule.id == id).ok_or_else(|| {
        let similar = rules
            .iter()
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
        None => "`toolbond explain` lists the rules".to_owned(),
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
