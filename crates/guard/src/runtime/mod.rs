//! What transports share: worker threads, reading messages, and driving a conversation.

mod aside;
pub(crate) mod drive;
pub(crate) mod pool;
pub(crate) mod read;
pub(crate) mod upstream;
