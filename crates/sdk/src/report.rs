//! Reporting findings and errors.

use std::{error::Error, sync::Arc};

use toolbond_contract::{Finding, Severity};

use crate::trace;

/// A function that is called with every finding.
pub(crate) type Listener = Arc<dyn Fn(&Finding) + Send + Sync>;

/// Logs `findings` and passes them to `listener`.
pub(crate) fn report(findings: &[Finding], listener: Option<&Listener>) {
    trace::add_findings(findings);
    for finding in findings {
        match finding.severity {
            Severity::Error => tracing::error!(target: "toolbond", "{finding}"),
            Severity::Warning => tracing::warn!(target: "toolbond", "{finding}"),
            Severity::Info => tracing::info!(target: "toolbond", "{finding}"),
        }
        if let Some(listener) = listener {
            listener(finding);
        }
    }
}

/// Formats `error` and its causes on one line.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
