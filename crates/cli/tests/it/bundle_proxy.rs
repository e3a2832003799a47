//! `toolbond bundle` and the proxy of the environment.

use std::io;

use toolbond_harness::files::Folder;
use toolbond_harness::http::{HttpServer, Reply, Request};
use toolbond_harness::tls;

use crate::command::{texts, toolbond};

fn answer(request: &Request, reply: &mut Reply<'_>) -> io::Result<()> {
    assert_eq!(request.line(), "GET /address.json HTTP/1.1");
    reply.send("200 OK", "", r#"{ "required": ["city"] }"#)
}

/// The request lines since the last time.
fn lines(server: &HttpServer) -> Vec<String> {
    server.take().iter().map(|request| request.line().to_owned()).collect()
}

#[test]
fn the_proxy_of_the_environment_is_used_only_on_request() {
    let folder = Folder::new();
    let plain = HttpServer::start(answer);
    let (secure, certificate) = tls::start(answer);
    let certificate = folder.write("ca.pem", certificate);
    let proxy =
        HttpServer::proxy(|authority| authority.rsplit(':').next().unwrap().parse().unwrap());
    let urls = [
        format!("http://localhost:{}/", plain.port),
        format!("https://localhost:{}/", secure.port),
    ];
    for (url, server, by_proxy) in [
        (&urls[0], &plain, format!("GET {}address.json HTTP/1.1", urls[0])),
        (&urls[1], &secure, format!("CONNECT localhost:{} HTTP/1.1", secure.port)),
    ] {
        let file = folder.write("s.json", format!(r#"{{"$ref":"{url}address.json"}}"#));
        let run = |options: &[&str], is_by_file: bool| {
            let mut command = toolbond(&["bundle", "--allow", url, "--allow", "127.0.0.0/8"]);
            command.args(["--allow", "::1"]).args(options).arg(&file);
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
                command.env(name, proxy.url("")).env(name.to_lowercase(), proxy.url(""));
            }
            command.env_remove("NO_PROXY").env_remove("no_proxy");
            if is_by_file {
                command.args(["--ca-file", &certificate]);
            } else {
                command.env("SSL_CERT_FILE", &certificate);
            }
            let (code, text, said) = texts(command.output().unwrap());
            assert_eq!(code, Some(0), "{said}");
            assert!(text.contains("$defs") && text.contains("city"), "{text}");
            said
        };
        for is_by_file in [true, false] {
            let said = run(&[], is_by_file);
            assert_eq!(lines(&proxy), [""; 0], "{said}");
            assert_eq!(lines(server).len(), 1);
            run(&["--proxy-from-environment"], is_by_file);
            assert_eq!(lines(&proxy), [by_proxy.as_str()]);
            assert_eq!(lines(server).len(), 1);
        }
    }
}
