//! Parsing a text into a tape.

use super::{
    error::{InstanceError, InstanceErrorKind},
    index::{Index, hash_of},
    scan::{SMALL, Size, special},
    tape::{FEW, Instance, Node},
};

/// The most arrays and objects in each other, as `serde_json` has it.
const DEPTH: usize = 127;

/// Nodes that there is room for at first.
pub(super) const LEAST_NODES: usize = 16;

/// The error is on the heap, so that a success is handed on in a register.
type Parsed<T> = Result<T, Box<InstanceError>>;

/// The parser of one text.
pub(super) struct Parser<'a> {
    instance: Instance<'a>,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

/// An object that is being parsed.
struct OpenObject {
    place: u32,
    /// The members so far.
    count: u32,
    /// A set of bits for their names.
    names: u64,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parsed<Self> {
        let limit = u32::MAX as usize;
        if text.len() > limit {
            let kind = InstanceErrorKind::Length { found: text.len(), limit };
            return Err(Box::new(InstanceError { offset: 0, kind }));
        }
        let (mut nodes, mut decoded, mut index) = (Vec::new(), String::new(), Index::default());
        if text.len() > SMALL {
            let size = Size::estimate(text);
            nodes.reserve_exact(size.nodes);
            decoded.reserve_exact(size.decoded);
            if size.members > FEW as usize {
                index.reserve(size.slots(), size.tables());
            }
        } else {
            nodes.reserve(LEAST_NODES.max(text.len() / 12));
        }
        let instance = Instance { text, decoded, nodes, index, nesting: 0 };
        Ok(Self { instance, bytes: text.as_bytes(), at: 0, depth: 0 })
    }

    pub(super) fn parse(mut self) -> Parsed<Instance<'a>> {
        self.value()?;
        self.space();
        if self.at < self.bytes.len() {
            return self.expected("the end of the text");
        }
        Ok(self.instance)
    }

    /// Parses the value that the text starts with, and returns where that ends.
    pub(super) fn parse_start(mut self) -> Parsed<(Instance<'a>, usize)> {
        self.value()?;
        Ok((self.instance, self.at))
    }

    /// Parses a value and all that is in it.
    fn value(&mut self) -> Parsed<()> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Node::TRUE),
            Some(b'f') => self.word(b"false", Node::FALSE),
            Some(b'n') => self.word(b"null", Node::NULL),
            _ => self.expected("a value"),
        }
    }

    fn array(&mut self) -> Parsed<()> {
        let place = self.open()?;
        let mut count = 0;
        if self.peek() != Some(b']') {
            loop {
                self.value()?;
                count += 1;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return self.expected("`,` or `]`"),
                }
            }
        }
        self.close(place, Node::ARRAY, count);
        Ok(())
    }

    fn object(&mut self) -> Parsed<()> {
        let mut object = OpenObject { place: self.open()?, count: 0, names: 0 };
        if self.peek() != Some(b'}') {
            loop {
                self.name(&mut object)?;
                self.value()?;
                object.count += 1;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return self.expected("`,` or `}`"),
                }
                self.space();
            }
        }
        self.close(object.place, Node::OBJECT, object.count);
        if object.count > FEW { self.index(object.place) } else { Ok(()) }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[cold]
    fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        self.error(InstanceErrorKind::Syntax { expected })
    }

    #[cold]
    fn error<T>(&self, kind: InstanceErrorKind) -> Parsed<T> {
        Err(Box::new(InstanceError { offset: self.at, kind }))
    }

    /// The place of the next node. There are fewer nodes than bytes.
    fn place(&self) -> u32 {
        offset(self.instance.nodes.len())
    }

    /// Starts an array or object, and returns its place.
    fn open(&mut self) -> Parsed<u32> {
        if self.depth == DEPTH {
            return self.error(InstanceErrorKind::Depth { limit: DEPTH });
        }
        self.depth += 1;
        self.instance.nesting = self.instance.nesting.max(self.depth);
        let place = self.place();
        self.instance.nodes.push(Node::new(Node::NULL, 0, 0));
        self.at += 1;
        self.space();
        Ok(place)
    }

    /// Ends the array or object at `place`.
    fn close(&mut self, place: u32, kind: u32, count: u32) {
        self.instance.nodes[place as usize] = Node::new(kind, count, self.place());
        self.depth -= 1;
        self.at += 1;
    }

    /// Parses the name of a member and the colon after it.
    #[inline]
    fn name(&mut self, object: &mut OpenObject) -> Parsed<()> {
        if self.peek() != Some(b'"') {
            return self.expected("a member name");
        }
        let place = self.place();
        self.string()?;
        self.check_name(place, object)?;
        self.space();
        if self.peek() != Some(b':') {
            return self.expected("`:`");
        }
        self.at += 1;
        Ok(())
    }

    /// Compares the name at `place` with those before it, where they are few; many are compared when the
    /// object is closed.
    #[inline]
    fn check_name(&mut self, place: u32, object: &mut OpenObject) -> Parsed<()> {
        let sum = match self.instance.bytes(place) {
            name @ [first, .., last] => {
                name.len() + 3 * usize::from(*first) + 11 * usize::from(*last)
            }
            one => one.first().map_or(0, |byte| usize::from(*byte)),
        };
        let bit = 1 << (sum % 64);
        let is_new = object.names & bit == 0;
        object.names |= bit;
        if is_new || object.count > FEW { Ok(()) } else { self.compare_name(place, object.place) }
    }

    /// Compares the name at `place` with those before it in the object at `object`.
    fn compare_name(&self, place: u32, object: u32) -> Parsed<()> {
        let (name, mut other) = (self.instance.bytes(place), object + 1);
        while other < place {
            if self.instance.bytes(other) == name {
                return self.duplicate(place);
            }
            other = self.instance.after(other + 1);
        }
        Ok(())
    }

    /// Gives the object at `place`, which has many members, a table of them.
    fn index(&mut self, place: u32) -> Parsed<()> {
        let Node { a: count, b: end, .. } = self.instance.nodes[place as usize];
        let members = count as usize;
        let mut index = std::mem::take(&mut self.instance.index);
        let table = index.add(members).filter(|table| *table <= u32::MAX >> 4);
        let Some(table) = table else {
            let (found, limit) = (self.bytes.len(), u32::MAX as usize);
            return self.error(InstanceErrorKind::Length { found, limit });
        };
        let mut name = place + 1;
        while name < end {
            let text = self.instance.string(name);
            let is_same = |other| self.instance.string(other) == text;
            if !index.insert(table, members, (hash_of(text), name), is_same) {
                return self.duplicate(name);
            }
            name = self.instance.after(name + 1);
        }
        self.instance.index = index;
        self.instance.nodes[place as usize].c |= table << 4;
        Ok(())
    }

    #[cold]
    fn duplicate(&self, place: u32) -> Parsed<()> {
        let name = self.instance.string(place).chars().take(60).collect();
        self.error(InstanceErrorKind::Duplicate { name })
    }

    fn word(&mut self, word: &'static [u8], kind: u32) -> Parsed<()> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.expected("a value");
        }
        self.at += word.len();
        self.instance.nodes.push(Node::new(kind, 0, 0));
        Ok(())
    }

    /// Parses a string whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Parsed<()> {
        let start = self.at + 1;
        self.at = special(self.bytes, start);
        if self.peek() != Some(b'"') {
            return self.escaped(start);
        }
        let node = Node::new(Node::STRING, offset(start), offset(self.at - start));
        self.instance.nodes.push(node);
        self.at += 1;
        Ok(())
    }

    /// Parses the rest of a string that is written with escapes; it is read up to the first one.
    #[cold]
    fn escaped(&mut self, mut start: usize) -> Parsed<()> {
        let first = self.instance.decoded.len();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {}
                _ => return self.expected("the rest of a string"),
            }
            self.instance.decoded.push_str(&self.instance.text[start..self.at]);
            let decoded = self.escape()?;
            self.instance.decoded.push(decoded);
            start = self.at;
            self.at = special(self.bytes, start);
        }
        self.instance.decoded.push_str(&self.instance.text[start..self.at]);
        self.at += 1;
        let length = self.instance.decoded.len() - first;
        self.instance.nodes.push(Node::new(Node::DECODED, offset(first), offset(length)));
        Ok(())
    }

    /// Parses an escape, whose backslash is next.
    fn escape(&mut self) -> Parsed<char> {
        self.at += 1;
        let decoded = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return self.expected("an escape"),
        };
        self.at += 1;
        Ok(decoded)
    }

    /// Parses `uXXXX`, and the second half where that is one of two.
    fn unicode(&mut self) -> Parsed<char> {
        let first = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                return self.expected("the second half of a surrogate pair");
            }
            self.at += 1;
            let second = self.hex()?;
            if !(0xdc00..0xe000).contains(&second) {
                return self.expected("the second half of a surrogate pair");
            }
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).map_or_else(|| self.expected("the first half of a surrogate pair"), Ok)
    }

    /// Parses `uXXXX`.
    fn hex(&mut self) -> Parsed<u32> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return self.expected("a hexadecimal digit") };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Parsed<()> {
        let start = self.at;
        let is_negative = self.peek() == Some(b'-');
        self.at += usize::from(is_negative);
        let mut digits = match self.peek() {
            Some(b'0') => {
                self.at += 1;
                Some(0)
            }
            _ => self.digits(Some(0))?,
        };
        let (mut is_integer, mut decimals) = (true, 0);
        if self.peek() == Some(b'.') {
            self.at += 1;
            let point = self.at;
            digits = self.digits(digits)?;
            (is_integer, decimals) = (false, self.at - point);
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits(None)?;
            (is_integer, digits) = (false, None);
        }
        let node = match digits {
            Some(integer) if is_integer && !is_negative => Node::number(Node::POSITIVE, integer),
            // A zero with a sign is a float.
            Some(integer @ 1..) if is_integer && integer <= i64::MIN.unsigned_abs() => {
                Node::number(Node::NEGATIVE, integer.wrapping_neg())
            }
            _ => {
                let float = digits.and_then(|digits| exact(digits, decimals));
                let float = match float {
                    Some(float) if is_negative => -float,
                    Some(float) => float,
                    None => {
                        let float = self.instance.text[start..self.at].parse::<f64>().ok();
                        let float = float.filter(|float| float.is_finite());
                        float.map_or_else(|| self.error(InstanceErrorKind::NumberOutOfRange), Ok)?
                    }
                };
                Node::number(Node::FLOAT, float.to_bits())
            }
        };
        self.instance.nodes.push(node);
        Ok(())
    }

    /// Parses at least one digit, after `digits`; `None` where that are too many for 64 bits.
    #[inline]
    fn digits(&mut self, mut digits: Option<u64>) -> Parsed<Option<u64>> {
        let start = self.at;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            digits = digits
                .and_then(|digits| digits.checked_mul(10))
                .and_then(|digits| digits.checked_add(u64::from(digit - b'0')));
            self.at += 1;
        }
        if self.at == start { self.expected("a digit") } else { Ok(digits) }
    }
}

/// The number that is written as `digits`, so many of which are `decimals`, where one division is exact: both are
/// doubles, so the result is rounded once.
#[inline]
fn exact(digits: u64, decimals: usize) -> Option<f64> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let power = POWERS.get(decimals)?;
    #[expect(clippy::cast_precision_loss, reason = "it is exact up to 53 bits")]
    (digits < 1 << 53).then(|| digits as f64 / power)
}

/// A place in a text whose length was checked.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
