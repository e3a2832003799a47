//! Equality of JSON values, paid for by what it walks through.
//!
//! The engine's own equality and hashing do not meter, and its hash of nested arrays ignores the
//! brackets, so that 100,000 different bracketings of one sequence collide.

use std::hash::{DefaultHasher, Hasher};

use serde_json::{Map, Number, Value};

use super::meter::{Stop, burn, depth, stop};

/// Whether two values are equal; numbers compare by value.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    equal_at(left, right, 0)
}

fn equal_at(left: &Value, right: &Value, level: usize) -> bool {
    burn(1);
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => equal_numbers(left, right),
        (Value::String(left), Value::String(right)) => {
            left.len() == right.len() && {
                burn(left.len() as u64 >> 5);
                left == right
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            check_depth(level);
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal_at(left, right, level + 1))
        }
        (Value::Object(left), Value::Object(right)) => {
            check_depth(level);
            left.len() == right.len() && equal_members(left, right, level)
        }
        _ => false,
    }
}

fn equal_members(left: &Map<String, Value>, right: &Map<String, Value>, level: usize) -> bool {
    left.iter().all(|(name, value)| {
        burn(6 + (name.len() as u64 >> 5));
        right.get(name).is_some_and(|other| equal_at(value, other, level + 1))
    })
}

fn equal_numbers(left: &Number, right: &Number) -> bool {
    jsonschema_value::cmp::equal_numbers(left, right)
}

/// Deeper values than instances may be are not walked into: the stack is not ours to fill.
fn check_depth(level: usize) {
    if level >= depth() {
        stop(Stop::Depth(level + 1));
    }
}

/// Pays for everything `value` holds; what is too deep to be written out ends the run.
pub(crate) fn burn_size(value: &Value) {
    let mut pending = vec![(value, 0)];
    while let Some((value, level)) = pending.pop() {
        match value {
            Value::String(string) => burn(1 + (string.len() as u64 >> 3)),
            Value::Array(items) => {
                check_depth(level);
                burn(1 + items.len() as u64);
                pending.extend(items.iter().map(|item| (item, level + 1)));
            }
            Value::Object(members) => {
                check_depth(level);
                burn(1);
                for (name, value) in members {
                    burn(1 + (name.len() as u64 >> 3));
                    pending.push((value, level + 1));
                }
            }
            _ => burn(1),
        }
    }
}

/// Whether no two of `items` are equal.
pub(crate) fn distinct(items: &[Value]) -> bool {
    if items.len() <= 8 {
        return items
            .iter()
            .enumerate()
            .all(|(index, item)| !items[..index].iter().any(|other| equal(item, other)));
    }
    let mut hashes: Vec<(u64, usize)> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        // The keys are fixed, so that the same values burn the same everywhere; whoever finds
        // collisions pays for the comparisons below.
        let mut state = DefaultHasher::new();
        hash(item, &mut state, 0);
        hashes.push((state.finish(), index));
    }
    // Sorting takes about as many steps as there are items times the height of the tree.
    burn(((items.len() as u64) * u64::from(items.len().ilog2())) >> 2);
    hashes.sort_unstable();
    hashes.chunk_by(|left, right| left.0 == right.0).all(|alike| {
        alike.iter().enumerate().all(|(position, (_, index))| {
            !alike[..position].iter().any(|(_, other)| equal(&items[*index], &items[*other]))
        })
    })
}

/// Equal values hash alike; containers are closed by a mark and their length.
fn hash(value: &Value, state: &mut DefaultHasher, level: usize) {
    burn(2);
    match value {
        Value::Null => state.write_u8(0),
        Value::Bool(boolean) => state.write_u8(1 + u8::from(*boolean)),
        Value::Number(number) => {
            state.write_u8(3);
            // Integers beyond 2^53 share a float, and so a hash, with their neighbours.
            let float = number.as_f64().unwrap_or(f64::NAN);
            if float.abs() >= 9_007_199_254_740_992.0
                && let Some(integer) = integer_bits(number)
            {
                state.write_u64(integer);
                return;
            }
            state.write_u64(if float == 0.0 { 0 } else { float.to_bits() });
        }
        Value::String(string) => {
            burn(string.len() as u64 >> 4);
            state.write_u8(4);
            state.write(string.as_bytes());
        }
        Value::Array(items) => {
            check_depth(level);
            state.write_u8(5);
            for item in items {
                hash(item, state, level + 1);
            }
            state.write_usize(items.len());
        }
        Value::Object(members) => {
            check_depth(level);
            let mut sum = 0_u64;
            for (name, value) in members {
                burn(2 + (name.len() as u64 >> 4));
                let mut member = DefaultHasher::new();
                member.write(name.as_bytes());
                hash(value, &mut member, level + 1);
                sum = sum.wrapping_add(member.finish());
            }
            state.write_u8(6);
            state.write_u64(sum);
        }
    }
}

/// A large number as an integer, where its float is one.
fn integer_bits(number: &Number) -> Option<u64> {
    if let Some(integer) = number.as_u64() {
        return Some(integer);
    }
    if let Some(integer) = number.as_i64() {
        return Some(integer.cast_unsigned());
    }
    let float = number.as_f64()?;
    // Within the range of the integers above the float is exact, and its cast is the integer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked range")]
    if (0.0..18_446_744_073_709_551_616.0).contains(&float) {
        Some(float as u64)
    } else if (-9_223_372_036_854_775_808.0..0.0).contains(&float) {
        Some((float as i64).cast_unsigned())
    } else {
        None
    }
}
