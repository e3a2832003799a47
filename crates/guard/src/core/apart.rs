//! Calls whose request and whose result are checked apart: by two processes that share nothing.

use toolbond_contract::Revision;

use super::pending::{Pending, Purpose};
use super::{Conversation, StreamId};
use crate::contract::catalog::Tool;
use crate::message::Id;

/// Which tool a result is of.
#[derive(Clone, Debug)]
pub(crate) enum Called {
    /// This one.
    Tool(Tool),
    /// One that the server does not list.
    Unlisted,
    /// Nobody can tell, for this reason.
    Unknown(&'static str),
}

impl Conversation {
    /// The call that was sent to the server on `stream`: what whoever checks its result needs.
    pub(crate) fn sent_call(&self, stream: StreamId) -> Option<(Called, Revision)> {
        match &self.pending.only_open(stream)?.purpose {
            Purpose::Call { tool, revision } => {
                let called = tool.clone().map_or(Called::Unlisted, Called::Tool);
                Some((called, revision.clone()))
            }
            _ => None,
        }
    }

    /// Expects the result of a call on `stream`, whose request another process has checked.
    pub(crate) fn expect_result(
        &mut self,
        stream: StreamId,
        id: Id,
        called: Called,
        revision: Revision,
    ) {
        let refuses = self.server.rules().settings.may_refuse_results();
        let purpose = match called {
            Called::Tool(tool) => Purpose::Call { tool: Some(tool), revision },
            Called::Unknown(reason) if refuses => Purpose::UnknownTool(reason),
            // It still gets the shape that the client can read.
            Called::Unlisted | Called::Unknown(_) => Purpose::Call { tool: None, revision },
        };
        // Streams are never shared, so their keys are not in use.
        let _ = self.pending.insert((stream, id), Pending::new(stream, purpose));
    }
}
