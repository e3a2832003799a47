//! `pattern`, with the matcher that its pattern needs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use fancy_regex::Regex;
use jsonschema::{Keyword, ValidationError, json::Node, paths::Location};
use serde_json::{Map, Value};

use super::{
    meter::{Stop, stop},
    node::{Metered, MeteredJson},
    pattern::HardPatterns,
};

/// `pattern`, for schemas that hold at least one pattern of this kind.
struct PatternKeyword {
    patterns: Arc<HardPatterns>,
    matcher: Matcher,
}

enum Matcher {
    Hard(usize),
    Regular(Arc<Regex>),
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
        if Keyword::<MeteredJson>::is_valid(self, instance) {
            Ok(())
        } else {
            Err(ValidationError::custom(""))
        }
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
    let compiled: Mutex<HashMap<String, Arc<Regex>>> = Mutex::default();
    move |_, value, _| {
        let source = value.as_str().unwrap_or_default();
        let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let hard = patterns.0.iter().position(|pattern| pattern.source == source);
        let matcher = if let Some(index) = hard {
            Matcher::Hard(index)
        } else if let Some(regex) = compiled.get(source) {
            Matcher::Regular(Arc::clone(regex))
        } else {
            let regex = jsonschema_regex::to_rust_regex(source)
                .ok()
                .and_then(|translated| Regex::new(&translated).ok())
                .map(Arc::new)
                .ok_or_else(|| ValidationError::custom("not a regular expression"))?;
            compiled.insert(source.to_owned(), Arc::clone(&regex));
            Matcher::Regular(regex)
        };
        Ok(Box::new(PatternKeyword { patterns: Arc::clone(&patterns), matcher }))
    }
}
