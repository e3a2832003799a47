//! What transports share: worker threads, reading messages, and driving a conversation.

pub(crate) mod drive;
pub(crate) mod inbox;
pub(crate) mod pool;
pub(crate) mod read;
