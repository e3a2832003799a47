//! `toolbond bundle` ends, whatever a server or a resolver does.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use toolbond_harness::files::Folder;
use toolbond_harness::http::HttpServer;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

use crate::command::{texts, toolbond};

/// A resolver that never answers, for `LD_PRELOAD`.
const RESOLVER: &str = "#include <unistd.h>\nint getaddrinfo() { for (;;) pause(); }\n";

#[test]
fn a_look_up_that_hangs_does_not_keep_it_alive() {
    let folder = Folder::new();
    let (source, library) = (folder.write("resolver.c", RESOLVER), folder.join("resolver.so"));
    let compiler = ["-w", "-shared", "-fPIC", "-o", &library, &source];
    assert!(Command::new("cc").args(compiler).status().unwrap().success());
    let schema = folder.write("s.json", r#"{"$ref":"https://schemas.example.com/a.json"}"#);
    let mut command = toolbond(&["bundle", "--allow", "https://schemas.example.com/"]);
    command.args(["--limit", "document-seconds=1", &schema]).env("LD_PRELOAD", &library);
    let (code, _, said) = texts(command.output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("which took longer than 1 s (raise the limit `document-seconds`"),
        "{said}"
    );
}

#[test]
fn an_interrupt_ends_it_without_a_lock_file() {
    let folder = Folder::new();
    let server = HttpServer::start(|request, reply| match request.path() {
        "/hang.json" => {
            reply.hang();
            Ok(())
        }
        _ => reply.send("200 OK", "", "{}"),
    });
    let url = server.url("/");
    let schema = format!(r#"{{"allOf":[{{"$ref":"{url}a.json"}},{{"$ref":"{url}hang.json"}}]}}"#);
    let schema = folder.write("s.json", &schema);
    let (lock, cache) = (folder.join("toolbond.lock"), folder.join("cache"));
    let mut command = toolbond(&["bundle", "--allow", &url, "--lock", &lock, "--cache", &cache]);
    command.arg(&schema).stdout(Stdio::piped());
    let mut bundle = Process::start(command);
    let mut requests = 0;
    wait_until("two requests", || {
        requests += server.take().len();
        requests == 2
    });
    bundle.signal("-INT");
    let mut printed = String::new();
    bundle.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((bundle.wait().signal(), printed.as_str()), (Some(2), ""));
    assert!(!Path::new(&lock).exists());
}
