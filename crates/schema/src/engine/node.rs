//! The instance as the engine reads it: every accessor pays before it answers.

use std::{borrow::Cow, slice};

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object},
};
use jsonschema_value::LazyInstance;
use serde_json::{Map, Number, Value, map};

use super::{
    equality,
    instance::Instance,
    meter::{burn, burn_cycle, burn_error, burn_member, burn_number, burn_place, burn_scan},
    stack::nesting,
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
pub(crate) enum Metered<'a> {
    /// One to be kept.
    Value(&'a Value),
    /// One that was read for this.
    Instance(&'a Instance<'a>),
}

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
        f(Metered::Value(buffer))
    }
}

impl<'a> Node<'a, MeteredJson> for Metered<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    #[inline]
    fn as_object(&self) -> Option<MeteredObject<'a>> {
        burn(1);
        self.object()
    }

    #[inline]
    fn as_array(&self) -> Option<MeteredArray<'a>> {
        burn(1);
        self.array()
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        if let Some(string) = self.text() {
            burn_scan(string.len());
            Some(Cow::Borrowed(string))
        } else {
            burn(1);
            None
        }
    }

    #[inline]
    fn as_number(&self) -> Option<&'a Number> {
        let number = self.number();
        burn_number(number.is_some_and(Number::is_f64));
        number
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        burn(1);
        self.boolean()
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
        self.kind()
    }

    #[inline]
    fn string_length(&self) -> Option<u64> {
        let text = self.text();
        burn(1 + text.map_or(0, |text| text.len() as u64 >> 6));
        text.map(|text| text.chars().count() as u64)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::equal(*self, Metered::Value(expected))
    }

    // Callers write the value out, so it pays for all it holds.
    fn to_value(&self) -> Cow<'a, Value> {
        equality::burn_size(*self);
        self.value()
    }

    // A container stays behind: errors say where it is, and a copy may be large.
    fn lazy_value(&self) -> LazyInstance<'a> {
        burn_error();
        LazyInstance::Ready(match self.kind() {
            JsonType::Array | JsonType::Object => Cow::Owned(Value::Null),
            _ => {
                equality::burn_size(*self);
                self.value()
            }
        })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        burn_cycle();
        Some(NodeIdentity::new(match self {
            Self::Value(value) => std::ptr::from_ref(*value) as usize,
            Self::Instance(instance) => std::ptr::from_ref(*instance) as usize,
        }))
    }

    #[inline]
    fn container_identity(&self) -> Option<NodeIdentity> {
        match self.kind() {
            JsonType::Array | JsonType::Object => self.identity(),
            _ => None,
        }
    }
}

impl<'a> Metered<'a> {
    #[inline]
    pub(super) const fn kind(self) -> JsonType {
        match self {
            Self::Value(Value::Null) | Self::Instance(Instance::Null) => JsonType::Null,
            Self::Value(Value::Bool(_)) | Self::Instance(Instance::Bool(_)) => JsonType::Boolean,
            Self::Value(Value::Number(_)) | Self::Instance(Instance::Number(_)) => JsonType::Number,
            Self::Value(Value::String(_)) | Self::Instance(Instance::String(_)) => JsonType::String,
            Self::Value(Value::Array(_)) | Self::Instance(Instance::Array(_)) => JsonType::Array,
            Self::Value(Value::Object(_)) | Self::Instance(Instance::Object(_)) => JsonType::Object,
        }
    }

    /// Whether it is `null`, a boolean or a number.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        matches!(self.kind(), JsonType::Null | JsonType::Boolean | JsonType::Number)
    }

    /// The nested containers, counted up to one past `limit`.
    pub(crate) fn nesting(self, limit: usize) -> usize {
        match self {
            Self::Value(value) => nesting(value, limit),
            Self::Instance(instance) => instance.nesting().min(limit + 1),
        }
    }

    #[inline]
    pub(super) fn object(self) -> Option<MeteredObject<'a>> {
        match self {
            Self::Value(Value::Object(members)) => Some(MeteredObject::Value(members)),
            Self::Instance(Instance::Object(members)) => Some(MeteredObject::Instance(members)),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn array(self) -> Option<MeteredArray<'a>> {
        match self {
            Self::Value(Value::Array(items)) => Some(MeteredArray::Value(items)),
            Self::Instance(Instance::Array(items)) => Some(MeteredArray::Instance(items)),
            _ => None,
        }
    }

    #[inline]
    pub(super) const fn number(self) -> Option<&'a Number> {
        match self {
            Self::Value(Value::Number(number)) | Self::Instance(Instance::Number(number)) => {
                Some(number)
            }
            _ => None,
        }
    }

    #[inline]
    pub(super) const fn boolean(self) -> Option<bool> {
        match self {
            Self::Value(Value::Bool(boolean)) | Self::Instance(Instance::Bool(boolean)) => {
                Some(*boolean)
            }
            _ => None,
        }
    }

    #[inline]
    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Value(Value::String(string)) => Some(string),
            Self::Instance(Instance::String(string)) => Some(string),
            _ => None,
        }
    }

    fn value(self) -> Cow<'a, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Instance(instance) => Cow::Owned(instance.to_value()),
        }
    }
}

/// Members that are looked through one by one.
const FEW_MEMBERS: usize = 8;

/// An object behind the meter.
#[derive(Clone, Copy)]
pub(crate) enum MeteredObject<'a> {
    Value(&'a Map<String, Value>),
    Instance(&'a [(Cow<'a, str>, Instance<'a>)]),
}

impl<'a> MeteredObject<'a> {
    #[inline]
    pub(super) fn count(self) -> usize {
        match self {
            Self::Value(members) => members.len(),
            Self::Instance(members) => members.len(),
        }
    }

    #[inline]
    pub(super) fn all(self) -> Members<'a> {
        match self {
            Self::Value(members) => Members::Value(members.iter()),
            Self::Instance(members) => Members::Instance(members.iter()),
        }
    }

    /// The member called `name`.
    #[inline]
    pub(super) fn find(self, name: &str) -> Option<Metered<'a>> {
        match self {
            // Passing a few members by is faster than hashing the name.
            Self::Value(members) if members.len() > FEW_MEMBERS => {
                Map::get(members, name).map(Metered::Value)
            }
            _ => self.all().find(|(other, _)| *other == name).map(|(_, value)| value),
        }
    }
}

/// Its members, in order, unpaid.
pub(crate) enum Members<'a> {
    Value(map::Iter<'a>),
    Instance(slice::Iter<'a, (Cow<'a, str>, Instance<'a>)>),
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Metered<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some(match self {
            Self::Value(members) => {
                let (name, value) = members.next()?;
                (name.as_str(), Metered::Value(value))
            }
            Self::Instance(members) => {
                let (name, value) = members.next()?;
                (&**name, Metered::Instance(value))
            }
        })
    }
}

/// Its members, in order.
pub(crate) struct MeteredMembers<'a>(Members<'a>);

impl<'a> Iterator for MeteredMembers<'a> {
    type Item = (&'a str, Metered<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        burn_member(name);
        Some((name, value))
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = MeteredMembers<'a>;

    // What is as long as the object may be set up before the first member is asked for.
    #[inline]
    fn len(&self) -> usize {
        let count = self.count();
        burn(count as u64 >> 4);
        count
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<Metered<'a>> {
        burn_place();
        if self.count() > FEW_MEMBERS {
            burn(key.price);
        }
        self.find(&key.name)
    }

    #[inline]
    fn members(&self) -> MeteredMembers<'a> {
        MeteredMembers(self.all())
    }
}

/// An array behind the meter.
#[derive(Clone, Copy)]
pub(crate) enum MeteredArray<'a> {
    Value(&'a [Value]),
    Instance(&'a [Instance<'a>]),
}

impl<'a> MeteredArray<'a> {
    #[inline]
    pub(super) fn count(self) -> usize {
        match self {
            Self::Value(items) => items.len(),
            Self::Instance(items) => items.len(),
        }
    }

    #[inline]
    pub(super) fn all(self) -> Elements<'a> {
        match self {
            Self::Value(items) => Elements::Value(items.iter()),
            Self::Instance(items) => Elements::Instance(items.iter()),
        }
    }
}

/// Its elements, in order, unpaid.
pub(crate) enum Elements<'a> {
    Value(slice::Iter<'a, Value>),
    Instance(slice::Iter<'a, Instance<'a>>),
}

impl<'a> Iterator for Elements<'a> {
    type Item = Metered<'a>;

    #[inline]
    fn next(&mut self) -> Option<Metered<'a>> {
        match self {
            Self::Value(items) => items.next().map(Metered::Value),
            Self::Instance(items) => items.next().map(Metered::Instance),
        }
    }
}

/// Its elements, in order.
pub(crate) struct MeteredElements<'a>(Elements<'a>);

impl<'a> Iterator for MeteredElements<'a> {
    type Item = Metered<'a>;

    #[inline]
    fn next(&mut self) -> Option<Metered<'a>> {
        let value = self.0.next()?;
        burn_place();
        Some(value)
    }
}

impl<'a> Array<'a, MeteredJson> for MeteredArray<'a> {
    type Node = Metered<'a>;
    type ElementsIter = MeteredElements<'a>;

    #[inline]
    fn len(&self) -> usize {
        let count = self.count();
        burn(count as u64 >> 6);
        count
    }

    #[inline]
    fn elements(&self) -> MeteredElements<'a> {
        MeteredElements(self.all())
    }

    fn is_unique(&self) -> bool {
        equality::distinct(*self)
    }
}
