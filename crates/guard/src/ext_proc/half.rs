//! One direction of an exchange: what Envoy has sent of it, and what it waits for.

use bytes::Bytes;
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::{HttpBody, ProcessingResponse};

use super::body::Pieces;
use super::direction::Direction;

/// One direction of an exchange.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Half {
    pub(super) direction: Direction,
    pub(super) mode: BodySendMode,
    pub(super) pieces: Pieces,
    /// Whether Envoy waits for the answer to its headers.
    pub(super) owes_headers: bool,
    /// The piece of the body that Envoy waits for an answer to; the last one, where it takes several.
    pub(super) owed: Option<Bytes>,
    pub(super) has_trailers: bool,
    /// Whether the headers said that no body follows.
    pub(super) is_bodiless: bool,
    pub(super) is_over: bool,
}

impl Half {
    pub(super) fn new(direction: Direction, mode: i32) -> Self {
        let mode = BodySendMode::try_from(mode).unwrap_or(BodySendMode::None);
        Self {
            direction,
            mode,
            pieces: Pieces::default(),
            owes_headers: false,
            owed: None,
            has_trailers: false,
            is_bodiless: false,
            is_over: false,
        }
    }

    /// Takes headers, after which nothing follows if they are `last`.
    pub(super) fn begin(&mut self, last: bool) {
        self.owes_headers = true;
        self.is_bodiless = last;
        if last {
            self.finish();
        }
    }

    pub(super) fn finish(&mut self) {
        self.is_over = true;
        self.pieces.push(Bytes::new(), true);
    }

    /// Lets a body or a piece of it go on as it is.
    pub(super) fn same(&self, body: HttpBody) -> ProcessingResponse {
        if self.answers_pieces() {
            return self.direction.same_body();
        }
        self.direction.piece(&body.body.into(), body.end_of_stream)
    }

    /// Whether each piece has an answer of its own.
    pub(super) fn answers_pieces(&self) -> bool {
        self.mode != BodySendMode::FullDuplexStreamed
    }

    /// Why the bodies of this direction cannot be checked.
    pub(super) fn unusable(&self) -> Option<String> {
        let key = match self.direction {
            Direction::Request => "request_body_mode",
            Direction::Response => "response_body_mode",
        };
        match self.mode {
            _ if self.is_bodiless => None,
            BodySendMode::Streamed | BodySendMode::Buffered | BodySendMode::FullDuplexStreamed => {
                None
            }
            mode => Some(format!(
                "cannot check messages while the ext_proc filter of Envoy has {key} {}; set it to FULL_DUPLEX_STREAMED",
                mode.as_str_name()
            )),
        }
    }
}
