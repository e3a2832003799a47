//! Servers on https, with a certificate that is made for the test.

use std::net::TcpListener;
use std::sync::Arc;

use rustls::{ServerConnection, StreamOwned};
use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, in_front_of_url};
use toolbond_harness::http::{HttpServer, ask};
use toolbond_harness::mcp::{POST, call};
use toolbond_harness::process::toolbond;

use crate::documents::tls_config;

/// A server on https that lists one tool: its port, and its certificate.
fn server() -> (u16, String) {
    let (config, pem) = tls_config();
    let wrap = move |stream| {
        StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = HttpServer::on(listener, wrap, |request, reply| {
        let result = match request.message()["method"].as_str() {
            Some("tools/list") => json!({ "tools": [{ "name": "count",
                "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" } }] }),
            Some("tools/call") => json!({ "content": [], "structuredContent": 42 }),
            _ => json!({ "protocolVersion": "2025-11-25" }),
        };
        reply.result(request, &result)
    });
    (server.port, pem)
}

#[test]
fn a_server_on_https_is_judged_and_guarded_where_it_is_trusted() {
    let (port, certificate) = server();
    let url = format!("https://localhost:{port}/mcp");
    let folder = Folder::new();
    let file = &folder.write("certificate.pem", certificate);

    let stranger = toolbond(&["lint", &url]).output().unwrap();
    assert_eq!(stranger.status.code(), Some(2));
    let said = String::from_utf8(stranger.stderr).unwrap();
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
