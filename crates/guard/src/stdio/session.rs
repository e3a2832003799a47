//! One conversation between a client and a server, message by message.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use toolpact_contract::Revision;

use super::open::Open;
use crate::fetch::OWN;
use crate::inspector::lock;
use crate::message::{code, error};
use crate::{Event, Id, Inspector};

/// A message that is not kept waiting for a slow reader: those that do not fit wait themselves.
pub(crate) const QUEUE: usize = 64;

/// Messages that are judged at a time, in each direction, before the next ones have to wait.
const AT_A_TIME: usize = 1024;

/// One conversation.
pub(crate) struct Session {
    pub(crate) inspector: Arc<Inspector>,
    pub(crate) open: Mutex<Open>,
    pub(crate) negotiated: Mutex<Revision>,
    pub(crate) to_client: mpsc::Sender<Vec<u8>>,
    /// Gone as soon as nothing more is to be sent.
    to_server: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    pub(crate) calls: Arc<Semaphore>,
    pub(crate) answers: Arc<Semaphore>,
    own: AtomicU64,
}

/// The other side is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Session {
    pub(crate) fn new(
        inspector: Arc<Inspector>,
        to_client: mpsc::Sender<Vec<u8>>,
        to_server: mpsc::Sender<Vec<u8>>,
    ) -> Self {
        Self {
            inspector,
            open: Mutex::default(),
            negotiated: Mutex::default(),
            to_client,
            to_server: Mutex::new(Some(to_server)),
            calls: Arc::new(Semaphore::new(AT_A_TIME)),
            answers: Arc::new(Semaphore::new(AT_A_TIME)),
            own: AtomicU64::new(0),
        }
    }

    /// An id for a request of the guard. One that the client uses is never given: ids in use cannot
    /// be added to [`Open`].
    pub(crate) fn own_id(&self) -> Id {
        let n = self.own.fetch_add(1, Ordering::Relaxed);
        Id::String(format!("{OWN}{n}"))
    }

    /// Sends to the client, when there is room.
    pub(crate) async fn client(&self, message: Vec<u8>) -> Result<(), Gone> {
        self.to_client.send(message).await.map_err(|_| Gone)
    }

    /// Sends to the server, when there is room.
    pub(crate) async fn server(&self, message: Vec<u8>) -> Result<(), Gone> {
        let sender = lock(&self.to_server).clone();
        match sender {
            Some(sender) => sender.send(message).await.map_err(|_| Gone),
            None => Err(Gone),
        }
    }

    /// Nothing more is sent to the server.
    pub(crate) fn close_server(&self) {
        lock(&self.to_server).take();
    }

    /// Answers a request with an error.
    pub(crate) async fn refuse(&self, id: Option<&Id>, code: i32, text: &str) -> Result<(), Gone> {
        self.client(error(id, code, text)).await
    }

    /// Answers all requests that the server has seen with an error.
    pub(crate) async fn give_up(&self, text: &str, held: bool) -> Result<(), Gone> {
        let ids = lock(&self.open).drain(held);
        for id in ids {
            self.refuse(Some(&id), code::INTERNAL, text).await?;
        }
        Ok(())
    }

    pub(crate) fn say(&self, event: Event) {
        self.inspector.say(event);
    }
}

/// Room for one more message to be judged.
pub(crate) async fn room(semaphore: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(semaphore).acquire_owned().await.ok()
}

/// Waits until all that is being judged is done.
pub(crate) async fn settled(semaphore: &Semaphore) {
    // Only a closed semaphore fails, and these are never closed.
    let _ = semaphore.acquire_many(u32::try_from(AT_A_TIME).unwrap_or(u32::MAX)).await;
}
