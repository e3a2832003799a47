//! What becomes of a call: it is held to the contract of its tool, and sent or refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytestring::ByteString;
use toolbond_contract::Mode;

use super::fetch::WaitingCall;
use super::from_server::SHOWN;
use super::held::PartFate;
use super::job::Check;
use super::pending::Purpose;
use super::{Action, Conversation, Destination, JobPurpose, Link};
use crate::contract::arguments::{CheckedArguments, check_arguments};
use crate::contract::budget::{Budget, OutOfBudget};
use crate::contract::catalog::{Lookup, Tool};
use crate::contract::header_changes::HeaderChange;
use crate::contract::view::{Unrestored, restore_arguments};
use crate::event::Event;
use crate::json::edit::Misfit;
use crate::message::{code, response};
use crate::server::Rules;
use crate::status::OTHER;

/// A list that is younger than this is not requested again for a call that it refuses.
const RECHECK_AGE: Duration = Duration::from_secs(1);

/// Why a tool that is not listed cannot be called, where calls have to be checked.
const UNLISTED: &str = "the server does not list it";

/// Arguments of a view up to this size are restored on the I/O thread.
const INLINE_RESTORE: usize = 4 << 10;

impl Conversation {
    /// Holds a call to the contract of its tool.
    pub(super) fn decide_call(
        &mut self,
        mut call: WaitingCall,
        rules: &Rules,
        budget: &mut Budget,
        now: Instant,
    ) -> PartFate {
        let tool = match self.find_tool(rules, &call.audience, &call.name, now) {
            Lookup::Found(tool) => Some(tool),
            Lookup::Absent if self.may_have_changed(&call) => {
                self.recheck(call, now);
                return PartFate::Waiting;
            }
            Lookup::Absent if rules.settings.require_list => Some(Tool::Withheld(UNLISTED.into())),
            Lookup::Absent => {
                if rules.settings.arguments_mode(&call.name) != Mode::Off {
                    let name: String = call.name.chars().take(SHOWN).collect();
                    self.server.report_event_once(Event::warning(format!(
                        "client: called `{name}`, which the server does not list; forwarded unchecked"
                    )));
                }
                None
            }
            Lookup::Unseen
                if rules.settings.require_list && self.fetcher.has_failed(&self.catalog, now) =>
            {
                let reason = self.fetcher.failure();
                let text =
                    format!("could not fetch the tool list, and the call was not sent: {reason}");
                self.pending.remove(&call.key);
                self.refuse(call.stream, Some(&call.id), code::INTERNAL, &text);
                if self.link == Link::Streams {
                    self.actions.push_back(Action::Unlisted(call.stream));
                }
                return PartFate::Dropped;
            }
            // The last list is better than none.
            Lookup::Unseen if self.fetcher.has_failed(&self.catalog, now) => {
                self.catalog.find_stale(&call.audience, &call.name)
            }
            Lookup::Unseen => {
                self.fetch_tools(call, now);
                return PartFate::Waiting;
            }
        };
        if let (Some(Tool::Offered { view: Some(view), .. }), Some(arguments)) =
            (&tool, &call.arguments)
        {
            if arguments.len() > INLINE_RESTORE {
                let check = Check::Restore { view: Arc::clone(view), arguments: arguments.clone() };
                if let Some(tool) = tool {
                    let stream = Some(call.stream);
                    self.start_job(stream, check, JobPurpose::Restore(call, tool));
                }
                return PartFate::Waiting;
            }
            call.restored = match restore_arguments(view, arguments) {
                Ok(restored) => restored.map(ByteString::from),
                Err(Unrestored { reason }) => {
                    let checked = call.failure(&reason);
                    return self.conclude(call, tool, checked, now);
                }
            };
        }
        self.check_call(call, tool, rules, budget, now)
    }

    /// Goes on with a call whose arguments a job has restored.
    pub(super) fn resume_restored(
        &mut self,
        mut call: WaitingCall,
        tool: Tool,
        arguments: Option<String>,
        now: Instant,
    ) {
        call.restored = arguments.map(ByteString::from);
        let (ticket, index) = (call.ticket, call.index);
        let server = self.server.clone();
        let rules = server.rules();
        match self.check_call(call, Some(tool), &rules, &mut Budget::inline(), now) {
            PartFate::Waiting => {}
            fate => self.settle(ticket, index, fate),
        }
    }

    /// Checks the arguments of a call, and what its headers say about them.
    fn check_call(
        &mut self,
        call: WaitingCall,
        tool: Option<Tool>,
        rules: &Rules,
        budget: &mut Budget,
        now: Instant,
    ) -> PartFate {
        if let (Some(Tool::Offered { contract, .. }), Some(headers)) = (&tool, &call.headers)
            && let Err(reason) = headers.check(contract, call.arguments().map(|it| &**it))
        {
            if let Some(pending) = self.pending.remove(&call.key) {
                pending.end_refused(code::HEADER_MISMATCH);
                let text = format!("header mismatch: {reason}");
                self.refuse(call.stream, Some(&call.id), code::HEADER_MISMATCH, &text);
            }
            return PartFate::Dropped;
        }
        let checked = match &tool {
            Some(Tool::Offered { contract, .. })
                if rules.settings.arguments_mode(contract.name()) != Mode::Off =>
            {
                let arguments = call.arguments().map(|it| &**it);
                let revision = &call.audience.revision;
                let span = call.call_span.as_ref();
                check_arguments(&self.server, rules, contract, arguments, revision, span, budget)
            }
            _ => Ok(CheckedArguments::Pass),
        };
        match (checked, &tool) {
            (Ok(checked), _) => self.conclude(call, tool, checked, now),
            (Err(OutOfBudget), Some(Tool::Offered { contract, .. })) => {
                let check = Check::Arguments {
                    contract: contract.clone(),
                    arguments: call.arguments().cloned(),
                    revision: call.audience.revision.clone(),
                    span: call.call_span.clone(),
                };
                let stream = Some(call.stream);
                self.start_job(stream, check, JobPurpose::Call(call, tool));
                PartFate::Waiting
            }
            (Err(OutOfBudget), _) => PartFate::Dropped,
        }
    }

    /// Ends the wait for a call whose arguments a job has checked.
    pub(super) fn conclude_call(
        &mut self,
        call: WaitingCall,
        tool: Option<Tool>,
        checked: CheckedArguments,
        now: Instant,
    ) {
        let (ticket, index) = (call.ticket, call.index);
        match self.conclude(call, tool, checked, now) {
            PartFate::Waiting => {}
            fate => self.settle(ticket, index, fate),
        }
    }

    /// Whether a replica is about to refuse `call` because of a list that may have changed since.
    fn may_have_changed(&self, call: &WaitingCall) -> bool {
        self.server.rules().settings.is_replica
            && !call.is_rechecked
            && self.catalog.is_older(&call.audience, RECHECK_AGE, call.received)
    }

    /// Requests the tool list again and then decides about `call`.
    fn recheck(&mut self, mut call: WaitingCall, now: Instant) {
        call.is_rechecked = true;
        call.restored = None;
        self.catalog.expire(&call.audience);
        self.fetch_tools(call, now);
    }

    /// Sends or refuses a call, unless it was cancelled meanwhile.
    fn conclude(
        &mut self,
        call: WaitingCall,
        tool: Option<Tool>,
        checked: CheckedArguments,
        now: Instant,
    ) -> PartFate {
        let is_refused = matches!(&tool, Some(Tool::Withheld(_)))
            || matches!(&checked, CheckedArguments::Refused(_));
        if is_refused && self.may_have_changed(&call) {
            self.recheck(call, now);
            return PartFate::Waiting;
        }
        // Names of unknown tools are anybody's, and are not counted one by one.
        let own_name = match &tool {
            Some(Tool::Offered { contract, .. }) => contract.name().to_owned(),
            _ => call.name.clone(),
        };
        let name = if tool.is_some() { own_name.as_str() } else { OTHER };
        self.server.status().record_call(name, &call.audience.revision);
        if let Some(span) = &call.call_span {
            span.set_tool(&own_name, tool.is_some());
        }
        let Some(pending) = self.pending.get_mut(&call.key) else { return PartFate::Dropped };
        if let Some(Tool::Withheld(reason)) = &tool {
            let text = format!("tool `{}` is not offered: {reason}", call.name);
            pending.end_refused(code::PARAMS);
            self.pending.remove(&call.key);
            self.refuse(call.stream, Some(&call.id), code::PARAMS, &text);
            return PartFate::Dropped;
        }
        let mut headers = call.header_changes.clone();
        let repaired = match checked {
            CheckedArguments::Pass => None,
            CheckedArguments::Repaired { arguments, headers: changed } => {
                headers.extend(changed);
                Some(arguments)
            }
            CheckedArguments::Refused(refusal) => {
                if let Some(span) = &call.call_span {
                    span.set_refused();
                    span.set_tool_error();
                    span.end_result();
                }
                self.pending.remove(&call.key);
                let answer = response(&call.id, &refusal);
                self.send(Destination::Answer(call.stream), None, answer);
                return PartFate::Dropped;
            }
        };
        pending.is_held = false;
        pending.purpose = Purpose::Call { tool, revision: call.audience.revision.clone() };
        if own_name != call.name {
            headers.push(HeaderChange::of_name(&call.name, &own_name));
        }
        if self.link == Link::Streams && !headers.is_empty() {
            self.actions.push_back(Action::SetHeaders { stream: call.stream, headers });
        }
        match call.to_send(&own_name, repaired) {
            Ok(fate) => fate,
            Err(Misfit) => self.refuse_edit(call.stream, &call.key, &call.id),
        }
    }
}
