//! What a target does about one rule.

use super::{Limit, NameForm, Target, rules};
use crate::{Effect, Evidence, Impact};

impl Target {
    /// What the target does about the rule `id`: one impact for each rule, limit or form of a name.
    ///
    /// ```
    /// use toolbond_targets::{Effect, target};
    ///
    /// let impacts = target("google-genai")?.impacts("closed-object");
    /// assert!(impacts.iter().any(|impact| impact.effect == Effect::RequestFails));
    /// assert!(target("gemini")?.impacts("tool-entry").is_empty());
    /// # Ok::<(), toolbond_targets::UnknownTarget>(())
    /// ```
    #[must_use]
    pub fn impacts(&'static self, id: &str) -> Vec<Impact> {
        let rules = self.rules.iter().filter(|rule| rule.rule().id == id);
        let limits = self.limits.iter().filter(|limit| limit.measure.rule().0.id == id);
        let mut impacts: Vec<_> = rules
            .map(|rule| self.impact(rule.effect, rule.note, rule.evidence))
            .chain(limits.map(|limit| self.limit_impact(limit)))
            .collect();
        if id == rules::TARGET_NAME.id && !self.names.accepts_any() {
            let NameForm { effect, evidence, .. } = self.names;
            impacts.push(self.impact(effect, "names of another form", evidence));
        }
        impacts
    }

    pub(super) const fn impact(
        &self,
        effect: Effect,
        note: &'static str,
        evidence: Evidence,
    ) -> Impact {
        Impact { target: self.name, with: None, effect, note, evidence }
    }

    /// What happens beyond `limit`.
    pub(super) const fn limit_impact(&self, limit: &Limit) -> Impact {
        self.impact(limit.effect, limit.measure.note(), limit.evidence)
    }
}
