//! What becomes of the messages of a client.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolpact_contract::{Mode, Revision};

use super::line::Line;
use super::open::{Full, MAX_OPEN};
use super::session::{Gone, Session, room};
use crate::asked::Asked;
use crate::catalog::{Known, Look};
use crate::inspector::{Later, Pace, lock};
use crate::message::{Cancelled, Kind, Message, ToolParams, code, object, response};
use crate::{Event, Id};

/// What becomes of one message.
enum Fate {
    /// It is sent on.
    Forward,
    /// It was answered, or nobody waits for it.
    Drop,
    /// It is a call that has to be looked at first.
    Hold(Box<Call>),
}

/// A call that is looked at.
struct Call {
    id: Id,
    ticket: u64,
    name: String,
    arguments: Option<String>,
    meta: Option<String>,
    revision: Revision,
}

impl Session {
    /// Takes one line of the client.
    pub(crate) async fn from_client(self: &Arc<Self>, line: Line) -> Result<(), Gone> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { id, has_method, bytes } => {
                let max = self.inspector.settings().max_message;
                let text =
                    format!("message of {bytes} bytes exceeds the limit of {max} (--max-message)");
                self.say(Event::error(format!("client: {text}")));
                // What answers a request of the server cannot be answered itself.
                return match (id, has_method) {
                    (Some(_), false) => Ok(()),
                    (id, _) => self.refuse(id.as_ref(), code::REQUEST, &text).await,
                };
            }
        };
        match line.trim_ascii_start().first() {
            None => self.server(line).await,
            Some(b'[') => self.batch(line).await,
            Some(_) => match Message::read(&line) {
                Ok(message) => {
                    let fate = self.decide(&message).await?;
                    self.carry_out(fate, line).await
                }
                Err(error) => self.unread(&error).await,
            },
        }
    }

    async fn unread(&self, error: &serde_json::Error) -> Result<(), Gone> {
        self.say(Event::error(format!("client: expected a message, found {error}")));
        let code = if error.is_data() { code::REQUEST } else { code::PARSE };
        self.refuse(None, code, &format!("expected a message, found {error}")).await
    }

    /// A batch leaves as it came, unless one of its calls does not leave.
    async fn batch(self: &Arc<Self>, line: Vec<u8>) -> Result<(), Gone> {
        let elements: Vec<&RawValue> = match serde_json::from_slice(&line) {
            Ok(elements) => elements,
            Err(error) => return self.unread(&error).await,
        };
        let mut kept = Vec::new();
        for element in &elements {
            let message = match Message::read(element.get().as_bytes()) {
                Ok(message) => message,
                Err(error) => {
                    self.unread(&error).await?;
                    continue;
                }
            };
            match self.decide(&message).await? {
                Fate::Forward => kept.push(element.get()),
                Fate::Drop => {}
                Fate::Hold(call) => {
                    if self.look(*call).await? {
                        kept.push(element.get());
                    }
                }
            }
        }
        if kept.len() == elements.len() {
            return self.server(line).await;
        }
        if kept.is_empty() {
            return Ok(());
        }
        self.server(format!("[{}]\n", kept.join(",")).into_bytes()).await
    }

    async fn decide(&self, message: &Message<'_>) -> Result<Fate, Gone> {
        let looks = self.inspector.settings().looks();
        let (id, asked, call) = match message.kind() {
            Kind::Request(id, "tools/call") if looks => match self.call(&id, message.params) {
                Ok(call) => (id, Asked::Held, Some(call)),
                Err(text) => {
                    self.refuse(Some(&id), code::PARAMS, &text).await?;
                    return Ok(Fate::Drop);
                }
            },
            Kind::Request(id, "tools/list") if looks => {
                let params = ToolParams::read(message.params).unwrap_or_default();
                let revision = self.revision(&params).unwrap_or_default();
                let place = lock(&self.inspector.catalog).asks(params.cursor.is_none());
                (id, Asked::List { place, revision }, None)
            }
            Kind::Request(id, method @ ("tasks/result" | "tasks/get")) if looks => {
                let asked = self.inspector.asks_for_task(method, message.params);
                (id, asked.unwrap_or(Asked::Other), None)
            }
            Kind::Request(id, "initialize" | "server/discover") => (id, Asked::Initialize, None),
            Kind::Request(id, _) => (id, Asked::Other, None),
            Kind::Notification("notifications/cancelled") => {
                return Ok(if self.cancel(message.params) { Fate::Drop } else { Fate::Forward });
            }
            Kind::Notification(_) | Kind::Response(_) | Kind::Other => return Ok(Fate::Forward),
        };
        let added = lock(&self.open).add(id.clone(), asked);
        let text = match (added, call) {
            (Ok(_), None) => return Ok(Fate::Forward),
            (Ok(ticket), Some(call)) => return Ok(Fate::Hold(Box::new(Call { ticket, ..call }))),
            (Err(Full::InUse), _) => format!("the id {id} is that of a request still open"),
            (Err(Full::TooMany), _) => format!("{MAX_OPEN} requests are open"),
        };
        self.refuse(Some(&id), code::REQUEST, &text).await?;
        Ok(Fate::Drop)
    }

    /// Reads a call, or says what is wrong with it.
    fn call(&self, id: &Id, params: Option<&RawValue>) -> Result<Call, String> {
        let wrong = |error: serde_json::Error| format!("#/params: {error}");
        let params = ToolParams::read(params).map_err(wrong)?;
        let revision = self.revision(&params).map_err(wrong)?;
        let Some(name) = params.name else {
            return Err("#/params: missing required property `name`".to_owned());
        };
        Ok(Call {
            id: id.clone(),
            ticket: 0,
            name: name.into_owned(),
            arguments: params.arguments.map(|arguments| arguments.get().to_owned()),
            meta: params.meta.map(|meta| meta.get().to_owned()),
            revision,
        })
    }

    /// The revision that the client reads the answer in.
    fn revision(&self, params: &ToolParams<'_>) -> serde_json::Result<Revision> {
        Ok(params.revision()?.unwrap_or_else(|| lock(&self.negotiated).clone()))
    }

    fn cancel(&self, params: Option<&RawValue>) -> bool {
        let cancelled = params
            .and_then(|params| object::<Cancelled<'_>>(params.get()).ok())
            .and_then(|cancelled| cancelled.request.and_then(Id::of));
        cancelled.is_some_and(|id| lock(&self.open).cancel(&id))
    }

    async fn carry_out(self: &Arc<Self>, fate: Fate, line: Vec<u8>) -> Result<(), Gone> {
        match fate {
            Fate::Forward => self.server(line).await,
            Fate::Drop => Ok(()),
            Fate::Hold(call) => {
                match self.look_quickly(&call).await? {
                    Some(true) => return self.server(line).await,
                    Some(false) => return Ok(()),
                    None => {}
                }
                let Some(permit) = room(&self.calls).await else { return Err(Gone) };
                let session = Arc::clone(self);
                tokio::spawn(async move {
                    if let Ok(true) = session.look(*call).await {
                        // A server that is gone is noticed where it is read.
                        let _ = session.server(line).await;
                    }
                    drop(permit);
                });
                Ok(())
            }
        }
    }

    /// Holds a call to the contract of its tool, where that takes no time to speak of; else nothing.
    async fn look_quickly(&self, call: &Call) -> Result<Option<bool>, Gone> {
        let known = match self.inspector.look(&call.revision, &call.name) {
            Look::Known(known) => Some(known),
            Look::Absent => None,
            Look::Unseen => return Ok(None),
        };
        let refusal = known.as_ref().map_or(Ok(None), |known| {
            let arguments = call.arguments.as_deref();
            self.inspector.arguments(known, arguments, &call.revision, Pace::Quick)
        });
        match refusal {
            Ok(refusal) => {
                self.inspector.called(known.as_ref(), &call.name, &call.revision);
                self.conclude(call, known, refusal).await.map(Some)
            }
            Err(Later) => Ok(None),
        }
    }

    /// Holds a call to the contract of its tool; `false` where it was answered or cancelled.
    async fn look(self: &Arc<Self>, call: Call) -> Result<bool, Gone> {
        let inspector = &self.inspector;
        let known =
            inspector.known(&call.name, call.meta.as_deref(), &call.revision, &**self).await;
        self.inspector.called(known.as_ref(), &call.name, &call.revision);
        let refusal = match &known {
            Some(known @ Known::Kept { .. })
                if self.inspector.settings().arguments_of(&call.name) != Mode::Off =>
            {
                let arguments = call.arguments.as_deref();
                inspector.arguments_later(known, arguments, &call.revision).await
            }
            _ => None,
        };
        self.conclude(&call, known, refusal).await
    }

    /// Whether the call is sent on; where not, it was answered or cancelled.
    async fn conclude(
        &self,
        call: &Call,
        known: Option<Known>,
        refusal: Option<String>,
    ) -> Result<bool, Gone> {
        if let Some(Known::Dropped(reason)) = &known {
            if lock(&self.open).settle(&call.id, call.ticket) {
                let text = format!("tool `{}` is not offered: {reason}", call.name);
                self.refuse(Some(&call.id), code::PARAMS, &text).await?;
            }
            return Ok(false);
        }
        if let Some(refusal) = refusal {
            if lock(&self.open).settle(&call.id, call.ticket) {
                self.client(response(&call.id, &refusal)).await?;
            }
            return Ok(false);
        }
        let asked = Asked::Call { known, revision: call.revision.clone() };
        Ok(lock(&self.open).send(&call.id, call.ticket, asked))
    }
}
