//! One limit for the memory of all messages that the guard holds, and of the values parsed from them.

use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{AcquireError, Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::environment::Kept;

use toolbond_guard_core::lock::lock;
use toolbond_guard_core::tool_cache::Shelf;

/// The default limit: 512 MiB.
pub const MAX_MEMORY: usize = 512 << 20;

/// What each message counts for beside its bytes, so that many short ones are limited, too.
const OVERHEAD: usize = 128;

/// How long a message waits for memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// How far what the guard wrote itself, which does not wait, may be beyond the limit when a turn of a server begins, and twice
/// that for answers to the guard. Each waits for the next one only.
const SPARE: usize = 16 << 20;

/// How long a message waits for others to free memory before it wants its turn.
const STALL: Duration = Duration::from_secs(1);

/// The memory that messages, and the values parsed from them, may take: half of it each, so that
/// messages that wait never keep others from being checked. An eighth of the messages' half is for events that are kept
/// only in case their client asks for them again.
///
/// Messages grow while they are read, so those that hold memory may wait for more of it: for each other, and for an
/// answer that finds none. One message of each kind of sender at a time therefore has its turn, and grows beyond the
/// limit. So all messages together take at most the limit, four messages of the largest size and what the guard makes of
/// them, and they cannot lock up: a message with its turn waits for no memory but, as a client's, for answers, which have
/// turns of their own.
/// A turn ends when the message is dropped, or when others have freed what it took. It goes to the message
/// that has waited longest.
///
/// Compiled tools may take half as much again.
#[derive(Debug)]
pub struct MemoryLimit {
    messages: Arc<Share>,
    resumable: Arc<Share>,
    parsed: Arc<Share>,
    compiled: Arc<Shelf>,
    open: OpenRequests,
}

/// The memory that open requests take: counted as that of messages, whose fourth part they may take.
#[derive(Clone, Debug)]
pub(crate) struct OpenRequests {
    messages: Arc<Share>,
    own: Arc<Share>,
}

impl OpenRequests {
    /// Memory for `bytes` of an open request, until it is dropped; `None` where others have too much.
    pub(crate) fn keep(&self, bytes: usize) -> Option<Kept> {
        let mut own = Reservation::new(&self.own, None);
        own.try_grow(bytes).ok()?;
        let mut counted = Reservation::new(&self.messages, None);
        counted.grow_now(bytes);
        Some(Arc::new((own, counted)))
    }
}

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// A client. Its call may wait for the answer to a request of the guard.
    Client,
    /// A server, to a client, which decides how long that may take.
    Server,
    /// A server, to the guard itself.
    Asked,
    /// The guard, which translates a message of any other.
    Copied,
}

/// How many kinds of senders there are.
const SENDERS: usize = 4;

/// No memory became free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guard holds as much as its memory limit allows (--max-memory); try again later")]
pub struct NoMemory;

/// Memory of one kind. Reservations of more than a part of it leave some to smaller ones, so that those
/// need not wait for them.
#[derive(Debug)]
struct Share {
    limit: usize,
    /// The most that counts as a small reservation.
    small: usize,
    /// What others leave to small ones.
    kept: usize,
    used: Mutex<Used>,
    freed: Notify,
    /// The turns of each sender: one, which is in use while it is in [`Used`].
    turns: [Arc<Semaphore>; SENDERS],
}

#[derive(Debug, Default)]
struct Used {
    bytes: usize,
    /// Those of small reservations.
    small: usize,
    /// Those who have their turn.
    turns: [Option<Turn>; SENDERS],
    /// How many turns there were.
    count: u64,
}

#[derive(Debug)]
struct Turn {
    number: u64,
    /// The bytes that were taken beyond the limit and not freed by others since.
    beyond: usize,
    _permit: OwnedSemaphorePermit,
}

/// Memory in use; free again when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    share: Arc<Share>,
    sender: Option<Sender>,
    bytes: usize,
    /// The turn that it had last.
    turn: Option<u64>,
    wait: Option<Wait>,
}

/// A wait for memory, which may go on in a later poll.
struct Wait(Pin<Box<dyn Future<Output = Result<Taken, NoMemory>> + Send + Sync>>);

/// What a wait ends with.
enum Taken {
    /// So many bytes are reserved in total.
    Bytes(usize),
    Turn(OwnedSemaphorePermit),
}

impl MemoryLimit {
    /// A limit of `bytes`, at least 1 MiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let half = bytes.max(1 << 20) / 2;
        let share = |limit, small, kept| {
            let (used, freed) = (Mutex::default(), Notify::new());
            let turns = [(); SENDERS].map(|()| Arc::new(Semaphore::new(1)));
            Arc::new(Share { limit, small, kept, used, freed, turns })
        };
        let resumable = half / 8;
        let messages = share(half - resumable, half / 256, half / 8);
        let requests = messages.limit / 4;
        let own = share(requests, requests, 0);
        Self {
            open: OpenRequests { messages: Arc::clone(&messages), own },
            messages,
            resumable: share(resumable, resumable, 0),
            parsed: share(half, half / 16, half / 4),
            compiled: Arc::new(Shelf::new(half)),
        }
    }

    /// A reservation for a message of `sender`, of nothing yet.
    pub(crate) fn message(&self, sender: Sender) -> Reservation {
        Reservation::new(&self.messages, Some(sender))
    }

    /// Memory for `bytes` that are kept only in case their client asks for them again, if there is any left.
    pub(crate) fn reserve_resumable(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let mut reservation = Reservation::new(&self.resumable, None);
        reservation.try_grow(bytes)?;
        Ok(reservation)
    }

    /// The most bytes that wait for one process that does not read: a small part, which others can spare.
    pub(crate) fn queue_limit(&self) -> usize {
        (self.messages.limit / 14).min(16 << 20)
    }

    /// The memory of compiled tools.
    pub(crate) fn compiled(&self) -> &Arc<Shelf> {
        &self.compiled
    }

    /// The memory of open requests.
    pub(crate) fn open_requests(&self) -> &OpenRequests {
        &self.open
    }

    /// The most memory that the parsed values of one job may take.
    pub(crate) fn parsed_limit(&self) -> usize {
        self.parsed.limit - self.parsed.kept - OVERHEAD
    }

    /// Whether parsed values of `bytes` need not wait for larger ones.
    pub(crate) fn is_small_when_parsed(&self, bytes: usize) -> bool {
        bytes <= self.parsed.small
    }

    /// Reserves memory for parsed values, waiting for it where others have it.
    pub(crate) async fn reserve_parsed(&self, bytes: usize) -> Result<Reservation, NoMemory> {
        let mut reservation = Reservation::new(&self.parsed, None);
        reservation.grow(bytes).await?;
        Ok(reservation)
    }

    /// Reserves memory to make a copy of `bytes` that are counted, to be dropped when that is done. Copies wait for each
    /// other; `None` where that was not enough.
    pub(crate) async fn reserve_copy(&self, bytes: usize) -> Option<Reservation> {
        let mut within = Reservation::new(&self.messages, None);
        if let Ok(Ok(())) = timeout(STALL, within.grow(bytes)).await {
            return Some(within);
        }
        let mut reservation = self.message(Sender::Copied);
        reservation.grow(bytes).await.ok()?;
        Some(reservation)
    }

    /// Counts the memory of `bytes`, whether or not the limit allows it: the guard wrote them itself, and
    /// others wait for it.
    pub(crate) fn count(&self, bytes: impl Into<Bytes>) -> Counted {
        Reservation::new(&self.messages, None).attach(bytes)
    }

    /// The same bytes, for which `more` is counted as long as they are kept.
    pub(crate) fn count_beside(&self, bytes: Counted, more: usize) -> Counted {
        let mut reservation = Reservation::new(&self.messages, None);
        reservation.grow_now(more);
        Counted::new(Bytes::from_owner(Owner { bytes: bytes.into_bytes(), _memory: reservation }))
    }

    /// What is made of counted bytes: counted, too, unless they are the same.
    pub(crate) fn count_changed(
        &self,
        bytes: &Counted,
        change: impl FnOnce(Bytes) -> Bytes,
    ) -> Counted {
        let changed = change(Bytes::clone(bytes));
        if changed.as_ptr() == bytes.as_ptr() { Counted::new(changed) } else { self.count(changed) }
    }

    /// The bytes in use, by messages and by parsed values.
    pub(crate) fn used(&self) -> [usize; 2] {
        let used = |share: &Share| lock(&share.used).bytes;
        [used(&self.messages) + used(&self.resumable), used(&self.parsed)]
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::new(MAX_MEMORY)
    }
}

/// Bytes that are known to be a part of counted ones.
pub(crate) fn part_of_counted(bytes: Bytes) -> Counted {
    Counted::new(bytes)
}

impl Reservation {
    fn new(share: &Arc<Share>, sender: Option<Sender>) -> Self {
        Self { share: Arc::clone(share), sender, bytes: 0, turn: None, wait: None }
    }

    /// Reserves memory up to `bytes` in total, waiting for it where others have it.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        poll_fn(|context| self.poll_grow(bytes, context)).await
    }

    /// Polls for what [`Reservation::grow`] waits for. A wait goes on where the last one stopped.
    pub fn poll_grow(
        &mut self,
        bytes: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), NoMemory>> {
        loop {
            if self.wait.is_none() && self.take(cost(bytes)) {
                return Poll::Ready(Ok(()));
            }
            let (share, own) = (&self.share, self.bytes);
            let wait = self.wait.get_or_insert_with(|| {
                let later = Arc::clone(share).take_later(self.sender, own, cost(bytes));
                Wait(Box::pin(later))
            });
            let taken = ready!(wait.0.as_mut().poll(context));
            self.wait = None;
            match taken {
                Ok(Taken::Bytes(bytes)) => self.bytes = bytes,
                Ok(Taken::Turn(permit)) => self.take_turn(permit, cost(bytes)),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// [`Reservation::grow`] without waiting.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), NoMemory> {
        let bytes = cost(bytes);
        if self.take(bytes) {
            return Ok(());
        }
        let sender = self.sender.filter(|it| self.share.may_exceed(*it)).ok_or(NoMemory)?;
        let turn = Arc::clone(&self.share.turns[sender as usize]);
        let permit = turn.try_acquire_owned().map_err(|_| NoMemory)?;
        self.take_turn(permit, bytes);
        Ok(())
    }

    /// Reserves memory up to `bytes` in total, if there is any or it is its turn.
    fn take(&mut self, bytes: usize) -> bool {
        let is_taken = self.share.take(self.bytes, bytes, self.sender.zip(self.turn));
        if is_taken {
            self.bytes = self.bytes.max(bytes);
        }
        is_taken
    }

    /// Reserves memory up to `bytes` in total, in a turn that begins.
    fn take_turn(&mut self, permit: OwnedSemaphorePermit, bytes: usize) {
        let more = bytes.saturating_sub(self.bytes);
        let Some(sender) = self.sender.filter(|_| more > 0) else { return };
        let mut used = lock(&self.share.used);
        used.grow(self.bytes, bytes, self.share.small);
        used.count += 1;
        let turn = Turn { number: used.count, beyond: more, _permit: permit };
        self.turn = Some(turn.number);
        used.turns[sender as usize] = Some(turn);
        self.bytes = bytes;
    }

    /// Another reservation for the same sender, of `bytes` whether or not the limit allows it.
    #[must_use]
    pub fn another(&self, bytes: usize) -> Self {
        let mut another = Self::new(&self.share, self.sender);
        another.grow_now(bytes);
        another
    }

    /// Reserves memory up to `bytes` in total, whether or not the limit allows it.
    fn grow_now(&mut self, bytes: usize) {
        let bytes = cost(bytes).max(self.bytes);
        lock(&self.share.used).grow(self.bytes, bytes, self.share.small);
        self.bytes = bytes;
    }

    /// `bytes`, which hold this reservation until they are dropped.
    pub fn attach(mut self, bytes: impl Into<Bytes>) -> Counted {
        let bytes = bytes.into();
        self.grow_now(bytes.len());
        if self.bytes == 0 {
            return Counted::new(bytes);
        }
        Counted::new(Bytes::from_owner(Owner { bytes, _memory: self }))
    }
}

/// What a message of `bytes` counts for.
fn cost(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.saturating_add(OVERHEAD) }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").finish()
    }
}

impl Share {
    /// Takes memory for a reservation that grows from `own` to `bytes`, if there is any or it has this turn.
    fn take(&self, own: usize, bytes: usize, turn: Option<(Sender, u64)>) -> bool {
        let more = bytes.saturating_sub(own);
        let mut used = lock(&self.used);
        let is_small = bytes <= self.small;
        let limit = if is_small { self.limit } else { self.limit - self.kept };
        // What is left to small ones is theirs, whatever the guard wrote itself.
        let fits = used.within().saturating_add(more) <= limit
            || (is_small && used.small.saturating_add(more) <= self.kept);
        if more > 0 && !fits {
            let Some(turn) = turn.and_then(|turn| used.turn(turn)) else { return false };
            turn.beyond += more;
        }
        used.grow(own, own.max(bytes), self.small);
        true
    }

    /// Waits for memory, or for a turn.
    async fn take_later(
        self: Arc<Self>,
        sender: Option<Sender>,
        own: usize,
        bytes: usize,
    ) -> Result<Taken, NoMemory> {
        let taken = self.once_freed(|| self.take(own, bytes, None).then_some(Taken::Bytes(bytes)));
        let turn = async {
            let Some(sender) = sender else { return pending().await };
            let waits = matches!(sender, Sender::Client | Sender::Server);
            if waits && lock(&self.used).bytes > own {
                // Most wait for messages that are soon done.
                sleep(STALL).await;
            }
            let turn = Arc::clone(&self.turns[sender as usize]).acquire_owned().await?;
            self.once_freed(|| self.may_exceed(sender).then_some(())).await;
            Ok(Taken::Turn(turn))
        };
        let either = async {
            tokio::select! { biased; taken = taken => Ok::<_, AcquireError>(taken), turn = turn => turn }
        };
        timeout(PATIENCE, either).await.map_err(|_| NoMemory)?.map_err(|_| NoMemory)
    }

    /// What `attempt` finds, at once or after memory became free.
    async fn once_freed<T>(&self, attempt: impl Fn() -> Option<T>) -> T {
        loop {
            let mut freed = pin!(self.freed.notified());
            // What is freed from here on is told of.
            freed.as_mut().enable();
            if let Some(found) = attempt() {
                return found;
            }
            freed.await;
        }
    }

    /// Whether a turn of `sender` may begin.
    fn may_exceed(&self, sender: Sender) -> bool {
        lock(&self.used).within() <= self.limit + sender as usize * SPARE
    }

    /// Frees `bytes` of one who may have this turn.
    fn release(&self, bytes: usize, turn: Option<(Sender, u64)>) {
        let mut used = lock(&self.used);
        used.bytes -= bytes;
        used.small -= if bytes <= self.small { bytes } else { 0 };
        if let Some(turn) = turn
            && used.turn(turn).is_some()
        {
            used.turns[turn.0 as usize] = None;
        }
        // What is free goes to those beyond the limit first.
        let mut beyond = used.bytes.saturating_sub(self.limit - self.kept);
        for place in &mut used.turns {
            if let Some(turn) = place {
                turn.beyond = turn.beyond.min(beyond);
                beyond -= turn.beyond;
            }
            place.take_if(|turn| turn.beyond == 0);
        }
        drop(used);
        self.freed.notify_waiters();
    }
}

impl Used {
    /// Counts a reservation that grows from `own` to `bytes`; up to `small` it is a small one.
    fn grow(&mut self, own: usize, bytes: usize, small: usize) {
        let of_small = |bytes: usize| if bytes <= small { bytes } else { 0 };
        self.bytes += bytes - own;
        self.small = self.small + of_small(bytes) - of_small(own);
    }

    /// The bytes that count towards the limit.
    fn within(&self) -> usize {
        self.bytes - self.turns.iter().flatten().map(|turn| turn.beyond).sum::<usize>()
    }

    /// The turn of this number, if it has not ended.
    fn turn(&mut self, (sender, number): (Sender, u64)) -> Option<&mut Turn> {
        self.turns[sender as usize].as_mut().filter(|turn| turn.number == number)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.share.release(self.bytes, self.sender.zip(self.turn));
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

    use super::Sender::{Asked, Client, Copied, Server};
    use super::{MemoryLimit, NoMemory, OVERHEAD, Reservation};

    /// Takes all memory of messages that are not small, and the turn of clients.
    fn fill(limit: &MemoryLimit) -> [Reservation; 2] {
        let (mut all, mut turn) = (limit.message(Client), limit.message(Client));
        let share = &limit.messages;
        all.try_grow(share.limit - share.kept - OVERHEAD).unwrap();
        turn.try_grow(share.small + 1).unwrap();
        [all, turn]
    }

    #[tokio::test(start_paused = true)]
    async fn is_bounded_and_given_back() {
        let limit = MemoryLimit::new(2 << 20);
        let [all, turn] = fill(&limit);
        let used = limit.used()[0];
        let (mut large, mut small) = (limit.message(Client), limit.message(Client));
        assert_eq!(large.grow(200_000).await, Err(NoMemory));
        small.grow(2 << 10).await.unwrap();
        assert_eq!(small.grow(200_000).await, Err(NoMemory));
        assert_eq!(limit.used(), [used + (2 << 10) + OVERHEAD, 0]);
        // Parsed values have their own share.
        drop(limit.reserve_parsed(200_000).await.unwrap());
        let ((), waited) = tokio::join!(
            async {
                tokio::task::yield_now().await;
                drop(all);
            },
            large.grow(200_000),
        );
        waited.unwrap();
        drop((turn, large, small));
        assert_eq!(limit.used(), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_message_of_each_sender_goes_beyond_the_limit() {
        let limit = MemoryLimit::new(2 << 20);
        let _full = fill(&limit);
        // An answer that calls wait for does not wait for what is made of calls.
        let mut copy = limit.message(Copied);
        copy.try_grow(4 << 20).unwrap();
        for sender in [Server, Asked] {
            let (mut first, mut second) = (limit.message(sender), limit.message(sender));
            let mut third = limit.message(sender);
            first.try_grow(1 << 20).unwrap();
            first.try_grow(4 << 20).unwrap();
            second.try_grow(1 << 20).unwrap_err();
            // Small ones do not wait for it.
            second.try_grow(2 << 10).unwrap();
            let slice = {
                let bytes = first.attach(vec![0; 10]);
                bytes.part(&bytes[1..2])
            };
            let freed = async {
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                drop(slice);
            };
            // The turn goes to the one that has waited longest.
            let (second, third, ()) =
                tokio::join!(second.grow(1 << 20), third.grow(1 << 20), freed);
            assert_eq!((second, third), (Ok(()), Err(NoMemory)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn messages_that_hold_memory_and_wait_for_more_end_one_by_one() {
        let limit = MemoryLimit::new(2 << 20);
        let mut halves: Vec<_> = (0..8).map(|_| limit.message(Client)).collect();
        for half in &mut halves {
            half.try_grow(90_000).unwrap();
        }
        let ended = halves.into_iter().map(|mut half| async move { half.grow(180_000).await });
        let ended = futures_util::future::join_all(ended).await;
        assert_eq!(ended, [Ok(()); 8]);
        assert_eq!(limit.used(), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_made_of_messages_beyond_the_limit_lets_no_more_of_them_in() {
        let limit = MemoryLimit::new(2 << 20);
        let [_all, turn] = fill(&limit);
        // A copy takes the place of the message.
        let copy = limit.count(vec![0; 1 << 20]);
        drop(turn);
        let mut next = limit.message(Client);
        assert_eq!(next.grow(1 << 20).await, Err(NoMemory));
        limit.message(Server).try_grow(1 << 20).unwrap();
        limit.message(Asked).try_grow(1 << 20).unwrap();
        drop(copy);
        next.grow(1 << 20).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_ends_when_others_have_freed_what_it_took() {
        let limit = MemoryLimit::new(2 << 20);
        let [all, kept] = fill(&limit);
        let mut other = limit.message(Client);
        other.try_grow(400_000).unwrap_err();
        drop(all);
        other.try_grow(700_000).unwrap();
        // The limit is reached again, and whoever had the turn has no longer.
        let mut last = limit.message(Client);
        last.try_grow(400_000).unwrap();
        other.try_grow(800_000).unwrap_err();
        drop((kept, other, last));
        assert_eq!(limit.used(), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_interrupted_ends_in_time_all_the_same() {
        let limit = MemoryLimit::new(2 << 20);
        let _full = fill(&limit);
        let mut other = limit.message(Client);
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
        let _full = fill(&limit);
        limit.message(Client).try_grow(1 << 20).unwrap_err();
        limit.message(Client).try_grow(64 << 10).unwrap();
        let parsed = limit.reserve_parsed(limit.parsed_limit()).await.unwrap();
        assert!(limit.reserve_parsed(4 << 20).await.is_err());
        limit.reserve_parsed(1 << 20).await.unwrap();
        drop(parsed);
        assert_eq!(limit.used()[1], 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_translated_copy_goes_beyond_the_limit_in_its_turn() {
        let limit = MemoryLimit::new(64 << 20);
        let mut large = limit.message(Client);
        large.grow(20 << 20).await.unwrap();
        let first = limit.reserve_copy(16 << 20).await.unwrap();
        assert_eq!(limit.used()[0], (36 << 20) + 2 * OVERHEAD);
        assert!(limit.reserve_copy(16 << 20).await.is_none());
        // What it was a copy of is gone.
        drop(large);
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
        limit.message(Client).try_grow(4 << 20).unwrap();
        drop(kept);
        assert_eq!([limit, MemoryLimit::default()].map(|it| it.queue_limit() >> 19), [1, 32]);
        let limit = MemoryLimit::new(16 << 20);
        // One event does not get more than that, even alone.
        assert!(limit.reserve_resumable(1 << 20).is_err());
        assert!(limit.reserve_resumable(1 << 19).is_ok());
    }
}
