//! Sessions of clients before 2026-07-28, with a limit on their number.

use futures_util::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};
use tokio::sync::Mutex;

/// The sessions of `rmcp`, which end five minutes after their last message, with a limit on their number.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    limit: usize,
    /// Held while a session is created, so that two clients cannot take the last place.
    creating: Mutex<()>,
}

impl Sessions {
    pub(super) fn new(limit: usize) -> Self {
        Self { inner: LocalSessionManager::default(), limit, creating: Mutex::default() }
    }
}

/// Why no session was created.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("{limit} sessions are open, which is the limit")]
    Limit { limit: usize },
    #[error(transparent)]
    Inner(#[from] LocalSessionManagerError),
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let _creating = self.creating.lock().await;
        if self.inner.sessions.read().await.len() >= self.limit {
            tracing::warn!(target: "toolbond", "refused a session: {} are open, which is the limit", self.limit);
            return Err(SessionError::Limit { limit: self.limit });
        }
        Ok(self.inner.create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.inner.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.inner.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.inner.resume(id, last_event_id).await?)
    }
}
