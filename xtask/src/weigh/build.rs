//! What a build from nothing takes, by crate, and the size of what packages hold.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::command::{cargo, run};
use crate::workspace;

/// What building the command from nothing took.
pub(super) struct Build {
    pub(super) wall: Duration,
    /// User and system time of the compilers, where the system tells.
    pub(super) processor: Option<Duration>,
    /// Seconds of each crate with its build script, slowest first.
    pub(super) crates: Vec<(f64, String)>,
    /// Bytes of the command, built with the profile `dist`.
    pub(super) size: u64,
}

impl Build {
    /// Builds the command twice in `target/weigh`, with the profiles `release` and `dist`.
    pub(super) fn run() -> anyhow::Result<Self> {
        let folder = workspace::root().join("target").join("weigh");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        let build = |options: &[&str]| {
            let mut build = cargo(["build", "--quiet", "--package", "toolbond-cli"]);
            build.args(options).arg("--target-dir").arg(&folder);
            run(build)
        };
        let (start, used) = (Instant::now(), children_time());
        build(&["--release", "--timings"])?;
        let wall = start.elapsed();
        let processor =
            used.zip(children_time()).map(|(before, after)| after.saturating_sub(before));
        let timings = folder.join("cargo-timings").join("cargo-timing.html");
        let page = fs::read_to_string(&timings).with_context(|| timings.display().to_string())?;
        build(&["--profile", "dist"])?;
        let binary = folder.join("dist").join(format!("toolbond{}", std::env::consts::EXE_SUFFIX));
        let size = fs::metadata(&binary).with_context(|| binary.display().to_string())?.len();
        Ok(Self { wall, processor, crates: crate_times(&page), size })
    }
}

/// Seconds of each crate, slowest first, from the page that `cargo build --timings` writes. Its data is JSON with a
/// member a line; those of a unit are indented by four spaces.
fn crate_times(page: &str) -> Vec<(f64, String)> {
    let data = page.split("const UNIT_DATA = ").nth(1).unwrap_or_default();
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    let mut name = "";
    for line in data.lines().take_while(|line| !line.starts_with(']')) {
        let member =
            |key: &str| line.strip_prefix("    \"")?.strip_prefix(key)?.strip_prefix("\": ");
        if let Some(value) = member("name") {
            name = value.trim_end_matches(',').trim_matches('"');
        } else if let Some(value) = member("duration") {
            *seconds.entry(name).or_default() +=
                value.trim_end_matches(',').parse::<f64>().unwrap_or_default();
        }
    }
    let mut crates: Vec<_> =
        seconds.into_iter().map(|(name, seconds)| (seconds, name.to_owned())).collect();
    crates.sort_by(|one, other| other.0.total_cmp(&one.0));
    crates
}

/// User and system time of all processes that this one has waited for; only Linux tells it in a file.
fn children_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may have spaces. `cutime` and `cstime` are fields 16 and 17.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(13);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    // A tick is a hundredth of a second on all common systems.
    Some(Duration::from_millis(ticks * 10))
}

#[cfg(test)]
mod tests {
    use super::crate_times;

    #[test]
    fn units_of_a_crate_are_added() {
        let unit = |name: &str, seconds: f64| {
            format!(
                "  {{\n    \"i\": 1,\n    \"name\": \"{name}\",\n    \"duration\": {seconds},\n    \"sections\": null\n  }},\n"
            )
        };
        let units = [unit("ring", 1.5), unit("syn", 4.0), unit("ring", 3.0)].concat();
        let page = format!("<script>\nconst UNIT_DATA = [\n{units}];\nconst OTHER = [\n  1\n];\n");
        assert_eq!(crate_times(&page), [(4.5, "ring".to_owned()), (4.0, "syn".to_owned())]);
    }
}
