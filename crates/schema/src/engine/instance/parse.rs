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

/// Stands for the container of the root.
const NONE: u32 = u32::MAX;

type Parsed<T> = Result<T, InstanceError>;

/// The parser of one text.
///
/// A container that is not closed has the place of the one around it in `b`, and above its kind a set
/// of bits for the names that it has.
pub(super) struct Parser<'a> {
    instance: Instance<'a>,
    bytes: &'a [u8],
    at: usize,
    /// The innermost container that is open.
    container: u32,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parsed<Self> {
        let limit = u32::MAX as usize;
        if text.len() > limit {
            let kind = InstanceErrorKind::Length { found: text.len(), limit };
            return Err(InstanceError { offset: 0, kind });
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
        Ok(Self { instance, bytes: text.as_bytes(), at: 0, container: NONE, depth: 0 })
    }

    pub(super) fn parse(mut self) -> Parsed<Instance<'a>> {
        self.values()?;
        self.space();
        if self.at < self.bytes.len() {
            return Err(self.expected("the end of the text"));
        }
        Ok(self.instance)
    }

    /// Parses the value that the text starts with, and returns where that ends.
    pub(super) fn parse_start(mut self) -> Parsed<(Instance<'a>, usize)> {
        self.values()?;
        Ok((self.instance, self.at))
    }

    /// Parses a value and all that is in it.
    fn values(&mut self) -> Parsed<()> {
        loop {
            let is_open = self.value()?;
            if !is_open && !self.follow()? {
                return Ok(());
            }
        }
    }

    /// Parses a value, or the start of one that has others in it; whether a value has to come next.
    fn value(&mut self) -> Parsed<bool> {
        self.space();
        let node = match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => {
                self.open(Node::OBJECT)?;
                self.space();
                if self.peek() == Some(b'}') {
                    self.close()?;
                    return Ok(false);
                }
                self.name()?;
                return Ok(true);
            }
            Some(b'[') => {
                self.open(Node::ARRAY)?;
                self.space();
                if self.peek() == Some(b']') {
                    self.close()?;
                    return Ok(false);
                }
                return Ok(true);
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true", Node::TRUE)?,
            Some(b'f') => self.word(b"false", Node::FALSE)?,
            Some(b'n') => self.word(b"null", Node::NULL)?,
            _ => return Err(self.expected("a value")),
        };
        self.instance.nodes.push(node);
        Ok(false)
    }

    /// Parses what comes after a value; whether that is another one.
    fn follow(&mut self) -> Parsed<bool> {
        while self.container != NONE {
            self.space();
            let container = &mut self.instance.nodes[self.container as usize];
            container.a += 1;
            let is_object = container.kind() == Node::OBJECT;
            match (self.peek(), is_object) {
                (Some(b','), false) => {
                    self.at += 1;
                    return Ok(true);
                }
                (Some(b','), true) => {
                    self.at += 1;
                    self.space();
                    self.name()?;
                    return Ok(true);
                }
                (Some(b']'), false) | (Some(b'}'), true) => self.close()?,
                (_, false) => return Err(self.expected("`,` or `]`")),
                (_, true) => return Err(self.expected("`,` or `}`")),
            }
        }
        Ok(false)
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
    fn expected(&self, expected: &'static str) -> InstanceError {
        self.error(InstanceErrorKind::Syntax { expected })
    }

    #[cold]
    fn error(&self, kind: InstanceErrorKind) -> InstanceError {
        InstanceError { offset: self.at, kind }
    }

    /// The place of the next node. There are fewer nodes than bytes.
    fn place(&self) -> u32 {
        u32::try_from(self.instance.nodes.len()).unwrap_or(NONE)
    }

    fn open(&mut self, kind: u32) -> Parsed<()> {
        if self.depth == DEPTH {
            return Err(self.error(InstanceErrorKind::Depth { limit: DEPTH }));
        }
        self.depth += 1;
        self.instance.nesting = self.instance.nesting.max(self.depth);
        let place = self.place();
        self.instance.nodes.push(Node::new(kind, 0, self.container));
        self.container = place;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        let place = self.container;
        let end = self.place();
        let node = &mut self.instance.nodes[place as usize];
        self.container = node.b;
        node.b = end;
        node.c = node.kind();
        self.depth -= 1;
        if node.kind() == Node::OBJECT && node.a > FEW {
            self.index(place)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Parses the name of a member and the colon after it.
    fn name(&mut self) -> Parsed<()> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member name"));
        }
        let place = self.place();
        let node = self.string()?;
        self.instance.nodes.push(node);
        self.check_name(place)?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Compares the name at `place` with those before it, where they are few; many are compared when the
    /// object is closed.
    fn check_name(&mut self, place: u32) -> Parsed<()> {
        let name = self.name_at(place);
        let sum = name.first().zip(name.last()).map_or(0, |(first, last)| {
            name.len() + 3 * usize::from(*first) + 11 * usize::from(*last)
        });
        let bit = 1 << (4 + sum % 28);
        let object = &mut self.instance.nodes[self.container as usize];
        let is_new = object.c & bit == 0;
        object.c |= bit;
        if is_new || object.a > FEW {
            return Ok(());
        }
        let (name, mut other) = (self.name_at(place), self.container + 1);
        while other < place {
            if self.instance.nodes[other as usize].b as usize == name.len()
                && self.name_at(other) == name
            {
                return Err(self.duplicate(place));
            }
            other = self.instance.after(other + 1);
        }
        Ok(())
    }

    /// The bytes of the name at `place`.
    #[inline]
    fn name_at(&self, place: u32) -> &[u8] {
        let node = self.instance.nodes[place as usize];
        let held = if node.kind() == Node::DECODED {
            self.instance.decoded.as_bytes()
        } else {
            self.bytes
        };
        &held[node.a as usize..][..node.b as usize]
    }

    /// Gives the object at `place`, which has many members, a table of them.
    fn index(&mut self, place: u32) -> Parsed<()> {
        let Node { a: count, b: end, .. } = self.instance.nodes[place as usize];
        let members = count as usize;
        let mut index = std::mem::take(&mut self.instance.index);
        let table = index.add(members).filter(|table| *table <= u32::MAX >> 4);
        let Some(table) = table else {
            let (found, limit) = (self.bytes.len(), u32::MAX as usize);
            return Err(self.error(InstanceErrorKind::Length { found, limit }));
        };
        let mut name = place + 1;
        while name < end {
            let text = self.instance.string(name);
            let is_same = |other| self.instance.string(other) == text;
            if !index.insert(table, members, (hash_of(text), name), is_same) {
                return Err(self.duplicate(name));
            }
            name = self.instance.after(name + 1);
        }
        self.instance.index = index;
        self.instance.nodes[place as usize].c |= table << 4;
        Ok(())
    }

    #[cold]
    fn duplicate(&self, place: u32) -> InstanceError {
        let name = self.instance.string(place).chars().take(60).collect();
        self.error(InstanceErrorKind::Duplicate { name })
    }

    fn word(&mut self, word: &'static [u8], kind: u32) -> Parsed<Node> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(Node::new(kind, 0, 0))
    }

    /// Parses a string whose opening quote is next.
    #[inline]
    fn string(&mut self) -> Parsed<Node> {
        let start = self.at + 1;
        self.at = special(self.bytes, start);
        match self.peek() {
            Some(b'"') => {
                let node = Node::new(Node::STRING, offset(start), offset(self.at - start));
                self.at += 1;
                Ok(node)
            }
            _ => self.escaped(start),
        }
    }

    /// Parses the rest of a string that is written with escapes; it is read up to the first one.
    fn escaped(&mut self, mut start: usize) -> Parsed<Node> {
        let first = self.instance.decoded.len();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {}
                _ => return Err(self.expected("the rest of a string")),
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
        Ok(Node::new(Node::DECODED, offset(first), offset(length)))
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
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        Ok(decoded)
    }

    /// Parses `uXXXX`, and the second half where that is one of two.
    fn unicode(&mut self) -> Parsed<char> {
        let first = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                return Err(self.expected("the second half of a surrogate pair"));
            }
            self.at += 1;
            let second = self.hex()?;
            if !(0xdc00..0xe000).contains(&second) {
                return Err(self.expected("the second half of a surrogate pair"));
            }
            0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.expected("the first half of a surrogate pair"))
    }

    /// Parses `uXXXX`.
    fn hex(&mut self) -> Parsed<u32> {
        self.at += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.expected("a hexadecimal digit")) };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Parsed<Node> {
        let start = self.at;
        let is_negative = self.peek() == Some(b'-');
        self.at += usize::from(is_negative);
        let mut integer = Some(0_u64);
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => {
                while let Some(digit @ b'0'..=b'9') = self.peek() {
                    integer = integer
                        .and_then(|integer| integer.checked_mul(10))
                        .and_then(|integer| integer.checked_add(u64::from(digit - b'0')));
                    self.at += 1;
                }
            }
            _ => return Err(self.expected("a digit")),
        }
        if self.peek() == Some(b'.') {
            integer = None;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = None;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        match integer {
            Some(integer) if !is_negative => return Ok(Node::number(Node::POSITIVE, integer)),
            // A zero with a sign is a float.
            Some(integer @ 1..) if integer <= i64::MIN.unsigned_abs() => {
                return Ok(Node::number(Node::NEGATIVE, integer.wrapping_neg()));
            }
            _ => {}
        }
        match self.instance.text[start..self.at].parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Node::number(Node::FLOAT, float.to_bits())),
            _ => Err(self.error(InstanceErrorKind::NumberOutOfRange)),
        }
    }

    /// Parses at least one digit.
    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }
}

/// A place in a text whose length was checked.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
