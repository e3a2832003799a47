//! The instance as the engine reads it: every accessor pays before it answers.

use std::borrow::Cow;

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object},
};
use jsonschema_value::LazyInstance;
use serde_json::{Map, Number, Value, map};

use super::{
    equality,
    meter::{burn, burn_cycle, burn_error, burn_member, burn_number, burn_place, burn_scan},
};

/// The representation that the engine is instantiated for.
pub(crate) struct MeteredJson;

/// A property name that the schema looks for.
pub(crate) struct Key {
    name: String,
    /// Steps for hashing it.
    price: u64,
}

/// A JSON value behind the meter.
#[derive(Clone, Copy)]
pub(crate) struct Metered<'a>(pub(crate) &'a Value);

impl Json for MeteredJson {
    type Node<'a> = Metered<'a>;
    type PreparedKey = Key;
    type StringBuffer = Value;

    // A lookup hashes the key, which costs as much as passing a few members by.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> Key {
        Key { name: key.to_owned(), price: key.len() as u64 >> 4 }
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
        f(Metered(buffer))
    }
}

impl<'a> Node<'a, MeteredJson> for Metered<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    #[inline]
    fn as_object(&self) -> Option<MeteredObject<'a>> {
        burn(1);
        self.0.as_object().map(MeteredObject)
    }

    #[inline]
    fn as_array(&self) -> Option<MeteredArray<'a>> {
        burn(1);
        self.0.as_array().map(|items| MeteredArray(items))
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        if let Value::String(string) = self.0 {
            burn_scan(string.len());
            Some(Cow::Borrowed(string))
        } else {
            burn(1);
            None
        }
    }

    #[inline]
    fn as_number(&self) -> Option<&'a Number> {
        if let Value::Number(number) = self.0 {
            burn_number(number.is_f64());
            Some(number)
        } else {
            burn(1);
            None
        }
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        burn(1);
        self.0.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        burn(1);
        self.0.is_null()
    }

    #[inline]
    fn is_number(&self) -> bool {
        burn(1);
        self.0.is_number()
    }

    #[inline]
    fn is_string(&self) -> bool {
        burn(1);
        self.0.is_string()
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        burn(1);
        json_type(self.0)
    }

    #[inline]
    fn string_length(&self) -> Option<u64> {
        let length = Node::string_length(&self.0);
        burn(1 + self.0.as_str().map_or(0, |string| string.len() as u64 >> 6));
        length
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::equal(self.0, expected)
    }

    // Callers write the value out, so it pays for all it holds.
    fn to_value(&self) -> Cow<'a, Value> {
        equality::burn_size(self.0);
        Cow::Borrowed(self.0)
    }

    // A container stays behind: errors say where it is, and a copy may be large.
    fn lazy_value(&self) -> LazyInstance<'a> {
        burn_error();
        LazyInstance::Ready(match self.0 {
            Value::Array(_) | Value::Object(_) => Cow::Owned(Value::Null),
            scalar => {
                equality::burn_size(scalar);
                Cow::Borrowed(scalar)
            }
        })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        burn_cycle();
        Some(NodeIdentity::new(std::ptr::from_ref(self.0) as usize))
    }

    #[inline]
    fn container_identity(&self) -> Option<NodeIdentity> {
        match self.0 {
            Value::Array(_) | Value::Object(_) => self.identity(),
            _ => None,
        }
    }
}

#[inline]
const fn json_type(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

/// Members that are looked through one by one.
const FEW_MEMBERS: usize = 8;

/// An object behind the meter.
#[derive(Clone, Copy)]
pub(crate) struct MeteredObject<'a>(&'a Map<String, Value>);

/// Its members, in order.
pub(crate) struct MeteredMembers<'a>(map::Iter<'a>);

impl<'a> Iterator for MeteredMembers<'a> {
    type Item = (&'a str, Metered<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        burn_member(name);
        Some((name.as_str(), Metered(value)))
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = MeteredMembers<'a>;

    // What is as long as the object may be set up before the first member is asked for.
    #[inline]
    fn len(&self) -> usize {
        burn(self.0.len() as u64 >> 4);
        self.0.len()
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<Metered<'a>> {
        burn_place();
        // Passing a few members by is faster than hashing the key.
        if self.0.len() <= FEW_MEMBERS {
            let mut members = self.0.iter();
            return members.find(|(name, _)| **name == key.name).map(|(_, value)| Metered(value));
        }
        burn(key.price);
        self.0.get(key.name.as_str()).map(Metered)
    }

    #[inline]
    fn members(&self) -> MeteredMembers<'a> {
        MeteredMembers(self.0.iter())
    }
}

/// An array behind the meter.
#[derive(Clone, Copy)]
pub(crate) struct MeteredArray<'a>(&'a [Value]);

/// Its elements, in order.
pub(crate) struct MeteredElements<'a>(std::slice::Iter<'a, Value>);

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
        burn(self.0.len() as u64 >> 6);
        self.0.len()
    }

    #[inline]
    fn elements(&self) -> MeteredElements<'a> {
        MeteredElements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        equality::distinct(self.0)
    }
}
