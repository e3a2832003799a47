//! A process with those that it starts: a process group on Unix, a job object on Windows.

#[cfg(unix)]
pub(super) use self::unix::ProcessGroup;
#[cfg(windows)]
pub(super) use self::windows::ProcessGroup;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::process::ExitStatus;

    use rustix::process::{Pid, Signal, kill_process_group};
    use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

    /// A process that leads a process group.
    #[derive(Debug)]
    pub(in crate::back::child) struct ProcessGroup {
        child: Child,
        group: Option<Pid>,
    }

    impl ProcessGroup {
        pub(in crate::back::child) fn spawn(mut command: Command) -> io::Result<Self> {
            let child = command.process_group(0).kill_on_drop(true).spawn()?;
            let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            Ok(Self { child, group })
        }

        /// The id of the process until it has ended.
        pub(in crate::back::child) fn id(&self) -> Option<u32> {
            self.child.id()
        }

        pub(in crate::back::child) fn stdin(&mut self) -> Option<ChildStdin> {
            self.child.stdin.take()
        }

        pub(in crate::back::child) fn stdout(&mut self) -> Option<ChildStdout> {
            self.child.stdout.take()
        }

        pub(in crate::back::child) fn stderr(&mut self) -> Option<ChildStderr> {
            self.child.stderr.take()
        }

        pub(in crate::back::child) async fn wait(&mut self) -> io::Result<ExitStatus> {
            self.child.wait().await
        }

        /// Sends a signal to the whole group.
        pub(in crate::back::child) fn signal(&self, signal: i32) -> io::Result<()> {
            let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
            self.send(signal)
        }

        /// Kills the whole group.
        pub(in crate::back::child) fn kill(&mut self) -> io::Result<()> {
            self.send(Signal::KILL)
        }

        fn send(&self, signal: Signal) -> io::Result<()> {
            let group = self.group.ok_or(io::ErrorKind::NotFound)?;
            Ok(kill_process_group(group, signal)?)
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::process::ExitStatus;

    use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
    use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

    /// A process in a job of its own.
    #[derive(Debug)]
    pub(in crate::back::child) struct ProcessGroup(Box<dyn ChildWrapper>);

    impl ProcessGroup {
        pub(in crate::back::child) fn spawn(command: Command) -> io::Result<Self> {
            CommandWrap::from(command).wrap(KillOnDrop).wrap(JobObject).spawn().map(Self)
        }

        pub(in crate::back::child) fn id(&self) -> Option<u32> {
            self.0.id()
        }

        pub(in crate::back::child) fn stdin(&mut self) -> Option<ChildStdin> {
            self.0.stdin().take()
        }

        pub(in crate::back::child) fn stdout(&mut self) -> Option<ChildStdout> {
            self.0.stdout().take()
        }

        pub(in crate::back::child) fn stderr(&mut self) -> Option<ChildStderr> {
            self.0.stderr().take()
        }

        pub(in crate::back::child) async fn wait(&mut self) -> io::Result<ExitStatus> {
            self.0.wait().await
        }

        /// Does nothing: there are no signals on Windows.
        pub(in crate::back::child) fn signal(&self, _: i32) -> io::Result<()> {
            Ok(())
        }

        pub(in crate::back::child) fn kill(&mut self) -> io::Result<()> {
            self.0.start_kill()
        }
    }
}
