//! The hostile corpus, each case in a process of its own, so that its memory can be told.

use std::{fs, process::Command, time::Instant};

use anyhow::{Context, bail};
use toolbond_harness::hostile::{self, Case, CaseOutcome, End};
use toolbond_harness::proc;

/// What one case took.
struct Taken {
    name: String,
    end: String,
    milliseconds: f64,
    kibibytes: u64,
    note: String,
}

/// Runs every case and prints the worst.
pub(crate) fn run(all: bool) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    let cases = hostile::cases();
    let mut taken = Vec::new();
    for case in &cases {
        let output = Command::new(&program).args(["hostile", "--case", &case.name]).output()?;
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        let fields: Vec<&str> = line.trim_end().splitn(4, '\t').collect();
        let [end, milliseconds, kibibytes, note] = fields[..] else {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("{}: {} {error}", case.name, output.status);
        };
        taken.push(Taken {
            name: case.name.clone(),
            end: end.to_owned(),
            milliseconds: milliseconds.parse()?,
            kibibytes: kibibytes.parse()?,
            note: note.to_owned(),
        });
    }
    if all {
        print_rows(&taken);
    }
    taken.sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));
    println!("{} hostile cases; the five that took longest:", cases.len());
    print_rows(&taken[..5.min(taken.len())]);
    taken.sort_by_key(|case| std::cmp::Reverse(case.kibibytes));
    println!("the five that took most memory beyond schema and instance:");
    print_rows(&taken[..5.min(taken.len())]);
    Ok(())
}

fn print_rows(taken: &[Taken]) {
    for Taken { name, end, milliseconds, kibibytes, note } in taken {
        let mebibytes = kibibytes / 1024;
        println!("  {milliseconds:8.1} ms {mebibytes:5} MiB  {end:<10} {name}  {note}");
    }
}

/// Runs one case here and prints what it took, separated by tabs.
pub(crate) fn run_one(name: &str) -> anyhow::Result<()> {
    let cases = hostile::cases();
    let case = cases.iter().find(|case| case.name == name).context("no such case")?.clone();
    drop(cases);
    // Two mebibytes of stack, as a thread of a server has.
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    let taken = worker.spawn(move || measure(&case))?.join();
    match taken {
        Ok(line) => {
            println!("{line}");
            Ok(())
        }
        Err(_) => bail!("{name} panicked"),
    }
}

fn measure(case: &Case) -> String {
    let (schema, instance) = (case.schema(), case.instance());
    reset_peak();
    let status = |name| proc::status(std::process::id(), name).unwrap_or_default();
    let before = status("VmRSS");
    let started = Instant::now();
    let outcome = case.run(&schema, &instance);
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let kibibytes = status("VmHWM").saturating_sub(before);
    let end = match outcome.end() {
        End::Refused => "refused",
        End::Valid => "valid",
        End::Invalid => "invalid",
        End::Unfinished => "unfinished",
    };
    let note = match outcome {
        CaseOutcome::Refused(error) => error.to_string(),
        CaseOutcome::Judged(_, fuel) => format!("{fuel} steps"),
    };
    format!("{end}\t{milliseconds}\t{kibibytes}\t{note}")
}

/// Lets the peak start from what is in use now, where the system offers that.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
