//! Sending messages once all of their parts are decided.

use bytestring::ByteString;

use super::action::{Action, Destination, Ticket};
use super::held::{Decision, Decisions, Held, HeldPart};
use super::state::Conversation;
use crate::json::rope::Rope;
use crate::message::{Changes, Envelope, Frame, Message, Outgoing, Parts, Sent};

impl Conversation {
    /// Sends what is decided about a message, and holds what is not.
    pub(super) fn release(&mut self, ticket: Ticket, message: &Message<'_>, decisions: Decisions) {
        let is_batch = matches!(message.parts, Parts::Batch(_));
        let to_server = matches!(decisions.first(), Some((Destination::Server(_), _)));
        let splits = self.link.splits_batches() || (to_server && self.is_bridging());
        let is_decided =
            decisions.iter().all(|(_, decision)| !matches!(decision, Decision::Waiting));
        let parts = message.parts.as_slice();
        if let (false, true, [_], [part]) = (is_batch, is_decided, &decisions[..], parts) {
            // The usual case: one message, decided at once.
            if let Some((to, decision)) = decisions.into_iter().next() {
                self.leave(to, ticket, message.text, part, decision, message.text);
            }
            self.actions.push_back(Action::Done(ticket));
            return;
        }
        let parts = parts.iter().cloned().zip(decisions);
        let parts = parts.map(|(part, (to, decision))| HeldPart { part, to, decision });
        let mut held = Held {
            text: ByteString::clone(message.text),
            is_batch,
            is_split: is_batch && splits,
            parts: parts.collect(),
        };
        if held.is_split {
            for at in 0..held.parts.len() {
                self.send_part(ticket, &mut held, at);
            }
        }
        if is_decided {
            self.release_held(ticket, held);
        } else {
            self.held.insert(ticket, held);
        }
    }

    /// Sends what is decided about the only message of `text`, or holds it.
    pub(super) fn release_one(
        &mut self,
        ticket: Ticket,
        text: &ByteString,
        part: &Envelope,
        (to, decision): (Destination, Decision),
    ) {
        if !matches!(decision, Decision::Waiting) {
            let frame = Frame { text: text.clone(), part: part.clone() };
            return self.leave(to, ticket, text, part, decision, &frame.as_it_came());
        }
        let parts = vec![HeldPart { part: part.clone(), to, decision }];
        let text = text.clone();
        self.held.insert(ticket, Held { text, is_batch: false, is_split: false, parts });
    }

    /// Decides about one part of a held message.
    pub(super) fn settle(&mut self, ticket: Ticket, index: usize, decision: Decision) {
        let Some(mut held) = self.held.remove(&ticket) else { return };
        if let Some(part) = held.parts.get_mut(index) {
            part.decision = decision;
            if held.is_split {
                self.send_part(ticket, &mut held, index);
            }
        }
        if held.parts.iter().any(|part| matches!(part.decision, Decision::Waiting)) {
            self.held.insert(ticket, held);
        } else {
            self.release_held(ticket, held);
        }
    }

    /// The text of a part of a held message.
    pub(super) fn held_text(&self, ticket: Ticket) -> Option<&ByteString> {
        self.held.get(&ticket).map(|held| &held.text)
    }

    /// Sends what is left of the message `part` of `text`; `same` is its text where nothing changes.
    fn leave(
        &mut self,
        to: Destination,
        ticket: Ticket,
        text: &ByteString,
        part: &Envelope,
        decision: Decision,
        same: &str,
    ) {
        if let (Destination::Server(stream), true) = (to, self.translates()) {
            let changes = match decision {
                Decision::Same => Changes::default(),
                Decision::Changed(changes) => changes,
                Decision::Edited(rope) => return self.send_text(to, ticket, rope),
                Decision::Waiting | Decision::Dropped => return,
            };
            let frame = Frame { text: text.clone(), part: part.clone() };
            return self.translate(stream, Sent { frame, changes });
        }
        let rope = match decision {
            // What was to be translated is not any more.
            Decision::Changed(changes) => changes.apply(text, part).ok(),
            decision => decision.into_rope(same, text),
        };
        if let Some(rope) = rope {
            self.send_text(to, ticket, rope);
        }
    }

    fn send_text(&mut self, to: Destination, ticket: Ticket, text: Rope) {
        let message = Outgoing::Text(text);
        self.actions.push_back(Action::Send { to, ticket: Some(ticket), message });
    }

    /// Sends a message of which all parts are decided.
    fn release_held(&mut self, ticket: Ticket, mut held: Held) {
        if held.is_split {
            // Its parts have left.
        } else if !held.is_batch {
            if let Some(HeldPart { part, to, decision }) = held.parts.pop() {
                self.leave(to, ticket, &held.text, &part, decision, &held.text);
            }
        } else if let Some(to) = held.parts.first().map(|part| part.to) {
            let is_same = held.parts.iter().all(|part| matches!(part.decision, Decision::Same));
            let left = |HeldPart { part, decision, .. }: HeldPart| match decision {
                Decision::Changed(changes) => changes.apply(&held.text, &part).ok(),
                decision => decision.into_rope(part.span.text(&held.text), &held.text),
            };
            let left: Vec<_> = held.parts.into_iter().filter_map(left).collect();
            if is_same {
                self.send_text(to, ticket, Rope::kept(held.text));
            } else if !left.is_empty() {
                self.send_text(to, ticket, Rope::batch(left));
            }
        }
        self.actions.push_back(Action::Done(ticket));
    }

    /// Sends a part on its own way, if it is decided.
    fn send_part(&mut self, ticket: Ticket, held: &mut Held, at: usize) {
        let HeldPart { part, to, decision } = &mut held.parts[at];
        if matches!(decision, Decision::Waiting) {
            return;
        }
        let decision = std::mem::replace(decision, Decision::Dropped);
        let same = part.span.text(&held.text);
        self.leave(*to, ticket, &held.text, part, decision, same);
    }
}
