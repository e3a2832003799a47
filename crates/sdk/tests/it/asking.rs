//! Progress, and forms for the user: what clients of both eras see.
#![expect(clippy::unwrap_used, reason = "tools for tests only")]

use rmcp::model::ElicitResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolbond::testing::{TestClient, TestError, connect_as};
use toolbond::{Answers, Progress, Reply, ToolError, enforce};

use crate::server::{BOTH, NEW, OLD, connect};

#[derive(Clone)]
struct Shop;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    /// For one.
    Small,
    /// For all.
    Large,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    name: String,
    size: Size,
    note: Option<String>,
    #[schemars(range(min = 1))]
    count: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Sizes {
    sizes: Vec<Size>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum NoStruct {
    One { a: u8 },
}

#[derive(Deserialize, JsonSchema)]
struct NoForm {
    #[expect(dead_code, reason = "only its schema is used")]
    order: Vec<Vec<String>>,
}

#[toolbond::tools]
impl Shop {
    #[tool]
    async fn count(&self, progress: Progress) -> bool {
        progress.report(1, 3, "one").await;
        progress.report_done(2_usize, "two").await;
        progress.report(2.5, 3_u64, String::from("more")).await;
        progress.is_wanted()
    }

    #[tool]
    fn order(&self, answers: Answers) -> Result<Reply<String>, ToolError> {
        let Some(order) = answers.form::<Order>("order")? else {
            return Reply::ask::<Order>("order", "What may it be?");
        };
        let Order { name, size, note, count } = order;
        Ok(Reply::Complete(format!("{count} {size:?} {note:?} for {name}")))
    }

    #[tool]
    fn never_enough(&self, answers: Answers) -> Result<Reply<String>, ToolError> {
        let _: Option<ElicitResult> = answers.get("order");
        Reply::ask::<Order>("order", "And now?")
    }

    #[tool]
    fn no_form(&self) -> Result<Reply<String>, ToolError> {
        Reply::ask::<NoForm>("order", "What?")
    }

    #[tool]
    fn no_struct(&self) -> Result<Reply<String>, ToolError> {
        Reply::ask::<NoStruct>("order", "What?")
    }

    #[tool]
    fn two(&self, answers: Answers) -> Result<Reply<String>, ToolError> {
        let Some(sizes) = answers.form::<Sizes>("sizes")? else {
            return Reply::ask::<Sizes>("sizes", "Which sizes?");
        };
        let Some(order) = answers.form::<Order>("order")? else {
            let mut ask = Reply::ask::<Order>("order", "And the rest?")?;
            if let Reply::InputRequired(ask) = &mut ask {
                ask.request_state = Some("mine".to_owned());
            }
            return Ok(ask);
        };
        let state = answers.state();
        Ok(Reply::Complete(format!("{:?} {} {state:?}", sizes.sizes, order.count)))
    }
}

#[tokio::test]
async fn progress_goes_to_clients_that_ask_for_it() {
    for revision in BOTH {
        let session = connect(Shop, revision).await;
        let meta = json!({ "progressToken": "p" });
        let params = json!({ "name": "count", "arguments": {}, "_meta": meta });
        let result = session.request("tools/call", params).await.unwrap();
        assert_eq!(result["content"][0]["text"], "true", "{result}");
        for (done, total, message) in
            [(1.0, Some(3.0), "one"), (2.0, None, "two"), (2.5, Some(3.0), "more")]
        {
            let told = session.next_notification().await.unwrap();
            assert_eq!(told["method"], "notifications/progress");
            let told = &told["params"];
            assert_eq!(told["progressToken"], "p");
            assert_eq!((&told["progress"], &told["message"]), (&json!(done), &json!(message)));
            assert_eq!(told.get("total"), total.map(Value::from).as_ref());
        }
        assert!(!session.call::<bool>("count", json!({})).await.unwrap());
    }
}

/// What the user writes.
fn form() -> Value {
    json!({ "name": "Ada", "size": "large", "count": 2 })
}

/// Calls `tool` of a client of `revision`, and answers every question with `answer`.
async fn call(session: &TestClient, tool: &str, answer: Value) -> Result<String, TestError> {
    let respond = async {
        loop {
            let question = session.next_notification().await.unwrap();
            assert_eq!(question["method"], "elicitation/create");
            session.respond(&question, answer.clone()).await.unwrap();
        }
    };
    tokio::select! {
        result = session.call(tool, json!({})) => result,
        () = respond => unreachable!(),
    }
}

#[tokio::test]
async fn a_form_is_filled_in_by_users_of_both_eras() {
    let expected = "2 Large None for Ada";
    let session = connect(Shop, NEW).await;
    let asked = session.call_result("order", json!({})).await.unwrap();
    let question = &asked["inputRequests"]["order"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "What may it be?");
    let schema = &question["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["name", "size", "count"]));
    assert_eq!(schema["properties"]["note"]["type"], "string");
    assert_eq!(schema["properties"]["size"]["enum"], json!(["small", "large"]));
    let accepted = json!({ "action": "accept", "content": form() });
    let params = json!({ "name": "order", "inputResponses": { "order": accepted } });
    let result = session.request("tools/call", params).await.unwrap();
    assert_eq!(result["structuredContent"], expected, "{result}");

    let session = connect(Shop, OLD).await;
    assert_eq!(call(&session, "order", accepted).await.unwrap(), expected);
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_for_the_model() {
    for (answer, text) in [
        (json!({ "action": "decline" }), "the user has declined to answer `order`"),
        (json!({ "action": "cancel" }), "the user has closed the question `order`"),
        (
            json!({ "action": "accept", "content": {} }),
            "invalid answer to `order`: missing field `name`",
        ),
        (json!({ "action": 1 }), "invalid answer to `order`: action: invalid type"),
    ] {
        let session = connect(Shop, OLD).await;
        let Err(TestError::Tool { message, .. }) = call(&session, "order", answer.clone()).await
        else {
            panic!("{answer}");
        };
        assert!(message.starts_with(text), "{message}");
    }
}

#[tokio::test]
async fn a_tool_asks_a_limited_number_of_times() {
    let session = connect(Shop, OLD).await;
    let accepted = json!({ "action": "accept", "content": form() });
    let error = call(&session, "never_enough", accepted).await.unwrap_err();
    assert!(error.to_string().contains("asked for input more than 10 times"), "{error}");
}

#[tokio::test]
async fn a_form_is_flat() {
    let session = connect(Shop, NEW).await;
    for (tool, problem) in [
        (
            "no_form",
            "form `NoForm`: `order`: expected a string, a number, a boolean, an enum without data or a list of such an enum",
        ),
        ("no_struct", "form `NoStruct`: expected a struct with named fields"),
    ] {
        let error = session.call::<String>(tool, json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), format!("tool `{tool}`: {problem}"));
    }
}

#[tokio::test]
async fn a_second_question_comes_with_the_answers_to_the_first() {
    let expected = "[Small, Large] 2 Some(\"mine\")";
    let first = json!({ "action": "accept", "content": { "sizes": ["small", "large"] } });
    let mut second = json!({ "action": "accept", "content": form() });
    // An integer in another notation.
    second["content"]["count"] = json!(2.0);

    let session = connect(Shop, NEW).await;
    let again = |answers: Value, state: &Value| {
        let mut params = json!({ "name": "two", "inputResponses": answers });
        if !state.is_null() {
            params["requestState"] = state.clone();
        }
        session.request("tools/call", params)
    };
    let asked = session.call_result("two", json!({})).await.unwrap();
    assert!(asked["inputRequests"].get("sizes").is_some(), "{asked}");
    let asked = again(json!({ "sizes": first }), &asked["requestState"]).await.unwrap();
    assert!(asked["inputRequests"].get("order").is_some(), "{asked}");
    let state = &asked["requestState"];
    let done = again(json!({ "order": second }), state).await.unwrap();
    assert_eq!(done["structuredContent"], expected, "{done}");
    // The state is input of the client: answers in it are read like all others, and what is no state of ours is none.
    let forged = json!(state.as_str().unwrap().replace("large", "huge"));
    let error = again(json!({ "order": second }), &forged).await.unwrap();
    let text = error["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("invalid answer to `sizes`: "), "{text}");
    let cut = json!(state.as_str().unwrap().split_at(30).0);
    let asked = again(json!({ "order": second }), &cut).await.unwrap();
    assert!(asked["inputRequests"].get("sizes").is_some(), "{asked}");

    let session = connect(Shop, OLD).await;
    let respond = async {
        for (answer, message) in [(first, "Which sizes?"), (second, "And the rest?")] {
            let question = session.next_notification().await.unwrap();
            assert_eq!(question["params"]["message"], message);
            session.respond(&question, answer).await.unwrap();
        }
    };
    let (done, ()) = tokio::join!(session.call::<String>("two", json!({})), respond);
    assert_eq!(done.unwrap(), expected);
}

#[tokio::test]
async fn who_cannot_be_asked_is_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} }, "sampling": {} })] {
        let session = connect_as(enforce(Shop), &NEW, capabilities.clone()).await.unwrap();
        let Err(TestError::Rpc { code, data, .. }) = session.call_result("order", json!({})).await
        else {
            panic!("{capabilities}");
        };
        assert_eq!(code, -32021);
        let form = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
        assert_eq!(data, Some(form));

        let session = connect_as(enforce(Shop), &OLD, capabilities).await.unwrap();
        let error = session.call::<String>("order", json!({})).await.unwrap_err();
        let message = "this tool has to ask the user, and the client does not support that";
        assert_eq!(error.to_string(), format!("tool `order`: {message}"));
    }
    let form = json!({ "elicitation": { "form": {} } });
    let session = connect_as(enforce(Shop), &NEW, form).await.unwrap();
    let asked = session.call_result("order", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
}
