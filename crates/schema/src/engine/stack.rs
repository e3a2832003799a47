//! Room on the stack: the engine recurses once for every keyword it is inside of.

use serde_json::Value;

/// How deep the engine can recurse for a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackNeed {
    /// Keywords inside of each other, where no instance can make it more.
    pub(crate) nested: Option<usize>,
    /// Keywords inside of each other at one place of the instance.
    pub(crate) in_place: usize,
}

/// Stack for one keyword inside of another: 1.2 KiB in a release build, three times that without
/// optimisation; see the `deep` cases of the hostile corpus.
const BYTES_PER_KEYWORD: usize = 4 << 10;

/// Stack for everything else.
const BASE: usize = 128 << 10;

impl StackNeed {
    /// Levels of recursion for an instance of `depth` nested containers.
    pub(crate) fn levels(self, depth: usize) -> usize {
        self.nested.unwrap_or(usize::MAX).min(self.in_place.saturating_mul(depth + 1))
    }
}

/// Levels that need no look at the stack.
pub(crate) const FEW_LEVELS: usize = 12;

/// Runs `work` with room for `levels` of recursion, on a new stack where this one is too short.
#[inline]
pub(crate) fn with_stack<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    if levels <= FEW_LEVELS {
        return work();
    }
    let bytes = BASE + levels.saturating_mul(BYTES_PER_KEYWORD);
    stacker::maybe_grow(bytes, bytes, work)
}

/// The nested containers of `value`, counted up to one past `limit`.
pub(crate) fn nesting(value: &Value, limit: usize) -> usize {
    match value {
        Value::Array(items) => 1 + deepest(items, limit),
        Value::Object(members) => 1 + deepest(members.values(), limit),
        _ => 0,
    }
}

fn deepest<'a>(values: impl IntoIterator<Item = &'a Value>, limit: usize) -> usize {
    let mut deepest = 0;
    for value in values.into_iter().filter(|value| value.is_array() || value.is_object()) {
        if deepest >= limit {
            break;
        }
        deepest = deepest.max(nesting(value, limit - 1));
    }
    deepest
}
