//! Processes that end with their test: servers, clients, and the `toolbond` command.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use crate::wait::{wait_for, wait_until};

/// The folder of the programs of the build that runs the tests.
fn built() -> PathBuf {
    // Tests are in `deps`, beside which the programs are.
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().to_owned()
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Takes the program `toolbond` of another build from now on.
pub fn set_program(program: PathBuf) {
    PROGRAM.set(program).unwrap();
}

/// The program `toolbond` of the build that runs the tests.
pub fn program() -> PathBuf {
    let own = || built().join(format!("toolbond{}", std::env::consts::EXE_SUFFIX));
    let program = PROGRAM.get().cloned().unwrap_or_else(own);
    assert!(program.exists(), "{}: run `cargo build` first", program.display());
    program
}

/// An example of the workspace, which a build of all tests makes.
pub fn example(package: &str, name: &str) -> PathBuf {
    let place = built().join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !place.exists() {
        let build = ["build", "--quiet", "--package", package, "--example", name];
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        assert!(Command::new(cargo).args(build).status().unwrap().success());
    }
    place
}

/// The variable that says where programs keep what they remember, and a place of its own for one command: what one guard
/// remembers is not for another one, nor for the user.
pub fn own_cache() -> (&'static str, PathBuf) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("cache-{}-{}", std::process::id(), COUNT.fetch_add(1, SeqCst));
    ("XDG_CACHE_HOME", built().join("tmp").join(name))
}

/// The command of `words`.
pub fn command<W: AsRef<OsStr>>(words: &[W]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// `toolbond` with `arguments`.
pub fn toolbond(arguments: &[&str]) -> Command {
    let mut command = command(&[program()]);
    command.args(arguments).env("NO_COLOR", "1").envs([own_cache()]);
    command
}

/// What `command` does with `input`.
pub fn run(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A command that ends early does not read all of it.
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// The processes that run.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Kills the processes that run, for a test that ends without dropping them.
pub(crate) fn kill_all() {
    let ids = RUNNING.lock().unwrap().iter().map(u32::to_string).collect::<Vec<_>>();
    let _ = Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status();
}

/// A process that ends with its test. Its log is read while it runs, so that it is never held up.
#[derive(Debug)]
pub struct Process {
    /// The process, with its standard input and output where they are piped.
    pub child: Child,
    log: Log,
}

/// The lines that a process has written so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// How many streams have not ended.
    open: Arc<AtomicUsize>,
}

impl Log {
    /// Takes in the lines of `stream`, too, until it ends.
    pub fn follow(&self, stream: impl Read + Send + 'static) {
        let (lines, open) = (Arc::clone(&self.lines), Arc::clone(&self.open));
        open.fetch_add(1, SeqCst);
        thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                lines.lock().unwrap().push(text);
                line.clear();
            }
            open.fetch_sub(1, SeqCst);
        });
    }

    /// The lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits until nobody can write any more, and returns everything.
    #[track_caller]
    pub fn all(&self) -> String {
        wait_until("the end of a log", || self.open.load(SeqCst) == 0);
        self.lines().join("\n")
    }

    /// How many lines have `text` in them.
    pub fn count(&self, text: &str) -> usize {
        self.lines().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits for a line with `text` in it.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_after(0, text)
    }

    /// Waits for a line with `text` in it after the first `skipped` lines.
    #[track_caller]
    pub fn wait_after(&self, skipped: usize, text: &str) -> String {
        wait_for(&format!("a line with `{text}`"), || {
            self.lines().into_iter().skip(skipped).find(|line| line.contains(text))
        })
    }
}

impl Process {
    /// Starts `command`, whose standard error is the log.
    pub fn start(mut command: Command) -> Self {
        let child = command.stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let log = Log::default();
        log.follow(child.stderr.take().unwrap());
        RUNNING.lock().unwrap().push(child.id());
        Self { child, log }
    }

    /// Starts a server that says its port in a line of standard output or standard error, alone or in a URL, and
    /// listens by then. Both are the log.
    pub fn listening(mut command: Command) -> (Self, u16) {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Self::start(command);
        let stdout = process.child.stdout.take().unwrap();
        process.log.follow(stdout);
        let port = wait_for("a port", || {
            let lines = process.log.lines();
            let port = lines.iter().find_map(|line| port_in(line));
            let has_ended = port.is_none() && process.child.try_wait().unwrap().is_some();
            assert!(!has_ended, "ended without a port: {lines:#?}");
            port
        });
        (process, port)
    }

    /// Its standard output, which was piped, line by line.
    pub fn lines(&mut self) -> Log {
        let lines = Log::default();
        lines.follow(self.child.stdout.take().unwrap());
        lines
    }

    /// What it has written to its log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The port in the line of its log with `text`.
    #[track_caller]
    pub fn port(&self, text: &str) -> u16 {
        let line = self.log.wait_for(text);
        port_in(&line).unwrap_or_else(|| panic!("no port: {line}"))
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the end of a process", || self.child.try_wait().unwrap())
    }

    /// Sends it a signal, such as `-TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(name).arg(self.id().to_string()).status().unwrap();
        assert!(status.success());
    }
}

/// What Linux tells about a process.
impl Process {
    /// The files and connections that it has open.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// Waits until it has no more than `most` files and connections open.
    #[track_caller]
    pub fn wait_for_descriptors(&self, most: usize) {
        wait_until(&format!("{most} descriptors or fewer"), || self.descriptors() <= most);
    }

    /// The processes that it has started and that run, with `text` in their command.
    pub fn children(&self, text: &str) -> Vec<u32> {
        let parent = self.id().to_string();
        let output = Command::new("ps").args(["-o", "pid=,args=", "--ppid", &parent]).output();
        let lines = String::from_utf8(output.unwrap().stdout).unwrap();
        let lines = lines.lines().filter(|line| line.contains(text));
        lines.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
    }
}

/// The port in a line: all of it, or the one of a URL on loopback.
fn port_in(line: &str) -> Option<u16> {
    let port = line.split("://127.0.0.1:").nth(1).unwrap_or(line);
    port.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
}

impl Drop for Process {
    fn drop(&mut self) {
        RUNNING.lock().unwrap().retain(|id| *id != self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until somebody listens on `port`, for a server that says its port too early.
pub fn wait_for_port(port: u16) {
    let connects = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    wait_until(&format!("somebody listens on port {port}"), connects);
}
