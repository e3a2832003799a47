//! Texts in pieces, so that a long one is not copied to change a few bytes of it.

use bytes::Bytes;
use bytestring::ByteString;
use smallvec::SmallVec;

use super::edit::{EditError, Span, apply, in_order};

/// Texts up to this size are written as one piece. In unit tests most messages are longer.
const SHORT: usize = if cfg!(test) { 64 } else { 64 << 10 };

/// A text in pieces: their bytes, and whether the guard wrote them.
#[derive(Debug, Default)]
pub struct Rope(SmallVec<[(Bytes, bool); 1]>);

impl Rope {
    /// A text of a peer.
    pub fn kept(text: ByteString) -> Self {
        Self(SmallVec::from_buf([(text.into_bytes(), false)]))
    }

    /// A text that the guard wrote.
    pub fn new(text: impl Into<Bytes>) -> Self {
        Self(SmallVec::from_buf([(text.into(), true)]))
    }

    /// The part `part` of `whole` with new text in some places.
    ///
    /// Fails where an edit lies outside of `part` or overlaps another one.
    pub fn edit(
        whole: &ByteString,
        part: Span,
        edits: Vec<(Span, String)>,
    ) -> Result<Self, EditError> {
        if part.len() <= SHORT {
            return apply(whole, part, edits).map(Self::new);
        }
        let kept = |start: usize, end: usize| {
            let text = whole.get(start..end).ok_or(EditError)?;
            Ok((whole.slice_ref(text).into_bytes(), false))
        };
        let mut rope = Self::default();
        let mut done = part.start;
        for (span, text) in in_order(part, edits)? {
            rope.0.push(kept(done, span.start)?);
            rope.0.push((text.into(), true));
            done = span.end;
        }
        rope.0.push(kept(done, part.end)?);
        Ok(rope)
    }

    /// A batch of these messages.
    pub fn batch(messages: Vec<Self>) -> Self {
        let mut batch = Self::default();
        for message in messages {
            let before = if batch.0.is_empty() { "[" } else { "," };
            batch.0.push((before.into(), false));
            batch.0.extend(message.0);
        }
        batch.0.push(("]".into(), false));
        if batch.0.iter().map(|(bytes, _)| bytes.len()).sum::<usize>() <= SHORT {
            return Self::new(batch.joined());
        }
        batch
    }

    /// The bytes in one.
    pub fn joined(&self) -> Vec<u8> {
        self.0.iter().map(|(bytes, _)| &bytes[..]).collect::<Vec<_>>().concat()
    }
}

/// Writes a text, most of which may be long texts of a peer.
#[derive(Debug, Default)]
pub struct RopeWriter {
    rope: Rope,
    /// What was written since the last long text.
    tail: String,
}

impl RopeWriter {
    /// Adds a short text.
    pub fn write(&mut self, text: &str) {
        self.tail.push_str(text);
    }

    /// Adds a text of a peer: a long one without a copy.
    pub fn append(&mut self, text: &ByteString) {
        if text.len() <= SHORT {
            return self.write(text);
        }
        self.end_tail();
        self.rope.0.push((text.as_bytes().clone(), false));
    }

    /// What was written.
    pub fn finish(mut self) -> Rope {
        self.end_tail();
        self.rope
    }

    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            self.rope.0.push((std::mem::take(&mut self.tail).into(), true));
        }
    }
}

impl IntoIterator for Rope {
    type Item = (Bytes, bool);
    type IntoIter = smallvec::IntoIter<[(Bytes, bool); 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use bytestring::ByteString;

    use super::{EditError, Rope, SHORT, Span};

    #[test]
    fn a_long_text_is_edited_without_a_copy() {
        let text = ByteString::from(format!("x{}y", "a".repeat(SHORT)));
        let (all, end) = (Span::from(0, &text), Span { start: SHORT + 1, end: SHORT + 2 });
        let edits = vec![(end, "zz".to_owned()), (Span { start: 0, end: 1 }, String::new())];
        let rope = Rope::edit(&text, all, edits).unwrap();
        assert_eq!(rope.joined(), format!("{}zz", "a".repeat(SHORT)).into_bytes());
        let kept: Vec<_> = rope.into_iter().filter(|(bytes, _)| bytes.len() > 2).collect();
        assert_eq!(kept[0].0.as_ptr(), text[1..].as_ptr());
        assert_eq!((kept.len(), kept[0].1), (1, false));
        let twice = vec![(end, String::new()), (end, String::new())];
        assert_eq!(Rope::edit(&text, all, twice).unwrap_err(), EditError);
        let outside = vec![(Span { start: 0, end: 1 }, String::new())];
        let part = Span::from(1, &text);
        assert_eq!(Rope::edit(&text, part, outside).unwrap_err(), EditError);
    }

    #[test]
    fn batches_are_put_together() {
        let long = ByteString::from("1".repeat(SHORT));
        for texts in [vec!["1", "2"], vec!["1"], vec!["1", &long, "2"]] {
            let ropes = texts.iter().map(|text| Rope::kept((*text).into())).collect();
            let batch = format!("[{}]", texts.join(","));
            assert_eq!(Rope::batch(ropes).joined(), batch.into_bytes());
        }
    }
}
