//! The instance as the engine reads it: every accessor pays before it answers.

use std::{borrow::Cow, marker::PhantomData};

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
    raw::{FEW_MEMBERS, Raw, RawArray, RawObject, Representation},
};

/// The representation that the engine is instantiated for.
pub(crate) struct MeteredJson<R>(PhantomData<R>);

/// A property name that the schema looks for.
pub(crate) struct Key {
    name: String,
    /// Steps for hashing it.
    price: u64,
    /// For objects that have a table of their members.
    hash: u64,
}

/// A JSON value behind the meter.
pub(crate) struct Metered<'a, R: Representation>(pub(crate) R::Raw<'a>);

impl<R: Representation> Clone for Metered<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Representation> Copy for Metered<'_, R> {}

impl<R: Representation> Json for MeteredJson<R> {
    type Node<'a> = Metered<'a, R>;
    type PreparedKey = Key;
    type StringBuffer = R::Buffer;

    // A lookup hashes the key, which costs as much as passing a few members by.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> Key {
        Key { name: key.to_owned(), price: key.len() as u64 >> 4, hash: hash_of(key) }
    }

    fn with_string_node<T>(
        buffer: &mut R::Buffer,
        string: &str,
        f: impl FnOnce(Metered<'_, R>) -> T,
    ) -> T {
        burn_place();
        R::with_string(buffer, string, |raw| f(Metered(raw)))
    }
}

impl<'a, R: Representation> Node<'a, MeteredJson<R>> for Metered<'a, R> {
    type Object = MeteredObject<'a, R>;
    type Array = MeteredArray<'a, R>;
    type Number = Number;

    #[inline]
    fn as_object(&self) -> Option<MeteredObject<'a, R>> {
        burn(1);
        self.0.object().map(MeteredObject)
    }

    #[inline]
    fn as_array(&self) -> Option<MeteredArray<'a, R>> {
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
        equality::equal(self.0, expected)
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
pub(crate) struct MeteredObject<'a, R: Representation>(<R::Raw<'a> as Raw<'a>>::Object);

/// Its members, in order.
pub(crate) struct MeteredMembers<'a, R: Representation>(
    <<R::Raw<'a> as Raw<'a>>::Object as RawObject<'a>>::Members,
);

impl<'a, R: Representation> Iterator for MeteredMembers<'a, R> {
    type Item = (&'a str, Metered<'a, R>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        burn_member(name);
        Some((name, Metered(value)))
    }
}

impl<'a, R: Representation> Object<'a, MeteredJson<R>> for MeteredObject<'a, R> {
    type Node = Metered<'a, R>;
    type MemberName = &'a str;
    type MembersIter = MeteredMembers<'a, R>;

    // What is as long as the object may be set up before the first member is asked for.
    #[inline]
    fn len(&self) -> usize {
        let count = self.0.count();
        burn(count as u64 >> 4);
        count
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<Metered<'a, R>> {
        burn_place();
        if self.0.count() > FEW_MEMBERS {
            burn(key.price);
        }
        self.0.find(&key.name, || key.hash).map(Metered)
    }

    #[inline]
    fn members(&self) -> MeteredMembers<'a, R> {
        MeteredMembers(self.0.members())
    }
}

/// An array behind the meter.
pub(crate) struct MeteredArray<'a, R: Representation>(<R::Raw<'a> as Raw<'a>>::Array);

/// Its elements, in order.
pub(crate) struct MeteredElements<'a, R: Representation>(
    <<R::Raw<'a> as Raw<'a>>::Array as RawArray>::Elements,
);

impl<'a, R: Representation> Iterator for MeteredElements<'a, R> {
    type Item = Metered<'a, R>;

    #[inline]
    fn next(&mut self) -> Option<Metered<'a, R>> {
        let value = self.0.next()?;
        burn_place();
        Some(Metered(value))
    }
}

impl<'a, R: Representation> Array<'a, MeteredJson<R>> for MeteredArray<'a, R> {
    type Node = Metered<'a, R>;
    type ElementsIter = MeteredElements<'a, R>;

    #[inline]
    fn len(&self) -> usize {
        let count = self.0.count();
        burn(count as u64 >> 6);
        count
    }

    #[inline]
    fn elements(&self) -> MeteredElements<'a, R> {
        MeteredElements(self.0.elements())
    }

    fn is_unique(&self) -> bool {
        equality::distinct(self.0)
    }
}
