//! What a schema may be, and what a validation may cost.

/// The bounds of admission and validation.
///
/// ```
/// use toolpact_schema::Limits;
///
/// let mut limits = Limits::default();
/// limits.depth = 16;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Nested JSON containers in a schema, the root being 1.
    pub depth: usize,
    /// Subschemas in a schema.
    pub subschemas: usize,
    /// Bytes of a schema, written as compact JSON.
    pub bytes: usize,
    /// Bytes that compiling copies: the URIs and pointers of all subschemas, and what `not` holds.
    pub copied_bytes: usize,
    /// Bytes of one regular expression.
    pub pattern_bytes: usize,
    /// States that all regular expressions of a schema compile to, with an allowance for the work
    /// of translating them.
    pub pattern_states: usize,
    /// Visits that one place of an instance can get through in-place keywords: references,
    /// `allOf`, `anyOf`, `oneOf`, `not`, `if` and `dependentSchemas`.
    pub expansion: usize,
    /// Ways through embedded resources (subschemas with an `$id`) that references can take.
    pub scopes: usize,
    /// Nested JSON containers of an instance that a validation goes down into, the root being 1.
    pub instance_depth: usize,
    /// Keywords that apply inside of each other, over all levels of an instance: what the stack has
    /// to hold.
    pub nesting: usize,
    /// Violations reported for one instance.
    pub violations: usize,
    /// Steps one validation may take.
    pub fuel: u64,
}

impl Limits {
    /// The limits by name, for command lines and messages.
    pub const NAMES: [&str; 12] = [
        "depth",
        "subschemas",
        "bytes",
        "copied-bytes",
        "pattern-bytes",
        "pattern-states",
        "expansion",
        "scopes",
        "instance-depth",
        "nesting",
        "violations",
        "fuel",
    ];

    /// Sets the limit called `name` (one of [`Limits::NAMES`]); `false` where there is none.
    #[must_use]
    pub fn set(&mut self, name: &str, limit: u64) -> bool {
        let size = usize::try_from(limit).unwrap_or(usize::MAX);
        match name {
            "depth" => self.depth = size,
            "subschemas" => self.subschemas = size,
            "bytes" => self.bytes = size,
            "copied-bytes" => self.copied_bytes = size,
            "pattern-bytes" => self.pattern_bytes = size,
            "pattern-states" => self.pattern_states = size,
            "expansion" => self.expansion = size,
            "scopes" => self.scopes = size,
            "instance-depth" => self.instance_depth = size,
            "nesting" => self.nesting = size,
            "violations" => self.violations = size,
            "fuel" => self.fuel = limit,
            _ => return false,
        }
        true
    }

    /// Whether what is valid under `other` is valid under these.
    pub(crate) fn is_at_least(&self, other: &Self) -> bool {
        self.instance_depth >= other.instance_depth
            && self.nesting >= other.nesting
            && self.fuel >= other.fuel
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 64,
            subschemas: 10_000,
            bytes: 1 << 20,
            copied_bytes: 4 << 20,
            pattern_bytes: 4096,
            pattern_states: 250_000,
            expansion: 1 << 14,
            scopes: 1 << 12,
            instance_depth: 128,
            nesting: 1 << 14,
            violations: 16,
            fuel: 20_000_000,
        }
    }
}
