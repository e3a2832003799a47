//! What a regular expression compiles to.

use regex_syntax::hir::{Class, Hir, HirKind};

/// About how many states the pattern compiles to.
pub(crate) fn states(hir: &Hir) -> usize {
    weigh(hir, |class| match class {
        Class::Bytes(_) => 1,
        // Characters beyond ASCII take several bytes, and so several states.
        Class::Unicode(class) => match class.ranges().last() {
            Some(range) if range.end().is_ascii() => 1,
            _ => 4 + class.ranges().len() / 2,
        },
    })
}

/// About how many states the matcher can be in at once: of a class, one or two.
pub(crate) fn activity(hir: &Hir) -> usize {
    weigh(hir, |_| 2)
}

fn weigh(hir: &Hir, class_weight: fn(&Class) -> usize) -> usize {
    let weight = |hir: &Hir| weigh(hir, class_weight);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(class) => class_weight(class),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min + 1).max(1) as usize;
            weight(&repetition.sub).saturating_add(1).saturating_mul(times)
        }
        HirKind::Capture(capture) => weight(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(1, |sum, part| weight(part).saturating_add(sum))
        }
    }
}
