//! Calls of views as calls of the tools themselves.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, PaginatedRequestParams},
    service::RequestContext,
};
use serde_json::Value;

use super::{enforced::Enforced, list::MAX_PAGES};
use crate::{protocol::request_client, views::Target};

impl<H: ServerHandler> Enforced<H> {
    /// The target that the client of a request gets views for.
    pub(super) fn target(&self, context: &RequestContext<RoleServer>) -> Option<&'static Target> {
        self.shared.options.view_for.target(request_client(context).as_deref())
    }

    /// Returns a call of a view as a call of the tool itself. A call by a tool's own name stays as it is if the view has
    /// another name: clients may remember it.
    pub(super) async fn restore_call(
        &self,
        mut request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolRequestParams, ErrorData> {
        let Some(target) = self.target(context) else { return Ok(request) };
        let Some(own) = self.own_name(target, &request.name, context).await? else {
            return Ok(request);
        };
        let Some(tool) = self.find_tool(&own, context).await? else { return Ok(request) };
        request.name = own.into();
        let view =
            tool.usable.as_ref().and_then(|usable| usable.views.view(&usable.natural, target));
        if let (Some(view), Some(arguments)) = (view, &mut request.arguments)
            && let Value::Object(restored) = view.restore(Value::Object(std::mem::take(arguments)))
        {
            *arguments = restored;
        }
        Ok(request)
    }

    /// The own name of the tool whose view has this name; lists the tools where it is not known.
    async fn own_name(
        &self,
        target: &'static Target,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<String>, ErrorData> {
        let known = || self.shared.view_names.own_name(target, name);
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            if let Some(own) = known() {
                return Ok(Some(own));
            }
            let request = cursor.map(|cursor| {
                let mut request = PaginatedRequestParams::default();
                request.cursor = Some(cursor);
                request
            });
            match self.list(request, context.clone()).await?.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(known())
    }
}
