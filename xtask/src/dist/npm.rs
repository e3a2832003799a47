//! The npm packages: `toolbond`, which starts the program of the package for the system that it is installed on.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::release::{Release, SYSTEMS};
use super::share;
use crate::command::{command, output};
use crate::workspace;

/// Packs both: `toolbond`, and the one for this system.
pub(super) fn pack(
    release: &Release,
    program: &Path,
    share: &Path,
    work: &Path,
    out: &Path,
) -> anyhow::Result<()> {
    let starter = work.join("npm/toolbond");
    share::copy(&share.join("man/man1"), &starter.join("man"))?;
    fs::copy(workspace::root().join("packages/npm/toolbond.js"), starter.join("toolbond.js"))?;
    let packages: Map<String, Value> = SYSTEMS
        .iter()
        .map(|system| (system.npm_package(), Value::from(&*release.version)))
        .collect();
    let parts = json!({
        "bin": { "toolbond": "toolbond.js" },
        "directories": { "man": "man" },
        "engines": { "node": ">=18" },
        "optionalDependencies": packages,
    });
    pack_one(release, "toolbond", parts, &starter, out)?;

    let system = release.system;
    let holder = work.join("npm/system");
    fs::create_dir_all(holder.join("bin"))?;
    fs::copy(program, holder.join("bin").join(system.program()))?;
    let mut parts = json!({
        "os": [system.platform],
        "cpu": [system.arch],
        // Programs cannot be run from an archive.
        "preferUnplugged": true,
    });
    if system.platform == "linux" {
        parts["libc"] = json!(["glibc"]);
    }
    pack_one(release, &system.npm_package(), parts, &holder, out)
}

fn pack_one(
    release: &Release,
    name: &str,
    parts: Value,
    folder: &Path,
    out: &Path,
) -> anyhow::Result<()> {
    let mut manifest = json!({
        "name": name,
        "version": release.version,
        "description": release.description,
        "license": release.license,
        "repository": { "type": "git", "url": format!("git+{}.git", release.repository) },
    });
    if let (Value::Object(manifest), Value::Object(parts)) = (&mut manifest, parts) {
        manifest.extend(parts);
    }
    fs::write(folder.join("package.json"), format!("{manifest:#}\n"))?;
    share::copy_documents(folder)?;
    let mut pack = command("npm", ["pack", "--loglevel=error", "--pack-destination"]);
    pack.arg(out).current_dir(folder);
    output(pack).map(drop)
}
