//! Patterns with look-around or back-references, which only a backtracking matcher can follow.
//!
//! The engine would run them under one fixed limit and pay nothing. Here a match is tried with few
//! turns first, then with more, and pays for each try before it starts.

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};

use super::{
    meter::{NamePatterns, Stop, burn, stop},
    width::states,
};

/// Turns of the tries, fewest first. The last is the engine's own default.
const TURNS: [usize; 4] = [256, 4096, 65_536, HardPattern::MOST_TURNS];

/// One such pattern, ready to match.
#[derive(Debug)]
pub(crate) struct HardPattern {
    /// The pattern as the schema has it.
    pub(super) source: String,
    /// The same for the matcher.
    translated: String,
    /// Whether it stands in `patternProperties`.
    pub(crate) names: bool,
    /// About how many states it has.
    pub(crate) width: usize,
    /// Whether a repetition holds look-around or a back-reference, which then runs once for every
    /// character without taking a turn.
    loops: bool,
    /// The matchers, one for each try.
    matchers: [OnceLock<Option<Regex>>; TURNS.len()],
}

impl HardPattern {
    /// Turns after which a match is given up.
    pub(crate) const MOST_TURNS: usize = 1_000_000;

    /// Reads the pattern; `None` where it cannot be read.
    pub(crate) fn parse(source: &str, translated: String, names: bool) -> Option<Self> {
        let tree = fancy_regex::Expr::parse_tree(&translated).ok()?;
        Some(Self {
            source: source.to_owned(),
            names,
            width: width(&tree.expr),
            loops: has_hard_loop(&tree.expr),
            translated,
            matchers: Default::default(),
        })
    }

    /// Whether the matcher takes it.
    pub(crate) fn compiles(&self) -> bool {
        self.matcher(0).is_some()
    }

    fn matcher(&self, tries: usize) -> Option<&Regex> {
        self.matchers[tries]
            .get_or_init(|| {
                RegexBuilder::new(&self.translated).backtrack_limit(TURNS[tries]).build().ok()
            })
            .as_ref()
    }

    /// Whether `text` matches; ends the run where that cannot be decided.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let length = text.len() as u64;
        for (tries, turns) in TURNS.into_iter().enumerate() {
            let Some(matcher) = self.matcher(tries) else { stop(Stop::Engine) };
            let rounds = turns as u64 + if self.loops { length } else { 0 };
            burn(rounds.saturating_mul(1 + (length >> 5)) >> 2);
            match matcher.is_match(text) {
                Ok(outcome) => return outcome,
                Err(fancy_regex::Error::RuntimeError(_)) => {}
                Err(_) => stop(Stop::Engine),
            }
        }
        stop(Stop::Backtracking)
    }
}

fn is_hard(expr: &fancy_regex::Expr) -> bool {
    use fancy_regex::Expr;
    !matches!(
        expr,
        Expr::Empty
            | Expr::Any { .. }
            | Expr::Assertion(_)
            | Expr::GeneralNewline { .. }
            | Expr::Literal { .. }
            | Expr::Concat(_)
            | Expr::Alt(_)
            | Expr::Group(_)
            | Expr::Repeat { .. }
            | Expr::Delegate { .. }
    )
}

/// About how many states the parts come to that are left to the regular matcher.
fn width(expr: &fancy_regex::Expr) -> usize {
    use fancy_regex::Expr;
    let inner =
        || expr.children_iter().fold(1, |sum: usize, child| sum.saturating_add(width(child)));
    match expr {
        Expr::Literal { val, .. } => val.len(),
        Expr::Delegate { inner, .. } => regex_syntax::parse(inner).map_or(64, |hir| states(&hir)),
        Expr::Repeat { lo, hi, .. } => {
            let times = if *hi == usize::MAX { lo.saturating_add(1) } else { *hi };
            inner().saturating_mul(times.max(1))
        }
        _ => inner(),
    }
}

fn has_hard_loop(expr: &fancy_regex::Expr) -> bool {
    expr.has_descendant(|expr| {
        matches!(expr, fancy_regex::Expr::Repeat { child, .. } if is_hard(child) || child.has_descendant(is_hard))
    })
}

/// All patterns of this kind in one schema, by their source.
#[derive(Debug, Default)]
pub(crate) struct HardPatterns(pub(crate) Vec<HardPattern>);

impl HardPatterns {
    /// The pattern written as `source`.
    pub(crate) fn find_mut(&mut self, source: &str) -> Option<&mut HardPattern> {
        self.0.iter_mut().find(|pattern| pattern.source == source)
    }
}

impl NamePatterns for HardPatterns {
    fn try_all(&self, name: &str) {
        for pattern in self.0.iter().filter(|pattern| pattern.names) {
            pattern.is_match(name);
        }
    }
}
