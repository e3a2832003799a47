//! Tools that talk to the client while they run: logs, progress, changes.

use std::{sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam},
    service::RequestContext,
};
use tokio::time::sleep;
use toolbond::{Text, ToolError};

use crate::subscribers::Subscribers;

/// Between two messages, so that they arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// The tools.
#[derive(Clone)]
pub(crate) struct Talk {
    subscribers: Arc<Subscribers>,
}

impl Talk {
    pub(crate) const fn new(subscribers: Arc<Subscribers>) -> Self {
        Self { subscribers }
    }
}

#[toolbond::tools(tools_only)]
impl Talk {
    /// Logs three messages.
    #[tool]
    async fn test_tool_with_logging(&self, peer: Peer<RoleServer>) -> Result<Text, ToolError> {
        log(&peer, "Tool execution started").await?;
        sleep(PAUSE).await;
        log(&peer, "Tool processing data").await?;
        sleep(PAUSE).await;
        log(&peer, "Tool execution completed").await?;
        Ok("logged".into())
    }

    /// Logs for requests that asked for it.
    #[tool]
    async fn test_logging_tool(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<Text, ToolError> {
        if context.meta.log_level().is_some() {
            log(&context.peer, "as asked for").await?;
        }
        Ok("done".into())
    }

    /// Reports progress from 0 to 100.
    #[tool]
    async fn test_tool_with_progress(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<Text, ToolError> {
        let token = context.meta.get_progress_token();
        for progress in [0.0, 50.0, 100.0] {
            if let Some(token) = &token {
                let report = ProgressNotificationParam::new(token.clone(), progress);
                context.peer.notify_progress(report.with_total(100.0)).await?;
            }
            sleep(PAUSE).await;
        }
        Ok("done".into())
    }

    /// Takes a while, so that a client can come back for the answer.
    #[tool]
    async fn test_reconnection(&self) -> Text {
        sleep(PAUSE).await;
        "Reconnection test completed".into()
    }

    /// Says that the list of tools has changed.
    #[tool]
    async fn test_trigger_tool_change(&self, peer: Peer<RoleServer>) -> Text {
        // Only clients of older revisions hear it without a subscription.
        _ = peer.notify_tool_list_changed().await;
        for listener in self.subscribers.all().await {
            // Those that did not ask for it are not told.
            _ = listener.notify_tool_list_changed().await;
        }
        "done".into()
    }

    /// Says that the list of prompts has changed.
    #[tool]
    async fn test_trigger_prompt_change(&self, peer: Peer<RoleServer>) -> Text {
        _ = peer.notify_prompt_list_changed().await;
        for listener in self.subscribers.all().await {
            _ = listener.notify_prompt_list_changed().await;
        }
        "done".into()
    }
}

async fn log(peer: &Peer<RoleServer>, text: &str) -> Result<(), ToolError> {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, text.into());
    Ok(peer.notify_logging_message(message).await?)
}
