//! Types that cannot be all arguments of a tool, because they are no objects in JSON.
//!
//! What the standard library has of them is found when the macro asks the compiler, by the number of references that a
//! method call has to add. A type of one's own is found by its schema, when its tool is judged.

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    marker::PhantomData,
};

use super::Args;

/// A parameter, without a value of it.
#[derive(Debug)]
pub struct Taken<T>(PhantomData<fn() -> T>);

impl<T> Taken<T> {
    /// A parameter of type `T`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// A parameter that may be one.
#[derive(Debug)]
pub struct Fits;

/// All arguments as a value that is no object.
#[derive(Debug)]
pub struct NoObject<T>(PhantomData<fn() -> T>);

/// What a parameter turns out to be.
#[diagnostic::on_unimplemented(
    message = "`Args` of a type that is no object in JSON",
    label = "the arguments of a tool are an object",
    note = "a parameter with a name is one argument: `items: Vec<T>`; `Args<T>` takes a structure, a map, or an enum of structures"
)]
pub trait Fit {}

impl Fit for Fits {}

/// `Args` of what is no object.
pub trait Misfit<T> {
    /// Says so.
    fn fit(&self) -> NoObject<T> {
        NoObject(PhantomData)
    }
}

impl<T: Plain> Misfit<T> for Taken<Args<T>> {}

/// All other parameters.
pub trait Otherwise {
    /// Says so.
    fn fit(&self) -> Fits {
        Fits
    }
}

impl<T> Otherwise for &Taken<T> {}

/// What is no object in JSON.
pub trait Plain {}

macro_rules! plain {
    ($($kind:ty),*) => { $(impl Plain for $kind {})* };
}

plain![(), bool, char, String, f32, f64];
plain![u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize];

impl<T> Plain for Vec<T> {}
impl<T> Plain for VecDeque<T> {}
impl<T> Plain for BTreeSet<T> {}
impl<T, S> Plain for HashSet<T, S> {}
impl<T, const N: usize> Plain for [T; N] {}
impl<A> Plain for (A,) {}
impl<A, B> Plain for (A, B) {}
impl<A, B, C> Plain for (A, B, C) {}
