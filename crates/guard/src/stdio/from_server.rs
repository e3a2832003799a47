//! What becomes of the messages of a server.

use std::sync::Arc;

use memchr::memmem;
use serde_json::value::RawValue;

use super::line::Line;
use super::session::{Gone, Session, room};
use super::skim::Skim;
use crate::asked::{Asked, UNJUDGED};
use crate::fetch::OWN;
use crate::inspector::{Later, Pace, lock};
use crate::message::{Kind, Message, code, error};
use crate::{Event, Id};

/// The most characters of a line that is no message that are repeated.
const SHOWN: usize = 60;

impl Session {
    /// Takes one line of the server.
    pub(crate) async fn from_server(self: &Arc<Self>, line: Line) -> Result<(), Gone> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { id, has_method, bytes } => {
                return self.too_long(id, has_method, bytes).await;
            }
        };
        match line.trim_ascii_start().first() {
            None => self.client(line).await,
            Some(b'[') => self.answers_batch(line).await,
            Some(_) => {
                let Ok(message) = Message::read(&line) else { return self.garbage(line).await };
                match self.answered(&message) {
                    None => Ok(()),
                    Some(None) => self.client(line).await,
                    Some(Some((id, asked))) => {
                        let inspector = &self.inspector;
                        match asked.judge(inspector, id.as_ref(), &message, &line, Pace::Quick) {
                            Ok(None) => self.client(line).await,
                            Ok(Some(new)) => self.client(new).await,
                            Err(Later) => self.judge_later(id, asked, line).await,
                        }
                    }
                }
            }
        }
    }

    async fn too_long(&self, id: Option<Id>, has_method: bool, bytes: usize) -> Result<(), Gone> {
        let max = self.inspector.settings().max_message;
        let text = format!("message of {bytes} bytes exceeds the limit of {max} (--max-message)");
        self.say(Event::error(format!("server: {text}")));
        match id {
            Some(id) if has_method => self.server(error(Some(&id), code::REQUEST, &text)).await,
            Some(id) if self.ends(&id) => self.refuse(Some(&id), code::INTERNAL, &text).await,
            None if !has_method => self.give_up(&format!("the server sent a {text}"), false).await,
            _ => Ok(()),
        }
    }

    /// Whether the request `id` of the client is over with an answer that cannot be read.
    fn ends(&self, id: &Id) -> bool {
        // Whoever waits for the guard's own request is told by its end.
        !matches!(lock(&self.open).answer(id), Some(Asked::Own(_)) | None)
    }

    /// A line that is no message. Servers print what does not belong there, and clients pass over it;
    /// but what looks like a broken message may have been the answer to the request that it names, or
    /// to any open one where it names none.
    async fn garbage(&self, line: Vec<u8>) -> Result<(), Gone> {
        if !self.inspector.settings().looks() {
            return self.client(line).await;
        }
        let shown: String =
            String::from_utf8_lossy(line.trim_ascii()).chars().take(SHOWN).collect();
        self.say(Event::warning(format!("server: expected a message, found `{shown}`; left out")));
        let is_json = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        let holds = |name: &[u8]| memmem::find(&line, name).is_some();
        if !is_json || !(holds(b"\"jsonrpc\"") || holds(b"\"result\"")) {
            return Ok(());
        }
        let text = "the server sent a broken message";
        let mut skim = Skim::default();
        skim.feed(&line);
        match skim.finish() {
            (None, false) => self.give_up(text, false).await,
            (Some(id), false) if self.ends(&id) => {
                self.refuse(Some(&id), code::INTERNAL, text).await
            }
            _ => Ok(()),
        }
    }

    /// Whether the message is for the client, and the request that it answers where it is to be
    /// looked at.
    #[expect(clippy::option_option, reason = "dropped, passed, looked at")]
    fn answered(&self, message: &Message<'_>) -> Option<Option<(Option<Id>, Asked)>> {
        let id = match message.kind() {
            Kind::Response(id) => id,
            Kind::Notification("notifications/tasks") => {
                let asked = self.inspector.asks_for_task("tasks/get", message.params);
                return Some(
                    asked.filter(|asked| self.is_looked_at(asked)).map(|asked| (None, asked)),
                );
            }
            Kind::Notification("notifications/tools/list_changed") => {
                self.inspector.tools_changed();
                return Some(None);
            }
            // An answer to nobody.
            Kind::Other if message.result.is_some() && self.inspector.settings().looks() => {
                return None;
            }
            _ => return Some(None),
        };
        let asked = lock(&self.open).answer(&id);
        match asked {
            Some(Asked::Initialize) => {
                self.initialized(message.result);
                Some(None)
            }
            Some(Asked::Own(sender)) => {
                let text = message
                    .result
                    .map_or_else(|| "{}".to_owned(), |result| format!("{{\"result\":{result}}}"));
                // Whoever asked may have stopped waiting.
                let _ = sender.send(text.into_bytes());
                None
            }
            Some(asked @ (Asked::List { .. } | Asked::Call { .. } | Asked::Task { .. }))
                if message.result.is_some() =>
            {
                Some(self.is_looked_at(&asked).then_some((Some(id), asked)))
            }
            // A late answer to a request of the guard.
            None if matches!(&id, Id::String(id) if id.starts_with(OWN)) => None,
            // A client may find that it answers what was answered before, or is not sent yet.
            None if message.result.is_some() && self.inspector.settings().looks() => {
                let id: String = id.to_string().chars().take(SHOWN).collect();
                self.say(Event::info(format!(
                    "server: {id} is the id of no open request; left out"
                )));
                None
            }
            _ => Some(None),
        }
    }

    fn is_looked_at(&self, asked: &Asked) -> bool {
        matches!(asked, Asked::List { .. }) || self.inspector.settings().looks_at_results()
    }

    fn initialized(&self, result: Option<&str>) {
        if let Some(revision) = result.and_then(|result| self.inspector.initialized(result)) {
            *lock(&self.negotiated) = revision;
        }
    }

    async fn judge_later(
        self: &Arc<Self>,
        id: Option<Id>,
        asked: Asked,
        line: Vec<u8>,
    ) -> Result<(), Gone> {
        let Some(permit) = room(&self.answers).await else { return Err(Gone) };
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let inspector = Arc::clone(&session.inspector);
            let (ward, line) = (Arc::clone(&inspector.ward), Arc::new(line));
            let (same, answered) = (Arc::clone(&line), id.clone());
            let judge = move |pace| asked.judge_line(&inspector, id.as_ref(), &same, pace);
            let judged = match ward.workers.judge(judge).await {
                Some(Some(new)) => new,
                Some(None) => Arc::unwrap_or_clone(line),
                None => error(answered.as_ref(), code::INTERNAL, UNJUDGED),
            };
            // A client that is gone is noticed where it is read.
            let _ = session.client(judged).await;
            drop(permit);
        });
        Ok(())
    }

    /// A batch leaves as it came, unless one of its answers has to change.
    async fn answers_batch(self: &Arc<Self>, line: Vec<u8>) -> Result<(), Gone> {
        let Ok(elements) = serde_json::from_slice::<Vec<&RawValue>>(&line) else {
            return self.garbage(line).await;
        };
        let mut texts = Vec::with_capacity(elements.len());
        let mut changed = false;
        for element in &elements {
            let text = element.get();
            let Ok(message) = Message::read(text.as_bytes()) else {
                changed = true;
                self.garbage(text.as_bytes().to_vec()).await?;
                continue;
            };
            match self.answered(&message) {
                None => changed = true,
                Some(None) => texts.push(text.to_owned()),
                Some(Some((id, asked))) => {
                    let inspector = Arc::clone(&self.inspector);
                    let (old, answered) = (text.as_bytes().to_vec(), id.clone());
                    let judge = move |pace| asked.judge_line(&inspector, id.as_ref(), &old, pace);
                    let judged = self.inspector.ward.workers.judge(judge).await;
                    let new = match judged {
                        Some(None) => {
                            texts.push(text.to_owned());
                            continue;
                        }
                        Some(Some(new)) => new,
                        None => error(answered.as_ref(), code::INTERNAL, UNJUDGED),
                    };
                    changed = true;
                    texts.push(String::from_utf8_lossy(new.trim_ascii_end()).into_owned());
                }
            }
        }
        match (changed, texts.is_empty()) {
            (false, _) => self.client(line).await,
            (true, true) => Ok(()),
            (true, false) => self.client(format!("[{}]\n", texts.join(",")).into_bytes()).await,
        }
    }
}
