//! Messages that are held until all of their parts are decided.

use bytestring::ByteString;
use smallvec::SmallVec;

use super::action::Destination;
use crate::json::rope::Rope;
use crate::message::{Changes, Envelope};

/// What becomes of one part of a message.
#[derive(Debug)]
pub(super) enum Decision {
    /// Not decided yet.
    Waiting,
    /// It leaves as it came.
    Same,
    /// This text takes its place.
    Edited(Rope),
    /// It leaves with these changes. Only messages that are translated leave so.
    Changed(Changes),
    /// It does not leave.
    Dropped,
}

/// A message that is held.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) text: ByteString,
    /// Whether it is a batch; one that is not taken apart leaves as a whole.
    pub(super) is_batch: bool,
    pub(super) is_split: bool,
    pub(super) parts: Vec<HeldPart>,
}

#[derive(Debug)]
pub(super) struct HeldPart {
    pub(super) part: Envelope,
    pub(super) to: Destination,
    pub(super) decision: Decision,
}

impl Decision {
    /// What leaves of a part whose text is `same`.
    pub(super) fn into_rope(self, same: &str, whole: &ByteString) -> Option<Rope> {
        match self {
            Self::Same => Some(Rope::kept(whole.slice_ref(same))),
            Self::Edited(text) => Some(text),
            Self::Changed(_) | Self::Waiting | Self::Dropped => None,
        }
    }
}

/// The decisions about the parts of a message.
pub(super) type Decisions = SmallVec<[(Destination, Decision); 1]>;
