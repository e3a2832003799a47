//! Listing the tools of a server.

use std::sync::Arc;

use rmcp::{
    RoleClient, Service,
    model::{PaginatedRequestParams, Tool},
};
use toolbond_contract::Contract;

use super::{
    Client, ClientError,
    tools::{RemoteTool, check_tools},
};

/// The most pages of a tool list.
const MAX_PAGES: usize = 1_000;

/// The most tools of a server.
const MAX_TOOLS: usize = 10_000;

impl<S: Service<RoleClient>> Client<S> {
    /// Returns the contracts of all usable tools, in their natural shape.
    ///
    /// # Errors
    ///
    /// Fails if the server does not answer, answers with an error, or lists more than 10,000 tools.
    pub async fn tools(&self) -> Result<Vec<Contract>, ClientError> {
        let tools = self.list().await?;
        Ok(tools.iter().filter_map(|tool| tool.contract.clone()).collect())
    }

    /// Returns all tools, checked.
    pub(super) async fn list(&self) -> Result<Arc<Vec<RemoteTool>>, ClientError> {
        self.subscribe().await;
        let mut tools: Vec<Tool> = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let mut request = PaginatedRequestParams::default();
            request.cursor = cursor;
            let page = self.wait(self.service.list_tools(Some(request))).await?;
            tools.extend(page.tools);
            if tools.len() > MAX_TOOLS {
                return Err(ClientError::TooManyTools { found: tools.len(), limit: MAX_TOOLS });
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return self.check(tools).await;
            }
        }
        Err(ClientError::TooManyPages { limit: MAX_PAGES })
    }

    /// Checks `tools` on another thread, unless they are those of the last list.
    async fn check(&self, tools: Vec<Tool>) -> Result<Arc<Vec<RemoteTool>>, ClientError> {
        if let Some(same) = self.last_list.find(&tools) {
            return Ok(same);
        }
        let (revision, checks) = (self.revision(), self.options.checks.clone());
        checks.documents.wait_for(&tools).await;
        let check = move || check_tools(&tools, &revision, &checks);
        let checked = tokio::task::spawn_blocking(check).await.map_err(|_| ClientError::Stopped)?;
        Ok(self.last_list.replace(checked))
    }
}
