//! Bytes whose memory is counted.

use std::ops::Deref;

use bytes::Bytes;

/// Bytes whose memory is counted until they are dropped. What the core reads is made of them, so that nothing is read that
/// is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted(Bytes);

impl Counted {
    /// Bytes whose owner holds a reservation, or that are a part of such bytes. Only the memory limit of the guard may say
    /// so.
    #[must_use]
    pub const fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// A part of these bytes, which keeps all of them.
    #[must_use]
    pub fn part(&self, part: &[u8]) -> Self {
        Self(self.0.slice_ref(part))
    }

    /// Bytes that take no memory of their own.
    #[must_use]
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Self(Bytes::from_static(bytes))
    }

    /// Drops the first `count` bytes.
    pub fn advance(&mut self, count: usize) {
        bytes::Buf::advance(&mut self.0, count);
    }

    /// The bytes, which stay counted as long as they or a part of them are kept.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl Deref for Counted {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.0
    }
}
