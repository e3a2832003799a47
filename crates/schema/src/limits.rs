//! Limits on schemas and validations.

use crate::text::shorten;

/// Limits on schemas and validations.
///
/// ```
/// use toolbond_schema::Limits;
///
/// let mut limits = Limits::default();
/// limits.depth = 16;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Nesting of a schema. The root is level 1.
    pub depth: usize,
    /// Subschemas in a schema.
    pub subschemas: usize,
    /// Bytes of a schema, written as compact JSON.
    pub bytes: usize,
    /// Bytes that compiling copies: the URIs and pointers of all subschemas, and the schemas under `not`.
    pub copied_bytes: usize,
    /// Bytes of one regular expression.
    pub pattern_bytes: usize,
    /// States that all regular expressions of a schema compile to, with an allowance for the work
    /// of translating them.
    pub pattern_states: usize,
    /// Visits that one place of an instance can get through in-place keywords: references,
    /// `allOf`, `anyOf`, `oneOf`, `not`, `if` and `dependentSchemas`.
    pub expansion: usize,
    /// Paths through embedded resources (subschemas with an `$id`) that references can take.
    pub scopes: usize,
    /// Nesting of an instance, as far as a validation descends into it. The root is level 1.
    pub instance_depth: usize,
    /// Keywords that apply inside each other, over all levels of an instance. This decides the size of the stack.
    pub nesting: usize,
    /// Violations reported for one instance.
    pub violations: usize,
    /// Fuel for one validation, in steps.
    pub fuel: u64,
}

impl Limits {
    /// The names of the limits, for command lines and messages.
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

    /// Sets the limit `name`. A number that is too large sets the largest possible limit.
    ///
    /// ```
    /// use toolbond_schema::Limits;
    ///
    /// let mut limits = Limits::default();
    /// limits.set("depth", 16)?;
    /// assert_eq!(limits.get("depth"), Some(16));
    /// let error = limits.set("deepth", 16).unwrap_err();
    /// assert!(error.to_string().starts_with("no limit is called `deepth`"));
    /// # Ok::<(), toolbond_schema::UnknownLimit>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if `name` is not one of [`Limits::NAMES`].
    pub fn set(&mut self, name: &str, limit: u64) -> Result<(), UnknownLimit> {
        if name == "fuel" {
            self.fuel = limit;
            return Ok(());
        }
        let Some(field) = self.size_mut(name) else {
            return Err(UnknownLimit { name: name.to_owned() });
        };
        *field = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(())
    }

    /// Returns the limit `name`, if it is one of [`Limits::NAMES`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        match name {
            "fuel" => Some(self.fuel),
            name => self.clone().size_mut(name).map(|size| *size as u64),
        }
    }

    fn size_mut(&mut self, name: &str) -> Option<&mut usize> {
        // A field that is left out below does not compile here, or is not used.
        let Self {
            fuel: _,
            depth,
            subschemas,
            bytes,
            copied_bytes,
            pattern_bytes,
            pattern_states,
            expansion,
            scopes,
            instance_depth,
            nesting,
            violations,
        } = self;
        Some(match name {
            "depth" => depth,
            "subschemas" => subschemas,
            "bytes" => bytes,
            "copied-bytes" => copied_bytes,
            "pattern-bytes" => pattern_bytes,
            "pattern-states" => pattern_states,
            "expansion" => expansion,
            "scopes" => scopes,
            "instance-depth" => instance_depth,
            "nesting" => nesting,
            "violations" => violations,
            _ => return None,
        })
    }
}

/// A name that no limit has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no limit is called `{}`; the limits are {}", shorten(name), Limits::NAMES.join(", "))]
#[non_exhaustive]
pub struct UnknownLimit {
    /// The name.
    pub name: String,
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
