//! The prompts.

use rmcp::{
    ErrorData,
    model::{
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
        ListPromptsResult,
    },
};
use serde_json::{Value, json};

use crate::{
    content::PNG,
    model,
    rounds::{content, form},
};

/// All prompts.
pub(crate) fn list() -> Result<ListPromptsResult, ErrorData> {
    let required = |name: &str| json!({ "name": name, "description": name, "required": true });
    let prompts = json!([
        { "name": "test_simple_prompt", "description": "Text." },
        {
            "name": "test_prompt_with_arguments",
            "description": "Text with two arguments.",
            "arguments": [required("arg1"), required("arg2")]
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "A resource.",
            "arguments": [required("resourceUri")]
        },
        { "name": "test_prompt_with_image", "description": "An image." },
        { "name": "test_input_required_result_prompt", "description": "Asks first." }
    ]);
    Ok(ListPromptsResult::with_all_items(model(prompts)?))
}

/// One prompt.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    let parts = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![text(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing."
            });
            vec![
                json!({ "type": "resource", "resource": resource }),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": PNG, "mimeType": "image/png" }),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let answers = request.input_responses.as_ref();
            let context = answers.and_then(|all| content(all.get("user_context")?, "context"));
            let Some(context) = context else {
                let question = form("What context should the prompt use?", "context", "string");
                let requests = model(json!({ "user_context": question }))?;
                return Ok(InputRequiredResult::from_input_requests(requests).into());
            };
            vec![text(&format!("With {context}."))]
        }
        name => {
            return Err(ErrorData::invalid_params(format!("no prompt `{name}`"), None));
        }
    };
    let messages: Vec<_> =
        parts.into_iter().map(|part| json!({ "role": "user", "content": part })).collect();
    Ok(GetPromptResult::new(model(messages.into())?).into())
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
