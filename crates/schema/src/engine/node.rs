//! The instance as the engine reads it: every accessor pays before it answers.

use std::borrow::Cow;

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object},
};
use jsonschema_value::LazyInstance;
use serde_json::{Number, Value};

use super::{
    equality,
    instance::hash_of,
    meter::{burn, burn_cycle, burn_error, burn_member, burn_number, burn_place, burn_scan},
    raw::{FEW_MEMBERS, Raw, RawArray, RawElements, RawMembers, RawObject},
};

/// The representation that the engine is instantiated for.
pub(crate) struct MeteredJson;

/// A property name that the schema looks for.
pub(crate) struct Key {
    name: String,
    /// Steps for hashing it.
    price: u64,
    /// For objects that have a table of their members.
    hash: u64,
}

/// A JSON value behind the meter.
#[derive(Clone, Copy)]
pub(crate) struct Metered<'a>(pub(crate) Raw<'a>);

impl Json for MeteredJson {
    type Node<'a> = Metered<'a>;
    type PreparedKey = Key;
    type StringBuffer = Value;

    // A lookup hashes the key, which costs as much as passing a few members by.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> Key {
        Key { name: key.to_owned(), price: key.len() as u64 >> 4, hash: hash_of(key) }
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        f: impl FnOnce(Metered<'_>) -> T,
    ) -> T {
        burn_place();
        if let Value::String(existing) = buffer {
            existing.clear();
            existing.push_str(string);
        } else {
            *buffer = Value::String(string.to_owned());
        }
        f(Metered(Raw::Value(buffer)))
    }
}

impl<'a> Node<'a, MeteredJson> for Metered<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = Number;

    #[inline]
    fn as_object(&self) -> Option<MeteredObject<'a>> {
        burn(1);
        self.0.object().map(MeteredObject)
    }

    #[inline]
    fn as_array(&self) -> Option<MeteredArray<'a>> {
        burn(1);
        self.0.array().map(MeteredArray)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        if let Some(string) = self.0.text() {
            burn_scan(string.len());
            Some(Cow::Borrowed(string))
        } else {
            burn(1);
            None
        }
    }

    #[inline]
    fn as_number(&self) -> Option<Number> {
        let number = self.0.number();
        burn_number(number.as_ref().is_some_and(Number::is_f64));
        number
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        burn(1);
        self.0.boolean()
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.json_type() == JsonType::Null
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.json_type() == JsonType::Number
    }

    #[inline]
    fn is_string(&self) -> bool {
        self.json_type() == JsonType::String
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        burn(1);
        self.0.kind()
    }

    #[inline]
    fn string_length(&self) -> Option<u64> {
        let text = self.0.text();
        burn(1 + text.map_or(0, |text| text.len() as u64 >> 6));
        text.map(|text| bytecount::num_chars(text.as_bytes()) as u64)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::equal(self.0, Raw::Value(expected))
    }

    // Callers write the value out, so it pays for all it holds.
    fn to_value(&self) -> Cow<'a, Value> {
        equality::burn_size(self.0);
        self.0.value()
    }

    // A container stays behind: errors say where it is, and a copy may be large.
    fn lazy_value(&self) -> LazyInstance<'a> {
        burn_error();
        LazyInstance::Ready(match self.0.kind() {
            JsonType::Array | JsonType::Object => Cow::Owned(Value::Null),
            _ => {
                equality::burn_size(self.0);
                self.0.value()
            }
        })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        burn_cycle();
        Some(NodeIdentity::new(self.0.address()))
    }

    #[inline]
    fn container_identity(&self) -> Option<NodeIdentity> {
        match self.0.kind() {
            JsonType::Array | JsonType::Object => self.identity(),
            _ => None,
        }
    }
}

/// An object behind the meter.
pub(crate) struct MeteredObject<'a>(RawObject<'a>);

/// Its members, in order.
pub(crate) struct MeteredMembers<'a>(RawMembers<'a>);

impl<'a> Iterator for MeteredMembers<'a> {
    type Item = (&'a str, Metered<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        burn_member(name);
        Some((name, Metered(value)))
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = MeteredMembers<'a>;

    // What is as long as the object may be set up before the first member is asked for.
    #[inline]
    fn len(&self) -> usize {
        let count = self.0.count();
        burn(count as u64 >> 4);
        count
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<Metered<'a>> {
        burn_place();
        if self.0.count() > FEW_MEMBERS {
            burn(key.price);
        }
        self.0.find(&key.name, || key.hash).map(Metered)
    }

    #[inline]
    fn members(&self) -> MeteredMembers<'a> {
        MeteredMembers(self.0.members())
    }
}

/// An array behind the meter.
pub(crate) struct MeteredArray<'a>(RawArray<'a>);

/// Its elements, in order.
pub(crate) struct MeteredElements<'a>(RawElements<'a>);

impl<'a> Iterator for MeteredElements<'a> {
    type Item = Metered<'a>;

    #[inline]
    fn next(&mut self) -> Option<Metered<'a>> {
        let value = self.0.next()?;
        burn_place();
        Some(Metered(value))
    }
}

impl<'a> Array<'a, MeteredJson> for MeteredArray<'a> {
    type Node = Metered<'a>;
    type ElementsIter = MeteredElements<'a>;

    #[inline]
    fn len(&self) -> usize {
        let count = self.0.count();
        burn(count as u64 >> 6);
        count
    }

    #[inline]
    fn elements(&self) -> MeteredElements<'a> {
        MeteredElements(self.0.elements())
    }

    fn is_unique(&self) -> bool {
        equality::distinct(self.0)
    }
}
