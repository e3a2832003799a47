//! Messages between clients and a server of another era.

use super::action::{Action, Destination, StreamId};
use super::link::Origin;
use super::state::Conversation;
use crate::audience::{Audience, Validation};
use crate::era::{Bridge, Output, Translated, Users};
use crate::message::{Frame, Message, Outgoing, Outline, Sent};

impl Conversation {
    /// Returns the same conversation with a bridge to a server on a pipe that may be of another era, and that `users` use.
    pub fn with_bridge(self, users: Users) -> Self {
        let bridge = Some(Bridge::new(self.server.clone(), users));
        Self { bridge, ..self }
    }

    /// The same for a server on HTTP that one client on a pipe uses: its transport has to know what each message is.
    pub fn with_bridge_to_http(self) -> Self {
        let bridge = Bridge::new(self.server.clone(), Users::One).reading_all();
        Self { bridge: Some(bridge), ..self }
    }

    /// Whether messages are translated, or may be.
    pub(super) fn translates(&self) -> bool {
        self.bridge.as_ref().is_some_and(|bridge| !bridge.is_transparent())
    }

    /// Whether the bridge may have to write messages of its own.
    pub fn is_bridging(&self) -> bool {
        self.bridge.as_ref().is_some_and(Bridge::is_bridging)
    }

    /// The audience with what is known of the era of the server by now.
    pub(super) fn bridged(&self, mut audience: Audience) -> Audience {
        if let Validation::OnlyModern { is_bridged } = &mut audience.validation {
            *is_bridged = self.bridge.as_ref().is_some_and(Bridge::has_legacy_server);
        }
        audience
    }

    /// Whether the server, which has ended, has to be started again to find out its era.
    pub fn wants_restart(&self) -> bool {
        self.bridge.as_ref().is_some_and(Bridge::wants_restart)
    }

    /// Whether a request waits for input of its client, which comes with another request.
    pub fn is_waiting(&self) -> bool {
        self.bridge.as_ref().is_some_and(Bridge::is_waiting)
    }

    /// Resumes with a server that was started again.
    pub fn on_restart(&mut self, now: std::time::Instant) {
        self.now = now;
        if let Some(bridge) = &mut self.bridge {
            bridge.on_restart(now);
            self.carry_out(StreamId::PIPE, None);
        }
    }

    /// Handles the end of the client's input: it cannot answer questions any more.
    pub fn on_client_end(&mut self) {
        if let Some(bridge) = &mut self.bridge {
            bridge.on_client_end();
            self.carry_out(StreamId::PIPE, None);
        }
    }

    /// Acts on time that has passed.
    pub(super) fn bridge_timeout(&mut self) {
        if let Some(bridge) = &mut self.bridge {
            bridge.on_timeout(self.now);
            self.carry_out(StreamId::PIPE, None);
        }
    }

    /// Sends a message of `stream` to a server that may be of another era.
    pub(super) fn translate(&mut self, stream: StreamId, sent: Sent) {
        if let Some(bridge) = &mut self.bridge {
            bridge.on_client(sent, self.now);
            self.carry_out(stream, None);
        }
    }

    /// Takes the messages of a server that may be of another era.
    pub(super) fn receive(&mut self, message: &Message<'_>) {
        for part in message.parts.as_slice() {
            let frame = Frame { text: (**message.text).clone(), part: part.clone() };
            if let Some(bridge) = &mut self.bridge {
                bridge.on_server(frame, self.now);
                let result = part.result.map(|result| result.text(message.text).as_ptr());
                self.carry_out(StreamId::PIPE, message.outline.as_ref().zip(result));
            }
        }
    }

    /// Sends on what came out of the bridge for a message of `stream`. `outline` is that of the result of the server's
    /// message, and where that is.
    fn carry_out(&mut self, stream: StreamId, outline: Option<(&Outline<'_>, *const u8)>) {
        while let Some(output) = self.bridge.as_mut().and_then(Bridge::poll) {
            match output {
                Output::Server(message) => {
                    let to = Destination::Server(stream);
                    self.actions.push_back(Action::Send { to, ticket: None, message });
                }
                Output::Client(Translated { frame, id, defaults }) => {
                    let result = frame.part.result.map(|result| result.text(&frame.text).as_ptr());
                    let outline = outline.filter(|(_, place)| result == Some(*place));
                    let translated = Translated { frame, id, defaults };
                    self.take(Origin::Pipe, &translated, outline.map(|(outline, _)| outline));
                }
                Output::ToolsChanged => self.catalog.invalidate(),
            }
        }
    }

    /// Sends a message that the guard wrote itself to the server, for a message of `stream`.
    pub(super) fn send_server(&mut self, stream: StreamId, frame: Frame) {
        if self.translates() {
            return self.translate(stream, frame.into());
        }
        self.send_untranslated(stream, frame);
    }

    /// Sends a message that the guard wrote itself to the server as it is.
    pub(super) fn send_untranslated(&mut self, stream: StreamId, frame: Frame) {
        let message = Outgoing::Sent(Box::new(frame.into()));
        self.actions.push_back(Action::Send {
            to: Destination::Server(stream),
            ticket: None,
            message,
        });
    }
}
