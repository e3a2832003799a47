//! All arguments as one value, and the check that they are an object.
//!
//! The compiler finds types of the standard library that are not objects in JSON, by the number of references that a
//! method call has to add (autoref specialization). Other types are found by their schema when the tool is checked.

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    marker::PhantomData,
};

/// All arguments of a call as one value: `Args(query): Args<Query>`.
///
/// The schema of `T` is the input schema. Beside other arguments, `T` gets those that no other parameter names. A handwritten implementation of [`JsonSchema`](schemars::JsonSchema) is listed
/// as it was written, with every keyword. `T` must be an object in JSON. Other types of the standard library do not
/// compile:
///
/// ```compile_fail,E0277
/// # struct Sums;
/// #[toolbond::tools]
/// impl Sums {
///     #[tool]
///     fn sum(&self, toolbond::Args(numbers): toolbond::Args<Vec<f64>>) -> f64 {
///         numbers.iter().sum()
///     }
/// }
/// ```
///
/// For one argument use a parameter with a name:
///
/// ```
/// # struct Sums;
/// #[toolbond::tools]
/// impl Sums {
///     #[tool]
///     fn sum(&self, numbers: Vec<f64>) -> f64 {
///         numbers.iter().sum()
///     }
/// }
/// ```
///
/// If your own type is not an object, such as `struct Numbers(Vec<f64>)`, the tool is left out of the list and the log
/// says why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Args<T>(pub T);

/// Stands for a parameter of type `T` without a value of it.
#[derive(Debug)]
pub struct ParameterType<T>(PhantomData<fn() -> T>);

impl<T> ParameterType<T> {
    /// Stands for `T`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The check of a parameter that is allowed.
#[derive(Debug)]
pub struct Allowed;

/// The check of an `Args` that is not allowed.
#[derive(Debug)]
pub struct NotAllowed<T>(PhantomData<fn() -> T>);

/// Implemented for the check of a parameter that is allowed.
#[diagnostic::on_unimplemented(
    message = "`Args` of a type that is not an object in JSON",
    label = "the arguments of a tool are an object",
    note = "a parameter with a name is one argument: `items: Vec<T>`; `Args<T>` takes a struct, a map, or an enum of structs"
)]
pub trait IsAllowed {}

impl IsAllowed for Allowed {}

/// Matches `Args` of a type that is not an object.
pub trait ArgsOfNonObject<T> {
    /// Returns a value that does not implement [`IsAllowed`].
    fn check(&self) -> NotAllowed<T> {
        NotAllowed(PhantomData)
    }
}

impl<T: NonObject> ArgsOfNonObject<T> for ParameterType<Args<T>> {}

/// Matches all other parameters.
pub trait AllowedParameter {
    /// Returns a value that implements [`IsAllowed`].
    fn check(&self) -> Allowed {
        Allowed
    }
}

impl<T> AllowedParameter for &ParameterType<T> {}

/// Types of the standard library that are not objects in JSON.
pub trait NonObject {}

macro_rules! non_objects {
    ($($kind:ty),*) => { $(impl NonObject for $kind {})* };
}

non_objects![(), bool, char, String, f32, f64];
non_objects![u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize];

impl<T> NonObject for Vec<T> {}
impl<T> NonObject for VecDeque<T> {}
impl<T> NonObject for BTreeSet<T> {}
impl<T, S> NonObject for HashSet<T, S> {}
impl<T, const N: usize> NonObject for [T; N] {}
impl<A> NonObject for (A,) {}
impl<A, B> NonObject for (A, B) {}
impl<A, B, C> NonObject for (A, B, C) {}
