//! Validators of other languages, each in a process that answers with messages.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// What a validator says about arguments.
pub(super) enum Answer {
    Valid,
    Invalid(String),
    /// It cannot read the schema.
    Unreadable,
}

/// A process with validators of one language.
pub(super) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Ajv and zod.
    pub(super) fn node() -> anyhow::Result<Self> {
        let modules = testkit().join("node/validators");
        if !modules.join("node_modules/zod").is_dir() {
            bail!("Ajv and zod are not installed: run `cargo xtask setup`");
        }
        let mut command = Command::new("node");
        command.arg(scripts().join("validators.mjs")).arg(modules);
        Self::start(command)
    }

    /// Pydantic and `jsonschema`.
    pub(super) fn python() -> anyhow::Result<Self> {
        let packages = testkit().join("python/peers");
        if !packages.join("pydantic").is_dir() {
            bail!("Pydantic and jsonschema are not installed: run `cargo xtask setup`");
        }
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", packages).arg(scripts().join("validators.py"));
        Self::start(command)
    }

    fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let input = child.stdin.take().context("no pipe")?;
        let output = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Self { child, input, output })
    }

    /// Asks one of its validators.
    pub(super) fn ask(
        &mut self,
        validator: &str,
        schema: &Value,
        arguments: &Value,
    ) -> anyhow::Result<Answer> {
        let line = json!({ "validator": validator, "schema": schema, "arguments": arguments });
        writeln!(self.input, "{line}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)
            .with_context(|| format!("{validator} stopped answering"))?;
        if answer["error"].is_string() {
            return Ok(Answer::Unreadable);
        }
        Ok(answer["message"]
            .as_str()
            .map_or(Answer::Valid, |text| Answer::Invalid(text.to_owned())))
    }
}

fn testkit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/testkit")
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/validators")
}
