//! Digests of contracts.

use std::fmt;

use serde_json::{Map, Value};

/// A SHA-256 digest, shown as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Computes the digest of the canonical form of `value`.
    #[must_use]
    pub fn compute(value: &Map<String, Value>) -> Self {
        // A `Value` has string keys and finite numbers only, so the canonical form can always be
        // written; the plain form stands in for it, never a constant.
        let bytes = serde_json_canonicalizer::to_vec(value)
            .unwrap_or_else(|_| Value::Object(value.clone()).to_string().into_bytes());
        Self(hmac_sha256::Hash::hash(&bytes))
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
