//! A compiled schema.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::JsonType;

use serde_json::Value;

use crate::{
    Dialect, Instance, Limits, Options, SchemaError, Unfinished, Verdict, Violations,
    admission::{self, Admitted, Documents, Locations},
    compile,
    engine::{
        Allowance, FEW_LEVELS, HardPattern, Metered, NamePatterns, Raw, Stop, Validator, holds,
        nesting, next_id, run, run_to_end, with_stack,
    },
    explain::Explainer,
    source::Source,
};

/// An admitted and compiled schema. Clones are cheap.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    validator: Validator,
    source: Value,
    /// For violations and references; collected when the first one needs them.
    locations: OnceLock<Locations>,
    options: Options,
    admitted: Admitted,
    dialect: Dialect,
    allowance: Allowance,
    /// Whether the fuel lasts for any scalar but a string: each visit of a subschema takes at most
    /// 32 steps for every byte of it, a division included.
    plain_scalars: bool,
    /// Whether no instance makes the engine recurse so deep that a limit or the stack matters.
    is_shallow: bool,
    /// Bytes of the longest text in the schema, which an error may copy.
    longest_text: usize,
}

/// A verdict and the fuel that it took.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Measured {
    /// The verdict.
    pub verdict: Verdict,
    /// The fuel, in steps. It is the same on every machine.
    pub fuel: u64,
}

impl Options {
    /// Admits and compiles `schema`.
    pub fn compile(&self, schema: &Value) -> Result<Schema, SchemaError> {
        Schema::build(self, schema)
    }
}

impl Schema {
    /// Admits and compiles `schema` with the default [`Options`].
    ///
    /// # Errors
    ///
    /// Fails if `schema` is not a schema, is not valid under the metaschema of its dialect, refers to another document,
    /// or exceeds one of the [`Limits`].
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Options::default().compile(schema)
    }

    /// The same as [`Options::default`].
    #[doc(hidden)]
    #[must_use]
    pub fn options() -> Options {
        Options::default()
    }

    /// Compiles another schema with the options of this one.
    ///
    /// # Errors
    ///
    /// The same as [`Schema::compile`].
    pub fn compile_alike(&self, schema: &Value) -> Result<Self, SchemaError> {
        Self::build(&self.0.options, schema)
    }

    pub(crate) fn build(options: &Options, schema: &Value) -> Result<Self, SchemaError> {
        let dialect = admission::dialect(options, schema)?;
        let depth = nesting(schema, options.limits.depth);
        with_stack(depth * compile::NESTED_REFERENCES, || Self::admit(options, schema, dialect))
    }

    fn admit(
        options: &Options,
        schema: &Value,
        dialect: Option<Dialect>,
    ) -> Result<Self, SchemaError> {
        let bytes = admission::measure(options, schema)?;
        let documents = Documents::collect_if_needed(options, schema)?;
        let admitted = admission::admit(options, schema, documents.as_ref(), bytes)?;
        let validator = compile::compile(options, schema, dialect, &admitted, documents.as_ref())?;
        let most_steps = admitted.expansion.saturating_mul(32 * admitted.bytes) as u64;
        let allowance = prices(&options.limits, &admitted);
        Ok(Self(Arc::new(Compiled {
            dialect: dialect.unwrap_or_else(|| Dialect::from_draft(validator.draft())),
            validator,
            source: schema.clone(),
            locations: OnceLock::new(),
            options: options.clone(),
            allowance,
            is_shallow: admitted
                .need
                .nested
                .is_some_and(|levels| levels <= FEW_LEVELS.min(options.limits.nesting)),
            plain_scalars: options.documents.is_empty()
                && admitted.need.nested.is_some_and(|levels| levels < 16)
                && most_steps < options.limits.fuel,
            longest_text: longest_text(schema),
            admitted,
        })))
    }

    /// The dialect of the schema.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.0.dialect
    }

    /// The schema as it was written.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// Returns what the `$ref` of `subschema` leads to. `subschema` has to be part of [`Schema::source`] itself, not a
    /// copy. Returns `None` if it has no `$ref`, or if that leads to another document.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_schema::Schema;
    ///
    /// let schema = Schema::compile(&json!({
    ///     "properties": { "to": { "$ref": "https://example.com/address.json" } },
    ///     "$defs": { "address": { "$id": "https://example.com/address.json", "type": "object" } }
    /// }))?;
    /// let source = schema.source();
    /// assert_eq!(schema.resolve(&source["properties"]["to"]), Some(&source["$defs"]["address"]));
    /// # Ok::<(), toolbond_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn resolve(&self, subschema: &Value) -> Option<&Value> {
        self.readable().target(subschema)
    }

    /// The limits that the schema was compiled with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.options.limits
    }

    /// What its patterns compile to, as [`Limits::pattern_states`] counts it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_schema::Schema;
    ///
    /// let short = Schema::compile(&json!({ "pattern": "^[a-z]{2}$" }))?;
    /// let long = Schema::compile(&json!({ "pattern": "^[a-z]{200}$" }))?;
    /// assert!(long.pattern_states() > 10 * short.pattern_states());
    /// # Ok::<(), toolbond_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn pattern_states(&self) -> usize {
        self.0.admitted.pattern_states
    }

    /// Whether `instance` is valid. Returns `false` if the validation is unfinished.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        let Compiled { validator, options, allowance, .. } = &*self.0;
        if !self.0.is_shallow {
            return self.decide_value(instance, options.limits.fuel).0 == Ok(true);
        }
        let instance = Raw::Value(instance);
        let is_valid = || validator.is_valid(Metered(instance));
        if self.0.plain_scalars && is_plain(instance) {
            return run_to_end(allowance, is_valid).0;
        }
        holds(allowance, options.limits.fuel, is_valid)
    }

    /// Validates `instance`. Collects violations only if it is invalid.
    pub fn validate(&self, instance: &Value) -> Verdict {
        self.measure(instance).verdict
    }

    /// Validates `instance` and returns the fuel that it took.
    ///
    /// The validation takes at most [`Limits::fuel`]. If the instance is invalid, collecting the violations takes at most
    /// twice as much again.
    pub fn measure(&self, instance: &Value) -> Measured {
        let (decision, fuel) = self.decide_value(instance, self.0.options.limits.fuel);
        match decision {
            Ok(true) => Measured { verdict: Verdict::Valid, fuel },
            Ok(false) => {
                let (verdict, more) = self.explain(instance);
                Measured { verdict, fuel: fuel + more }
            }
            Err(unfinished) => Measured { verdict: Verdict::Unfinished(unfinished), fuel },
        }
    }

    /// Validates `instance` with at most `fuel`.
    ///
    /// The validation takes at most `fuel`, and collecting the violations as much again. If that does not suffice, the
    /// verdict is [`Unfinished::Fuel`] with `fuel` as the limit. An event loop can try this first, and then validate with
    /// all the fuel on another thread.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_schema::{Schema, Unfinished, Verdict};
    ///
    /// let schema = Schema::compile(&json!({ "items": { "type": "integer" } }))?;
    /// assert!(schema.validate_within(&json!([1, 2]), 1000).is_valid());
    /// let long = json!(vec![1; 5000]);
    /// assert_eq!(
    ///     schema.validate_within(&long, 1000),
    ///     Verdict::Unfinished(Unfinished::Fuel { limit: 1000 })
    /// );
    /// assert!(schema.validate(&long).is_valid());
    /// # Ok::<(), toolbond_schema::SchemaError>(())
    /// ```
    pub fn validate_within(&self, instance: &Value, fuel: u64) -> Verdict {
        self.measure_within(instance, fuel).verdict
    }

    /// The same as [`Schema::validate_within`], but also returns the fuel that it took.
    pub fn measure_within(&self, instance: &Value, fuel: u64) -> Measured {
        if fuel >= self.0.options.limits.fuel {
            return self.measure(instance);
        }
        let (decision, spent) = self.decide_value(instance, fuel);
        let (verdict, more) = match decision {
            Ok(true) => (Verdict::Valid, 0),
            Ok(false) => {
                let (violations, more) = self.explain_all(instance, fuel);
                let unfinished = Verdict::Unfinished(Unfinished::Fuel { limit: fuel });
                (violations.map_or(unfinished, Verdict::Invalid), more)
            }
            Err(unfinished) => (Verdict::Unfinished(unfinished), 0),
        };
        Measured { verdict, fuel: spent + more }
    }

    /// Returns the fuel that it took to find `instance` valid. Returns `None` if it is invalid, or if `fuel` does not
    /// suffice. In that case validate it as a [`Value`] to learn why.
    #[must_use]
    pub fn accepts(&self, instance: &Instance<'_>, fuel: u64) -> Option<u64> {
        let fuel = fuel.min(self.0.options.limits.fuel);
        let (decision, taken) =
            self.decide(Raw::Instance(instance.root()), || instance.nesting(), fuel);
        (decision == Ok(true)).then_some(taken)
    }

    /// The schema, for those who explain its violations.
    fn readable(&self) -> Source<'_> {
        let Compiled { source, options, admitted, locations, .. } = &*self.0;
        let levels = || nesting(source, options.limits.depth);
        let collect = || with_stack(levels(), || Locations::collect(options, source));
        Source {
            root: source,
            locations: admitted.has_names.then(|| locations.get_or_init(collect)),
            documents: &options.documents,
        }
    }

    #[inline]
    fn decide_value(&self, instance: &Value, fuel: u64) -> (Result<bool, Unfinished>, u64) {
        let limit = self.0.options.limits.instance_depth;
        self.decide(Raw::Value(instance), || nesting(instance, limit), fuel)
    }

    #[inline]
    fn decide(
        &self,
        instance: Raw<'_>,
        nesting: impl FnOnce() -> usize,
        fuel: u64,
    ) -> (Result<bool, Unfinished>, u64) {
        let Compiled { validator, options, allowance, .. } = &*self.0;
        let is_valid = || validator.is_valid(Metered(instance));
        if self.0.plain_scalars && fuel == options.limits.fuel && is_plain(instance) {
            let (valid, fuel) = run_to_end(allowance, is_valid);
            return (Ok(valid), fuel);
        }
        let (decision, taken) = if self.0.is_shallow {
            run(allowance, fuel, is_valid)
        } else {
            let levels = match self.levels(nesting) {
                Ok(levels) => levels,
                Err(unfinished) => return (Err(unfinished), 0),
            };
            with_stack(levels, || run(allowance, fuel, is_valid))
        };
        (decision.map_err(|stop| self.unfinished(stop, fuel)), taken)
    }

    /// Returns how deep the engine recurses for an instance with this nesting.
    fn levels(&self, nesting: impl FnOnce() -> usize) -> Result<usize, Unfinished> {
        let Compiled { options: Options { limits, .. }, admitted, .. } = &*self.0;
        let levels = if let Some(levels) = admitted.need.nested {
            levels
        } else {
            // A recursive schema follows the instance wherever it goes.
            let found = nesting().min(limits.instance_depth + 1);
            if found > limits.instance_depth {
                return Err(Unfinished::InstanceDepth { found, limit: limits.instance_depth });
            }
            admitted.need.levels(found)
        };
        if levels > limits.nesting {
            return Err(Unfinished::Nesting { found: levels, limit: limits.nesting });
        }
        Ok(levels)
    }

    /// Collects all errors of an invalid instance, or only the first if all of them cost too much.
    fn explain(&self, instance: &Value) -> (Verdict, u64) {
        let (all, fuel) = self.explain_all(instance, self.0.options.limits.fuel);
        if let Some(violations) = all {
            return (Verdict::Invalid(violations), fuel);
        }
        let Compiled { validator, options: Options { limits, .. }, .. } = &*self.0;
        let source = self.readable();
        let (first, more) = self.run_explaining(instance, limits.fuel, || {
            let mut explainer = Explainer::new(instance, source, limits.violations);
            if let Err(error) = validator.validate(Metered(Raw::Value(instance))) {
                explainer.add(&error);
            }
            explainer.finish(true)
        });
        let violations = first.unwrap_or_else(|_| nothing_to_say(instance, source));
        (Verdict::Invalid(violations), fuel + more)
    }

    /// Collects all errors of an invalid instance, up to the limit. Returns `None` if they cost more than `fuel`.
    fn explain_all(&self, instance: &Value, fuel: u64) -> (Option<Violations>, u64) {
        let Compiled { validator, options: Options { limits, .. }, .. } = &*self.0;
        let source = self.readable();
        let (all, taken) = self.run_explaining(instance, fuel, || {
            let mut explainer = Explainer::new(instance, source, limits.violations);
            for error in validator.iter_errors(Metered(Raw::Value(instance))) {
                explainer.add(&error);
            }
            explainer.finish(false)
        });
        (all.ok(), taken)
    }

    /// Runs `work`, which pays for the errors it reports.
    fn run_explaining<T>(
        &self,
        instance: &Value,
        fuel: u64,
        work: impl FnOnce() -> T,
    ) -> (Result<T, Stop>, u64) {
        let Compiled { options: Options { limits, .. }, admitted, allowance, .. } = &*self.0;
        let depth = nesting(instance, limits.instance_depth);
        let copied = self.0.longest_text + admitted.largest_not.saturating_mul(16);
        let error = error_price(instance, admitted, depth, copied);
        let allowance = Allowance { id: next_id(), error, ..allowance.clone() };
        with_stack(admitted.need.levels(depth), || run(&allowance, fuel, work))
    }

    fn unfinished(&self, stop: Stop, fuel: u64) -> Unfinished {
        let limits = &self.0.options.limits;
        match stop {
            Stop::Fuel => Unfinished::Fuel { limit: fuel },
            Stop::Depth(found) => Unfinished::InstanceDepth { found, limit: limits.instance_depth },
            Stop::Backtracking => Unfinished::Backtracking { limit: HardPattern::MOST_TURNS },
            Stop::Engine => Unfinished::Engine,
        }
    }
}

/// Whether it is `null`, a boolean or a number.
#[inline]
fn is_plain(instance: Raw<'_>) -> bool {
    matches!(instance.kind(), JsonType::Null | JsonType::Boolean | JsonType::Number)
}

fn nothing_to_say(instance: &Value, source: Source<'_>) -> Violations {
    Explainer::new(instance, source, 1).finish(true)
}

/// Steps for dividing a number with a fraction exactly.
const DIVISION: u32 = 256;

/// Visits of in-place keywords that one step pays for; each takes a few nanoseconds.
const VISITS_PER_STEP: usize = 8;

/// States of a pattern that can be followed through sixteen bytes for one step.
const STATES_PER_STEP: usize = 1;

fn prices(limits: &Limits, admitted: &Admitted) -> Allowance {
    let price = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
    // The engine looks through the references it is inside of; without recursion they are few.
    let cycle = match admitted.need.nested {
        Some(nested) => nested / 64,
        None => 1 + admitted.need.in_place / 4,
    };
    Allowance {
        id: next_id(),
        fuel: limits.fuel,
        place: price(1 + admitted.expansion / VISITS_PER_STEP),
        scan: price(1 + admitted.widest_pattern / STATES_PER_STEP),
        name_patterns: price(admitted.name_patterns),
        fraction: if admitted.has_multiple_of { DIVISION } else { 1 },
        cycle: price(cycle),
        error: 0,
        depth: limits.instance_depth,
        names: admitted
            .hard_patterns
            .clone()
            .filter(|_| admitted.hard_names)
            .map(|patterns| patterns as Arc<dyn NamePatterns>),
    }
}

/// Steps for one reported error: about the bytes it takes, most of them for its place in the
/// instance and the way through the schema.
fn error_price(instance: &Value, admitted: &Admitted, depth: usize, copied: usize) -> u32 {
    const ERROR: usize = 512;
    const KEYWORD: usize = 16;
    let level = admitted.need.in_place.saturating_mul(KEYWORD) + longest_name(instance);
    let bytes = level.saturating_mul(depth + 1).saturating_add(copied).saturating_add(ERROR);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Bytes of the longest text in `value`.
fn longest_text(value: &Value) -> usize {
    let mut longest = longest_name(value);
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => longest = longest.max(text.len()),
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    longest
}

/// The longest member name in `value`.
fn longest_name(value: &Value) -> usize {
    let is_container = |value: &&Value| value.is_array() || value.is_object();
    let mut longest = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().filter(is_container)),
            Value::Object(members) => {
                longest = members.keys().map(String::len).fold(longest, usize::max);
                pending.extend(members.values().filter(is_container));
            }
            _ => {}
        }
    }
    longest
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.source).finish()
    }
}
