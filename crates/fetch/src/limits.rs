//! FetchLimits on what one schema may make us fetch.

use std::time::Duration;

/// FetchLimits on what one schema may make us fetch.
///
/// ```
/// use toolbond_fetch::FetchLimits;
///
/// let mut limits = FetchLimits::default();
/// limits.set("documents", 4)?;
/// assert_eq!(limits.documents, 4);
/// # Ok::<(), toolbond_fetch::UnknownLimit>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchLimits {
    /// Documents that one schema refers to, directly or through others.
    pub documents: usize,
    /// Bytes of one document, after decompression.
    pub document_bytes: usize,
    /// Bytes of all documents of one schema, after decompression.
    pub total_bytes: usize,
    /// Redirects on the way to one document.
    pub redirects: usize,
    /// Documents that refer to each other in a chain.
    pub depth: usize,
    /// Time for one document, redirects included.
    pub document_time: Duration,
    /// Time for all documents of one schema.
    pub total_time: Duration,
    /// Connections to one host that are open at the same time.
    pub connections: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            documents: 64,
            document_bytes: 1 << 20,
            total_bytes: 4 << 20,
            redirects: 5,
            depth: 16,
            document_time: Duration::from_secs(10),
            total_time: Duration::from_secs(30),
            connections: 8,
        }
    }
}

impl FetchLimits {
    /// The names of the limits, for command lines and messages.
    pub const NAMES: [&str; 8] = [
        "documents",
        "document-bytes",
        "total-bytes",
        "redirects",
        "depth",
        "document-seconds",
        "total-seconds",
        "connections",
    ];

    /// Sets the limit `name`. `connections` is at least 1.
    ///
    /// # Errors
    ///
    /// Fails if `name` is not one of [`FetchLimits::NAMES`].
    pub fn set(&mut self, name: &str, limit: u64) -> Result<(), UnknownLimit> {
        let number = usize::try_from(limit).unwrap_or(usize::MAX);
        let time = Duration::from_secs(limit.min(MAX_SECONDS));
        match name {
            "documents" => self.documents = number,
            "document-bytes" => self.document_bytes = number,
            "total-bytes" => self.total_bytes = number,
            "redirects" => self.redirects = number,
            "depth" => self.depth = number,
            "document-seconds" => self.document_time = time,
            "total-seconds" => self.total_time = time,
            "connections" => self.connections = number.clamp(1, MAX_CONNECTIONS),
            _ => return Err(UnknownLimit { name: name.to_owned() }),
        }
        Ok(())
    }
}

/// A day; clocks overflow at some point beyond.
const MAX_SECONDS: u64 = 86_400;

/// The most connections that can be asked for.
const MAX_CONNECTIONS: usize = 1024;

/// A name that no limit has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no limit is called `{name}`; the limits are {}", FetchLimits::NAMES.join(", "))]
#[non_exhaustive]
pub struct UnknownLimit {
    /// The name.
    pub name: String,
}
