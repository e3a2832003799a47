//! Finding a member of an object with many.

use std::{hash::BuildHasher, sync::LazyLock};

use ahash::RandomState;

/// The seed of all hashes. It is random, so that nobody can choose names whose hashes collide.
static SEED: LazyLock<RandomState> = LazyLock::new(|| {
    let random = std::hash::RandomState::new();
    let seed = |number: u8| random.hash_one(number);
    RandomState::with_seeds(seed(0), seed(1), seed(2), seed(3))
});

/// The hash of a member's name.
pub(crate) fn hash_of(name: &str) -> u64 {
    SEED.hash_one(name)
}

/// The tables of all objects with many members, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Places of names on the tape; 0 is an empty slot.
    slots: Vec<u32>,
    /// Where each table starts.
    starts: Vec<u32>,
}

/// A table, by its number.
pub(super) type Table = u32;

/// Slots of the table for `members`.
pub(super) const fn slots(members: usize) -> usize {
    members + members / 4 + 1
}

impl Index {
    /// Makes room for `slots`.
    pub(super) fn reserve(&mut self, slots: usize, tables: usize) {
        self.slots.reserve_exact(slots);
        self.starts.reserve_exact(tables);
    }

    /// A new table for `members`; nothing where there are more than can be numbered.
    pub(super) fn add(&mut self, members: usize) -> Option<Table> {
        let table = Table::try_from(self.starts.len()).ok()?;
        self.starts.push(u32::try_from(self.slots.len()).ok()?);
        self.slots.resize(self.slots.len() + slots(members), 0);
        Some(table)
    }

    /// The place that `is_found` is true of, among those whose names have the hash `hash` in the table
    /// of `members`.
    #[inline]
    pub(super) fn find(
        &self,
        table: Table,
        members: usize,
        hash: u64,
        is_found: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        match self.probe(table, members, hash, is_found) {
            Ok(at) => Some(self.slots[at]),
            Err(_) => None,
        }
    }

    /// Adds `place` to the last table; whether `is_same` is true of none that is there.
    pub(super) fn insert(
        &mut self,
        table: Table,
        members: usize,
        (hash, place): (u64, u32),
        is_same: impl Fn(u32) -> bool,
    ) -> bool {
        match self.probe(table, members, hash, is_same) {
            Ok(_) => false,
            Err(empty) => {
                self.slots[empty] = place;
                true
            }
        }
    }

    /// The slot that `is_found` is true of, or the empty one where it would be.
    #[inline]
    fn probe(
        &self,
        table: Table,
        members: usize,
        hash: u64,
        is_found: impl Fn(u32) -> bool,
    ) -> Result<usize, usize> {
        let start = self.starts[table as usize] as usize;
        let count = slots(members);
        let scaled = (u128::from(hash) * count as u128) >> 64;
        let mut at = usize::try_from(scaled).unwrap_or_default();
        // A table is never full.
        loop {
            match self.slots[start + at] {
                0 => return Err(start + at),
                place if is_found(place) => return Ok(start + at),
                _ => at = if at + 1 == count { 0 } else { at + 1 },
            }
        }
    }
}

#[cfg(test)]
impl Index {
    /// Bytes that it holds.
    pub(super) fn held(&self) -> usize {
        (self.slots.capacity() + self.starts.capacity()) * size_of::<u32>()
    }
}
