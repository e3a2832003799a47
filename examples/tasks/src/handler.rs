//! What the server has beside tools: a prompt and a resource.

use toolbond::rmcp::{ErrorData, ServerHandler, model::*};
use toolbond::{Context, Tools as _};

use crate::tasks::Tasks;

impl ServerHandler for Tasks {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        let capabilities = capabilities.enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("tasks", "0.1.0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Self::toolbox().tool(name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(Self::toolbox().list())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        Self::toolbox().call(self, request, context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let plan = Prompt::new("plan", Some("Plans the day."), None);
        Ok(ListPromptsResult::with_all_items(vec![plan]))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let titles: Vec<_> = self.open(None).into_iter().map(|task| task.title).collect();
        let text = format!("Plan my day. Open: {}.", titles.join(", "));
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("tasks://open", "open")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "tasks://open" {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let text = serde_json::to_string(&self.open(None))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let content = ResourceContents::text(text, request.uri);
        Ok(ReadResourceResult::new(vec![content]).into())
    }
}
