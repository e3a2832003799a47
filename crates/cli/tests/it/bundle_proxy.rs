//! `toolbond bundle` and the proxy of the environment.

use std::net::TcpListener;

use crate::command::toolbond;
use crate::documents::{Folder, proxy, serve, serve_tls};

const ADDRESS: &[u8] = br#"{ "required": ["city"] }"#;

fn find(path: &str) -> Option<Vec<u8>> {
    (path == "/address.json").then(|| ADDRESS.to_vec())
}

#[test]
fn the_proxy_of_the_environment_is_used_only_on_request() {
    let folder = Folder::new("proxy");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let plain_port = listener.local_addr().unwrap().port();
    let plain = serve(listener, find);
    let (secure_port, certificate, secure) = serve_tls(find);
    let certificate = folder.write("ca.pem", &certificate);
    let (proxy_port, asked) = proxy();
    let proxy = format!("http://127.0.0.1:{proxy_port}");
    let urls =
        [format!("http://localhost:{plain_port}/"), format!("https://localhost:{secure_port}/")];
    for (url, server, by_proxy) in [
        (&urls[0], &plain, format!("GET {}address.json HTTP/1.1", urls[0])),
        (&urls[1], &secure, format!("CONNECT localhost:{secure_port} HTTP/1.1")),
    ] {
        let file = folder.write("s.json", &format!(r#"{{"$ref":"{url}address.json"}}"#));
        let run = |options: &[&str], is_by_file: bool| {
            let mut command = toolbond(&["bundle", "--allow", url, "--allow", "127.0.0.0/8"]);
            command.args(["--allow", "::1"]).args(options).arg(&file);
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
                command.env(name, &proxy).env(name.to_lowercase(), &proxy);
            }
            command.env_remove("NO_PROXY").env_remove("no_proxy");
            if is_by_file {
                command.args(["--ca-file", &certificate]);
            } else {
                command.env("SSL_CERT_FILE", &certificate);
            }
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{said}");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("$defs") && text.contains("city"), "{text}");
            said
        };
        for is_by_file in [true, false] {
            let said = run(&[], is_by_file);
            assert_eq!(asked.take(), [""; 0], "{said}");
            assert_eq!(server.take(), ["GET /address.json HTTP/1.1"]);
            run(&["--proxy-from-environment"], is_by_file);
            assert_eq!(asked.take(), [by_proxy.as_str()]);
            assert_eq!(server.take(), ["GET /address.json HTTP/1.1"]);
        }
    }
}
