//! Fuel: counting the steps of one validation, and ending it when they run out.
//!
//! The count lives in a thread-local, because `propertyNames` hands its names to the engine through
//! an associated function that has no instance to carry it.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

#[cfg(panic = "abort")]
compile_error!("toolbond-schema ends a validation by unwinding; build with panic = \"unwind\"");

/// What one run may spend, and the prices it pays.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    /// Tells these prices from all others.
    pub(crate) id: u64,
    /// The most steps.
    pub(crate) fuel: u64,
    /// Steps for moving to another place of the instance: what in-place keywords do there without
    /// looking at it is paid here.
    pub(crate) place: u32,
    /// Steps for reading sixteen bytes of a string, which the widest pattern may walk through.
    pub(crate) scan: u32,
    /// Patterns that a name is matched against.
    pub(crate) name_patterns: u32,
    /// Steps for reading a number with a fraction, which `multipleOf` divides exactly.
    pub(crate) fraction: u32,
    /// Steps for the cycle check of a recursive reference.
    pub(crate) cycle: u32,
    /// Steps for reporting one error: 0 while no error is reported.
    pub(crate) error: u32,
    /// Nested containers that equality may walk into.
    pub(crate) depth: usize,
    /// The patterns with look-around or back-references that property names are matched against.
    pub(crate) names: Option<Arc<dyn NamePatterns>>,
}

/// Patterns that names of properties are matched against before the engine does.
pub(crate) trait NamePatterns: fmt::Debug + Send + Sync {
    /// Matches `name` against all of them, only to pay for it: the engine then matches it again with the certainty that
    /// it ends.
    fn try_all(&self, name: &str);
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Out of fuel.
    Fuel,
    /// A pattern backtracked too often.
    Backtracking,
    /// The instance nests too deep.
    Depth(usize),
    /// The engine panicked.
    Engine,
}

struct Meter {
    id: Cell<u64>,
    fuel: Cell<u64>,
    place: Cell<u32>,
    scan: Cell<u32>,
    name_scan: Cell<u32>,
    fraction: Cell<u32>,
    cycle: Cell<u32>,
    member: Cell<u32>,
    error: Cell<u32>,
    depth: Cell<usize>,
    has_names: Cell<bool>,
}

thread_local! {
    static METER: Meter = const {
        Meter {
            id: Cell::new(0),
            fuel: Cell::new(0),
            place: Cell::new(0),
            scan: Cell::new(0),
            name_scan: Cell::new(0),
            fraction: Cell::new(0),
            cycle: Cell::new(0),
            member: Cell::new(0),
            error: Cell::new(0),
            depth: Cell::new(0),
            has_names: Cell::new(false),
        }
    };
    // Apart, because what has a destructor is looked at twice on every access.
    static NAMES: RefCell<Option<Arc<dyn NamePatterns>>> = const { RefCell::new(None) };
}

/// A number that no other prices have.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Runs `work` under `fuel` steps at the prices of `allowance`; returns its result and the steps it
/// took.
#[inline]
pub(crate) fn run<T>(
    allowance: &Allowance,
    fuel: u64,
    work: impl FnOnce() -> T,
) -> (Result<T, Stop>, u64) {
    METER.with(|meter| meter.start(allowance, fuel));
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(|payload| reason(&payload));
    let left = METER.with(|meter| meter.fuel.get());
    (result, fuel - left)
}

/// Runs `work` like [`run`]; whether it was finished and returned `true`.
#[inline]
pub(crate) fn holds(allowance: &Allowance, fuel: u64, work: impl FnOnce() -> bool) -> bool {
    METER.with(|meter| meter.start(allowance, fuel));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(false)
}

/// Runs `work` like [`run`], where it is known that the fuel lasts: nothing ends it early.
#[inline]
pub(crate) fn run_to_end<T>(allowance: &Allowance, work: impl FnOnce() -> T) -> (T, u64) {
    METER.with(|meter| meter.start(allowance, allowance.fuel));
    let result = work();
    (result, allowance.fuel - METER.with(|meter| meter.fuel.get()))
}

/// Runs `work` with more fuel than it can burn, for what is bounded otherwise.
pub(crate) fn run_freely<T>(work: impl FnOnce() -> T) -> T {
    METER.with(|meter| meter.fuel.set(u64::MAX));
    work()
}

impl Meter {
    #[inline]
    fn start(&self, allowance: &Allowance, fuel: u64) {
        self.fuel.set(fuel);
        // Most calls of one thread are for the same schema.
        if self.id.get() != allowance.id {
            self.set_prices(allowance);
        }
    }

    fn set_prices(&self, allowance: &Allowance) {
        self.id.set(allowance.id);
        self.place.set(allowance.place);
        self.scan.set(allowance.scan);
        self.name_scan.set(allowance.scan.saturating_mul(allowance.name_patterns.max(1)));
        self.fraction.set(allowance.fraction);
        self.cycle.set(allowance.cycle);
        self.error.set(allowance.error);
        // A reported error may keep a copy of every name it passes.
        let copy = if allowance.error > 0 { 16 } else { 0 };
        let matching = allowance.name_patterns.saturating_mul(2);
        self.member.set(allowance.place.saturating_add(copy).saturating_add(matching));
        self.depth.set(allowance.depth);
        if self.has_names.replace(allowance.names.is_some()) || allowance.names.is_some() {
            NAMES.with(|names| names.replace(allowance.names.clone()));
        }
    }
}

/// The payload is ours, or the engine panicked: a defect there must not reach the caller.
#[cold]
fn reason(payload: &Box<dyn Any + Send>) -> Stop {
    payload.downcast_ref().copied().unwrap_or(Stop::Engine)
}

/// Ends the run. Unwinds without the panic hook, so nothing is printed.
#[cold]
pub(crate) fn stop(reason: Stop) -> ! {
    if reason == Stop::Fuel {
        METER.with(|meter| meter.fuel.set(0));
    }
    resume_unwind(Box::new(reason))
}

#[inline]
fn burn_from(meter: &Meter, steps: u64) {
    match meter.fuel.get().checked_sub(steps) {
        Some(left) => meter.fuel.set(left),
        None => stop(Stop::Fuel),
    }
}

/// Pays for `steps`.
#[inline]
pub(crate) fn burn(steps: u64) {
    METER.with(|meter| burn_from(meter, steps));
}

/// Pays for moving to another place of the instance.
#[inline]
pub(crate) fn burn_place() {
    METER.with(|meter| burn_from(meter, u64::from(meter.place.get())));
}

/// Pays for reading a string of `bytes` that a pattern may walk through.
#[inline]
pub(crate) fn burn_scan(bytes: usize) {
    METER.with(|meter| {
        burn_from(meter, 1 + ((bytes as u64).saturating_mul(u64::from(meter.scan.get())) >> 4));
    });
}

/// Pays for reading a number.
#[inline]
pub(crate) fn burn_number(has_fraction: bool) {
    METER.with(|meter| {
        burn_from(meter, if has_fraction { u64::from(meter.fraction.get()) } else { 1 });
    });
}

/// Pays for the cycle check of a recursive reference.
#[inline]
pub(crate) fn burn_cycle() {
    METER.with(|meter| burn_from(meter, u64::from(meter.cycle.get())));
}

/// Pays for one reported error.
pub(crate) fn burn_error() {
    METER.with(|meter| burn_from(meter, u64::from(meter.error.get())));
}

/// Pays for moving to the member called `name`, and matches the name where patterns want that.
#[inline]
pub(crate) fn burn_member(name: &str) {
    METER.with(|meter| {
        let mut steps = u64::from(meter.member.get());
        steps += (name.len() as u64).saturating_mul(u64::from(meter.name_scan.get())) >> 4;
        burn_from(meter, steps);
        if meter.has_names.get() {
            try_names(name);
        }
    });
}

#[cold]
fn try_names(name: &str) {
    let names = NAMES.with(|names| names.borrow().clone());
    if let Some(names) = names {
        names.try_all(name);
    }
}

/// Nested containers that equality may walk into.
pub(crate) fn depth() -> usize {
    METER.with(|meter| meter.depth.get())
}
