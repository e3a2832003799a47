//! Measuring against peers.

use std::ffi::OsString;
use std::path::{Path, absolute};

use clap::ValueEnum;

use crate::command::{cargo, command, run as run_command};
use crate::{peers, workspace};

/// Compare with peers, in a release build
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// What to measure
    #[arg(value_enum)]
    subject: Subject,
    /// Options of the subject, such as `--only NAME`; `-- --help` lists them. For `schema`: a directory of
    /// cases, each a directory with `schema.json` and `instances.jsonl`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Compile, accept, reject and explain, beside the plain `jsonschema` crate
    Schema,
    /// The hostile corpus: the worst cases by time and by memory
    Hostile,
    /// Judging, projecting and lifting every tool of the corpus
    Contract,
    /// A server of the SDK, bare and behind the contract
    Sdk,
    /// The guard beside peers
    Guard,
    /// Processor time of the guard for a call, beside nginx, Envoy and a process that copies bytes
    Cost,
    /// Envoy with `toolbond ext-proc` beside plain Envoy, nginx and the guard; `--only sizing`: memory and the cost of
    /// tool lists
    Fleet,
    /// Peak memory of the guard under load that is meant to fill it
    Memory,
    /// Clients of every kind over every transport for `--minutes N` (30), then what is left of them
    Soak,
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let name = self.subject.to_possible_value();
        let name = name.map(|value| value.get_name().to_owned()).unwrap_or_default();
        if self.subject == Subject::Guard {
            peers::install()?;
        }
        if [Subject::Cost, Subject::Fleet].contains(&self.subject) {
            peers::install_proxies()?;
        }
        if self.subject == Subject::Memory {
            peers::install_nginx()?;
        }
        let build = ["build", "--quiet", "--profile", "bench", "--package", "toolbond-bench"];
        run_command(cargo(build))?;
        let runs_toolbond =
            [Subject::Guard, Subject::Cost, Subject::Fleet, Subject::Memory, Subject::Soak];
        if runs_toolbond.contains(&self.subject) {
            let build = ["build", "--quiet", "--profile", "dist", "--package", "toolbond-cli"];
            run_command(cargo(build))?;
        }
        // Where Cargo puts what it builds with the profile `bench`.
        let bench = workspace::root().join("target/release/toolbond-bench");
        let mut bench = command(&bench.to_string_lossy(), [name]);
        for option in self.options {
            // The bench runs at the root of the repository.
            let is_path = self.subject == Subject::Schema && Path::new(&option).exists();
            bench.arg(if is_path { absolute(option)?.into() } else { option });
        }
        run_command(bench)
    }
}
