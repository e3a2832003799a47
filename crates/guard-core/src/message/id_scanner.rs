//! Finding the id of a message that is too long to be kept.

use super::id::Id;

/// The most bytes of an id, or of the name of a member, that are kept.
const KEPT: usize = 256;

/// Where a scan stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    String,
    /// After a backslash in a string.
    Escape,
}

/// Goes over a JSON object, piece by piece, and keeps nothing but its member `id`.
#[derive(Debug, Default)]
pub struct IdScanner {
    depth: usize,
    place: Place,
    /// The name or the value at the outer level that is being read.
    token: Vec<u8>,
    /// The name whose value comes next.
    name: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    has_method: bool,
    has_result: bool,
}

impl IdScanner {
    /// Goes over the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        for &byte in piece {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.place != Place::Outside {
            self.keep(byte);
            self.place = match (self.place, byte) {
                (Place::String, b'\\') => Place::Escape,
                (Place::String, b'"') => Place::Outside,
                _ => Place::String,
            };
            return;
        }
        match byte {
            b'"' => {
                self.place = Place::String;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.name = Some(std::mem::take(&mut self.token)),
            b',' if self.depth == 1 => self.end_member(),
            byte if !byte.is_ascii_whitespace() => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < KEPT {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        let value = std::mem::take(&mut self.token);
        match self.name.take().as_deref() {
            Some(b"\"id\"") => self.id = Some(value),
            Some(b"\"method\"") => self.has_method = true,
            Some(b"\"result\"" | b"\"error\"") => self.has_result = true,
            _ => {}
        }
    }

    /// The id, where there is one that can be read, and whether it is a request: it has a method, and
    /// neither a result nor an error.
    pub fn finish(self) -> (Option<Id>, bool) {
        let id = self.id.and_then(|id| String::from_utf8(id).ok());
        let is_json = |id: &String| serde_json::from_str::<serde::de::IgnoredAny>(id).is_ok();
        let is_request = self.has_method && !self.has_result;
        (id.filter(is_json).and_then(|id| Id::parse(&id)), is_request)
    }
}

#[cfg(test)]
mod tests {
    use super::IdScanner;
    use crate::message::Id;

    fn scan(text: &str) -> (Option<Id>, bool) {
        let mut scanner = IdScanner::default();
        for piece in text.as_bytes().chunks(3) {
            scanner.feed(piece);
        }
        scanner.finish()
    }

    #[test]
    fn finds_the_outer_id() {
        let cases = [
            (r#"{"id":1,"result":{"id":2}}"#, Some(Id::Integer(1)), false),
            (
                r#"{"result":{"id":2,"s":"\"id\":3,}"} , "id" : "a\"b" }"#,
                Some(Id::String("a\"b".into())),
                false,
            ),
            (r#"{"method":"x","params":["id",4],"id":5}"#, Some(Id::Integer(5)), true),
            (r#"{"method":"x"}"#, None, true),
            (r#"{"id":nonsense}"#, None, false),
            ("no json at all", None, false),
        ];
        for (text, id, has_method) in cases {
            assert_eq!(scan(text), (id, has_method), "{text}");
        }
    }
}
