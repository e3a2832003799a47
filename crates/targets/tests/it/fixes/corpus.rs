//! The tool lists of published servers.

use libtest_mimic::{Completion, Trial};
use toolbond_harness::{corpus, trials};
use toolbond_targets::{LintOptions, default_targets, lint_tools};

use super::fixes_once;

/// One trial, skipped where there is no corpus.
pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::ignorable_test("fixes/corpus", || {
        let servers = match corpus::servers() {
            Ok(servers) => servers,
            Err(reason) => return trials::skipped(&reason),
        };
        let mut fixed = 0;
        for server in servers {
            let report = lint_tools(
                server.document.clone(),
                &LintOptions::default().targets(default_targets().iter().copied()),
            );
            if report.safe_fixes().next().is_some() {
                fixed += 1;
                fixes_once(&server.document)?;
            }
        }
        if fixed == 0 {
            Err("nothing to fix in the corpus".into())
        } else {
            Ok(Completion::Completed)
        }
    })]
}
