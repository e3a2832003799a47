//! Servers on https, with a certificate that is made for the test.

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, in_front_of_url};
use toolbond_harness::http::ask;
use toolbond_harness::mcp::{POST, call};
use toolbond_harness::tls;

use crate::command::{texts, toolbond};

#[test]
fn a_server_on_https_is_judged_and_guarded_where_it_is_trusted() {
    let (server, certificate) = tls::start(|request, reply| {
        let tool = json!({
            "name": "count", "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" },
        });
        let result = match request.message()["method"].as_str() {
            Some("tools/list") => json!({ "tools": [tool] }),
            Some("tools/call") => json!({ "content": [], "structuredContent": 42 }),
            _ => json!({ "protocolVersion": "2025-11-25" }),
        };
        reply.result(request, &result)
    });
    let folder = Folder::new();
    let file = &folder.write("ca.pem", certificate);
    let url = format!("https://localhost:{}/mcp", server.port);

    let (code, _, said) = texts(toolbond(&["lint", &url]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(said.contains("certificate") && said.lines().count() == 1, "{said}");
    let only_errors = ["lint", &url, "--select", "tool-list"];
    let known = toolbond(&only_errors).args(["--ca-file", file]).output().unwrap();
    assert_eq!(known.status.code(), Some(0));
    let by_environment = toolbond(&only_errors).env("SSL_CERT_FILE", file).output().unwrap();
    assert_eq!(by_environment.status.code(), Some(0));

    let (_guard, port) = in_front_of_url(&url, &["--ca-file", file]);
    let answer = ask(port, POST, &call(1, "count", &json!({})));
    assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");

    // A file that names the certificate from now on is in force at once.
    let text = format!("[servers.far]\nurl = '{url}'\n");
    let guard = Configured::start(&text);
    let (port, head) = (guard.port("/far/mcp"), POST.replace("/mcp", "/far/mcp"));
    let call = call(1, "count", &json!({}));
    assert!(ask(port, &head, &call).starts_with("HTTP/1.1 502"));
    guard.write(&format!("ca-file = '{file}'\n{text}"));
    guard.process.log().wait_for("configuration: applied");
    let answer = ask(port, &head, &call);
    assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
}
