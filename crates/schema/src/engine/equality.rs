//! Equality of JSON values, paid for by what it walks through.
//!
//! The engine's own equality and hashing do not meter, and its hash of nested arrays ignores the
//! brackets, so that 100,000 different bracketings of one sequence collide.

use std::hash::{DefaultHasher, Hasher};

use serde_json::Number;

use super::instance::hash_of;
use super::meter::{Stop, burn, depth, stop};
use super::raw::{Raw, RawArray, RawObject};

/// Whether two values are equal; numbers compare by value.
pub(crate) fn equal(left: Raw<'_>, right: Raw<'_>) -> bool {
    equal_at(left, right, 0)
}

fn equal_at(left: Raw<'_>, right: Raw<'_>, level: usize) -> bool {
    burn(1);
    if left.kind() != right.kind() {
        return false;
    }
    if let (Some(left), Some(right)) = (left.text(), right.text()) {
        return left.len() == right.len() && {
            burn(left.len() as u64 >> 5);
            left == right
        };
    }
    if let (Some(left), Some(right)) = (left.number(), right.number()) {
        return equal_numbers(&left, &right);
    }
    if let (Some(left), Some(right)) = (left.array(), right.array()) {
        check_depth(level);
        return left.count() == right.count()
            && left
                .elements()
                .zip(right.elements())
                .all(|(left, right)| equal_at(left, right, level + 1));
    }
    if let (Some(left), Some(right)) = (left.object(), right.object()) {
        check_depth(level);
        return left.count() == right.count() && equal_members(left, right, level);
    }
    left.boolean() == right.boolean()
}

fn equal_members(left: RawObject<'_>, right: RawObject<'_>, level: usize) -> bool {
    left.members().all(|(name, value)| {
        burn(6 + (name.len() as u64 >> 5));
        right.find(name, || hash_of(name)).is_some_and(|other| equal_at(value, other, level + 1))
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
pub(crate) fn burn_size(value: Raw<'_>) {
    let mut pending = vec![(value, 0)];
    while let Some((value, level)) = pending.pop() {
        if let Some(string) = value.text() {
            burn(1 + (string.len() as u64 >> 3));
        } else if let Some(items) = value.array() {
            check_depth(level);
            burn(1 + items.count() as u64);
            pending.extend(items.elements().map(|item| (item, level + 1)));
        } else if let Some(members) = value.object() {
            check_depth(level);
            burn(1);
            for (name, value) in members.members() {
                burn(1 + (name.len() as u64 >> 3));
                pending.push((value, level + 1));
            }
        } else {
            burn(1);
        }
    }
}

/// Whether no two of `items` are equal.
pub(crate) fn distinct(items: RawArray<'_>) -> bool {
    let items: Vec<_> = items.elements().collect();
    if items.len() <= 8 {
        return items
            .iter()
            .enumerate()
            .all(|(index, item)| !items[..index].iter().any(|other| equal(*item, *other)));
    }
    let mut hashes: Vec<(u64, usize)> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        // The keys are fixed, so that the same values burn the same everywhere; whoever finds
        // collisions pays for the comparisons below.
        let mut state = DefaultHasher::new();
        hash(*item, &mut state, 0);
        hashes.push((state.finish(), index));
    }
    // Sorting takes about as many steps as there are items times the height of the tree.
    burn(((items.len() as u64) * u64::from(items.len().ilog2())) >> 2);
    hashes.sort_unstable();
    hashes.chunk_by(|left, right| left.0 == right.0).all(|alike| {
        alike.iter().enumerate().all(|(position, (_, index))| {
            !alike[..position].iter().any(|(_, other)| equal(items[*index], items[*other]))
        })
    })
}

/// Equal values hash alike; containers are closed by a mark and their length.
fn hash(value: Raw<'_>, state: &mut DefaultHasher, level: usize) {
    burn(2);
    if let Some(number) = value.number() {
        hash_number(&number, state);
    } else if let Some(string) = value.text() {
        burn(string.len() as u64 >> 4);
        state.write_u8(4);
        state.write(string.as_bytes());
    } else if let Some(items) = value.array() {
        check_depth(level);
        state.write_u8(5);
        for item in items.elements() {
            hash(item, state, level + 1);
        }
        state.write_usize(items.count());
    } else if let Some(members) = value.object() {
        check_depth(level);
        let mut sum = 0_u64;
        for (name, value) in members.members() {
            burn(2 + (name.len() as u64 >> 4));
            let mut member = DefaultHasher::new();
            member.write(name.as_bytes());
            hash(value, &mut member, level + 1);
            sum = sum.wrapping_add(member.finish());
        }
        state.write_u8(6);
        state.write_u64(sum);
    } else {
        state.write_u8(value.boolean().map_or(0, |boolean| 1 + u8::from(boolean)));
    }
}

fn hash_number(number: &Number, state: &mut DefaultHasher) {
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
