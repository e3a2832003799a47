//! Digests of documents.

use std::fmt::Write as _;

/// The SHA-256 of `bytes`, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in hmac_sha256::Hash::hash(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
