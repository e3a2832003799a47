//! What targets do about a finding, in words.

use toolbond_targets::{Effect, Evidence, Impact};

/// What several targets do.
pub(crate) struct ImpactGroup<'a> {
    pub(crate) effect: Effect,
    pub(crate) note: &'a str,
    pub(crate) evidence: Evidence,
    pub(crate) targets: Vec<String>,
}

/// The target, and the other way in if it is about one.
pub(crate) fn place(impact: &Impact) -> String {
    match impact.with {
        Some(other) => format!("{} with {other}", impact.target),
        None => impact.target.to_owned(),
    }
}

/// The worst impact on each target; of several, one that holds for all versions. Other ways in only if that is all.
pub(crate) fn worst_impacts<'a>(impacts: &[&'a Impact]) -> Vec<&'a Impact> {
    let mut worst: Vec<&'a Impact> = Vec::new();
    let rank = |impact: &Impact| (impact.effect, impact.evidence.versions.is_none());
    let has_main = impacts.iter().any(|impact| impact.with.is_none());
    for impact in impacts.iter().filter(|impact| !has_main || impact.with.is_none()) {
        let same =
            |other: &&mut &Impact| (other.target, other.with) == (impact.target, impact.with);
        match worst.iter_mut().find(same) {
            Some(other) if rank(impact) > rank(other) => *other = impact,
            Some(_) => {}
            None => worst.push(impact),
        }
    }
    worst
}

/// Joins the targets that do the same for the same reason, worst effect first.
pub(crate) fn group_impacts<'a>(
    impacts: impl IntoIterator<Item = &'a Impact>,
) -> Vec<ImpactGroup<'a>> {
    let mut groups: Vec<ImpactGroup<'a>> = Vec::new();
    for impact in impacts {
        let (target, Impact { effect, note, evidence, .. }) = (place(impact), impact);
        let same = |group: &&mut ImpactGroup<'_>| {
            group.effect == *effect && group.note == *note && group.evidence == *evidence
        };
        match groups.iter_mut().find(same) {
            Some(group) if group.targets.contains(&target) => {}
            Some(group) => group.targets.push(target),
            None => groups.push(ImpactGroup {
                effect: *effect,
                note,
                evidence: *evidence,
                targets: vec![target],
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.effect));
    groups
}

/// `gemini, vertex: the whole request fails; groq: valid calls fail`, or nothing.
pub(crate) fn summary(impacts: &[Impact]) -> String {
    let worst = worst_impacts(&impacts.iter().collect::<Vec<_>>());
    let mut parts = Vec::new();
    for effect in Effect::ALL.into_iter().rev() {
        let targets: Vec<_> =
            worst.iter().filter(|one| one.effect == effect).map(|one| place(one)).collect();
        if !targets.is_empty() {
            parts.push(format!("{}: {}", targets.join(", "), effect.words()));
        }
    }
    parts.join("; ")
}

/// The same in brackets after a space, or nothing.
pub(crate) fn bracketed_summary(impacts: &[Impact]) -> String {
    let summary = summary(impacts);
    if summary.is_empty() { summary } else { format!(" [{summary}]") }
}

/// `converter run, google-genai 3.1.0, 2026-11-17`.
pub(crate) fn describe_evidence(evidence: &Evidence) -> String {
    let Evidence { how, source, date, versions, .. } = evidence;
    let versions = versions.map(|versions| format!("{versions}: ")).unwrap_or_default();
    format!("{versions}{how}, {source}, {date}")
}
