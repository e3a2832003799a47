//! Deciding about calls: each is checked against the contract of its tool, and sent or refused.

use std::sync::Arc;
use std::time::Duration;

use toolbond_contract::Mode;

use super::action::{Action, Destination};
use super::from_server::SHOWN;
use super::held::Decision;
use super::job::JobKind;
use super::link::Link;
use super::pending::{Purpose, RequestProgress};
use super::running::JobPurpose;
use super::state::Conversation;
use super::waiting_call::WaitingCall;
use crate::contract::arguments::{ArgumentCheck, CheckedArguments, Clearance, Unchecked};
use crate::contract::budget::{Budget, OutOfBudget};
use crate::contract::catalog::{Lookup, Tool};
use crate::contract::header_changes::HeaderChange;
use crate::environment::Record;
use crate::event::Event;
use crate::json::edit::EditError;
use crate::message::{code, response};
use crate::server::Rules;

/// A list that is younger than this is not requested again for a call that it refuses.
const RECHECK_AGE: Duration = Duration::from_secs(1);

/// Why a tool that is not listed cannot be called, where calls have to be checked.
const UNLISTED: &str = "the server does not list it";

/// What was decided about a call.
enum Verdict {
    /// It goes to the server.
    Cleared(Clearance),
    /// It is answered with this tool error, as JSON.
    Refused(String),
    /// Its tool is not offered, for this reason.
    Withheld(Arc<str>),
}

impl Conversation {
    /// Checks a call against the contract of its tool.
    pub(super) fn decide_call(
        &mut self,
        mut call: WaitingCall,
        rules: &Rules,
        budget: &mut Budget,
    ) -> Decision {
        let settings = &rules.settings;
        let found = self.find_tool(rules, &call);
        let tool = match found {
            Lookup::Found(tool) => tool,
            Lookup::Absent if self.may_have_changed(&call) => {
                return self.recheck(call, rules);
            }
            Lookup::Absent => {
                let verdict = match Unchecked::new(settings, &call.name) {
                    None => Verdict::Withheld(UNLISTED.into()),
                    Some(unchecked) => {
                        self.warn_unlisted(&call, rules);
                        Verdict::Cleared(Clearance::Unchecked(unchecked))
                    }
                };
                return self.conclude(call, None, verdict, rules);
            }
            Lookup::Unseen => {
                let failure = call.failure.take().or_else(|| self.recent_failure(&call));
                let Some(failure) = failure else { return self.fetch_tools(call, rules) };
                let Some(unchecked) = Unchecked::new(settings, &call.name) else {
                    return self.refuse_unlisted(&call, &failure);
                };
                // The last list is better than none.
                match self.catalog.find_stale(&call.list, &call.name) {
                    Some(tool) => tool,
                    None => {
                        let verdict = Verdict::Cleared(Clearance::Unchecked(unchecked));
                        return self.conclude(call, None, verdict, rules);
                    }
                }
            }
        };
        self.check_call(call, tool, rules, budget)
    }

    /// Reports a call of a tool that is not listed, and goes to the server unchecked.
    fn warn_unlisted(&self, call: &WaitingCall, rules: &Rules) {
        if rules.settings.arguments_mode(&call.name) != Mode::Off {
            let name: String = call.name.chars().take(SHOWN).collect();
            self.server.report_event_once(Event::warning(format!(
                "client: called `{name}`, which the server does not list; forwarded unchecked"
            )));
        }
    }

    /// Checks the arguments of a call, and what its headers say about them.
    fn check_call(
        &mut self,
        call: WaitingCall,
        tool: Tool,
        rules: &Rules,
        budget: &mut Budget,
    ) -> Decision {
        let (contract, view) = match &tool {
            Tool::Offered { contract, view, .. } => (contract, view),
            Tool::Withheld(reason) => {
                let withheld = Verdict::Withheld(Arc::clone(reason));
                return self.conclude(call, Some(tool), withheld, rules);
            }
        };
        let check = ArgumentCheck {
            server: &self.server,
            rules,
            contract,
            view: view.as_deref(),
            headers: call.headers.as_deref(),
            revision: &call.list.audience.revision,
            source: &call.source(),
            span: call.call_span.as_ref(),
        };
        match check.check(call.arguments.as_deref(), budget) {
            Ok(checked) => self.conclude_check(call, tool, checked, rules),
            Err(OutOfBudget) => {
                let check = JobKind::Arguments {
                    contract: contract.clone(),
                    view: view.clone(),
                    headers: call.headers.clone(),
                    arguments: call.arguments.clone(),
                    revision: call.list.audience.revision.clone(),
                    source: call.source(),
                    span: call.call_span.clone(),
                };
                let stream = Some(call.stream);
                self.start_job(stream, check, JobPurpose::Call(call, tool));
                Decision::Waiting
            }
        }
    }

    /// Sends or refuses a call whose arguments were checked.
    pub(super) fn conclude_check(
        &mut self,
        call: WaitingCall,
        tool: Tool,
        checked: CheckedArguments,
        rules: &Rules,
    ) -> Decision {
        let verdict = match checked {
            CheckedArguments::Passed(checked) => Verdict::Cleared(Clearance::Checked(checked)),
            CheckedArguments::Refused(refusal) => Verdict::Refused(refusal),
            CheckedArguments::Failed(reason) => Verdict::Refused(call.failure_text(&reason)),
            CheckedArguments::HeaderMismatch(reason) => {
                let text = format!("header mismatch: {reason}");
                return self.refuse_call(&call, code::HEADER_MISMATCH, &text);
            }
        };
        self.conclude(call, Some(tool), verdict, rules)
    }

    /// Whether a replica is about to refuse `call` because of a list that may have changed since.
    fn may_have_changed(&self, call: &WaitingCall) -> bool {
        self.server.rules().settings.is_replica()
            && !call.is_rechecked
            && self.catalog.is_older(&call.list, RECHECK_AGE, call.received)
    }

    /// Requests the tool list again and then decides about `call`.
    fn recheck(&mut self, mut call: WaitingCall, rules: &Rules) -> Decision {
        call.is_rechecked = true;
        self.catalog.expire(&call.list);
        self.fetch_tools(call, rules)
    }

    /// Refuses a call with a protocol error.
    pub(super) fn refuse_call(&mut self, call: &WaitingCall, code: i32, text: &str) -> Decision {
        if let Some(pending) = self.pending.take(&call.key, call.serial) {
            pending.end_refused(code);
            let (tool, source) = (call.name.as_str(), &call.source());
            self.server.environment().record(&Record::Failed { tool, source, message: text });
            self.refuse(call.stream, Some(&call.id), code, text);
        }
        Decision::Dropped
    }

    /// Sends or refuses a call, unless it was cancelled meanwhile.
    fn conclude(
        &mut self,
        call: WaitingCall,
        mut tool: Option<Tool>,
        verdict: Verdict,
        rules: &Rules,
    ) -> Decision {
        if !matches!(verdict, Verdict::Cleared(_)) && self.may_have_changed(&call) {
            return self.recheck(call, rules);
        }
        // Names of unknown tools are anybody's, and are not counted one by one.
        let own_name = match &tool {
            Some(Tool::Offered { contract, .. }) => contract.name().to_owned(),
            _ => call.name.clone(),
        };
        let (name, revision) =
            (tool.as_ref().map(|_| own_name.as_str()), &call.list.audience.revision);
        let source = &call.source();
        self.server.environment().record(&Record::Call { tool: name, revision, source });
        if let Some(span) = &call.call_span {
            span.set_tool(&own_name, tool.is_some());
        }
        let clearance = match verdict {
            Verdict::Cleared(clearance) => clearance,
            Verdict::Withheld(reason) => {
                let text = format!("tool `{}` is not offered: {reason}", call.name);
                return self.refuse_call(&call, code::PARAMS, &text);
            }
            Verdict::Refused(refusal) => {
                if self.pending.take(&call.key, call.serial).is_some() {
                    if let Some(span) = &call.call_span {
                        span.set_refused();
                        span.set_tool_error();
                        span.end_result();
                    }
                    let answer = response(&call.id, &refusal);
                    self.send(Destination::Answer(call.stream), None, answer);
                }
                return Decision::Dropped;
            }
        };
        let pending = self.pending.current(&call.key, call.serial);
        let Some(pending) = pending else { return Decision::Dropped };
        pending.progress = RequestProgress::Open;
        if let Some(Tool::Offered { held, .. }) = &mut tool {
            held.is_validated = call.list.audience.validates();
            held.is_read_as_text = call.list.audience.reads_only_text;
            // It may have listed the tool at another replica.
            held.is_listed |= held.is_validated && self.server.rules().settings.is_replica();
        }
        pending.purpose = Purpose::Call { tool, revision: call.list.audience.revision.clone() };
        let mut headers = call.header_changes.clone();
        headers.extend_from_slice(clearance.headers());
        if own_name != call.name {
            headers.push(HeaderChange::of_name(&call.name, &own_name));
        }
        if self.link == Link::Streams && !headers.is_empty() {
            self.actions.push_back(Action::SetHeaders { stream: call.stream, headers });
        }
        match call.to_send(&own_name, clearance, self.translates()) {
            Ok(decision) => decision,
            Err(EditError) => self.refuse_edit(call.stream, &call.key, &call.id),
        }
    }
}
