//! The bytes that the documents of one schema may have.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::FetchLimits;
use crate::error::DocumentErrorKind;

/// The bytes that the documents of one schema may have.
#[derive(Debug)]
pub(crate) struct Budget {
    document: usize,
    total: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(limits: &FetchLimits) -> Self {
        let (document, total) = (limits.document_bytes, limits.total_bytes);
        Self { document, total, used: AtomicUsize::new(0) }
    }

    /// The most bytes of one document.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.document as u64
    }

    /// Checks the size of one document.
    pub(crate) fn check_document(&self, bytes: usize) -> Result<(), DocumentErrorKind> {
        let limit = self.document;
        if bytes > limit { Err(DocumentErrorKind::DocumentBytes { limit }) } else { Ok(()) }
    }

    /// Takes `bytes` from what is left for all documents.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), DocumentErrorKind> {
        let limit = self.total;
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > limit { Err(DocumentErrorKind::TotalBytes { limit }) } else { Ok(()) }
    }
}
