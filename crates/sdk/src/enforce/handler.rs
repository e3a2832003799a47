//! The `rmcp` handler: tools go through the contract, all other requests to the inner handler.
#![expect(deprecated, reason = "methods of older revisions are passed through as well")]

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
};

use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskMethod, CancelTaskParams,
        CancelledNotificationParam, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
        ConstString, CustomNotification, CustomRequest, CustomResult, DiscoverRequestMethod,
        DiscoverResult, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse,
        GetTaskMethod, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
        InitializeResultMethod, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PingRequestMethod, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestMethod,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
        SubscribeRequestParams, SubscriptionFilter, SubscriptionsListenRequestMethod, Tool,
        UnsubscribeRequestMethod, UnsubscribeRequestParams, UpdateTaskMethod, UpdateTaskParams,
    },
    service::{MaybeSendFuture, NotificationContext, SubscriptionContext},
};

use toolbond_contract::Revision;

use super::{enforced::Enforced, malformed};
use crate::Context;

/// Runs `work`, the answer to `method`, and turns a panic into an error. `rmcp` would leave the request unanswered.
pub(super) fn catch_panic<T>(
    method: &'static str,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> impl Future<Output = Result<T, ErrorData>> {
    AssertUnwindSafe(work).catch_unwind().map(move |answer| {
        answer.unwrap_or_else(|_| {
            tracing::error!(target: "toolbond", "{method} panicked");
            Err(ErrorData::internal_error("internal error", None))
        })
    })
}

/// Runs `work` and turns a panic into the default value. For methods that `rmcp` also calls outside of requests.
pub(super) fn catch_panic_sync<T: Default>(what: &'static str, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        tracing::error!(target: "toolbond", "{what} panicked");
        T::default()
    })
}

/// For requests that need no capability.
const ALWAYS: fn(&ServerCapabilities) -> bool = |_| true;

fn has_subscriptions(declared: &ServerCapabilities) -> bool {
    declared.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
}

impl<H: ServerHandler> ServerHandler for Enforced<H> {
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        catch_panic("tools/list", Box::pin(self.list(request, context))).await
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + MaybeSendFuture + '_ {
        #[cfg(feature = "otel")]
        {
            let span = crate::trace::start_server_call(&context);
            crate::trace::server_call(span, move || self.call(request, context))
        }
        #[cfg(not(feature = "otel"))]
        self.call(request, context)
    }

    /// `rmcp` passes requests that it cannot parse as custom ones.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(error) = malformed::explain(&request) {
            return Err(error);
        }
        let work = async { self.handler.on_custom_request(request, context).await };
        catch_panic("a custom request", Box::pin(work)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let find = |name: &str| match self.find_fresh(name) {
            Some(tool) => Some(tool.source.clone()),
            None => self.handler.get_tool(name),
        };
        // `rmcp` looks for the header annotations of a tool, which its view has in the same places.
        let find_view = || find(&self.shared.view_names.own_name_for_any(name)?);
        catch_panic_sync("`get_tool`", || find(name).or_else(find_view))
    }

    fn get_info(&self) -> ServerConfig {
        catch_panic_sync("`get_info`", || self.handler.get_info())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let versions = self.handler.supported_protocol_versions();
        match &self.shared.options.max_revision {
            None => versions,
            Some(last) => {
                let is_allowed =
                    |version: &&ProtocolVersion| Revision::from(version.as_str()) <= *last;
                versions.iter().filter(is_allowed).cloned().collect()
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
        catch_panic_sync("`accepted_subscription_filter`", || {
            self.handler.accepted_subscription_filter(requested)
        })
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.listen(context).await });
        self.answer::<SubscriptionsListenRequestMethod, _>(ALWAYS, work).await
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.ping(context).await });
        self.answer::<PingRequestMethod, _>(ALWAYS, work).await
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let work = Box::pin(async { self.handler.discover(context).await });
        self.answer::<DiscoverRequestMethod, _>(ALWAYS, work).await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let work = Box::pin(async { self.handler.initialize(request, context).await });
        let mut info = self.answer::<InitializeResultMethod, _>(ALWAYS, work).await?;
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
        let work = Box::pin(async { self.handler.set_level(request, context).await });
        self.answer::<SetLevelRequestMethod, _>(|has| has.logging.is_some(), work).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.subscribe(request, context).await });
        self.answer::<SubscribeRequestMethod, _>(has_subscriptions, work).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.unsubscribe(request, context).await });
        self.answer::<UnsubscribeRequestMethod, _>(has_subscriptions, work).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let work = Box::pin(async { self.handler.get_task(request, context).await });
        self.answer::<GetTaskMethod, _>(ALWAYS, work).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.update_task(request, context).await });
        self.answer::<UpdateTaskMethod, _>(ALWAYS, work).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let work = Box::pin(async { self.handler.cancel_task(request, context).await });
        self.answer::<CancelTaskMethod, _>(ALWAYS, work).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let work = Box::pin(async { self.handler.complete(request, context).await });
        self.answer::<CompleteRequestMethod, _>(|has| has.completions.is_some(), work).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let work = Box::pin(async { self.handler.get_prompt(request, context).await });
        self.answer::<GetPromptRequestMethod, _>(|has| has.prompts.is_some(), work).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let work = Box::pin(async { self.handler.list_prompts(request, context).await });
        self.answer::<ListPromptsRequestMethod, _>(|has| has.prompts.is_some(), work).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let work = Box::pin(async { self.handler.list_resources(request, context).await });
        self.answer::<ListResourcesRequestMethod, _>(|has| has.resources.is_some(), work).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let work = Box::pin(async { self.handler.list_resource_templates(request, context).await });
        self.answer::<ListResourceTemplatesRequestMethod, _>(|has| has.resources.is_some(), work)
            .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = Box::pin(async { self.handler.read_resource(request, context).await });
        self.answer::<ReadResourceRequestMethod, _>(|has| has.resources.is_some(), work).await
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
    /// Answers a request of method `M` with `work`, or with "method not found" if the options ask for that and the
    /// server does not declare the capability.
    ///
    /// `work` is boxed because `rmcp` keeps one future that is as large as that of any method, tool calls included.
    async fn answer<M: ConstString, T>(
        &self,
        has: fn(&ServerCapabilities) -> bool,
        work: Pin<Box<impl Future<Output = Result<T, ErrorData>>>>,
    ) -> Result<T, ErrorData> {
        let answer = async {
            if self.shared.options.declared_capabilities_only
                && !has(&self.handler.get_info().capabilities)
            {
                return Err(ErrorData::method_not_found::<M>());
            }
            work.await
        };
        catch_panic(M::VALUE, answer).await
    }
}
