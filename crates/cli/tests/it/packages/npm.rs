//! The npm packages.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use toolbond_harness::http::HttpServer;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

use super::fresh::Fresh;
use super::{VERSION, clients_talk_through, demo, npm_packages, registry};
use crate::command::texts;

/// A home folder, and a registry with the packages.
struct Npm {
    fresh: Fresh,
    registry: HttpServer,
    packages: PathBuf,
}

impl Npm {
    fn new() -> Self {
        let fresh = Fresh::new();
        let packages = npm_packages(&fresh.folder);
        Self { registry: registry::serve(&packages), fresh, packages }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.fresh.command(words);
        command.env("npm_config_registry", format!("http://127.0.0.1:{}/", self.registry.port));
        command.env("npm_config_audit", "false").env("npm_config_update_notifier", "false");
        command
    }

    #[track_caller]
    fn run(&self, words: &[&str]) -> String {
        let (code, printed, said) = texts(self.command(words).output().unwrap());
        assert_eq!(code, Some(0), "{words:?}: {printed}{said}");
        printed
    }

    /// What `toolbond --version` of the installed package writes to standard error, which is no finding.
    fn refusal(&self, words: &[&str]) -> String {
        let (code, printed, said) = texts(self.command(words).output().unwrap());
        assert_eq!((code, &*printed), (Some(2), ""), "{said}");
        said
    }
}

#[test]
fn npx_runs_the_command_and_npm_installs_it() {
    let npm = Npm::new();
    let npx = ["npx", "--yes", "toolbond"];
    assert_eq!(npm.run(&[&npx[..], &["demo"]].concat()), demo());
    let named = format!("toolbond@{VERSION}");
    let version = npm.run(&["npx", "--yes", &named, "--version"]);
    assert_eq!(version, format!("toolbond {VERSION}\n"));

    // Exit codes, standard input and output pass through.
    npm.fresh.folder.write("broken.json", "{");
    let refused = npm.refusal(&[&npx[..], &["lint", "broken.json"]].concat());
    assert!(refused.starts_with("error: broken.json"), "{refused}");

    installs_without_a_registry(&npm);
}

fn installs_without_a_registry(npm: &Npm) {
    npm.registry.take();
    let files = npm.packages.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let packages = files.filter(|path| path.extension().is_some_and(|it| it == "tgz"));
    let packages: Vec<_> =
        packages.map(|path| path.into_os_string().into_string().unwrap()).collect();
    let packages = packages.iter().map(String::as_str);
    npm.run(&["npm", "install", "--offline"].into_iter().chain(packages).collect::<Vec<_>>());
    assert_eq!(npm.run(&["npx", "toolbond", "demo"]), demo());
    assert_eq!(npm.registry.take().len(), 0);
}

#[test]
fn an_installed_package_serves_clients_and_ends_with_its_guard() {
    let npm = Npm::new();
    npm.run(&["npm", "install", "toolbond"]);
    let toolbond = npm.fresh.folder.join("node_modules/.bin/toolbond");
    clients_talk_through(&toolbond);
    signals_end_the_guard(&npm, &toolbond);
    fs::remove_dir_all(npm.fresh.folder.join("node_modules")).unwrap();
    a_system_without_a_package_gets_one_clear_line(&npm);
}

fn a_system_without_a_package_gets_one_clear_line(npm: &Npm) {
    npm.run(&["npm", "install", "toolbond", "--omit=optional"]);
    let toolbond = npm.fresh.folder.join("node_modules/.bin/toolbond");
    let said = npm.refusal(&[&toolbond, "demo"]);
    assert!(said.starts_with("error: the package @toolbond/"), "{said}");
    assert!(said.contains("is not installed") && said.lines().count() == 1, "{said}");

    let other = "Object.defineProperty(process, 'arch', { value: 'riscv64' })";
    npm.fresh.folder.write("other.cjs", other);
    let said = npm.refusal(&["node", "--require", "./other.cjs", &toolbond, "demo"]);
    assert!(said.starts_with("error: there is no package of toolbond for linux-riscv64"), "{said}");
    assert!(said.contains("linux-x64, linux-arm64, darwin-x64") && said.lines().count() == 1);
}

fn signals_end_the_guard(npm: &Npm, toolbond: &str) {
    for signal in ["-TERM", "-INT"] {
        let server = [toolbond, "demo", "--stdio"];
        let guard = ["guard", "--results-file", "none", "--listen", "127.0.0.1:0", "--"];
        let words = [&[toolbond][..], &guard, &server].concat();
        let mut command = npm.command(&words);
        command.stdin(Stdio::piped());
        let (mut starter, _) = Process::listening(command);
        let children = starter.children("guard");
        assert_eq!(children.len(), 1, "the program, below the starter");
        starter.signal(signal);
        starter.wait();
        let is_gone = || !fs::exists(format!("/proc/{}", children[0])).unwrap();
        wait_until("the end of the guard", is_gone);
    }
}
