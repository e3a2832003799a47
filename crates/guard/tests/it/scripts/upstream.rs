//! A client on standard input and output, in front of a server on HTTP.

use std::sync::mpsc::channel;

use toolbond_guard::Settings;

use super::http::{Answers, server};
use super::stage::{Inbox, Open, Seen, Stage};
use crate::answers_upstream::on_pipe;
use crate::pair::Peer;

/// A client on a pipe and a server on HTTP.
pub(super) struct OverUpstream {
    client: Peer,
    inbox: Inbox<Answers>,
    open: Open<Answers>,
}

impl OverUpstream {
    /// After the handshake of a revision.
    pub(super) fn greeted(settings: Settings, revision: &str) -> Self {
        let (sender, receiver) = channel();
        let url = server(sender).url("/mcp");
        let client = on_pipe(&url, settings);
        let mut stage = Self { client, inbox: Inbox::new(receiver), open: Open::default() };
        let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}"#;
        stage.client_sends(hello);
        assert_eq!(stage.server_receives().trim_end(), hello);
        let result = format!(r#"{{"protocolVersion":"{revision}"}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"hello","result":{result}}}"#);
        stage.server_sends(&answer);
        assert_eq!(stage.client_receives().trim_end(), answer);
        stage
    }
}

impl Stage for OverUpstream {
    fn client_sends(&mut self, text: &str) {
        self.client.send(text);
    }

    fn server_receives(&mut self) -> String {
        let seen = self.inbox.next(|seen| matches!(seen, Seen::Server(..)));
        let Seen::Server(text, answers) = seen else { unreachable!() };
        if let Some(answers) = answers {
            self.open.add(&text, answers);
        }
        text
    }

    fn server_sends(&mut self, text: &str) {
        self.open.answer(text, |answers, answer| answers.send(answer).unwrap());
    }

    fn client_receives(&mut self) -> String {
        self.client.line()
    }
}
