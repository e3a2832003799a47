//! Instances that are parsed only to be validated.
//!
//! A JSON text becomes a *tape*: one flat list of small nodes in the order of the text. Strings stay
//! where they are in the text, so that a large instance takes a fraction of what a [`Value`] takes.

mod error;
mod index;
mod parse;
mod scan;
mod tape;
mod view;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Value, value::RawValue};

pub use error::{InstanceError, InstanceErrorKind};
pub(crate) use index::hash_of;
pub use scan::special as string_end_or_special;
pub use tape::Instance;
pub(super) use tape::{Cursor, Elements, Members};
pub use view::{ElementsRef, MembersRef, ValueRef};

use self::{parse::Parser, scan::Size, tape::Node};

impl<'a> Instance<'a> {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// Fails if `text` is not JSON, nests more than 127 arrays and objects, has a number that is out of range or a
    /// duplicate key, or is longer than 4 GiB.
    pub fn parse(text: &'a str) -> Result<Self, InstanceError> {
        Parser::new(text).and_then(Parser::parse).map_err(|error| *error)
    }

    /// Parses the value that `text` starts with, and returns it with the place where it ends.
    ///
    /// # Errors
    ///
    /// Fails as [`Instance::parse`] does, but for what comes after the value.
    ///
    /// ```
    /// use toolbond_schema::Instance;
    ///
    /// let (instance, end) = Instance::parse_start("[1, 2], 3")?;
    /// assert_eq!((instance.nesting(), end), (1, 6));
    /// # Ok::<(), toolbond_schema::InstanceError>(())
    /// ```
    pub fn parse_start(text: &'a str) -> Result<(Self, usize), InstanceError> {
        Parser::new(text).and_then(Parser::parse_start).map_err(|error| *error)
    }

    /// Returns an upper bound on the bytes that [`Instance::parse`] allocates.
    ///
    /// This is one scan without allocation. `text` need not be JSON.
    ///
    /// ```
    /// use toolbond_schema::Instance;
    ///
    /// let text = format!("[{}0]", "0,".repeat(1_000_000));
    /// assert!(Instance::memory(&text) < 13_000_000);
    /// ```
    #[must_use]
    pub fn memory(text: &str) -> usize {
        let size = Size::estimate(text);
        if text.len() > scan::SMALL {
            return size.bytes();
        }
        // What is small grows by doubling, and is copied from the old place to the new one.
        size.bytes().saturating_mul(3) + parse::LEAST_NODES * size_of::<Node>()
    }

    /// The number of nested arrays and objects, at most 127.
    #[must_use]
    pub const fn nesting(&self) -> usize {
        self.nesting
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.root().members().is_some()
    }

    /// Returns a view of the value.
    #[must_use]
    pub fn view(&self) -> ValueRef<'_> {
        ValueRef::new(self.root())
    }

    /// Converts it to a [`Value`].
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.root().to_value()
    }
}

/// Parses the text of a value, of which the deserializer has to keep the text: `serde_json` does.
impl<'de: 'a, 'a> Deserialize<'de> for Instance<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&'de RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
