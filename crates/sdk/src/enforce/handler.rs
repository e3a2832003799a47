//! The handler itself: tools go through the contract, everything else passes.
#![expect(deprecated, reason = "what older revisions have is passed through as well")]

use std::{borrow::Cow, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
        CompleteRequestMethod, CompleteRequestParams, CompleteResult, CustomNotification,
        CustomRequest, CustomResult, DiscoverResult, GetPromptRequestMethod,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProtocolVersion, ReadResourceRequestMethod,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestMethod,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{MaybeSendFuture, NotificationContext, RequestContext, SubscriptionContext},
};

use toolpact_contract::Revision;

use super::{Enforced, malformed};

type Context = RequestContext<RoleServer>;

/// `work`, the answer to `method`. `rmcp` would leave a request without an answer where it panics.
pub(super) fn guarded<T>(
    method: &'static str,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> impl Future<Output = Result<T, ErrorData>> {
    AssertUnwindSafe(work).catch_unwind().map(move |answer| {
        answer.unwrap_or_else(|_| {
            tracing::error!(target: "toolpact", "{method} panicked");
            Err(ErrorData::internal_error("internal error", None))
        })
    })
}

fn has_subscriptions(declared: &ServerCapabilities) -> bool {
    declared.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
}

impl<H: ServerHandler> ServerHandler for Enforced<H> {
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        guarded("tools/list", Box::pin(self.list(request, context))).await
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + MaybeSendFuture + '_ {
        self.call(request, context)
    }

    /// `rmcp` hands over requests that it cannot read as custom ones.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        match malformed::explain(&request) {
            Some(error) => Err(error),
            None => self.handler.on_custom_request(request, context).await,
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        match self.recent(name) {
            Some(entry) => Some(entry.source.clone()),
            None => self.handler.get_tool(name),
        }
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let versions = self.handler.supported_protocol_versions();
        match &self.shared.options.up_to {
            None => versions,
            Some(last) => {
                let spoken = |version: &&ProtocolVersion| Revision::from(version.as_str()) <= *last;
                versions.iter().filter(spoken).cloned().collect()
            }
        }
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        self.handler.negotiate_initialize(request)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.handler.listen(context).await
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.handler.ping(context).await
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.handler.discover(context).await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.handler.initialize(request, context).await?;
        let versions = self.supported_protocol_versions();
        if !versions.contains(&info.protocol_version)
            && let Some(last) = versions.iter().max_by_key(|version| version.as_str())
        {
            info.protocol_version = last.clone();
        }
        Ok(info)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.declared::<SetLevelRequestMethod>(|has| has.logging.is_some())?;
        self.handler.set_level(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.declared::<SubscribeRequestMethod>(has_subscriptions)?;
        self.handler.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.declared::<UnsubscribeRequestMethod>(has_subscriptions)?;
        self.handler.unsubscribe(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.handler.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.handler.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.handler.cancel_task(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.declared::<CompleteRequestMethod>(|has| has.completions.is_some())?;
        self.handler.complete(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.declared::<GetPromptRequestMethod>(|has| has.prompts.is_some())?;
        self.handler.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.declared::<ListPromptsRequestMethod>(|has| has.prompts.is_some())?;
        self.handler.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.declared::<ListResourcesRequestMethod>(|has| has.resources.is_some())?;
        self.handler.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.declared::<ListResourceTemplatesRequestMethod>(|has| has.resources.is_some())?;
        self.handler.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.declared::<ReadResourceRequestMethod>(|has| has.resources.is_some())?;
        self.handler.read_resource(request, context).await
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.handler.on_cancelled(notification, context).await;
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.handler.on_progress(notification, context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.handler.on_custom_notification(notification, context).await;
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_roots_list_changed(context).await;
    }
}

impl<H: ServerHandler> Enforced<H> {
    /// "Method not found" where the server does not declare a capability and the options ask for it.
    fn declared<M: rmcp::model::ConstString>(
        &self,
        has: impl FnOnce(&ServerCapabilities) -> bool,
    ) -> Result<(), ErrorData> {
        if self.shared.options.declared_only && !has(&self.handler.get_info().capabilities) {
            return Err(ErrorData::method_not_found::<M>());
        }
        Ok(())
    }
}
