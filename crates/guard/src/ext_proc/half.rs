//! One direction of an exchange, as far as Envoy has sent it.

use bytes::Bytes;

use super::body::Pieces;

/// One direction of an exchange.
#[derive(Default)]
pub(super) struct Half {
    pub(super) pieces: Pieces,
    pub(super) has_trailers: bool,
    /// Whether the headers said that no body follows.
    pub(super) is_bodiless: bool,
    pub(super) is_over: bool,
}

impl Half {
    /// Takes headers, after which nothing follows if they are `last`.
    pub(super) fn begin(&mut self, last: bool) {
        self.is_bodiless = last;
        if last {
            self.finish();
        }
    }

    pub(super) fn finish(&mut self) {
        self.is_over = true;
        self.pieces.push(Bytes::new(), None, true);
    }
}
