//! One limit for the memory of all messages that the guard holds, and of the values parsed from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The default limit: 512 MiB.
pub const MAX_MEMORY: usize = 512 << 20;

/// Messages up to this size are not counted: there are no more of them than connections.
const SMALL: usize = 4 << 10;

/// How long a message waits for memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// The memory that messages, and the values parsed from them, may take: half of it each, so that
/// messages that wait never keep others from being checked.
#[derive(Debug)]
pub struct MemoryLimit {
    messages: Arc<Share>,
    parsed: Arc<Share>,
}

/// No memory became free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guard holds as much as its memory limit allows (--max-memory); try again later")]
pub(crate) struct NoMemory;

#[derive(Debug)]
struct Share {
    limit: usize,
    used: AtomicUsize,
    freed: Notify,
}

/// Memory in use; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    share: Arc<Share>,
    bytes: usize,
}

impl MemoryLimit {
    /// A limit of `bytes`, at least 1 MiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let share = || {
            let limit = bytes.max(1 << 20) / 2;
            Arc::new(Share { limit, used: AtomicUsize::new(0), freed: Notify::new() })
        };
        Self { messages: share(), parsed: share() }
    }

    /// A reservation for a message, of nothing yet.
    pub(crate) fn message(&self) -> Reservation {
        Reservation { share: Arc::clone(&self.messages), bytes: 0 }
    }

    /// The most memory that parsed values may take at a time.
    pub(crate) fn parsed_limit(&self) -> usize {
        self.parsed.limit
    }

    /// Reserves memory for parsed values, waiting for it where others have it.
    pub(crate) async fn reserve_parsed(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let mut reservation = Reservation { share: Arc::clone(&self.parsed), bytes: 0 };
        reservation.grow(bytes).await?;
        Ok(reservation)
    }

    /// Counts the memory of `bytes` until they are dropped, whether or not the limit allows it: the
    /// guard wrote them itself, and others wait for it.
    pub(crate) fn count(&self, bytes: Bytes) -> Bytes {
        if bytes.len() <= SMALL {
            return bytes;
        }
        let mut reservation = self.message();
        reservation.bytes = bytes.len();
        reservation.share.used.fetch_add(bytes.len(), Ordering::Relaxed);
        reservation.attach(bytes)
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::new(MAX_MEMORY)
    }
}

impl Reservation {
    /// Reserves memory up to `bytes` in total, waiting for it where others have it. What is larger
    /// than the limit gets all of it, alone.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 || bytes <= SMALL {
            return Ok(());
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let share = Arc::clone(&self.share);
            let mut freed = std::pin::pin!(share.freed.notified());
            freed.as_mut().enable();
            if self.try_grow(bytes).is_ok() {
                return Ok(());
            }
            timeout_at(deadline, freed).await.map_err(|_| NoMemory)?;
        }
    }

    /// [`Reservation::grow`] without waiting.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 || bytes <= SMALL {
            return Ok(());
        }
        let (limit, own) = (self.share.limit, self.bytes);
        let fits = |used: usize| {
            let sum = used.saturating_add(more);
            (sum <= limit || used == own).then_some(sum)
        };
        let taken = self.share.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits);
        taken.map_err(|_| NoMemory)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back what is beyond `bytes`.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if bytes < self.bytes {
            self.share.release(self.bytes - bytes);
            self.bytes = bytes;
        }
    }

    /// `bytes`, which hold this reservation until they are dropped.
    pub(crate) fn attach(self, bytes: impl Into<Bytes>) -> Bytes {
        let bytes = bytes.into();
        if self.bytes == 0 { bytes } else { Bytes::from_owner(Counted { bytes, _memory: self }) }
    }
}

impl Share {
    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
        self.freed.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.share.release(self.bytes);
        }
    }
}

struct Counted {
    bytes: Bytes,
    _memory: Reservation,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{MemoryLimit, NoMemory, SMALL};

    #[tokio::test(start_paused = true)]
    async fn is_bounded_and_given_back() {
        let limit = MemoryLimit::new(2 << 20);
        let half = 1 << 19;
        let (mut one, mut two, mut three) = (limit.message(), limit.message(), limit.message());
        one.grow(half).await.unwrap();
        two.grow(half).await.unwrap();
        three.grow(SMALL).await.unwrap();
        assert_eq!(three.grow(SMALL + 1).await, Err(NoMemory));
        two.shrink(half / 2);
        three.grow(half / 2).await.unwrap();
        // Parsed values have their own share.
        drop(limit.reserve_parsed(half).await.unwrap());
        let ((), waited) = tokio::join!(
            async {
                tokio::task::yield_now().await;
                drop(one);
            },
            three.grow(half),
        );
        waited.unwrap();
        drop((two, three));
        assert_eq!(limit.messages.used.load(Ordering::Relaxed), 0);
        // More than there is, alone.
        let mut large = limit.message();
        large.grow(usize::MAX / 4).await.unwrap();
        assert_eq!(limit.message().grow(half).await, Err(NoMemory));
        let bytes = large.attach(vec![0; 10]);
        let part = bytes.slice(1..2);
        drop(bytes);
        assert!(limit.messages.used.load(Ordering::Relaxed) > 0);
        drop(part);
        assert_eq!(limit.messages.used.load(Ordering::Relaxed), 0);
    }
}
