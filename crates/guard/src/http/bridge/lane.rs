//! The way to a client that reads: bounded in bytes, and in the time that its reading is waited for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout};

use crate::inspector::lock;

/// The bytes that wait for a client; a message that is longer waits alone.
pub(super) const ROOM: usize = 1 << 20;

/// What a message takes beside its text: those without much of it are bounded, too.
const EACH: usize = 256;

/// The bytes that a message takes of [`ROOM`].
pub(super) fn weight(text: &[u8]) -> usize {
    (text.len() + EACH).min(ROOM)
}

/// How long a process waits for its client to read on.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long all clients of a process wait for one of them, taken together.
pub(super) const SHARED_PATIENCE: Duration = Duration::from_secs(2);

/// Where messages for a client are put in.
#[derive(Clone)]
pub(super) struct Lane {
    texts: mpsc::UnboundedSender<(Vec<u8>, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
    is_shared: bool,
    mood: Arc<Mutex<Mood>>,
}

struct Mood {
    patience: Duration,
    /// Whether the client misses messages already.
    misses: bool,
}

/// Where they come out.
pub(super) struct Inbox(mpsc::UnboundedReceiver<(Vec<u8>, OwnedSemaphorePermit)>);

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It is in the inbox.
    Taken,
    /// There is nobody to read it.
    Gone,
    /// The client does not read on; whether this is the first message that it misses.
    Missed(bool),
}

/// A lane, and its end.
pub(super) fn lane(is_shared: bool) -> (Lane, Inbox) {
    let (texts, inbox) = mpsc::unbounded_channel();
    let patience = if is_shared { SHARED_PATIENCE } else { PATIENCE };
    let mood = Arc::new(Mutex::new(Mood { patience, misses: false }));
    let room = Arc::new(Semaphore::new(ROOM));
    (Lane { texts, room, is_shared, mood }, Inbox(inbox))
}

impl Lane {
    /// Whether there is nobody who reads.
    pub(super) fn is_closed(&self) -> bool {
        self.texts.is_closed()
    }

    /// Puts a message in, waiting for room as long as there is patience. Where the process has other
    /// clients, patience that is used up does not come back.
    pub(super) async fn send(&self, text: Vec<u8>) -> Sent {
        let patience = lock(&self.mood).patience;
        let begun = Instant::now();
        let weight = u32::try_from(weight(&text)).unwrap_or(u32::MAX);
        let permit = tokio::select! {
            biased;
            () = self.texts.closed() => return Sent::Gone,
            permit = timeout(patience, Arc::clone(&self.room).acquire_many_owned(weight)) => permit,
        };
        let mut mood = lock(&self.mood);
        let Ok(Ok(permit)) = permit else {
            mood.patience = Duration::ZERO;
            return Sent::Missed(!std::mem::replace(&mut mood.misses, true));
        };
        if self.is_shared {
            mood.patience = patience.saturating_sub(begun.elapsed());
        } else {
            *mood = Mood { patience: PATIENCE, misses: false };
        }
        match self.texts.send((text, permit)) {
            Ok(()) => Sent::Taken,
            Err(_) => Sent::Gone,
        }
    }

    /// Puts a message in if there is room.
    pub(super) fn put(&self, text: Vec<u8>) {
        let weight = u32::try_from(weight(&text)).unwrap_or(u32::MAX);
        if let Ok(permit) = Arc::clone(&self.room).try_acquire_many_owned(weight) {
            let _ = self.texts.send((text, permit));
        }
    }
}

impl Inbox {
    /// The next message; nothing when there will be none.
    pub(super) async fn recv(&mut self) -> Option<Vec<u8>> {
        self.0.recv().await.map(|(text, _)| text)
    }

    /// The next message, if there is one by now.
    pub(super) fn try_recv(&mut self) -> Option<Vec<u8>> {
        self.0.try_recv().ok().map(|(text, _)| text)
    }

    /// Nobody will read.
    pub(super) fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::{PATIENCE, ROOM, SHARED_PATIENCE, Sent, lane};

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_waited_for_once() {
        for (is_shared, patience) in [(false, PATIENCE), (true, SHARED_PATIENCE)] {
            let (lane, mut inbox) = lane(is_shared);
            let long = || vec![b'a'; 2 * ROOM];
            assert_eq!(lane.send(long()).await, Sent::Taken);
            let begun = Instant::now();
            assert_eq!(lane.send(b"b".to_vec()).await, Sent::Missed(true));
            assert!(begun.elapsed() >= patience);
            let begun = Instant::now();
            assert_eq!(lane.send(b"c".to_vec()).await, Sent::Missed(false));
            assert!(begun.elapsed() < patience);
            // Who reads on gets what comes then.
            assert_eq!(inbox.recv().await, Some(long()));
            assert_eq!(lane.send(b"d".to_vec()).await, Sent::Taken);
            assert_eq!(inbox.try_recv(), Some(b"d".to_vec()));
            let waits = tokio::spawn(async move {
                assert_eq!(lane.send(vec![b'a'; ROOM]).await, Sent::Taken);
                lane.send(b"e".to_vec()).await
            });
            tokio::task::yield_now().await;
            drop(inbox);
            let expected = if is_shared { Sent::Missed(false) } else { Sent::Gone };
            assert_eq!(waits.await.unwrap(), expected);
        }
    }
}
