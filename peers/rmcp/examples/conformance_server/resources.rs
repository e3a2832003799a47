//! The resources.

use rmcp::{
    ErrorData,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceResponse, ReadResourceResult,
    },
};
use serde_json::json;

use crate::{content::PNG, model};

/// All resources.
pub(crate) fn list() -> Result<ListResourcesResult, ErrorData> {
    let resources = json!([
        {
            "uri": "test://static-text",
            "name": "Static text",
            "description": "Text.",
            "mimeType": "text/plain"
        },
        {
            "uri": "test://static-binary",
            "name": "Static binary",
            "description": "An image.",
            "mimeType": "image/png"
        }
    ]);
    Ok(ListResourcesResult::with_all_items(model(resources)?))
}

/// All templates.
pub(crate) fn templates() -> Result<ListResourceTemplatesResult, ErrorData> {
    let templates = json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "Template",
        "description": "Data by id.",
        "mimeType": "application/json"
    }]);
    Ok(ListResourceTemplatesResult::with_all_items(model(templates)?))
}

/// What is at `uri`.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        ("test://static-text", _) => json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource."
        }),
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
        _ => {
            let data = json!({ "uri": uri });
            return Err(ErrorData::resource_not_found("resource not found", Some(data)));
        }
    };
    Ok(ReadResourceResult::new(vec![model(contents)?]).into())
}
