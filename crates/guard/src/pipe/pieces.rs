//! Messages in pieces, which are not copied into one unless somebody has to read them as one.

use std::borrow::Cow;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::memory::MemoryLimit;
use toolbond_guard_core::counted::Counted;

/// The pieces of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces(SmallVec<[Counted; 1]>);

impl Pieces {
    /// The bytes of all of them.
    pub(crate) fn length(&self) -> usize {
        self.iter().map(|piece| piece.len()).sum()
    }

    pub(crate) fn push(&mut self, piece: Counted) {
        self.0.push(piece);
    }

    pub(crate) fn pop(&mut self) -> Option<Counted> {
        self.0.pop()
    }

    /// All of them in one, which is copied where there are several.
    pub(crate) fn joined(&self) -> Cow<'_, [u8]> {
        match &self[..] {
            [one] => Cow::Borrowed(one),
            several => {
                let mut bytes = Vec::with_capacity(self.length());
                for piece in several {
                    bytes.extend_from_slice(piece);
                }
                Cow::Owned(bytes)
            }
        }
    }

    /// All of them in one; a copy is counted, whether or not the limit allows it.
    pub(crate) fn into_one(self, memory: &MemoryLimit) -> Counted {
        match &self[..] {
            [one] => one.clone(),
            _ => memory.count(self.joined().into_owned()),
        }
    }

    /// `start`, all of them without the white space at their end, and `end`; `None` where they have line breaks.
    pub(crate) fn within(&self, start: Counted, end: &'static [u8]) -> Option<Self> {
        let mut all = Self::from(start);
        all.extend(self.iter().cloned());
        if let Some(last) = all.0.last_mut() {
            *last = last.part(last.trim_ascii_end());
        }
        let has_breaks = |piece: &Counted| memchr::memchr2(b'\n', b'\r', piece).is_some();
        // The start has its own.
        if all.iter().skip(1).any(has_breaks) {
            return None;
        }
        all.push(Counted::from_static(end));
        Some(all)
    }
}

impl From<Counted> for Pieces {
    fn from(piece: Counted) -> Self {
        Self(SmallVec::from_buf([piece]))
    }
}

impl Deref for Pieces {
    type Target = [Counted];

    fn deref(&self) -> &[Counted] {
        &self.0
    }
}

impl FromIterator<Counted> for Pieces {
    fn from_iter<I: IntoIterator<Item = Counted>>(pieces: I) -> Self {
        Self(pieces.into_iter().collect())
    }
}

impl Extend<Counted> for Pieces {
    fn extend<I: IntoIterator<Item = Counted>>(&mut self, pieces: I) {
        self.0.extend(pieces);
    }
}

impl IntoIterator for Pieces {
    type Item = Counted;
    type IntoIter = smallvec::IntoIter<[Counted; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;
    use crate::testing::counted;

    fn pieces(texts: &[&'static str]) -> Pieces {
        texts.iter().map(|text| counted(text.to_string())).collect()
    }

    #[test]
    fn pieces_without_line_breaks_are_put_into_an_event() {
        let event = |texts: &[&'static str]| {
            let event = pieces(texts).within(counted("id: 1\ndata: "), b"\n\n")?;
            Some(String::from_utf8(event.joined().into_owned()).unwrap())
        };
        assert_eq!(event(&["[1", ",2]\r\n"]).unwrap(), "id: 1\ndata: [1,2]\n\n");
        assert_eq!(event(&["[1\n", ",2]"]), None);
        assert_eq!(event(&["[1,\r2]"]), None);
    }
}
