//! Reading arguments and answers as the types of their author.

use std::{cell::Cell, iter};

use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::{Number, Value};

/// Reads `value` as a `T`, or says what is wrong, and with which member if that is known.
///
/// For JSON Schema `2.0` is an integer and for `serde` it is not, so what cannot be read is read again with integers in
/// the place of such numbers.
pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    let error = match T::deserialize(value) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let mut again = value.clone();
    if !write_integers(&mut again) {
        return Err(explain::<T>(value, &error));
    }
    T::deserialize(&again).map_err(|error| explain::<T>(&again, &error))
}

/// `error` with the name of the member of `value` that it is about: the last one that `T` has asked for, if it has not
/// asked for all of them.
fn explain<T: DeserializeOwned>(value: &Value, error: &serde_json::Error) -> String {
    let Value::Object(members) = value else { return error.to_string() };
    let at = Cell::new(None);
    let started = members.iter().inspect(|(name, _)| at.set(Some(name.as_str())));
    let end = iter::from_fn(|| {
        at.set(None);
        None
    });
    let members = started.map(|(name, value)| (name.as_str(), value)).chain(end);
    let again = T::deserialize(MapDeserializer::<_, serde_json::Error>::new(members));
    match (again, at.get()) {
        (Err(again), Some(name)) if again.to_string() == error.to_string() => {
            format!("{name}: {error}")
        }
        _ => error.to_string(),
    }
}

/// Writes numbers without a fraction as integers. Returns whether there were any.
fn write_integers(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => {
            let integer = number.as_f64().filter(|_| number.is_f64()).and_then(integer);
            integer.map(|integer| *number = integer).is_some()
        }
        // All of them, also after the first.
        Value::Array(items) => {
            items.iter_mut().map(write_integers).fold(false, |any, one| any | one)
        }
        Value::Object(members) => {
            members.values_mut().map(write_integers).fold(false, |any, one| any | one)
        }
        _ => false,
    }
}

/// The same number as an integer of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "it has no fraction and fits")]
fn integer(number: f64) -> Option<Number> {
    // 2^64 is the first number that does not fit.
    let fits = number.fract() == 0.0 && (-(2_f64.powi(63))..2_f64.powi(64)).contains(&number);
    fits.then(|| Number::from_i128(number as i128))?
}
