//! Messages that are held until all of their parts are decided.

use bytestring::ByteString;
use smallvec::SmallVec;

use super::Conversation;
use super::action::{Action, Destination, Ticket};
use crate::json::edit::Span;
use crate::json::rope::Rope;
use crate::message::{Message, Parts};

/// What becomes of one part of a message.
#[derive(Debug)]
pub(super) enum PartFate {
    /// Not decided yet.
    Waiting,
    /// It leaves as it came.
    Same,
    /// This text takes its place.
    Edited(Rope),
    /// It does not leave.
    Dropped,
}

/// A message that is held.
#[derive(Debug)]
pub(super) struct Held {
    text: ByteString,
    /// Whether it is a batch; one that is not taken apart leaves as a whole.
    is_batch: bool,
    is_split: bool,
    parts: Vec<HeldPart>,
}

#[derive(Debug)]
struct HeldPart {
    span: Span,
    to: Destination,
    fate: PartFate,
}

impl PartFate {
    /// What leaves of a part whose text is `same`.
    fn left_of(self, same: &str, whole: &ByteString) -> Option<Rope> {
        match self {
            Self::Same => Some(Rope::kept(whole.slice_ref(same))),
            Self::Edited(text) => Some(text),
            Self::Waiting | Self::Dropped => None,
        }
    }
}

/// The decisions about the parts of a message.
pub(super) type Fates = SmallVec<[(Destination, PartFate); 1]>;

impl Conversation {
    /// Sends what is decided about a message, and holds what is not.
    pub(super) fn release(&mut self, ticket: Ticket, message: &Message<'_>, fates: Fates) {
        let is_batch = matches!(message.parts, Parts::Batch(_));
        let is_split = is_batch && self.link.splits_batches();
        let is_decided = fates.iter().all(|(_, fate)| !matches!(fate, PartFate::Waiting));
        if let (false, true, [_]) = (is_batch, is_decided, &fates[..]) {
            // The usual case: one message, decided at once.
            if let Some((to, fate)) = fates.into_iter().next() {
                self.forward(to, ticket, fate.left_of(message.text, message.text));
            }
            self.actions.push_back(Action::Done(ticket));
            return;
        }
        let spans = message.parts.as_slice().iter().map(|part| part.span);
        let parts = spans.zip(fates).map(|(span, (to, fate))| HeldPart { span, to, fate });
        let mut held = Held {
            text: ByteString::clone(message.text),
            is_batch,
            is_split,
            parts: parts.collect(),
        };
        if is_split {
            for part in &mut held.parts {
                send_part(&held.text, part, ticket, &mut self.actions);
            }
        }
        if is_decided {
            self.release_held(ticket, held);
        } else {
            self.held.insert(ticket, held);
        }
    }

    /// Decides about one part of a held message.
    pub(super) fn settle(&mut self, ticket: Ticket, index: usize, fate: PartFate) {
        let Some(held) = self.held.get_mut(&ticket) else { return };
        let Some(part) = held.parts.get_mut(index) else { return };
        part.fate = fate;
        if held.is_split {
            send_part(&held.text, part, ticket, &mut self.actions);
        }
        let waits = |part: &HeldPart| matches!(part.fate, PartFate::Waiting);
        if !held.parts.iter().any(waits)
            && let Some(held) = self.held.remove(&ticket)
        {
            self.release_held(ticket, held);
        }
    }

    /// The text of a part of a held message.
    pub(super) fn held_text(&self, ticket: Ticket) -> Option<&ByteString> {
        self.held.get(&ticket).map(|held| &held.text)
    }

    /// Sends what is left of a message.
    fn forward(&mut self, to: Destination, ticket: Ticket, text: Option<Rope>) {
        let send = text.map(|text| Action::Send { to, ticket: Some(ticket), text });
        self.actions.extend(send);
    }

    /// Sends a message of which all parts are decided.
    fn release_held(&mut self, ticket: Ticket, held: Held) {
        if !held.is_split
            && let Some(to) = held.parts.first().map(|part| part.to)
        {
            let is_same = held.parts.iter().all(|part| matches!(part.fate, PartFate::Same));
            let parts = held.parts.into_iter();
            let left = |part: HeldPart| part.fate.left_of(part.span.text(&held.text), &held.text);
            let mut left: Vec<_> = parts.filter_map(left).collect();
            let text = match left.len() {
                _ if is_same => Some(Rope::kept(held.text)),
                0 => None,
                _ if held.is_batch => Some(Rope::batch(left)),
                _ => left.pop(),
            };
            self.forward(to, ticket, text);
        }
        self.actions.push_back(Action::Done(ticket));
    }
}

/// Sends a part on its own way, if it is decided.
fn send_part(
    text: &ByteString,
    part: &mut HeldPart,
    ticket: Ticket,
    actions: &mut std::collections::VecDeque<Action>,
) {
    if matches!(part.fate, PartFate::Waiting) {
        return;
    }
    let to = part.to;
    let fate = std::mem::replace(&mut part.fate, PartFate::Dropped);
    let left = fate.left_of(part.span.text(text), text);
    actions.extend(left.map(|text| Action::Send { to, ticket: Some(ticket), text }));
}
