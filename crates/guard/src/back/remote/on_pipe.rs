//! What the guard does for a client on a pipe that one on HTTP does for itself: it opens a session again that the server
//! has ended, follows redirects, and says what a status means.

use hyper::header::{HeaderValue, LOCATION};
use hyper::{Response, StatusCode};

use super::connection::{Connection, NoAnswer};
use super::refusal::HttpRefusal;
use super::request::{Request, ToServer};
use crate::back::http::answer::read_answer;
use crate::pipe::pieces::Pieces;
use crate::url::{place_at, without_query};
use toolbond_guard_core::event::Event;
use toolbond_guard_core::json::object::Object;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::message::{Frame, Id, code, error_message, error_object};

/// The most bytes of an `initialize` that is kept for another session.
const MAX_INITIALIZE: usize = 64 << 10;

impl Connection {
    /// Whether a response redirects a client on a pipe to another path of the server, where requests go from then on.
    ///
    /// Fails with what to tell the client if it leads to another server, which would get its headers.
    pub(super) fn follows<B>(&self, response: &Response<B>) -> Result<bool, String> {
        let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 307 | 308);
        let location = response.headers().get(LOCATION).filter(|_| is_redirect);
        let Some(location) = location.filter(|_| self.headers.is_on_pipe) else { return Ok(false) };
        let location = String::from_utf8_lossy(location.as_bytes());
        let upstream = &self.remote.http.url;
        let base = lock(&self.known).moved.clone().unwrap_or_else(|| upstream.clone());
        let Some(moved) = place_at(upstream, &base, &location) else {
            let location: String = without_query(&location).chars().take(200).collect();
            return Err(format!("the server redirects to {location}: guard that URL instead"));
        };
        lock(&self.known).moved = Some(moved);
        Ok(true)
    }

    /// Keeps the request that opens a session, to open another one.
    pub(super) fn keep_initialize(&self, request: Option<&Request>, text: &Pieces) {
        let kept = ToServer { request: request.cloned(), text: text.clone() };
        let is_short = text.length() <= MAX_INITIALIZE;
        lock(&self.known).initialize = is_short.then_some(kept);
    }

    /// Asks the server in the name of a client on a pipe. If the server does not know the session any more, opens another
    /// one and asks once more.
    pub(super) async fn ask_on_pipe(
        &self,
        id: &Id,
        request: Option<&Request>,
        text: Pieces,
    ) -> Result<(), NoAnswer> {
        let session = lock(&self.known).session.clone();
        let mut asked = self.ask(id, request, text.clone()).await;
        if matches!(asked, Err(NoAnswer::SessionEnded)) {
            asked = match self.reopen(session).await {
                Ok(()) => self.ask(id, request, text).await,
                Err(NotReopened(reason)) => {
                    let text = format!("the server has ended the session, {reason}");
                    self.remote.report(&text);
                    return Err(NoAnswer::internal(&text));
                }
            };
        }
        asked.map_err(|no_answer| match no_answer {
            NoAnswer::SessionEnded => NoAnswer::internal("the server ends each session at once"),
            // It says nothing about the era of the server.
            NoAnswer::Unreached(reason) => {
                let error = error_object(code::INTERNAL, &reason, None);
                NoAnswer::Http(error, Box::new(HttpRefusal::new(StatusCode::BAD_GATEWAY)))
            }
            NoAnswer::Http(error, refusal) => {
                let text = self.explain(&error, refusal.status());
                self.remote.server.report_event_once(Event::error(format!("server: {text}")));
                NoAnswer::Http(error_object(code::INTERNAL, &text, None), refusal)
            }
            other @ NoAnswer::Error(_) => other,
        })
    }

    /// What an answer with this status and `error` means, and what to do.
    fn explain(&self, error: &str, status: StatusCode) -> String {
        let told = error_message(error).filter(|told| !told.contains(status.as_str()));
        let told = told.map_or_else(String::new, |told| format!(" ({told})"));
        let advice = match (status, self.headers.has_credentials()) {
            (StatusCode::UNAUTHORIZED, false) => {
                "; it wants credentials: give the guard a token with \
                 `--header 'Authorization: Bearer $TOKEN'`, where TOKEN is an environment variable"
            }
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, true) => {
                "; it does not accept the credentials of `--header`"
            }
            _ => "",
        };
        format!("the server answered {status}{told}{advice}")
    }

    /// Opens a session in place of `ended`, which the server does not know any more, unless that has been done.
    pub(super) async fn reopen(&self, ended: Option<HeaderValue>) -> Result<(), NotReopened> {
        let _one = self.reopening.lock().await;
        let initialize = {
            let mut known = lock(&self.known);
            if known.session != ended {
                return Ok(());
            }
            known.session = None;
            known.initialize.clone()
        };
        let reopened = self.open_session(initialize).await;
        if reopened.is_err() {
            // The next request tries again.
            lock(&self.known).session = ended;
        } else {
            let text = "server: has ended the session; the guard has opened a new one";
            self.remote.server.report(Event::warning(text));
        }
        reopened
    }

    async fn open_session(&self, initialize: Option<ToServer>) -> Result<(), NotReopened> {
        let failed = |reason: &str| NotReopened(format!("and opens no other one: {reason}"));
        let ToServer { request, text } =
            initialize.ok_or_else(|| failed("`initialize` was too long to be kept"))?;
        let id = request.as_ref().and_then(|request| request.id.clone());
        let response = self.post(request.as_ref(), text).await.map_err(|it| failed(&it))?;
        let (status, session) =
            (response.status(), response.headers().get("mcp-session-id").cloned());
        let max = self.remote.server.rules().settings.max_message;
        let answer = read_answer(response, max, id.as_ref(), &self.remote.pool).await;
        let is_open = answer.is_some_and(|answer| answer.part.result.is_some());
        if !is_open || !status.is_success() {
            return Err(failed(&format!("it answered `initialize` with {status}")));
        }
        lock(&self.known).session = session;
        let initialized = Frame::request(None, "notifications/initialized", &Object::default());
        let text = self.remote.pool.memory().count(initialized.text.into_bytes());
        self.post(None, text.into()).await.map_err(|it| failed(&it))?;
        self.reopened.send_modify(|count| *count += 1);
        Ok(())
    }
}

/// Why no session could be opened in place of one that has ended.
pub(super) struct NotReopened(String);
