//! Requests that wait for their answer.

use std::collections::HashMap;

use crate::Id;
use crate::asked::Asked;

/// One request that waits.
#[derive(Debug)]
struct Waiting {
    asked: Asked,
    ticket: u64,
}

/// The requests that wait for an answer of the server, by id.
#[derive(Debug, Default)]
pub(crate) struct Open {
    waiting: HashMap<Id, Waiting>,
    tickets: u64,
}

/// The most requests that wait at a time.
pub(crate) const MAX_OPEN: usize = 65_536;

/// Why a request cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// Its id is that of a request that still waits.
    InUse,
    /// There are [`MAX_OPEN`] requests already.
    TooMany,
}

impl Open {
    /// Takes a request in, and gives it a ticket that is never given again.
    pub(crate) fn add(&mut self, id: Id, asked: Asked) -> Result<u64, Full> {
        if self.waiting.len() >= MAX_OPEN {
            return Err(Full::TooMany);
        }
        match self.waiting.entry(id) {
            std::collections::hash_map::Entry::Occupied(_) => Err(Full::InUse),
            std::collections::hash_map::Entry::Vacant(vacant) => {
                self.tickets += 1;
                vacant.insert(Waiting { asked, ticket: self.tickets });
                Ok(self.tickets)
            }
        }
    }

    /// A held call is about to be sent; `false` where it was cancelled meanwhile.
    pub(crate) fn send(&mut self, id: &Id, ticket: u64, asked: Asked) -> bool {
        match self.waiting.get_mut(id) {
            Some(waiting) if waiting.ticket == ticket => {
                waiting.asked = asked;
                true
            }
            _ => false,
        }
    }

    /// A held call is answered by the guard; `false` where it was cancelled meanwhile.
    pub(crate) fn settle(&mut self, id: &Id, ticket: u64) -> bool {
        let here = self.waiting.get(id).is_some_and(|waiting| waiting.ticket == ticket);
        here && self.waiting.remove(id).is_some()
    }

    /// The client does not want the answer any more; `true` where the server never saw the request.
    pub(crate) fn cancel(&mut self, id: &Id) -> bool {
        match self.waiting.get(id).map(|waiting| &waiting.asked) {
            None | Some(Asked::Own(_)) => false,
            Some(Asked::Held) => self.waiting.remove(id).is_some(),
            Some(_) => {
                self.waiting.remove(id);
                false
            }
        }
    }

    /// The request that an answer belongs to. A call that was not sent yet has none.
    pub(crate) fn answer(&mut self, id: &Id) -> Option<Asked> {
        let Some(waiting) = self.waiting.get(id) else {
            let other = id.other_reading().filter(|id| self.waiting.contains_key(id))?;
            return self.answer(&other);
        };
        if matches!(waiting.asked, Asked::Held) {
            return None;
        }
        self.waiting.remove(id).map(|waiting| waiting.asked)
    }

    /// Whether no request of the client waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.values().all(|waiting| matches!(waiting.asked, Asked::Own(_)))
    }

    /// Gives up on all: the ids of those that the client waits for. Calls that the server has not
    /// seen are kept unless `held`.
    pub(crate) fn drain(&mut self, held: bool) -> Vec<Id> {
        let gone = |waiting: &Waiting| held || !matches!(waiting.asked, Asked::Held);
        let mut ids: Vec<_> = self
            .waiting
            .extract_if(|_, waiting| gone(waiting))
            .filter(|(_, waiting)| !matches!(waiting.asked, Asked::Own(_)))
            .map(|(id, waiting)| (waiting.ticket, id))
            .collect();
        ids.sort_unstable_by_key(|(ticket, _)| *ticket);
        ids.into_iter().map(|(_, id)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, Open};
    use crate::Id;
    use crate::asked::Asked;

    #[test]
    fn an_id_waits_once() {
        let mut open = Open::default();
        let id = Id::Integer(1);
        open.add(id.clone(), Asked::Other).unwrap();
        assert_eq!(open.add(id.clone(), Asked::Other), Err(Full::InUse));
        assert!(open.answer(&id).is_some());
        assert!(open.answer(&id).is_none());
        assert!(open.is_idle());
    }

    #[test]
    fn a_held_call_can_be_cancelled_unseen() {
        let mut open = Open::default();
        let id = Id::Integer(1);
        let ticket = open.add(id.clone(), Asked::Held).unwrap();
        assert!(open.answer(&id).is_none());
        assert!(open.cancel(&id));
        assert!(!open.send(&id, ticket, Asked::Other));
        open.add(id.clone(), Asked::Held).unwrap();
        assert!(!open.settle(&id, ticket), "a ticket is for one request");
    }

    #[test]
    fn gives_up_in_the_order_of_asking() {
        let mut open = Open::default();
        for n in 0..10 {
            open.add(Id::Integer(n), Asked::Other).unwrap();
        }
        open.add(Id::Integer(10), Asked::Held).unwrap();
        assert_eq!(open.drain(false), (0..10).map(Id::Integer).collect::<Vec<_>>());
        assert_eq!(open.drain(true), [Id::Integer(10)]);
    }
}
