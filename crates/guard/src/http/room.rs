//! Room for the long messages that are held at the same time, of all clients and servers together.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// All of it, in KiB. A message that is longer has it alone.
const ALL: u32 = 512 << 10;

/// The bytes of a message that needs none: there are no more of those than connections.
const SHORT: usize = 64 << 10;

/// How long a message waits for room.
const WAIT: Duration = Duration::from_secs(30);

static ROOM: Semaphore = Semaphore::const_new(ALL as usize);

/// What one says who finds none.
pub(crate) const NO_ROOM: &str = "the guard holds 512 MiB of messages, and cannot take more";

/// There was none in time.
#[derive(Debug)]
pub(crate) struct NoRoom;

/// The room of one message; free again when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<SemaphorePermit<'static>>);

impl Room {
    /// Takes what `bytes` need, waiting for it where others have it, or gives back what they do not.
    pub(crate) async fn hold(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let need = if bytes <= SHORT { 0 } else { bytes.div_ceil(1 << 10).min(ALL as usize) };
        let held = self.0.as_ref().map_or(0, SemaphorePermit::num_permits);
        if need < held {
            drop(self.0.as_mut().and_then(|permit| permit.split(held - need)));
        } else if need > held {
            let more = ROOM.acquire_many(u32::try_from(need - held).unwrap_or(ALL));
            let more = timeout(WAIT, more).await.map_err(|_| NoRoom)?.map_err(|_| NoRoom)?;
            match &mut self.0 {
                Some(permit) => permit.merge(more),
                none => *none = Some(more),
            }
        }
        Ok(())
    }
}

/// The KiB that are taken.
#[cfg(test)]
pub(crate) fn held() -> usize {
    ALL as usize - ROOM.available_permits()
}

#[cfg(test)]
mod tests {
    use super::{ALL, ROOM, Room, SHORT};

    #[tokio::test(start_paused = true)]
    async fn is_bounded_and_given_back() {
        const HALF: usize = (ALL as usize) << 9;
        let mut rooms = [(); 3].map(|()| Room::default());
        let [first, second, third] = &mut rooms;
        first.hold(HALF).await.unwrap();
        second.hold(HALF).await.unwrap();
        third.hold(SHORT).await.unwrap();
        third.hold(SHORT + 1).await.unwrap_err();
        first.hold(HALF + 1).await.unwrap_err();
        second.hold(HALF / 2).await.unwrap();
        third.hold(HALF / 2).await.unwrap();
        third.hold(HALF / 2 + 1).await.unwrap_err();
        let (_, waiting) = tokio::join!(
            async {
                tokio::task::yield_now().await;
                first.hold(0).await
            },
            third.hold(HALF),
        );
        waiting.unwrap();
        drop(rooms);
        assert_eq!(ROOM.available_permits(), ALL as usize);
        Room::default().hold(usize::MAX).await.unwrap();
    }
}
