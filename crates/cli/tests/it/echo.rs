//! A server on HTTP for tests of `toolbond ext-proc`, whose tools do what their names say.

use std::io;

use serde_json::{Value, json};
use toolbond_harness::http::{HttpServer, Reply, Request};

/// Starts a server whose tool `echo` gives back its text, `flood` gives more than may be read, `odd` begins its answer
/// with its text, and `moved` redirects to its text. With the header `x-lenient` it lists tools that take anything.
pub(crate) fn echo() -> HttpServer {
    HttpServer::start(answer)
}

fn answer(request: &Request, reply: &mut Reply<'_>) -> io::Result<()> {
    if request.header("authorization") == Some("Bearer expired") {
        let header = "www-authenticate: Bearer resource_metadata=\"http://127.0.0.1/a\"";
        return reply.send("401 Unauthorized", header, "");
    }
    if request.method() == "GET" && request.header("last-event-id").is_some() {
        let event = r#"data: {"jsonrpc":"2.0","id":77,"result":{"content":[],"structuredContent":{"resumed":true}}}"#;
        return reply.send("200 OK", "content-type: text/event-stream", format!("{event}\n\n"));
    }
    let message = request.message();
    let (params, text) = (&message["params"], &message["params"]["arguments"]["text"]);
    if message["method"] == "tools/list" {
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let tool = |name| json!({ "name": name, "inputSchema": schema, "outputSchema": schema });
        let any = json!({ "type": "object", "description": "lenient" });
        let tools = match request.header("x-lenient") {
            Some(_) => json!([{ "name": "echo", "inputSchema": any }]),
            None => json!(["echo", "flood", "odd", "moved"].map(tool)),
        };
        return reply.result(request, &json!({ "tools": tools }));
    }
    let result = |text: &Value| {
        json!({ "content": [], "structuredContent": { "text": text },
            "_meta": { "header": request.header("traceparent"), "meta": params["_meta"]["traceparent"] } })
    };
    let start = text.as_str().unwrap_or_default();
    match params["name"].as_str() {
        Some("flood") => reply.result(request, &result(&"x".repeat(20 << 20).into())),
        Some("odd") => {
            let answer =
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": result(&"evil".into()) });
            reply.send("200 OK", "content-type: application/json", format!("{start}{answer}"))
        }
        Some("moved") => {
            let headers = format!("location: {start}\r\nx-toolbond-retry: 1");
            reply.send("307 Moved", &headers, "")
        }
        _ => reply.result(request, &result(text)),
    }
}
