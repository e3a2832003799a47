//! One limit for the memory of all messages that the guard holds, and of the values parsed from them.

use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The default limit: 512 MiB.
pub const MAX_MEMORY: usize = 512 << 20;

/// What each message counts for beside its bytes, so that many short ones are limited, too.
const OVERHEAD: usize = 128;

/// How long a message waits for memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// The memory that messages, and the values parsed from them, may take: half of it each, so that
/// messages that wait never keep others from being checked. An eighth of the messages' half is for events that are kept
/// only in case their client asks for them again.
#[derive(Debug)]
pub struct MemoryLimit {
    messages: Arc<Share>,
    resumable: Arc<Share>,
    parsed: Arc<Share>,
    /// One copy at a time goes past the limit.
    copies: Arc<Semaphore>,
}

/// No memory became free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guard holds as much as its memory limit allows (--max-memory); try again later")]
pub(crate) struct NoMemory;

/// Bytes whose memory is counted until they are dropped. Only the memory limit makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted(Bytes);

/// Memory of one kind. Reservations of more than a part of it leave some to smaller ones, so that those
/// need not wait for them.
#[derive(Debug)]
struct Share {
    limit: usize,
    /// The most that counts as a small reservation.
    small: usize,
    /// What others leave to small ones.
    kept: usize,
    used: AtomicUsize,
    freed: Notify,
}

/// Memory in use; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    share: Arc<Share>,
    bytes: usize,
    wait: Option<Wait>,
    /// The turn of a copy that goes past the limit.
    turn: Option<OwnedSemaphorePermit>,
}

/// A wait for memory, which may go on in a later poll.
struct Wait {
    deadline: Instant,
    /// Whether memory became free before the deadline.
    freed: Pin<Box<dyn Future<Output = bool> + Send + Sync>>,
}

impl MemoryLimit {
    /// A limit of `bytes`, at least 1 MiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let half = bytes.max(1 << 20) / 2;
        let share = |limit, small, kept| {
            let (used, freed) = (AtomicUsize::new(0), Notify::new());
            Arc::new(Share { limit, small, kept, used, freed })
        };
        let resumable = half / 8;
        Self {
            messages: share(half - resumable, half / 256, half / 8),
            resumable: share(resumable, resumable, 0),
            parsed: share(half, half / 16, half / 4),
            copies: Arc::new(Semaphore::new(1)),
        }
    }

    /// A reservation for a message, of nothing yet.
    pub(crate) fn message(&self) -> Reservation {
        Reservation { share: Arc::clone(&self.messages), bytes: 0, wait: None, turn: None }
    }

    /// Memory of `bytes`, whether or not the limit allows it.
    pub(crate) fn reserve_now(&self, bytes: usize) -> Reservation {
        let mut reservation = self.message();
        reservation.set(cost(bytes));
        reservation
    }

    /// Memory for `bytes` that are kept only in case their client asks for them again, if there is any left.
    pub(crate) fn reserve_resumable(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let share = Arc::clone(&self.resumable);
        if cost(bytes) > share.limit {
            return Err(NoMemory);
        }
        let mut reservation = Reservation { share, bytes: 0, wait: None, turn: None };
        reservation.try_grow(bytes)?;
        Ok(reservation)
    }

    /// The most memory that the parsed values of one job may take.
    pub(crate) fn parsed_limit(&self) -> usize {
        self.parsed.limit - self.parsed.kept
    }

    /// Whether parsed values of `bytes` need not wait for larger ones.
    pub(crate) fn is_small_when_parsed(&self, bytes: usize) -> bool {
        bytes <= self.parsed.small
    }

    /// Reserves memory for parsed values, waiting for it where others have it.
    pub(crate) async fn reserve_parsed(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let mut reservation =
            Reservation { share: Arc::clone(&self.parsed), bytes: 0, wait: None, turn: None };
        reservation.grow(bytes).await?;
        Ok(reservation)
    }

    /// Reserves memory for a copy of `bytes` that are counted, waiting for it where others have it. One at a time gets it
    /// all the same, because the others may wait for copies, too.
    pub(crate) async fn reserve_copy(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let mut copy = self.message();
        if copy.try_grow(bytes).is_ok() {
            return Ok(copy);
        }
        let turn = Arc::clone(&self.copies).acquire_owned();
        tokio::select! {
            biased;
            grown = copy.grow(bytes) => grown.map(|()| copy),
            turn = turn => {
                let mut copy = self.reserve_now(bytes);
                copy.turn = turn.ok();
                Ok(copy)
            }
        }
    }

    /// Counts the memory of `bytes`, whether or not the limit allows it: the guard wrote them itself, and
    /// others wait for it.
    pub(crate) fn count(&self, bytes: impl Into<Bytes>) -> Counted {
        self.message().attach(bytes)
    }

    /// What is made of counted bytes: counted, too, unless they are the same.
    pub(crate) fn count_changed(
        &self,
        bytes: &Counted,
        change: impl FnOnce(Bytes) -> Bytes,
    ) -> Counted {
        let changed = change(Bytes::clone(bytes));
        if changed.as_ptr() == bytes.as_ptr() { Counted(changed) } else { self.count(changed) }
    }

    /// The bytes in use, by messages and by parsed values.
    pub(crate) fn used(&self) -> [usize; 2] {
        let used = |share: &Share| share.used.load(Ordering::Relaxed);
        [used(&self.messages) + used(&self.resumable), used(&self.parsed)]
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::new(MAX_MEMORY)
    }
}

impl Counted {
    /// A part of these bytes, which keeps all of them.
    pub(crate) fn part(&self, part: &[u8]) -> Self {
        Self(self.0.slice_ref(part))
    }

    /// Bytes that take no memory of their own.
    pub(crate) const fn from_static(bytes: &'static [u8]) -> Self {
        Self(Bytes::from_static(bytes))
    }

    /// Drops the first `count` bytes.
    pub(crate) fn advance(&mut self, count: usize) {
        bytes::Buf::advance(&mut self.0, count);
    }

    /// The bytes, which stay counted as long as they or a part of them are kept.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

/// Bytes that are known to be a part of counted ones.
pub(crate) fn part_of_counted(bytes: Bytes) -> Counted {
    Counted(bytes)
}

impl Deref for Counted {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.0
    }
}

#[cfg(test)]
impl<T: Into<Bytes>> From<T> for Counted {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl Reservation {
    /// Reserves memory up to `bytes` in total, waiting for it where others have it. What is larger
    /// than the limit gets all of it, alone.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        poll_fn(|context| self.poll_grow(bytes, context)).await
    }

    /// Polls for what [`Reservation::grow`] waits for. A wait goes on where the last one stopped.
    pub(crate) fn poll_grow(
        &mut self,
        bytes: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), NoMemory>> {
        loop {
            if self.try_grow(bytes).is_ok() {
                self.wait = None;
                return Poll::Ready(Ok(()));
            }
            let wait = self.wait.get_or_insert_with(|| {
                Wait::new(Arc::clone(&self.share), Instant::now() + PATIENCE)
            });
            match wait.freed.as_mut().poll(context) {
                Poll::Ready(true) => *wait = Wait::new(Arc::clone(&self.share), wait.deadline),
                Poll::Ready(false) => {
                    self.wait = None;
                    return Poll::Ready(Err(NoMemory));
                }
                // What was freed before the wait began is not told of.
                Poll::Pending if self.try_grow(bytes).is_err() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    /// [`Reservation::grow`] without waiting.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        let bytes = cost(bytes);
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let (share, own) = (&self.share, self.bytes);
        let limit = if bytes <= share.small { share.limit } else { share.limit - share.kept };
        let fits = |used: usize| {
            let sum = used.saturating_add(more);
            (sum <= limit || used == own).then_some(sum)
        };
        let taken = share.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits);
        taken.map_err(|_| NoMemory)?;
        self.bytes = bytes;
        Ok(())
    }

    /// What it is a copy of is dropped: the next one may go past the limit.
    pub(crate) fn end_turn(&mut self) {
        self.turn = None;
    }

    /// Counts `bytes` whether or not the limit allows it, or gives back what is beyond.
    fn set(&mut self, bytes: usize) {
        if bytes < self.bytes {
            self.share.release(self.bytes - bytes);
        } else {
            self.share.used.fetch_add(bytes - self.bytes, Ordering::AcqRel);
        }
        self.bytes = bytes;
    }

    /// `bytes`, which hold this reservation until they are dropped.
    pub(crate) fn attach(mut self, bytes: impl Into<Bytes>) -> Counted {
        let bytes = bytes.into();
        if cost(bytes.len()) > self.bytes {
            self.set(cost(bytes.len()));
        }
        if self.bytes == 0 {
            return Counted(bytes);
        }
        Counted(Bytes::from_owner(Owner { bytes, _memory: self }))
    }
}

/// What a message of `bytes` counts for.
fn cost(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.saturating_add(OVERHEAD) }
}

impl Wait {
    fn new(share: Arc<Share>, deadline: Instant) -> Self {
        let freed = async move { timeout_at(deadline, share.freed.notified()).await.is_ok() };
        Self { deadline, freed: Box::pin(freed) }
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.deadline).finish()
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

struct Owner {
    bytes: Bytes,
    _memory: Reservation,
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{MemoryLimit, NoMemory, OVERHEAD};

    #[tokio::test(start_paused = true)]
    async fn is_bounded_and_given_back() {
        let limit = MemoryLimit::new(2 << 20);
        let part = (1 << 20) * 3 / 8 - OVERHEAD;
        let (mut one, mut two, mut three) = (limit.message(), limit.message(), limit.message());
        one.grow(part).await.unwrap();
        two.grow(part).await.unwrap();
        three.grow(2 << 10).await.unwrap();
        assert_eq!(three.grow(part / 2).await, Err(NoMemory));
        two.set(part / 2);
        three.grow(part / 2).await.unwrap();
        // Parsed values have their own share.
        drop(limit.reserve_parsed(part).await.unwrap());
        let ((), waited) = tokio::join!(
            async {
                tokio::task::yield_now().await;
                drop(one);
            },
            three.grow(part),
        );
        waited.unwrap();
        drop((two, three));
        assert_eq!(limit.used(), [0, 0]);
        // More than there is, alone.
        let mut large = limit.message();
        large.grow(usize::MAX / 4).await.unwrap();
        assert_eq!(limit.message().grow(part).await, Err(NoMemory));
        let bytes = large.attach(vec![0; 10]);
        let slice = bytes.part(&bytes[1..2]);
        drop(bytes);
        assert!(limit.used()[0] > 0);
        drop(slice);
        assert_eq!(limit.used(), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_interrupted_ends_in_time_all_the_same() {
        let limit = MemoryLimit::new(2 << 20);
        let mut all = limit.message();
        all.grow(1 << 20).await.unwrap();
        let mut other = limit.message();
        let start = tokio::time::Instant::now();
        let ended = loop {
            let second = std::time::Duration::from_secs(1);
            if let Ok(ended) = tokio::time::timeout(second, other.grow(1 << 19)).await {
                break ended;
            }
        };
        assert_eq!(ended, Err(NoMemory));
        assert!(start.elapsed().as_secs() <= 31, "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn small_ones_do_not_wait_for_large_ones() {
        let limit = MemoryLimit::new(64 << 20);
        let (mut large, mut small) = (limit.message(), limit.message());
        large.grow(28 << 20).await.unwrap();
        assert_eq!(limit.message().try_grow(1 << 20), Err(NoMemory));
        small.try_grow(64 << 10).unwrap_err();
        large.set(24 << 20);
        small.try_grow(64 << 10).unwrap();
        let parsed = limit.reserve_parsed(limit.parsed_limit()).await.unwrap();
        assert!(limit.reserve_parsed(4 << 20).await.is_err());
        limit.reserve_parsed(1 << 20).await.unwrap();
        drop((large, small, parsed));
        assert_eq!(limit.used(), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_copy_at_a_time_goes_past_the_limit() {
        let limit = MemoryLimit::new(64 << 20);
        let mut large = limit.message();
        large.grow(24 << 20).await.unwrap();
        let mut first = limit.reserve_copy(16 << 20).await.unwrap();
        assert_eq!(limit.used()[0], (40 << 20) + 2 * OVERHEAD);
        assert_eq!(limit.reserve_copy(16 << 20).await.err(), Some(NoMemory));
        // What it was a copy of is gone.
        drop(large);
        first.end_turn();
        let second = limit.reserve_copy(16 << 20).await.unwrap();
        drop((first, second));
        assert_eq!(limit.used(), [0, 0]);
    }

    #[test]
    fn whatever_is_attached_is_counted() {
        let limit = MemoryLimit::default();
        let empty = limit.count(Bytes::new());
        assert_eq!(limit.used(), [0, 0]);
        let small = limit.count(vec![0; 10]);
        assert_eq!(limit.used(), [10 + OVERHEAD, 0]);
        let same = limit.count_changed(&small, |bytes| bytes.slice(..5));
        assert_eq!(limit.used(), [10 + OVERHEAD, 0]);
        let other = limit.count_changed(&small, |bytes| Bytes::from(bytes.repeat(2)));
        assert_eq!(limit.used(), [30 + 2 * OVERHEAD, 0]);
        drop((empty, small, same));
        assert_eq!(limit.used(), [20 + OVERHEAD, 0]);
        assert_eq!(other.into_bytes().len(), 20);
        assert_eq!(limit.used(), [0, 0]);
    }

    #[test]
    fn what_is_kept_to_be_resumed_has_a_share_of_its_own() {
        let limit = MemoryLimit::new(16 << 20);
        let kept: Vec<_> = std::iter::from_fn(|| limit.reserve_resumable(10_000).ok()).collect();
        let used = limit.used()[0];
        assert!(used <= 1 << 20 && used > 1_000_000, "{used}");
        limit.message().try_grow(4 << 20).unwrap();
        drop(kept);
        // One event does not get more than that, even alone.
        assert!(limit.reserve_resumable(1 << 20).is_err());
        assert!(limit.reserve_resumable(1 << 19).is_ok());
    }
}
