//! What transports share: memory, worker threads, reading messages, and driving a conversation.

pub(crate) mod drive;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod read;
pub(crate) mod upstream;
