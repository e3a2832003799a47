//! Tool lists, requested by the guard itself because a call came before the list did.

use std::sync::Arc;
use std::time::Instant;

use bytestring::ByteString;

use super::action::{Action, AskId, StreamId, cancellation};
use super::fetcher::{
    Endless, FailedFetch, Fetch, LIST_PATIENCE, MADE_ROOM, MAX_FAILED, MAX_RUNNING, Pages,
    Requester, TRIES, list_request,
};
use super::held::Decision;
use super::job::JobKind;
use super::link::Link;
use super::running::JobPurpose;
use super::state::Conversation;
use super::waiting_call::{ListFailure, WaitingCall};
use crate::contract::budget::Budget;
use crate::contract::list::CheckedPage;
use crate::event::Event;
use crate::message::code;
use crate::server::Rules;

impl Conversation {
    /// Why the list for `call` failed a moment ago, so that it is not worth asking again.
    pub(super) fn recent_failure(&self, call: &WaitingCall) -> Option<ListFailure> {
        if self.fetcher.failed.is_empty() {
            return None;
        }
        let requester = Requester::of(call);
        let mut failed = self.fetcher.failed.iter();
        let failed = failed.find(|failed| {
            failed.until > self.now
                && self.catalog.is_unchanged_since(failed.page)
                && failed.requester == requester
        })?;
        Some(ListFailure { ask: None, reason: Arc::clone(&failed.reason) })
    }

    /// Lets `call` wait for the tool list, which is requested unless that was done already.
    pub(super) fn fetch_tools(&mut self, mut call: WaitingCall, rules: &Rules) -> Decision {
        let requester = Requester::of(&call);
        call.waits += 1;
        let mut running = self.fetcher.running.iter_mut();
        if let Some(fetch) = running.find(|fetch| fetch.requester == requester) {
            fetch.waiting.push(call);
            return Decision::Waiting;
        }
        let ask = match AskId::new(&self.server) {
            _ if call.waits > TRIES => Err("it changed each time it was fetched"),
            ask => ask.ok_or("the system has no random numbers"),
        };
        let ask = match ask {
            Ok(ask) => ask,
            Err(reason) => {
                self.report_failure(&requester, reason);
                call.failure = Some(ListFailure { ask: None, reason: reason.into() });
                return self.decide_call(call, rules, &mut Budget::inline());
            }
        };
        let timeout = rules.settings.list_timeout;
        let page = self.catalog.request_page(None, self.now).own();
        self.fetcher.running.push(Fetch {
            ask,
            stream: call.stream,
            requester,
            pages: Pages::default(),
            page,
            first: page,
            is_asked: false,
            silent_since: None,
            tries: 1,
            deadline: self.now + timeout,
            timeout,
            waiting: vec![call],
        });
        self.start_fetches();
        Decision::Waiting
    }

    /// Requests the lists that wait in line, as far as there is room.
    fn start_fetches(&mut self) {
        while self.fetcher.running.len() - self.fetcher.in_line() < MAX_RUNNING
            && let Some(next) = self.fetcher.running.iter().find(|fetch| !fetch.is_asked)
        {
            self.request_page(next.ask);
        }
    }

    /// Requests the next page of the list that `ask` was the last request for.
    fn request_page(&mut self, ask: AskId) {
        let next = AskId::new(&self.server);
        let mut running = self.fetcher.running.iter_mut();
        let Some(fetch) = running.find(|fetch| fetch.ask == ask) else { return };
        let Some(next) = next else {
            return self.end_ask(ask, "the system has no random numbers");
        };
        (fetch.ask, fetch.is_asked, fetch.silent_since) = (next, true, Some(self.now));
        let cursor = fetch.pages.cursor.as_deref();
        fetch.page = self.catalog.request_page(cursor, self.now).own();
        let request = list_request(&next.to_id(), cursor, fetch.requester.about.as_deref());
        let stream = fetch.stream;
        if self.link.asks_separately() {
            let bytes = request.text.into_bytes();
            self.actions.push_back(Action::Ask { ask: next, stream, bytes });
        } else {
            self.send_server(stream, request);
        }
    }

    /// Takes the answer to a request of the guard itself: its result, or `None` for an error.
    pub fn on_own_answer(&mut self, ask: AskId, result: Option<ByteString>, now: Instant) {
        self.now = now;
        self.take_own_answer(ask, result);
    }

    pub(super) fn take_own_answer(&mut self, ask: AskId, result: Option<ByteString>) {
        let mut running = self.fetcher.running.iter_mut();
        let Some(fetch) = running.find(|fetch| fetch.ask == ask) else { return };
        fetch.silent_since = None;
        let Some(result) = result else {
            return self.end_ask(ask, "the server answered with an error");
        };
        let (list, request) = (&fetch.requester.list, fetch.page);
        let others = self.catalog.names_before(list, request);
        let audience = list.audience.clone();
        let check = JobKind::Page { request, others, result, audience };
        self.start_job(None, check, JobPurpose::OwnPage(ask));
    }

    /// Takes a checked page, and requests the next one or resumes the calls that wait.
    pub(super) fn take_own_page(&mut self, ask: AskId, page: CheckedPage) {
        let mut running = self.fetcher.running.iter_mut();
        let Some(fetch) = running.find(|fetch| fetch.ask == ask) else { return };
        let list = &fetch.requester.list;
        let Some((added, tools)) = page.tools else {
            return self.end_ask(ask, "the answer of the server is not a list of tools");
        };
        self.catalog.add_page(list, added, tools);
        match fetch.pages.advance(page.next) {
            Ok(true) => return self.request_page(ask),
            Ok(false) if self.catalog.is_unchanged_since(fetch.first) => {}
            Ok(false) if fetch.tries < TRIES => {
                fetch.tries += 1;
                fetch.pages = Pages::default();
                fetch.first = self.catalog.request_page(None, self.now).own();
                return self.request_page(ask);
            }
            Ok(false) => {
                self.catalog.accept_stale(list);
                self.report(Event::warning(format!(
                    "server: the tool list changed each of {TRIES} times it was fetched; the last one is in force"
                )));
            }
            Err(Endless) => {
                self.catalog.cut_off(list);
                self.report(Event::error(
                    "server: the tool list has no end; calls of tools beyond its first pages are refused",
                ));
            }
        }
        let waiting = self.fetcher.take(ask).map(|fetch| fetch.waiting);
        self.resume_calls(waiting.unwrap_or_default());
        self.start_fetches();
    }

    /// Gives up the request `ask` of the guard itself, and with it the list. Only the calls that wait for this list learn
    /// of it.
    pub fn fail_fetch(&mut self, ask: AskId, reason: &str, now: Instant) {
        self.now = now;
        self.end_ask(ask, reason);
    }

    pub(super) fn end_ask(&mut self, ask: AskId, reason: &str) {
        if let Some(fetch) = self.fetcher.take(ask) {
            self.end_fetch(fetch, reason);
            self.start_fetches();
        }
    }

    /// Acts on time that has passed.
    pub fn on_timeout(&mut self, now: Instant) {
        self.now = now;
        self.bridge_timeout();
        if let Some(text) = self.handshake.as_mut().and_then(|it| it.report(now)) {
            if self.pending.waits_for_handshake() {
                self.server.report(Event::warning(text));
            } else {
                self.handshake = None;
            }
        }
        let late = |fetch: &mut Fetch| fetch.deadline <= now;
        for fetch in self.fetcher.running.extract_if(.., late).collect::<Vec<_>>() {
            if !fetch.is_asked {
                self.end_fetch(fetch, "too many tool lists are being fetched");
                continue;
            }
            self.stop_asking(fetch.ask);
            let reason = format!("no answer within {} s", fetch.timeout.as_secs());
            let list = fetch.requester.list.kept();
            self.fetcher.failed.push_back(FailedFetch {
                requester: Requester { list, ..fetch.requester.clone() },
                reason: reason.as_str().into(),
                until: now + fetch.timeout,
                page: fetch.first,
            });
            if self.fetcher.failed.len() > MAX_FAILED {
                self.fetcher.failed.pop_front();
            }
            self.end_fetch(fetch, &reason);
        }
        self.start_fetches();
        for _ in 0..self.fetcher.in_line() {
            let silent =
                self.fetcher.running.iter().filter_map(|it| Some((it.silent_since?, it.ask)));
            let longest = silent.min_by_key(|(since, _)| *since);
            let Some((_, ask)) = longest.filter(|(since, _)| *since + LIST_PATIENCE <= now) else {
                break;
            };
            self.stop_asking(ask);
            self.end_ask(ask, MADE_ROOM);
        }
    }

    fn end_fetch(&mut self, fetch: Fetch, reason: &str) {
        self.report_failure(&fetch.requester, reason);
        let mut waiting = fetch.waiting;
        for call in &mut waiting {
            call.failure = Some(ListFailure { ask: Some(fetch.ask), reason: reason.into() });
        }
        self.resume_calls(waiting);
    }

    fn report_failure(&self, requester: &Requester, reason: &str) {
        let settings = &self.server.rules().settings;
        let then = if settings.require_list || settings.enforces() {
            "calls are refused"
        } else if self.catalog.has_list(&requester.list) {
            "calls are checked against the last one"
        } else {
            "calls are forwarded unchecked"
        };
        self.report(Event::error(format!(
            "server: could not fetch the tool list; {then}: {reason}"
        )));
    }

    /// Tells the transport, or else the server, that nobody waits for the answer to `ask`.
    fn stop_asking(&mut self, ask: AskId) {
        if self.link.asks_separately() {
            self.actions.push_back(Action::StopAsking(ask));
        } else {
            let cancelled = cancellation(&ask.to_id(), "nobody waits for the answer");
            self.send_server(StreamId::PIPE, cancelled);
        }
    }

    /// Forgets the calls of a client that has left, and the lists that nobody else waits for.
    pub(super) fn forget_calls(&mut self, stream: StreamId) {
        let held = &mut self.held;
        for fetch in &mut self.fetcher.running {
            fetch.waiting.retain(|call| {
                if call.stream == stream {
                    held.remove(&call.ticket);
                }
                call.stream != stream
            });
            if let (true, Some(call)) = (fetch.stream == stream, fetch.waiting.first()) {
                fetch.stream = call.stream;
            }
        }
        let unwanted = |fetch: &mut Fetch| fetch.waiting.is_empty();
        for fetch in self.fetcher.running.extract_if(.., unwanted).collect::<Vec<_>>() {
            if fetch.is_asked {
                self.stop_asking(fetch.ask);
            }
        }
        self.start_fetches();
    }

    /// Answers the calls that wait for a list with an error: the server will not send it.
    pub fn fail_waiting_calls(&mut self, reason: &str) {
        let running = std::mem::take(&mut self.fetcher.running);
        for call in running.into_iter().flat_map(|fetch| fetch.waiting) {
            let decision = self.refuse_call(&call, code::INTERNAL, reason);
            self.settle(call.ticket, call.index, decision);
        }
    }

    /// Refuses a call that needs a contract, for which there is no list.
    pub(super) fn refuse_unlisted(&mut self, call: &WaitingCall, why: &ListFailure) -> Decision {
        let reason = &why.reason;
        let text = format!("could not fetch the tool list, and the call was not sent: {reason}");
        let decision = self.refuse_call(call, code::INTERNAL, &text);
        if self.link == Link::Streams {
            self.actions.push_back(Action::Unlisted { stream: call.stream, ask: why.ask });
        }
        decision
    }

    /// Decides about calls that waited for a list.
    fn resume_calls(&mut self, waiting: Vec<WaitingCall>) {
        let server = self.server.clone();
        let rules = server.rules();
        let mut budget = Budget::inline();
        for call in waiting {
            let (ticket, index) = (call.ticket, call.index);
            let decision = self.decide_call(call, &rules, &mut budget);
            self.settle(ticket, index, decision);
        }
    }
}
