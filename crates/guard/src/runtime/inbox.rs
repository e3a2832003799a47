//! Lines of a server that several clients share: nobody waits for large answers to others.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::AsyncRead;
use tokio::sync::Notify;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::INLINE_BYTES;

use super::pool::JobPool;
use super::read::Received;
use crate::pipe::line::{Line, LineReader};

/// The large answers that are read on workers at a time, while those after them are read on.
const MAX_READING: usize = 16;

/// The bytes at the start of a message that tell whether it is an answer.
const START: usize = 1 << 10;

/// Lines that were read from a server, and those that workers read.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Arc<Mutex<Lines>>,
    /// Tells that a worker has read a line.
    has_changed: Arc<Notify>,
}

#[derive(Default)]
struct Lines {
    ready: VecDeque<Received>,
    /// How many large messages are on workers.
    reading: usize,
    /// Whether the one that is on a worker is no answer: nothing passes it.
    is_alone: bool,
    /// What came after them and may not pass them.
    held: Option<Counted>,
}

impl Inbox {
    /// The next of `lines` that is read; `None` at their end.
    pub(crate) async fn next<R: AsyncRead + Unpin>(
        &self,
        lines: &mut LineReader<R>,
        pool: &Arc<JobPool>,
    ) -> io::Result<Option<Received>> {
        loop {
            let (may_read, held) = {
                let mut state = lock(&self.state);
                if let Some(found) = state.ready.pop_front() {
                    return Ok(Some(found));
                }
                let held = if state.reading == 0 { state.held.take() } else { None };
                let is_free = state.held.is_none() && !state.is_alone;
                (is_free && state.reading < MAX_READING, held)
            };
            if let Some(held) = held {
                self.take(held, pool).await;
                continue;
            }
            tokio::select! {
                biased;
                () = self.has_changed.notified() => {}
                line = poll_fn(|context| lines.poll_next(context)), if may_read => match line? {
                    // What is being read is answered before the end.
                    None if lock(&self.state).reading > 0 => self.has_changed.notified().await,
                    None => return Ok(None),
                    Some(Line::TooLong(why)) => return Ok(Some(Received::unread(why))),
                    Some(Line::Whole(line)) => self.take(line, pool).await,
                }
            }
        }
    }

    /// Takes a line. Others do not wait while a large one is read.
    async fn take(&self, line: Counted, pool: &Arc<JobPool>) {
        let is_large = line.len() > INLINE_BYTES;
        {
            let mut state = lock(&self.state);
            if state.reading > 0 && !may_pass(&line) {
                state.held = Some(line);
                return;
            }
            if is_large {
                state.reading += 1;
                state.is_alone = !is_answer(&line);
                let (all, pool) = (Arc::clone(&self.state), Arc::clone(pool));
                let has_changed = Arc::clone(&self.has_changed);
                tokio::spawn(async move {
                    let received = Received::of_server_as_line(line, &pool).await;
                    let mut state = lock(&all);
                    state.ready.push_back(received);
                    state.reading -= 1;
                    state.is_alone &= state.reading > 0;
                    drop(state);
                    has_changed.notify_one();
                });
                return;
            }
        }
        let received = Received::of_server_as_line(line, pool).await;
        lock(&self.state).ready.push_back(received);
    }
}

/// Whether a line may pass large answers to other requests: an answer, or a notification about an open request.
fn may_pass(line: &[u8]) -> bool {
    let names = |name: &str| memchr::memmem::find(line, name.as_bytes()).is_some();
    is_answer(line)
        || (line.len() <= INLINE_BYTES
            && (names("\"notifications/progress\"") || names("\"notifications/message\"")))
}

/// Whether a message looks like an answer: it has a result or an error before anything else that is large.
fn is_answer(line: &[u8]) -> bool {
    let start = &line[..line.len().min(START)];
    let at = |name: &str| {
        let mut all = memchr::memmem::find_iter(start, name);
        all.find(|at| start[at + name.len()..].trim_ascii_start().starts_with(b":"))
    };
    let [result, other] = [["\"result\"", "\"error\""], ["\"method\"", "\"params\""]]
        .map(|names| names.iter().filter_map(|name| at(name)).min());
    start.trim_ascii_start().starts_with(b"{")
        && result.is_some_and(|result| other.is_none_or(|other| result < other))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc as blocking};

    use serde_json::{Value, json};
    use tokio::io::{AsyncWriteExt as _, duplex};
    use tokio::task::yield_now;

    use super::{Inbox, is_answer};
    use crate::memory::Sender;
    use crate::pipe::line::LineReader;
    use crate::runtime::pool::JobPool;

    #[tokio::test]
    async fn answers_of_a_shared_server_do_not_wait_for_large_ones_to_others() {
        let pool = Arc::new(JobPool::new(Arc::default()));
        let (mut server, output) = duplex(8 << 20);
        let mut lines = LineReader::new(output, Sender::Server, 4 << 20, pool.memory());
        let inbox = Inbox::default();
        // Keeps all workers for large messages busy.
        let busy: Vec<_> = (0..32)
            .map(|_| {
                let (end, ended) = blocking::channel::<()>();
                let pool = Arc::clone(&pool);
                tokio::spawn(async move { pool.run(1 << 20, move || ended.recv().is_err()).await });
                end
            })
            .collect();
        yield_now().await;
        let content = json!([{ "type": "text", "text": "x".repeat(1 << 20) }]);
        for message in [
            json!({ "id": 1, "result": { "content": content } }),
            json!({ "id": 2, "result": { "content": [] } }),
            // What is about all requests passes none.
            json!({ "method": "notifications/tools/list_changed" }),
            json!({ "id": 3, "result": { "content": [] } }),
        ] {
            server.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        let mut busy = Some(busy);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let received = inbox.next(&mut lines, &pool).await.unwrap().unwrap();
            let message: Value = serde_json::from_slice(received.bytes()).unwrap();
            seen.push(message.get("id").cloned().unwrap_or_default());
            busy.take();
        }
        assert_eq!(seen, [json!(2), json!(1), Value::Null, json!(3)]);
    }

    #[test]
    fn a_large_answer_is_known_by_its_start() {
        for (text, is) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"#, true),
            (r#" {"result" : {"method":"#, true),
            (r#"{"id":"result","error":{"#, true),
            (r#"{"id":"result","method":"a","params":{"result":"#, false),
            (r#"{"params":{"result":1},"method":"#, false),
            (r#"[{"id":1,"result":"#, false),
            ("{\"id\":1", false),
        ] {
            assert_eq!(is_answer(text.as_bytes()), is, "{text}");
        }
    }
}
