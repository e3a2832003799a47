//! Processes that servers leave behind outside of their process groups.

#[cfg(target_os = "linux")]
pub use self::linux::Orphans;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    /// How long they may take to end after they were killed.
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Processes that lost their parent and became children of this one.
    #[derive(Debug)]
    pub struct Orphans {
        /// The children that this process already had.
        others: Vec<Pid>,
    }

    impl Orphans {
        /// Makes this process the next parent of what its children leave behind.
        #[must_use]
        pub fn adopt() -> Self {
            // Without this, they are children of the first process of the system, as ever.
            let _ = set_child_subreaper(Some(getpid()));
            Self { others: children() }
        }

        /// Kills them. Call it when no server is running.
        pub fn end(&self) {
            let until = Instant::now() + PATIENCE;
            loop {
                // The id of a child is not used again before this process has waited for it.
                let found = children().into_iter().filter(|child| !self.others.contains(child));
                let found: Vec<_> = found.collect();
                for child in &found {
                    let _ = kill_process(*child, Signal::KILL);
                    let _ = waitpid(Some(*child), WaitOptions::NOHANG);
                }
                if found.is_empty() || Instant::now() > until {
                    return;
                }
                sleep(Duration::from_millis(5));
            }
        }
    }

    fn children() -> Vec<Pid> {
        let this = getpid().as_raw_nonzero().to_string();
        let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_child = |id: &i32| {
            let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            // The name before the state and the parent may hold anything.
            let fields = status.rsplit_once(')').map_or("", |(_, fields)| fields);
            fields.split_whitespace().nth(1) == Some(&this)
        };
        ids.filter(is_child).filter_map(Pid::from_raw).collect()
    }
}

/// Elsewhere, they stay.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct Orphans;

#[cfg(not(target_os = "linux"))]
impl Orphans {
    /// Does nothing.
    #[must_use]
    pub const fn adopt() -> Self {
        Self
    }

    /// Does nothing.
    pub const fn end(&self) {}
}
