//! What is measured: nginx, Envoy and a copier, and the guard with more and more to do.

use anyhow::ensure;
use toolbond_harness::guard::ENFORCE;

use crate::calls::Era;
use crate::cases::{COPIER, Cases, Kind, OFF, Way, copier, guard, lines};
use crate::load::{Call, REPORT};
use crate::memory::is_refusal;
use crate::serve::{self, BOTH_ERAS};

pub(super) const PASSED: &str = "guard, everything off";
pub(super) const KEPT: &str = "guard, validated, --keep-eras";
pub(super) const VALIDATED: &str = "guard, validated";
pub(super) const REPAIRING: &str = "guard, validated, --results repair";
pub(super) const BRIDGED: [&str; 2] =
    ["guard, legacy client, modern server", "guard, modern client, legacy server"];

/// No check, but schemas of older dialects would be rewritten, so every message is read.
const READ: &[&str] =
    &["--tools", "off", "--arguments", "off", "--results", "off", "--no-project", "--keep-eras"];

const ENFORCE_ALONE: &[&str] = &["--arguments", "enforce", "--results", "enforce", "--keep-eras"];

/// Results are valid, so nothing is repaired or learned.
const REPAIR: &[&str] =
    &["--arguments", "enforce", "--results", "repair", "--results-file", "none"];

const ALL: &[Way] = &[Way::Http, Way::Bridge, Way::Stdio];

/// What the guard is called and told, who calls, what its server speaks, and on which ways it is measured.
type Guarded = (&'static str, &'static [&'static str], Era, &'static str, &'static [Way]);

const GUARDS: [Guarded; 7] = [
    (PASSED, OFF, Era::Modern, "both", &[Way::Http, Way::Stdio]),
    ("guard, checks off, messages read", READ, Era::Modern, "both", &[Way::Http]),
    (KEPT, ENFORCE_ALONE, Era::Modern, "both", &[Way::Http]),
    (VALIDATED, &ENFORCE, Era::Modern, "both", ALL),
    (REPAIRING, REPAIR, Era::Modern, "both", ALL),
    (BRIDGED[0], &ENFORCE, Era::Legacy, "modern", ALL),
    (BRIDGED[1], &ENFORCE, Era::Modern, "legacy", ALL),
];

/// Starts everything, and the servers that those on HTTP share.
pub(super) fn all(only: Option<&str>) -> anyhow::Result<(Cases<'_>, impl Sized)> {
    let start = |eras| serve::on_http("plain", &["--eras", eras]);
    let servers = [start("both")?, start("modern")?, start("legacy")?];
    let [both, modern, legacy] = servers.each_ref().map(|(_, port)| *port);
    let mut cases = Cases { only, ..Cases::default() };
    cases.add_proxies(both, REPORT);
    cases.add(Way::Stdio, Kind::Copier, COPIER, || {
        let mut copier = copier(&["--"])?;
        copier.args(serve::words(&[&["plain", "stdio"], &BOTH_ERAS[..]].concat())?);
        lines(copier, REPORT)
    });
    for (way, (name, options, era, eras, ways)) in
        ALL.iter().flat_map(|way| GUARDS.map(|one| (*way, one)))
    {
        let port = match eras {
            "modern" => modern,
            "legacy" => legacy,
            _ => both,
        };
        let kind = if BRIDGED.contains(&name) { Kind::Changing } else { Kind::Guard };
        if ways.contains(&way) {
            cases.add(way, kind, name, || {
                let command = serve::words(&["plain", "stdio", "--eras", eras])?;
                let call = Call { era, ..REPORT };
                let (mut load, process) = guard(way, options, (port, &command), call)?;
                // The server takes any arguments.
                let wrong = Call { arguments: r#"{"city":1}"#, ..call };
                let is_refused = is_refusal(&load.ask(&wrong.message(2))?);
                ensure!(
                    is_refused == options.contains(&"enforce"),
                    "calls are not checked as told"
                );
                Ok((load, process))
            });
        }
    }
    Ok((cases, servers))
}
