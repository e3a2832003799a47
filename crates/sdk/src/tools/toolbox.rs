//! The tools of a type.

use std::collections::HashMap;

use futures_util::future::BoxFuture;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, Icon, JsonObject, ListToolsResult, MetaObject,
        Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{
    Answers, InputSchemaBuilder, ToolError,
    ask::{MAX_ROUNDS, ask, ask_by_result, asks, is_asked_by_requests},
};

/// A type whose methods are tools; implemented by `#[toolbond::tools]`.
pub trait Tools: Send + Sync + Sized + 'static {
    /// The tools of this type, built once.
    fn toolbox() -> &'static Toolbox<Self>;
}

/// The function that calls a tool.
type Call<S> = for<'a> fn(
    &'a S,
    Value,
    RequestContext<RoleServer>,
) -> BoxFuture<'a, Result<CallToolResponse, ToolError>>;

/// A tool and the function that calls it.
#[derive(Debug)]
pub struct Route<S> {
    tool: Tool,
    call: Call<S>,
    /// A name that two parameters have.
    clash: Option<String>,
}

impl<S> Route<S> {
    /// A tool called `name` whose parameters are added by `describe`.
    pub fn new(name: &'static str, describe: fn(&mut InputSchemaBuilder), call: Call<S>) -> Self {
        let mut schema = InputSchemaBuilder::new();
        describe(&mut schema);
        let clash = schema.clash().map(str::to_owned);
        let mut tool = Tool::default();
        tool.name = name.into();
        tool.input_schema = schema.finish().into();
        Self { tool, call, clash }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.tool.title = Some(title.to_owned());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.tool.description = Some(description.into());
        self
    }

    /// Sets the output schema.
    #[must_use]
    pub fn output(mut self, schema: Option<JsonObject>) -> Self {
        self.tool.output_schema = schema.map(Into::into);
        self
    }

    /// Sets the annotations: read-only, destructive, idempotent, open world.
    #[must_use]
    pub fn annotations(mut self, hints: [Option<bool>; 4]) -> Self {
        let [read_only, destructive, idempotent, open_world] = hints;
        if hints != [None; 4] {
            let annotations =
                ToolAnnotations::from_raw(None, read_only, destructive, idempotent, open_world);
            self.tool.annotations = Some(annotations);
        }
        self
    }

    /// Adds an icon. `sizes` are separated by spaces.
    #[must_use]
    pub fn icon(mut self, source: &str, mime_type: Option<&str>, sizes: Option<&str>) -> Self {
        let mut icon = Icon::new(source);
        icon.mime_type = mime_type.map(str::to_owned);
        icon.sizes = sizes.map(|sizes| sizes.split_whitespace().map(str::to_owned).collect());
        self.tool.icons.get_or_insert_default().push(icon);
        self
    }

    /// Sets `_meta` to a JSON object.
    #[must_use]
    pub fn meta(mut self, json: &str) -> Self {
        // The macro has checked it.
        self.tool.meta = serde_json::from_str(json).ok().map(MetaObject);
        self
    }
}

/// The tools of a type, by name.
///
/// With `#[toolbond::tools(tools_only)]` a type implements `ServerHandler` itself, for example to add prompts:
///
/// ```
/// use toolbond::{Context, Tools as _, rmcp::{ErrorData, ServerHandler, model::*}};
///
/// #[derive(Clone)]
/// struct Notes;
///
/// #[toolbond::tools(tools_only)]
/// impl Notes {
///     #[tool]
///     fn count(&self) -> u64 {
///         3
///     }
/// }
///
/// impl ServerHandler for Notes {
///     fn get_info(&self) -> ServerConfig {
///         ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
///             .with_server_info(Implementation::new("notes", "1.0.0"))
///     }
///
///     fn get_tool(&self, name: &str) -> Option<Tool> {
///         Self::toolbox().tool(name).cloned()
///     }
///
///     async fn list_tools(
///         &self,
///         _: Option<PaginatedRequestParams>,
///         _: Context,
///     ) -> Result<ListToolsResult, ErrorData> {
///         Ok(Self::toolbox().list())
///     }
///
///     async fn call_tool(
///         &self,
///         request: CallToolRequestParams,
///         context: Context,
///     ) -> Result<CallToolResponse, ErrorData> {
///         Self::toolbox().call(self, request, context).await
///     }
///
///     async fn list_prompts(
///         &self,
///         _: Option<PaginatedRequestParams>,
///         _: Context,
///     ) -> Result<ListPromptsResult, ErrorData> {
///         Ok(ListPromptsResult::with_all_items(vec![Prompt::new("sum-up", None::<&str>, None)]))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolbond::testing::TestError> {
/// # use toolbond::{Revision, enforce, testing::connect};
/// # let notes = connect(enforce(Notes), Revision::V2026_07_28).await?;
/// # assert_eq!(notes.call::<u64>("count", serde_json::json!({})).await?, 3);
/// # assert_eq!(notes.request("prompts/list", serde_json::json!({})).await?["prompts"][0]["name"], "sum-up");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Toolbox<S> {
    routes: Vec<Route<S>>,
    places: HashMap<&'static str, usize>,
}

impl<S: Send + Sync + 'static> Toolbox<S> {
    /// Makes a toolbox of `routes`, whose names are unique. A tool that has two parameters of one name is left out.
    #[must_use]
    pub fn new(mut routes: Vec<(&'static str, Route<S>)>) -> Self {
        routes.retain(|(tool, route)| {
            if let Some(name) = &route.clash {
                tracing::error!(target: "toolbond", "tool `{tool}` is left out: two of its parameters take the argument `{name}`");
            }
            route.clash.is_none()
        });
        let places = routes.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
        Self { routes: routes.into_iter().map(|(_, route)| route).collect(), places }
    }

    /// Returns the tools in the order of their methods.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.routes.iter().map(|route| &route.tool)
    }

    /// Returns the tool called `name`.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|place| &self.routes[*place].tool)
    }

    /// Returns the answer to `tools/list`.
    #[must_use]
    pub fn list(&self) -> ListToolsResult {
        ListToolsResult::with_all_items(self.tools().cloned().collect())
    }

    /// Calls a tool of `server`. A tool that asks for input is called again with the answers: by a client of 2026-07-28
    /// on, and here for any other one that can be asked.
    ///
    /// # Errors
    ///
    /// Fails if there is no such tool, or if the tool returns an [`ErrorData`]. Other errors of a tool become tool errors,
    /// which are results.
    pub async fn call(
        &self,
        server: &S,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(place) = self.places.get(request.name.as_ref()) else {
            return Err(ErrorData::invalid_params("tool not found", None));
        };
        let call = |arguments, context| {
            let response = (self.routes[*place].call)(server, arguments, context);
            async { response.await.or_else(|error| error.into_response(&request.name)) }
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let mut answers = Answers::new(request.input_responses, request.request_state);
        context.extensions.insert(answers.clone());
        if !is_asked_by_requests(&context) {
            let response = call(arguments, context.clone()).await?;
            return ask_by_result(response, answers, &context);
        }
        let mut response = call(arguments.clone(), context.clone()).await;
        for _ in 0..MAX_ROUNDS {
            let input = match response {
                // What is only to be called again, later, is up to the client.
                Ok(CallToolResponse::InputRequired(input)) if asks(&input) => input,
                response => return response,
            };
            response = match ask(input, answers.clone(), &context).await {
                Ok(all) => {
                    answers = all;
                    context.extensions.insert(answers.clone());
                    call(arguments.clone(), context.clone()).await
                }
                Err(error) => error.into_response(&request.name),
            };
        }
        if matches!(&response, Ok(CallToolResponse::InputRequired(input)) if asks(input)) {
            let message = format!("the tool asked for input more than {MAX_ROUNDS} times");
            return ToolError::new(message).into_response(&request.name);
        }
        response
    }
}
