//! The tape that a text is parsed into, and walking over it.

use std::{fmt, ops::Range};

use jsonschema::JsonType;
use serde_json::{Number, Value};

use super::index::{Index, Table};

/// A value or the name of a member.
///
/// | kind | `a` and `b` |
/// | --- | --- |
/// | number | its 64 bits |
/// | string | where it starts, and how long it is |
/// | array, object | how many values it has, and the place after the last one |
///
/// A member is its name and then its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) a: u32,
    pub(super) b: u32,
    /// The kind, and above [`Node::KIND`] the table of an object with many members.
    pub(super) c: u32,
}

impl Node {
    pub(super) const NULL: u32 = 0;
    pub(super) const FALSE: u32 = 1;
    pub(super) const TRUE: u32 = 2;
    /// An integer from 0 on.
    pub(super) const POSITIVE: u32 = 3;
    /// An integer below 0.
    pub(super) const NEGATIVE: u32 = 4;
    pub(super) const FLOAT: u32 = 5;
    pub(super) const STRING: u32 = 6;
    /// A string that is written with escapes; it is among those that were decoded.
    pub(super) const DECODED: u32 = 7;
    pub(super) const ARRAY: u32 = 8;
    pub(super) const OBJECT: u32 = 9;
    /// The bits of `c` that say the kind.
    pub(super) const KIND: u32 = 0xf;

    pub(super) const fn new(kind: u32, a: u32, b: u32) -> Self {
        Self { a, b, c: kind }
    }

    pub(super) const fn number(kind: u32, bits: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "both halves are kept")]
        Self { a: bits as u32, b: (bits >> 32) as u32, c: kind }
    }

    #[inline]
    pub(super) const fn kind(self) -> u32 {
        self.c & Self::KIND
    }

    #[inline]
    const fn bits(self) -> u64 {
        self.a as u64 | (self.b as u64) << 32
    }

    #[inline]
    pub(super) const fn table(self) -> Table {
        self.c >> 4
    }
}

/// Members that are looked through one by one; objects with more have a table.
pub(super) const FEW: u32 = 32;

/// A JSON text, parsed only to be validated.
///
/// The parser accepts what `serde_json` accepts, including the limit of 127 nested arrays and objects, but rejects
/// duplicate keys, also if they are escaped differently. An instance takes 12 bytes for each value and each key, 5 more
/// bytes for each member of an object with more than 32, and a copy of each string with escapes. See
/// [`Instance::memory`].
///
/// ```
/// use serde_json::json;
/// use toolbond_schema::{Instance, Schema};
///
/// let schema = Schema::compile(&json!({ "items": { "type": "integer" } }))?;
/// let instance = Instance::parse("[1, 2]")?;
/// assert!(schema.accepts(&instance, 1000).is_some());
/// assert!(Instance::parse(r#"{ "a": 1, "\u0061": 2 }"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Instance<'a> {
    pub(super) text: &'a str,
    /// The strings that are written with escapes, one after the other.
    pub(super) decoded: String,
    /// The root and everything in it, in the order of the text.
    pub(super) nodes: Vec<Node>,
    pub(super) index: Index,
    pub(super) nesting: usize,
}

impl fmt::Debug for Instance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instance").field(&self.text).finish()
    }
}

impl Instance<'_> {
    pub(crate) fn root(&self) -> Cursor<'_> {
        Cursor::new(self, 0)
    }

    /// The place after the value at `at`.
    #[inline]
    pub(super) fn after(&self, at: u32) -> u32 {
        let node = self.nodes[at as usize];
        if node.kind() >= Node::ARRAY { node.b } else { at + 1 }
    }

    /// The string at `at`.
    #[inline]
    pub(super) fn string(&self, at: u32) -> &str {
        let (held, place) = self.place(at);
        &held[place]
    }

    /// The bytes of the string at `at`.
    #[inline]
    pub(super) fn bytes(&self, at: u32) -> &[u8] {
        let (held, place) = self.place(at);
        &held.as_bytes()[place]
    }

    /// Where the string at `at` is.
    #[inline]
    fn place(&self, at: u32) -> (&str, Range<usize>) {
        let node = self.nodes[at as usize];
        let held = if node.kind() == Node::DECODED { &self.decoded } else { self.text };
        let start = node.a as usize;
        (held, start..start + node.b as usize)
    }
}

/// A place on the tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    at: u32,
    instance: &'a Instance<'a>,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) const fn new(instance: &'a Instance<'a>, at: u32) -> Self {
        Self { at, instance }
    }

    #[inline]
    fn node(self) -> &'a Node {
        &self.instance.nodes[self.at as usize]
    }

    #[inline]
    pub(crate) fn kind(self) -> JsonType {
        match self.node().kind() {
            Node::NULL => JsonType::Null,
            Node::FALSE | Node::TRUE => JsonType::Boolean,
            Node::POSITIVE | Node::NEGATIVE | Node::FLOAT => JsonType::Number,
            Node::STRING | Node::DECODED => JsonType::String,
            Node::ARRAY => JsonType::Array,
            _ => JsonType::Object,
        }
    }

    #[inline]
    pub(crate) fn boolean(self) -> Option<bool> {
        match self.node().kind() {
            Node::FALSE => Some(false),
            Node::TRUE => Some(true),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn number(self) -> Option<Number> {
        let node = self.node();
        match node.kind() {
            Node::POSITIVE => Some(node.bits().into()),
            Node::NEGATIVE => Some(node.bits().cast_signed().into()),
            Node::FLOAT => Number::from_f64(f64::from_bits(node.bits())),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn text(self) -> Option<&'a str> {
        matches!(self.node().kind(), Node::STRING | Node::DECODED)
            .then(|| self.instance.string(self.at))
    }

    /// The elements of an array.
    #[inline]
    pub(crate) fn elements(self) -> Option<Elements<'a>> {
        let node = self.node();
        (node.kind() == Node::ARRAY).then(|| Elements {
            instance: self.instance,
            next: self.at + 1,
            end: node.b,
            count: node.a,
        })
    }

    /// The members of an object.
    #[inline]
    pub(crate) fn members(self) -> Option<Members<'a>> {
        let node = self.node();
        (node.kind() == Node::OBJECT).then(|| Members {
            instance: self.instance,
            object: self.at,
            next: self.at + 1,
            end: node.b,
        })
    }

    /// What tells it from all other places.
    #[inline]
    pub(crate) fn address(self) -> usize {
        std::ptr::from_ref(self.node()) as usize
    }

    pub(crate) fn to_value(self) -> Value {
        if let Some(elements) = self.elements() {
            return elements.map(Cursor::to_value).collect();
        }
        if let Some(members) = self.members() {
            return members.map(|(name, value)| (name, value.to_value())).collect();
        }
        if let Some(text) = self.text() {
            return Value::String(text.to_owned());
        }
        match self.number() {
            Some(number) => Value::Number(number),
            None => self.boolean().map_or(Value::Null, Value::Bool),
        }
    }
}

/// The elements of an array, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a> {
    instance: &'a Instance<'a>,
    next: u32,
    end: u32,
    count: u32,
}

impl Elements<'_> {
    /// How many the array has.
    #[inline]
    pub(crate) const fn count(self) -> usize {
        self.count as usize
    }
}

#[expect(clippy::copy_iterator, reason = "the array that it starts from is copied")]
impl<'a> Iterator for Elements<'a> {
    type Item = Cursor<'a>;

    #[inline]
    fn next(&mut self) -> Option<Cursor<'a>> {
        (self.next < self.end).then(|| {
            let at = self.next;
            self.next = self.instance.after(at);
            Cursor::new(self.instance, at)
        })
    }
}

/// The members of an object, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members<'a> {
    instance: &'a Instance<'a>,
    object: u32,
    next: u32,
    end: u32,
}

impl<'a> Members<'a> {
    /// How many the object has.
    #[inline]
    pub(crate) fn count(self) -> usize {
        self.instance.nodes[self.object as usize].a as usize
    }

    /// The member called `name`; `hash` gives the hash of the name where it is needed.
    #[inline]
    pub(crate) fn find(mut self, name: &str, hash: impl FnOnce() -> u64) -> Option<Cursor<'a>> {
        let object = self.instance.nodes[self.object as usize];
        if object.a <= FEW {
            while self.next < self.end {
                let at = self.next;
                if self.instance.nodes[at as usize].b as usize == name.len()
                    && self.instance.bytes(at) == name.as_bytes()
                {
                    return Some(Cursor::new(self.instance, at + 1));
                }
                self.next = self.instance.after(at + 1);
            }
            return None;
        }
        let is_found = |place| self.instance.string(place) == name;
        let found =
            self.instance.index.find(object.table(), object.a as usize, hash(), is_found)?;
        Some(Cursor::new(self.instance, found + 1))
    }
}

#[expect(clippy::copy_iterator, reason = "the object that it starts from is copied")]
impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Cursor<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            let at = self.next;
            self.next = self.instance.after(at + 1);
            (self.instance.string(at), Cursor::new(self.instance, at + 1))
        })
    }
}
