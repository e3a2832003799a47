//! How much a text will take once it is parsed, told by one scan.

use super::tape::{FEW, Node};

/// Texts up to this many bytes are parsed without being scanned first.
pub(super) const SMALL: usize = 64 << 10;

/// What a text needs at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// Values and names.
    pub(super) nodes: usize,
    /// Names.
    pub(super) members: usize,
    /// Bytes of the strings that are written with escapes.
    pub(super) decoded: usize,
}

impl Size {
    /// Counts what separates values, outside of strings.
    pub(super) fn estimate(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut size = Self { nodes: 1, ..Self::default() };
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                // An empty one has nothing in it.
                b'[' | b'{' if matches!(bytes.get(at), Some(b']' | b'}')) => at += 1,
                b',' | b'[' | b'{' => size.nodes += 1,
                b':' => {
                    size.nodes += 1;
                    size.members += 1;
                }
                b'"' => at = size.string(bytes, at),
                _ => {}
            }
        }
        size
    }

    /// The end of the string that starts at `start`.
    fn string(&mut self, bytes: &[u8], start: usize) -> usize {
        let mut at = start;
        let mut has_escapes = false;
        loop {
            at = special(bytes, at);
            match bytes.get(at) {
                Some(b'\\') => {
                    has_escapes = true;
                    at += 2;
                }
                Some(b'"') | None => break,
                Some(_) => at += 1,
            }
        }
        let end = at.min(bytes.len());
        if has_escapes {
            self.decoded += end.saturating_sub(start);
        }
        end + 1
    }

    /// Bytes of everything.
    pub(super) fn bytes(self) -> usize {
        let nodes = self.nodes.saturating_mul(size_of::<Node>());
        let slots = self.slots().saturating_mul(size_of::<u32>());
        let tables = self.tables().saturating_mul(size_of::<u32>());
        nodes.saturating_add(self.decoded).saturating_add(slots).saturating_add(tables)
    }

    /// Objects that have a table of their members.
    pub(super) fn tables(self) -> usize {
        self.members / (FEW as usize + 1)
    }

    /// Slots of all tables.
    pub(super) fn slots(self) -> usize {
        super::index::slots(self.members) + self.tables()
    }
}

/// Each byte of a word set to `byte`.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Returns the place of the first byte from `at` on that is a quote, a backslash or a control character, or the end.
///
/// In a JSON string, this is where it ends, an escape starts, or it is wrong.
#[inline]
#[must_use]
pub fn special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        // The lowest byte that is marked is one of them; those above it may be marked by a carry.
        let is_zero = |word: u64| word.wrapping_sub(all(1)) & !word;
        let control = word.wrapping_sub(all(0x20)) & !word;
        let found = is_zero(word ^ all(b'"')) | is_zero(word ^ all(b'\\')) | control;
        let found = found & all(0x80);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}
