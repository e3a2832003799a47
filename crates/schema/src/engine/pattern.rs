//! Patterns with look-around or back-references, which only a backtracking matcher can follow.
//!
//! The engine would run them under one fixed limit and pay nothing. Here a match is tried with few
//! turns first, then with more, and pays for each try before it starts.

use std::sync::{Arc, OnceLock};

use fancy_regex::{Regex, RegexBuilder};
use jsonschema::{Keyword, ValidationError, json::Node, paths::Location};
use serde_json::{Map, Value};

use super::{
    Metered, MeteredJson,
    meter::{Stop, burn, stop},
};

/// Turns of the tries, fewest first. The last is the engine's own default.
const TURNS: [usize; 4] = [256, 4096, 65_536, HardPattern::MOST_TURNS];

/// One such pattern, ready to match.
#[derive(Debug)]
pub(crate) struct HardPattern {
    /// The pattern as the schema has it.
    source: String,
    /// The same for the matcher.
    translated: String,
    /// Whether a repetition holds look-around or a back-reference, which then runs once for every
    /// character without taking a turn.
    loops: bool,
    /// The matchers, one for each try.
    matchers: [OnceLock<Option<Regex>>; TURNS.len()],
}

impl HardPattern {
    /// Turns after which a match is given up.
    pub(crate) const MOST_TURNS: usize = 1_000_000;

    /// Compiles the pattern; `None` where the matcher does not take it.
    pub(crate) fn compile(source: &str, translated: String) -> Option<Self> {
        let tree = fancy_regex::Expr::parse_tree(&translated).ok()?;
        let pattern = Self {
            source: source.to_owned(),
            loops: has_hard_loop(&tree.expr),
            translated,
            matchers: Default::default(),
        };
        pattern.matcher(0).is_some().then_some(pattern)
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

fn has_hard_loop(expr: &fancy_regex::Expr) -> bool {
    expr.has_descendant(|expr| {
        matches!(expr, fancy_regex::Expr::Repeat { child, .. } if is_hard(child) || child.has_descendant(is_hard))
    })
}

/// All patterns of this kind in one schema, by their source.
#[derive(Debug, Default)]
pub(crate) struct HardPatterns(pub(crate) Vec<HardPattern>);

impl HardPatterns {
    /// Matches `name` against all of them, only to pay for it: the engine then matches it again
    /// with the certainty that it ends.
    pub(crate) fn try_all(&self, name: &str) {
        for pattern in &self.0 {
            pattern.is_match(name);
        }
    }
}

/// `pattern`, for schemas that hold at least one pattern of this kind.
struct PatternKeyword {
    patterns: Arc<HardPatterns>,
    matcher: Matcher,
}

enum Matcher {
    Hard(usize),
    Regular(Regex),
}

impl PatternKeyword {
    fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Hard(index) => self.patterns.0[*index].is_match(text),
            Matcher::Regular(regex) => regex.is_match(text).unwrap_or_else(|_| stop(Stop::Engine)),
        }
    }
}

impl<'i> Keyword<'i, MeteredJson> for PatternKeyword {
    fn validate(&self, instance: Metered<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("")) }
    }

    fn is_valid(&self, instance: Metered<'i>) -> bool {
        instance.as_string().is_none_or(|text| self.is_match(&text))
    }
}

/// The keyword for the engine's options.
#[expect(clippy::type_complexity, reason = "the engine's signature of a keyword factory")]
pub(crate) fn keyword(
    patterns: &Arc<HardPatterns>,
) -> impl for<'a> Fn(
    &'a Map<String, Value>,
    &'a Value,
    Location,
) -> Result<Box<dyn for<'i> Keyword<'i, MeteredJson>>, ValidationError<'a>>
+ Send
+ Sync
+ 'static {
    let patterns = Arc::clone(patterns);
    move |_, value, _| {
        let source = value.as_str().unwrap_or_default();
        let matcher = match patterns.0.iter().position(|pattern| pattern.source == source) {
            Some(index) => Matcher::Hard(index),
            None => jsonschema_regex::to_rust_regex(source)
                .ok()
                .and_then(|translated| Regex::new(&translated).ok())
                .map(Matcher::Regular)
                .ok_or_else(|| ValidationError::custom(format!("invalid pattern {source}")))?,
        };
        Ok(Box::new(PatternKeyword { patterns: Arc::clone(&patterns), matcher }))
    }
}
