//! JSON-RPC messages, read as far as the guard has to.

mod envelope;
mod frame;
mod id;
mod id_scanner;
pub mod meta;
mod outline;
mod params;
mod read;
mod reply;
mod unreadable;

pub use self::envelope::{Envelope, INLINE_BYTES, Kind, Method};
pub use self::frame::{Changes, Frame, Outgoing, Sent, default_edits};
pub use self::id::{Id, MAX_ID};
pub use self::id_scanner::IdScanner;
pub use self::outline::{Outline, RESULT_NAMES};
pub use self::params::{
    CallParams, ClientMeta, Handshake, ListParams, Progress, RequestMeta, Task, TokenOf,
    cancelled_id, created_tasks, initializing_client, progress, task_result,
};
pub use self::read::{MAX_BATCH, Message, Parts, Text, reads, text};
pub use self::reply::{
    code, error, error_code, error_message, error_object, error_object_code, error_with_data,
    response,
};
pub use self::unreadable::{BYTE_ORDER_MARK, Content, Unreadable};
