//! What a target does about one rule.

use super::{Target, rules};
use crate::Impact;

impl Target {
    /// What the target does about the rule `id`: one impact for each rule, limit or form of a name.
    ///
    /// ```
    /// use toolpact_targets::{Effect, target};
    ///
    /// let impacts = target("gemini")?.impacts("closed-object");
    /// assert!(impacts.iter().any(|impact| impact.effect == Effect::RequestFails));
    /// assert!(target("gemini")?.impacts("tool-entry").is_empty());
    /// # Ok::<(), toolpact_targets::UnknownTarget>(())
    /// ```
    #[must_use]
    pub fn impacts(&'static self, id: &str) -> Vec<Impact> {
        let impact = |effect, note, evidence| Impact { target: self.name, effect, note, evidence };
        let rules = self.rules.iter().filter(|rule| rule.rule().id == id);
        let limits = self.limits.iter().filter(|limit| limit.measure.rule().0.id == id);
        let mut impacts: Vec<_> = rules
            .map(|rule| impact(rule.effect, rule.note, rule.evidence))
            .chain(limits.map(|limit| impact(limit.effect, limit.measure.note(), limit.evidence)))
            .collect();
        if id == rules::TARGET_NAME.id && !self.names.accepts_any() {
            impacts.push(impact(self.names.effect, "names of another form", self.names.evidence));
        }
        impacts
    }
}
