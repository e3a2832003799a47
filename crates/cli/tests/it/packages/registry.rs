//! An npm registry on loopback that has the packed packages and nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::http::HttpServer;

/// Serves the packages of `folder`.
pub(super) fn serve(folder: &Path) -> HttpServer {
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "tgz"));
    let packages: Vec<_> = files.map(|path| (manifest(&path), fs::read(&path).unwrap())).collect();
    assert_eq!(packages.len(), 2, "`toolbond` and the package of this system");
    HttpServer::start(move |request, reply| {
        let host = request.header("host").unwrap();
        let path = request.path().trim_start_matches('/').replace("%2f", "/");
        for (manifest, archive) in &packages {
            let (name, version) =
                (manifest["name"].as_str().unwrap(), manifest["version"].as_str().unwrap());
            let place = format!("{name}/-/package.tgz");
            if path == place {
                return reply.send("200 OK", "content-type: application/octet-stream", archive);
            }
            if path == name {
                let mut described = manifest.clone();
                described["dist"] = json!({ "tarball": format!("http://{host}/{place}") });
                return reply.json(&json!({
                    "name": name,
                    "dist-tags": { "latest": version },
                    "versions": { version: described },
                }));
            }
        }
        reply.send("404 Not Found", "content-type: application/json", "{}")
    })
}

fn manifest(package: &Path) -> Value {
    let mut tar = Command::new("tar");
    tar.args(["-xzOf"]).arg(package).arg("package/package.json");
    serde_json::from_slice(&tar.output().unwrap().stdout).unwrap()
}
