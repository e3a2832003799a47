//! `toolbond bundle` ends, whatever a server or a resolver does.

use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use crate::command::toolbond;
use crate::documents::{Folder, serve};

/// A resolver that never answers, for `LD_PRELOAD`.
const RESOLVER: &str = "#include <unistd.h>\nint getaddrinfo() { for (;;) pause(); }\n";

#[test]
fn a_look_up_that_hangs_does_not_keep_it_alive() {
    let folder = Folder::new("resolver");
    let (source, library) = (folder.write("resolver.c", RESOLVER), folder.path("resolver.so"));
    let compiler = ["-w", "-shared", "-fPIC", "-o", &library, &source];
    assert!(Command::new("cc").args(compiler).status().unwrap().success());
    let schema = folder.write("s.json", r#"{"$ref":"https://schemas.example.com/a.json"}"#);
    let mut command = toolbond(&["bundle", "--allow", "https://schemas.example.com/"]);
    command.args(["--limit", "document-seconds=1", &schema]).env("LD_PRELOAD", &library);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("which took longer than 1 s (raise the limit `document-seconds`"),
        "{said}"
    );
}

#[test]
fn an_interrupt_ends_it_without_a_lock_file() {
    let folder = Folder::new("interrupt");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let (asked, requests) = mpsc::channel();
    let (never, hang) = mpsc::channel::<()>();
    let hang = std::sync::Mutex::new(hang);
    serve(listener, move |path| {
        asked.send(()).unwrap();
        if path == "/hang.json" {
            let _ = hang.lock().unwrap().recv();
        }
        Some(b"{}".to_vec())
    });
    let schema = format!(r#"{{"allOf":[{{"$ref":"{url}a.json"}},{{"$ref":"{url}hang.json"}}]}}"#);
    let schema = folder.write("s.json", &schema);
    let lock = folder.path("toolbond.lock");
    let mut command = toolbond(&["bundle", "--allow", &url, "--lock", &lock, "--cache"]);
    command.args([&folder.path("cache"), &schema]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    for _ in 0..2 {
        requests.recv().unwrap();
    }
    let interrupt = ["-INT", &child.id().to_string()];
    assert!(Command::new("kill").args(interrupt).status().unwrap().success());
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((child.wait().unwrap().signal(), printed.as_str()), (Some(2), ""));
    assert!(!std::path::Path::new(&lock).exists());
    drop(never);
}
