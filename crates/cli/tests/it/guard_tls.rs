//! Servers on https, with a certificate that is made for the test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::{ServerConnection, StreamOwned};

use crate::command::toolbond;
use crate::documents::tls_config;
use crate::guard_config::{File, Guard};
use crate::guard_http::{POST, ask, call, guard_at};

/// A server on https that lists one tool: its port, and its certificate in a file.
fn server() -> (u16, PathBuf) {
    let (config, pem) = tls_config();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{port}.pem"));
    std::fs::write(&file, pem).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = StreamOwned::new(connection, stream.unwrap());
            std::thread::spawn(move || answer(stream));
        }
    });
    (port, file)
}

/// Answers whatever comes on a connection; one whose handshake fails ends.
fn answer(stream: StreamOwned<ServerConnection, std::net::TcpStream>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let tools = r#"{"tools":[{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"integer"}}]}"#;
        let result = match message["method"].as_str() {
            Some("tools/list") => tools,
            Some("tools/call") => r#"{"content":[],"structuredContent":42}"#,
            _ => r#"{"protocolVersion":"2025-11-25"}"#,
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message["id"]);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
        let length = text.len();
        write!(stream.get_mut(), "{head}\r\ncontent-length: {length}\r\n\r\n{text}").ok()?;
        stream.get_mut().flush().ok()?;
    }
}

#[test]
fn a_server_on_https_is_judged_and_guarded_where_it_is_trusted() {
    let (port, certificate) = server();
    let url = format!("https://localhost:{port}/mcp");
    let file = certificate.to_str().unwrap();

    let stranger = toolbond(&["lint", &url]).output().unwrap();
    assert_eq!(stranger.status.code(), Some(2));
    let said = String::from_utf8(stranger.stderr).unwrap();
    assert!(said.contains("certificate") && said.lines().count() == 1, "{said}");
    let only_errors = ["lint", &url, "--select", "tool-list"];
    let known = toolbond(&only_errors).args(["--ca-file", file]).output().unwrap();
    assert_eq!(known.status.code(), Some(0));
    let by_environment = toolbond(&only_errors).env("SSL_CERT_FILE", file).output().unwrap();
    assert_eq!(by_environment.status.code(), Some(0));

    let (_guard, port) = guard_at(&url, &["--ca-file", file]);
    let answer = ask(port, POST, &call(1, "count", &serde_json::json!({})));
    assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");

    // A file that names the certificate from now on is in force at once.
    let text = format!("[servers.far]\nurl = '{url}'\n");
    let config = File::new("trust", &text);
    let guard = Guard::start(&["guard", "--config", config.path(), "--listen", "127.0.0.1:0"]);
    let (port, head) = (guard.port("/far/mcp"), POST.replace("/mcp", "/far/mcp"));
    let call = call(1, "count", &serde_json::json!({}));
    assert!(ask(port, &head, &call).starts_with("HTTP/1.1 502"));
    config.write(&format!("ca-file = '{file}'\n{text}"));
    guard.says(0, "configuration: applied");
    let answer = ask(port, &head, &call);
    assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
    std::fs::remove_file(certificate).unwrap();
}
