//! What becomes of the messages of the server.

use std::time::Instant;

use bytes::Bytes;
use bytestring::ByteString;
use toolbond_contract::results::Interim;

use super::action::{Action, AskId, Destination, StreamId, Ticket};
use super::held::{Decision, Decisions};
use super::job::{AnsweredCall, JobKind, JobOutcome};
use super::link::{Link, Origin};
use super::pending::{Pending, Purpose};
use super::running::{AnswerPurpose, HeldAnswer, JobPurpose};
use super::state::Conversation;
use crate::contract::budget::{Budget, OutOfBudget};
use crate::contract::catalog::Tool;
use crate::contract::list::PageOutcome;
use crate::contract::result::CheckedResult;
use crate::environment::Record;
use crate::era::{Defaults, Translated};
use crate::event::{CallSource, Event};
use crate::json::edit::{Span, apply};
use crate::json::members::members;
use crate::json::object::Fields;
use crate::json::rope::Rope;
use crate::message::{
    Content, Envelope, Frame, Id, Kind, Message, Method, Outline, Parts, Task, TokenOf, Unreadable,
    cancelled_id, code, default_edits, error, error_message, error_object, meta, progress,
    task_result, text,
};
use crate::server::Rules;

/// What takes the place of an answer that could not be checked.
const UNCHECKED: &str = "could not check the answer of the server";

/// What takes the place of an answer about a task that may hold a result.
const UNKNOWN_TASK: &str = "could not check the result: the guard does not know this task";

/// What takes the place of an answer to a call that another replica has checked.
const RESUMED_ELSEWHERE: &str =
    "could not check the result: another replica has checked the call; call the tool again";

/// The characters of an id or a name that the log shows.
pub(super) const SHOWN: usize = 60;

/// One part of a message of the server.
struct ServerPart<'a> {
    ticket: Ticket,
    index: usize,
    origin: Origin,
    rules: &'a Rules,
    text: &'a ByteString,
    envelope: &'a Envelope,
    outline: Option<&'a Outline<'a>>,
    /// The id that takes the place of its own.
    id: Option<&'a Id>,
    /// Members of its result that it gets unless it has them.
    defaults: Defaults,
}

/// A part that is checked: what of it, and how its text changes.
struct Checked<'a> {
    part: &'a ServerPart<'a>,
    /// The result of a call or a page of the list, in the text of the part.
    result: Span,
    /// The edits that are needed whatever comes of the check.
    edits: Vec<(Span, String)>,
    /// The request that it answers.
    id: Option<Id>,
    to: Destination,
}

impl Conversation {
    /// Takes a message of the server.
    pub fn on_server(&mut self, origin: Origin, message: &Message<'_>, now: Instant) -> Ticket {
        self.now = now;
        let ticket = Ticket(self.next_number());
        if self.translates() {
            self.receive(message);
            self.actions.push_back(Action::Done(ticket));
            return ticket;
        }
        let server = self.server.clone();
        let rules = server.rules();
        let mut budget = Budget::inline();
        let parts = message.parts.as_slice().iter().enumerate();
        let decisions: Decisions = parts
            .map(|(index, envelope)| {
                let (outline, text) = (message.outline.as_ref(), &**message.text);
                let (rules, id, defaults): (_, _, Defaults) = (&**rules, None, &[]);
                let part = ServerPart {
                    ticket,
                    index,
                    origin,
                    rules,
                    text,
                    envelope,
                    outline,
                    id,
                    defaults,
                };
                self.decide_server(&part, &mut budget)
            })
            .collect();
        self.release(ticket, message, decisions);
        ticket
    }

    /// Takes a message that was translated. `outline` is that of its result, if the server wrote that.
    pub(super) fn take(
        &mut self,
        origin: Origin,
        translated: &Translated,
        outline: Option<&Outline<'_>>,
    ) {
        let Translated { frame: Frame { text, part: envelope }, id, defaults } = translated;
        let ticket = Ticket(self.next_number());
        let server = self.server.clone();
        let rules = server.rules();
        let (index, rules, id, defaults) = (0, &**rules, id.as_ref(), *defaults);
        let part =
            ServerPart { ticket, index, origin, rules, text, envelope, outline, id, defaults };
        let decision = self.decide_server(&part, &mut Budget::inline());
        self.release_one(ticket, text, envelope, decision);
    }

    /// Takes text from the server that is not a message. Returns `true` if it is to be forwarded as it is.
    ///
    /// Servers print lines that do not belong there, and clients skip them. But a text that looks like
    /// a broken message may be the answer to the request that it names, or to any open one where it
    /// names none.
    pub fn on_unreadable_server(
        &mut self,
        origin: Origin,
        text: &Unreadable,
        now: Instant,
    ) -> bool {
        self.now = now;
        if !self.server.rules().settings.is_inspecting() && !text.excerpt.is_empty() {
            return true;
        }
        let is_text = text.content != Content::Binary;
        let stream = match origin {
            Origin::Pipe => None,
            Origin::Stream(stream) | Origin::Resumed(stream) => Some(stream),
            // Nobody waits for an answer there.
            Origin::Listening(_) => return is_text && !text.may_be_message,
        };
        if stream.is_some() && is_text && !text.may_be_message {
            return true;
        }
        let event = if text.excerpt.is_empty() {
            Event::error(format!("server: {}", text.reason))
        } else {
            let shown = &text.excerpt;
            let what = "server: skipped output that is not a message";
            Event::warning(format!("{what}: `{shown}`")).or_unquoted(what)
        };
        if let Some(event) = self.skipped.add(event, now) {
            self.report(event);
        }
        if stream.is_none() && !text.may_be_message {
            return false;
        }
        let known = match (&mut self.bridge, &text.id) {
            // The ids of the server's own requests are no business of the bridge.
            (Some(bridge), Some(id)) if !text.has_method => bridge.take_retried(id),
            _ => None,
        };
        let known = known.as_ref().or(text.id.as_ref());
        let reason = if text.excerpt.is_empty() {
            text.reason.clone()
        } else {
            "the server sent a broken message".to_owned()
        };
        match (stream, known) {
            (Some(stream), _) => self.give_up(Some(stream), &reason, false),
            (None, Some(id)) if text.has_method => {
                // The server waits for the answer to a request that nobody can read.
                self.refuse_server(id, code::REQUEST, &text.reason);
            }
            (None, Some(id)) => match self.asked(id) {
                Some(ask) => self.end_ask(ask, &reason),
                None => {
                    if let Some(pending) = self.pending.answer(id) {
                        self.fail_request(id, &pending, &reason);
                    }
                }
            },
            // It may answer any request. The clients of a shared process do not pay for each other's.
            (None, None) if !text.has_method && self.is_for_one() => {
                self.give_up(None, &reason, false);
            }
            (None, None) => {}
        }
        false
    }

    /// Whether a message of the server that names no request can only be for one client.
    fn is_for_one(&self) -> bool {
        self.link != Link::Shared || self.pending.open_keys(None, false).len() == 1
    }

    /// The request of the guard itself that an answer with `id` on a pipe belongs to.
    fn asked(&self, id: &Id) -> Option<AskId> {
        AskId::of_answer(id).filter(|ask| self.fetcher.is_asking(*ask))
    }

    /// Answers a request, which the server answered with what cannot be used, with an error.
    fn fail_request(&mut self, id: &Id, pending: &Pending, reason: &str) {
        if pending.is_abandoned {
            return;
        }
        pending.end_refused(code::INTERNAL);
        let own = pending.client_id.as_deref().and_then(Id::parse);
        self.refuse(pending.stream, Some(own.as_ref().unwrap_or(id)), code::INTERNAL, reason);
    }

    fn decide_server(
        &mut self,
        part: &ServerPart<'_>,
        budget: &mut Budget,
    ) -> (Destination, Decision) {
        let to = match part.origin {
            Origin::Pipe if matches!(self.link, Link::Pipe | Link::Endpoint) => {
                Destination::Client(StreamId::PIPE)
            }
            Origin::Pipe => Destination::Listener,
            Origin::Stream(stream) | Origin::Resumed(stream) | Origin::Listening(stream) => {
                Destination::Client(stream)
            }
        };
        match &part.envelope.kind {
            Kind::Response(id) => self.answer(to, part.id.unwrap_or(id), part, budget),
            Kind::Notification(Method::ToolsChanged) => {
                self.catalog.invalidate();
                let (to, edits) = self.route(to, part);
                (to, edited(part, edits))
            }
            Kind::Notification(Method::Acknowledged) => {
                self.acknowledge(part);
                let (to, edits) = self.route(to, part);
                (to, edited(part, edits))
            }
            Kind::Notification(Method::TaskStatus) if part.rules.settings.inspects_results() => {
                let (to, edits) = self.route(to, part);
                self.task_status(to, edits, part, budget)
            }
            Kind::Notification(Method::Cancelled) if self.link == Link::Shared => {
                self.end_subscription(to, part)
            }
            // There is no client that it could be for.
            Kind::Request(id, _) if self.link == Link::Shared => {
                self.refuse_server(id, code::REQUEST, "not supported");
                (to, Decision::Dropped)
            }
            // No request is waiting for it.
            Kind::Other
                if part.envelope.result.is_some() && part.rules.settings.is_inspecting() =>
            {
                (to, Decision::Dropped)
            }
            _ => {
                let (to, edits) = self.route(to, part);
                (to, edited(part, edits))
            }
        }
    }

    /// Notes what the server agrees to tell a subscription of.
    fn acknowledge(&mut self, part: &ServerPart<'_>) {
        let stream = match part.origin {
            Origin::Pipe => StreamId::PIPE,
            Origin::Stream(stream) | Origin::Resumed(stream) => stream,
            Origin::Listening(_) => return,
        };
        let found = progress(part.text, part.envelope, TokenOf::Notification).unwrap_or_default();
        let Some((id, _)) = found.subscription else { return };
        let told = part.envelope.find(part.text, ["notifications"]).ok().and_then(|[told]| told);
        let tools = told.and_then(|told| members(told, ["toolsListChanged"]).ok()?[0]);
        self.pending.acknowledge(&(stream, id), tools == Some("true"));
    }

    /// Passes on that the server ends a subscription, whose stream ends with that.
    fn end_subscription(
        &mut self,
        to: Destination,
        part: &ServerPart<'_>,
    ) -> (Destination, Decision) {
        let Some((id, span)) = cancelled_id(part.text, part.envelope) else {
            return (to, Decision::Same);
        };
        let key = (StreamId::PIPE, id);
        let pending = self.pending.get(&key);
        if !pending.is_some_and(|it| matches!(it.purpose, Purpose::Subscription { .. })) {
            return (to, Decision::Same);
        }
        let Some(pending) = self.pending.remove(&key).filter(|it| !it.is_abandoned) else {
            return (to, Decision::Dropped);
        };
        self.actions.push_back(Action::NoAnswer(pending.stream));
        let edits = pending.client_id.map(|own| (span, own)).into_iter().collect();
        (Destination::Client(pending.stream), edited(part, edits))
    }

    /// Finds the client that a message of a process, which is no answer, is for.
    fn route(&self, to: Destination, part: &ServerPart<'_>) -> (Destination, Vec<(Span, String)>) {
        if to != Destination::Listener {
            return (to, Vec::new());
        }
        let found = progress(part.text, part.envelope, TokenOf::Notification).unwrap_or_default();
        if let Some((token, span)) = &found.token
            && let Some(pending) = self.pending.by_token(token)
        {
            let text = pending.token.as_ref().and_then(|(_, text)| text.clone());
            let edits = text.map(|text| (*span, text)).into_iter().collect();
            return (Destination::Client(pending.stream), edits);
        }
        if let Some((id, span)) = &found.subscription
            && let Some(pending) = self.pending.get(&(StreamId::PIPE, id.clone()))
        {
            let edits = pending.client_id.clone().map(|text| (*span, text));
            return (Destination::Client(pending.stream), edits.into_iter().collect());
        }
        // A log message comes before the answer to its request, and does not name it.
        if self.link == Link::Shared
            && part.envelope.kind == Kind::Notification(Method::LogMessage)
            && let Some(pending) = self.pending.only_logged()
        {
            return (Destination::Client(pending.stream), Vec::new());
        }
        (to, Vec::new())
    }

    /// Tells the server why its message reached no client, if that is a request.
    pub fn on_undelivered(&mut self, bytes: &Bytes, reason: &str, now: Instant) {
        self.now = now;
        let parts = text(bytes).ok().and_then(|text| Parts::read(&text).ok());
        if let Some(Parts::One(Envelope { kind: Kind::Request(id, _), .. })) = parts {
            self.refuse_server(&id, code::INTERNAL, reason);
        }
    }

    /// Answers the request `id` of the server with an error.
    fn refuse_server(&mut self, id: &Id, code: i32, reason: &str) {
        let error = error_object(code, reason, None);
        // The request was not translated, so its answer is not either.
        self.send_untranslated(StreamId::PIPE, Frame::error(id, &error));
    }

    fn answer(
        &mut self,
        to: Destination,
        id: &Id,
        part: &ServerPart<'_>,
        budget: &mut Budget,
    ) -> (Destination, Decision) {
        if let (Origin::Pipe, Some(ask)) = (part.origin, self.asked(id)) {
            match part.envelope.result {
                Some(result) => {
                    let result = part.text.slice_ref(result.text(part.text));
                    self.take_own_answer(ask, Some(result));
                }
                None => self.end_ask(ask, &error_reason(part.text)),
            }
            return (to, Decision::Dropped);
        }
        let renames = part.rules.settings.may_refuse_results();
        let pending = match part.origin {
            Origin::Pipe => self.pending.answer(id),
            // A client that goes by ids would take it for the answer to another request.
            Origin::Stream(stream) | Origin::Resumed(stream)
                if self.pending.is_elsewhere(stream, id) =>
            {
                None
            }
            Origin::Stream(stream) => self.pending.answer_on(stream, id, false, renames),
            Origin::Resumed(stream) => self.pending.answer_on(stream, id, true, renames),
            Origin::Listening(_) => self.pending.answer_anywhere(id),
        };
        let Some(pending) = pending else {
            return self.unexpected(to, id, part);
        };
        if pending.is_abandoned {
            return (to, Decision::Dropped);
        }
        let to = match (part.origin, to) {
            (Origin::Pipe, _) => Destination::Answer(pending.stream),
            (_, Destination::Client(stream)) => Destination::Answer(stream),
            (_, to) => to,
        };
        let mut edits = Vec::new();
        let own = pending.client_id.clone().or_else(|| part.id.map(ToString::to_string));
        if let Some((own, span)) = own.zip(part.envelope.id) {
            edits.push((span, own));
        }
        let Some(result) = part.envelope.result else {
            let text = part.envelope.span.text(part.text);
            pending.end_error(text);
            if let Purpose::Call { tool: Some(Tool::Offered { contract, .. }), .. } =
                &pending.purpose
            {
                let source = CallSource { id: part.id.cloned(), client: pending.client.clone() };
                let (tool, message) = (contract.name(), &*error_reason(text));
                let failed = Record::Failed { tool, source: &source, message };
                self.server.environment().record(&failed);
            }
            return (to, edited(part, edits));
        };
        if let (Purpose::Subscription { .. }, Some(own)) = (&pending.purpose, &pending.client_id) {
            let named = subscription_of(result.text(part.text));
            edits.extend(
                named.and_then(|it| Span::locate(part.text, it)).map(|it| (it, own.clone())),
            );
        }
        let id = pending.client_id.as_deref().and_then(Id::parse).unwrap_or_else(|| id.clone());
        self.result(pending, Checked { part, result, edits, id: Some(id), to }, budget)
    }

    /// Decides about the result of a request.
    fn result(
        &mut self,
        pending: Pending,
        checked: Checked<'_>,
        budget: &mut Budget,
    ) -> (Destination, Decision) {
        let (part, to) = (checked.part, checked.to);
        let settings = &part.rules.settings;
        let text = checked.result.text(part.text);
        let refused = |message: &str| replaced(error(checked.id.as_ref(), code::INTERNAL, message));
        match pending.purpose {
            Purpose::Handshake { client } => {
                self.shake_hands(text);
                // Where each request has its own stream, clients share a conversation until they have a session.
                match client {
                    Some(name) if self.link == Link::Streams => self.sessionless.add(name),
                    client => self.client = client.map(Into::into).or(self.client.take()),
                }
            }
            Purpose::List { request, mut key } => {
                // Its request may have come before the era of the server was known.
                key.audience = self.bridged(key.audience);
                let others = self.catalog.names_before(&key, request);
                let (result, audience) = (part.text.slice_ref(text), key.audience.clone());
                let check = JobKind::Page { request, others, result, audience };
                return self.check_later(checked, check, AnswerPurpose::List(key));
            }
            Purpose::Call { tool, revision, interim } if settings.inspects_results() => {
                // It gets defaults where it is the answer of an earlier server, whose results are all final.
                let interim = if part.defaults.is_empty() { interim } else { Interim::None };
                let source = CallSource { id: checked.id.clone(), client: pending.client };
                let span = pending.span;
                let call = AnsweredCall { tool, revision, interim, source, span };
                return self.check_result(checked, call, budget);
            }
            Purpose::TaskResult { tool, revision } if settings.inspects_results() => {
                let source = CallSource { id: checked.id.clone(), client: pending.client };
                let span = pending.span;
                let call = AnsweredCall { tool, revision, interim: Interim::None, source, span };
                return self.check_result(checked, call, budget);
            }
            Purpose::UnknownTask { is_result }
                if settings.may_refuse_results()
                    && (is_result || task_result(text).map_or(true, |it| it.is_some())) =>
            {
                return (to, refused(UNKNOWN_TASK));
            }
            Purpose::Task { tool, revision } if settings.inspects_results() => {
                let inner = match task_result(text) {
                    Ok(result) => result.and_then(|result| Span::locate(part.text, result)),
                    Err(wrong) => return (to, refused(&self.report_task(&wrong))),
                };
                if let Some(result) = inner {
                    let source = CallSource { id: checked.id.clone(), client: pending.client };
                    let call =
                        AnsweredCall { tool, revision, interim: Interim::None, source, span: None };
                    return self.check_result(Checked { result, ..checked }, call, budget);
                }
            }
            _ => pending.end_result(),
        }
        (to, edited(part, checked.edits))
    }

    /// Reports that a task cannot be read, and returns what its client is told.
    fn report_task(&self, wrong: &serde_json::Error) -> String {
        let message = format!("could not read the task: {wrong}");
        let event = Event::error(format!("server: {message}"));
        self.report(event.or_unquoted("server: could not read the task"));
        message
    }

    /// Decides about an answer to a request that is not pending.
    fn unexpected(
        &self,
        to: Destination,
        id: &Id,
        part: &ServerPart<'_>,
    ) -> (Destination, Decision) {
        let settings = &part.rules.settings;
        let is_result = part.envelope.result.is_some();
        if self.link.splits_batches() || AskId::of_answer(id).is_some() {
            return (to, Decision::Dropped);
        }
        let is_own_stream = matches!(part.origin, Origin::Pipe | Origin::Stream(_));
        // Another replica has seen the call.
        if is_result && settings.is_replica() && !is_own_stream {
            if settings.may_refuse_results() {
                let refusal = error(Some(id), code::INTERNAL, RESUMED_ELSEWHERE);
                return (to, replaced(refusal));
            }
            return (to, Decision::Same);
        }
        if is_result && settings.is_inspecting() {
            let id: String = id.to_string().chars().take(SHOWN).collect();
            let text = format!("server: dropped an answer to request {id}, which is not pending");
            self.report(Event::info(text));
            return (to, Decision::Dropped);
        }
        (to, Decision::Same)
    }

    /// Checks the result that a notification about a task may hold.
    fn task_status(
        &mut self,
        to: Destination,
        edits: Vec<(Span, String)>,
        part: &ServerPart<'_>,
        budget: &mut Budget,
    ) -> (Destination, Decision) {
        let task = match Task::of_params(part.text, part.envelope) {
            Ok(task) => task,
            Err(error) => {
                self.report_task(&error);
                return (to, Decision::Dropped);
            }
        };
        let Some(result) = task.result.and_then(|it| Span::locate(part.text, it)) else {
            return (to, edited(part, edits));
        };
        let Some((tool, revision)) = task.id.and_then(|id| self.tasks.get(&id)) else {
            if part.rules.settings.may_refuse_results() {
                let text = "server: withheld the result of a task that the guard does not know";
                self.server.report_event_once(Event::error(text));
                return (to, Decision::Dropped);
            }
            return (to, edited(part, edits));
        };
        let checked = Checked { part, result, edits, id: None, to };
        let source = CallSource::default();
        let call = AnsweredCall { tool, revision, interim: Interim::None, source, span: None };
        self.check_result(checked, call, budget)
    }

    /// Checks a result now if it is small, else in a job.
    fn check_result(
        &mut self,
        checked: Checked<'_>,
        call: AnsweredCall,
        budget: &mut Budget,
    ) -> (Destination, Decision) {
        let Checked { part, result, to, .. } = checked;
        let text = result.text(part.text);
        // The outline is of the whole result of the message.
        let outline = part.outline.filter(|_| part.envelope.result == Some(result));
        match call.check(&self.server, part.rules).check(text, outline, budget) {
            Ok(done) => {
                self.end_call(&call, &done, text);
                (to, replaced_in(part, checked.edits, result, done.replacement))
            }
            Err(OutOfBudget) => {
                let result = part.text.slice_ref(text);
                let check = JobKind::Result { call: call.clone(), result };
                self.check_later(checked, check, AnswerPurpose::Call(call))
            }
        }
    }

    /// Remembers the tasks that a call created, and ends its span. `text` is the result as the server wrote it.
    fn end_call(&mut self, call: &AnsweredCall, done: &CheckedResult, text: &str) {
        self.tell_learned();
        for task in &done.tasks {
            self.tasks.insert(task, call.tool.clone(), call.revision.clone());
        }
        if let Some(span) = &call.span {
            if self.server.rules().settings.show_values.in_spans {
                span.set_result(done.replacement.as_deref().unwrap_or(text));
            }
            span.end_result();
        }
    }

    /// Starts a job for a part, which is held until then.
    fn check_later(
        &mut self,
        checked: Checked<'_>,
        check: JobKind,
        purpose: AnswerPurpose,
    ) -> (Destination, Decision) {
        let Checked { part, result, edits, id, to } = checked;
        let stream = match to {
            Destination::Answer(stream) | Destination::Client(stream)
                if stream != StreamId::PIPE =>
            {
                Some(stream)
            }
            _ => None,
        };
        let answer = HeldAnswer {
            ticket: part.ticket,
            index: part.index,
            part: part.envelope.clone(),
            result,
            edits,
            defaults: part.defaults,
            id,
            purpose,
        };
        self.start_job(stream, check, JobPurpose::Answer(answer));
        (to, Decision::Waiting)
    }

    /// Decides about a held part of the server that a job has checked.
    pub(super) fn conclude_answer(&mut self, answer: HeldAnswer, outcome: JobOutcome) {
        let (ticket, index) = (answer.ticket, answer.index);
        let text = self.held_text(ticket).cloned().unwrap_or_default();
        let decision = self.take_outcome(&answer, outcome, &text).and_then(|replacement| {
            let server = self.server.clone();
            let part = ServerPart {
                ticket,
                index,
                origin: Origin::Pipe,
                rules: &server.rules(),
                text: &text,
                envelope: &answer.part,
                outline: None,
                id: None,
                defaults: answer.defaults,
            };
            match replaced_in(&part, answer.edits, answer.result, replacement) {
                Decision::Dropped => Err(UNCHECKED.to_owned()),
                decision => Ok(decision),
            }
        });
        let failed =
            |message: String| replaced(error(answer.id.as_ref(), code::INTERNAL, &message));
        self.settle(ticket, index, decision.unwrap_or_else(failed));
    }

    /// Returns the text that takes the place of the result of a held part, which stands in `text`; fails with what the
    /// client is told in its place.
    fn take_outcome(
        &mut self,
        answer: &HeldAnswer,
        outcome: JobOutcome,
        text: &ByteString,
    ) -> Result<Option<String>, String> {
        match (outcome, &answer.purpose) {
            (JobOutcome::Result(done), AnswerPurpose::Call(call)) => {
                self.end_call(call, &done, answer.result.text(text));
                Ok(done.replacement)
            }
            (JobOutcome::Page(page), AnswerPurpose::List(key)) => {
                self.has_told_change = false;
                if let Some((page, tools)) = page.tools {
                    self.catalog.add_page(key, page, tools);
                }
                match page.outcome {
                    PageOutcome::Same => Ok(None),
                    PageOutcome::Replaced(text) => Ok(Some(text)),
                    PageOutcome::Refused(message) => Err(message),
                }
            }
            (JobOutcome::Failed(reason), purpose) => {
                if let AnswerPurpose::Call(AnsweredCall { span: Some(span), .. }) = purpose {
                    span.set_withheld();
                    span.end_error(code::INTERNAL.into());
                }
                Err(format!("{UNCHECKED}: {reason}"))
            }
            _ => Err(UNCHECKED.to_owned()),
        }
    }
}

/// The id of the subscription that a result ends.
fn subscription_of(result: &str) -> Option<&str> {
    let [about] = members(result, ["_meta"]).ok()?;
    members(about?, [meta::SUBSCRIPTION]).ok()?[0]
}

/// Returns why a request of the guard itself failed that the server answered with the error `text`.
fn error_reason(text: &str) -> String {
    let message = members(text, ["error"]).ok().and_then(|[error]| error_message(error?));
    match message {
        Some(message) => {
            let message: String = message.chars().take(200).collect();
            format!("the server answered `{message}`")
        }
        None => "the server answered with an error".to_owned(),
    }
}

/// Applies `edits` to a part, and adds the default members of its result.
fn edited(part: &ServerPart<'_>, mut edits: Vec<(Span, String)>) -> Decision {
    if let (Some(result), false) = (part.envelope.result, part.defaults.is_empty()) {
        let result = result.text(part.text);
        let fields = part.outline.is_none().then(|| Fields::read(part.text, result)).flatten();
        let has = |name: &str| match (&fields, part.outline) {
            (Some(fields), _) => fields.get(part.text, name).is_some(),
            (None, Some(outline)) => outline.members.get(name).is_some(),
            (None, None) => true,
        };
        edits.extend(default_edits(part.text, result, has, part.defaults));
    }
    if edits.is_empty() {
        return Decision::Same;
    }
    Rope::edit(part.text, part.envelope.span, edits).map_or(Decision::Dropped, Decision::Edited)
}

/// Applies `edits` to a part, and puts `new` in the place of `old`, its result or a part of that.
fn replaced_in(
    part: &ServerPart<'_>,
    mut edits: Vec<(Span, String)>,
    old: Span,
    new: Option<String>,
) -> Decision {
    let Some(new) = new else { return edited(part, edits) };
    if part.envelope.result != Some(old) || part.defaults.is_empty() {
        edits.push((old, new));
        return edited(part, edits);
    }
    let fields = Fields::read(&new, &new);
    let has = |name: &str| fields.as_ref().is_none_or(|it| it.get(&new, name).is_some());
    let more: Vec<_> = default_edits(&new, &new, has, part.defaults).into_iter().collect();
    let Ok(new) = apply(&new, Span::from(0, &new), more) else { return Decision::Dropped };
    edits.push((old, new));
    Rope::edit(part.text, part.envelope.span, edits).map_or(Decision::Dropped, Decision::Edited)
}

/// A message of the guard in place of a part.
fn replaced(message: Vec<u8>) -> Decision {
    Decision::Edited(Rope::new(message))
}
