//! The members of a message, by where they stand in its text.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error;

use super::id::Id;
use crate::json::edit::Span;
use crate::json::members::{string, unquoted};
use crate::json::object::{Fields, MembersLeft};
use crate::json::scan::Scanner;

/// Messages up to this size are read and checked on the I/O thread.
pub const INLINE_BYTES: usize = 64 << 10;

/// The outer members of a message, and those of its parameters: where they stand in its text.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The message in its text.
    pub span: Span,
    pub kind: Kind,
    /// The value of `id`, as it is written.
    pub id: Option<Span>,
    pub result: Option<Span>,
    pub error: Option<Span>,
    /// The value of `method`, as it is written.
    pub(super) method: Option<Span>,
    pub(super) params: Option<Arc<Params>>,
}

/// The parameters of a message.
#[derive(Debug)]
pub(super) struct Params {
    span: Span,
    /// Their members, if they are an object.
    fields: Option<Fields>,
    /// The members of `_meta`, if that is an object.
    meta: Option<Fields>,
}

impl Params {
    /// Reads `params`, a part of `text` that the guard wrote.
    pub(super) fn read(text: &str, params: &str) -> Option<Self> {
        Self::scan(text, &mut Scanner::new(params), &MembersLeft::any())
    }

    /// Reads the parameters that are next in a part of `text`, as far as so many members are `left`.
    pub(super) fn scan(text: &str, scanner: &mut Scanner<'_>, left: &MembersLeft) -> Option<Self> {
        if scanner.next_byte()? != b'{' {
            let span = Span::locate(text, scanner.value()?)?;
            return Some(Self { span, fields: None, meta: None });
        }
        let mut meta = None;
        let fields = Fields::scan(text, scanner, left, |scanner, name| {
            if meta.is_some() || scanner.next_byte()? != b'{' || unquoted(name) != "_meta" {
                return scanner.value();
            }
            let start = scanner.at();
            meta = Some(Fields::scan(text, scanner, left, |scanner, _| scanner.value())?);
            Some(scanner.since(start))
        })?;
        Some(Self { span: fields.span, fields: Some(fields), meta })
    }

    /// The bytes of the lists of members, unless they are few.
    pub(super) fn memory(&self) -> usize {
        self.fields.iter().chain(&self.meta).map(Fields::memory).sum()
    }
}

impl Envelope {
    /// The method; empty where there is none.
    pub fn method<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let method = self.method.map(|method| method.text(text));
        method.and_then(|json| string(json).ok()).unwrap_or_default()
    }

    /// The parameters as they are written; `None` where there are none.
    pub fn params_text<'t>(&self, text: &'t str) -> Option<&'t str> {
        let params = self.params.as_ref()?.span.text(text);
        (params != "null").then_some(params)
    }

    /// The members of the parameters, if they are an object.
    pub fn params(&self) -> Option<&Fields> {
        self.params.as_ref()?.fields.as_ref()
    }

    /// The members of `_meta` of the parameters, if that is an object.
    pub fn meta(&self) -> Option<&Fields> {
        self.params.as_ref()?.meta.as_ref()
    }

    /// The parameters called `names`.
    ///
    /// Fails where the parameters are no object, and where two readers may disagree about them.
    pub fn find<'t, const N: usize>(
        &self,
        text: &'t str,
        names: [&'static str; N],
    ) -> serde_json::Result<[Option<&'t str>; N]> {
        match (self.params(), self.params_text(text)) {
            (Some(params), _) => params.find(text, names),
            (None, Some(_)) => Err(Error::custom("expected an object")),
            (None, None) => Ok([None; N]),
        }
    }

    /// The members of `_meta` called `names`. Fails as [`Envelope::find`] does.
    pub fn find_meta<'t, const N: usize>(
        &self,
        text: &'t str,
        names: [&'static str; N],
    ) -> serde_json::Result<[Option<&'t str>; N]> {
        if let Some(meta) = self.meta() {
            return meta.find(text, names);
        }
        match self.params().and_then(|params| params.get(text, "_meta")) {
            None | Some("null") => Ok([None; N]),
            Some(_) => Err(Error::custom("#/_meta: expected an object")),
        }
    }
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Expects a response.
    Request(Id, Method),
    /// Expects none.
    Notification(Method),
    /// Answers a request.
    Response(Id),
    /// Has a method, and an id that is neither a string nor a number.
    InvalidId(Method),
    /// An error about no request in particular, or something newer than this guard.
    Other,
}

/// The methods that the guard knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Initialize,
    Discover,
    Listen,
    ListTools,
    CallTool,
    TaskResult,
    /// A request about a task, whose answer may hold the result of the call.
    Task,
    Initialized,
    Cancelled,
    ToolsChanged,
    Acknowledged,
    LogMessage,
    TaskStatus,
    Other,
}

impl Method {
    pub(super) fn parse(name: &str) -> Self {
        match name {
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            "subscriptions/listen" => Self::Listen,
            "tools/list" => Self::ListTools,
            "tools/call" => Self::CallTool,
            "tasks/result" => Self::TaskResult,
            "tasks/get" | "tasks/cancel" | "tasks/update" => Self::Task,
            "notifications/initialized" => Self::Initialized,
            "notifications/cancelled" => Self::Cancelled,
            "notifications/tools/list_changed" => Self::ToolsChanged,
            "notifications/subscriptions/acknowledged" => Self::Acknowledged,
            "notifications/message" => Self::LogMessage,
            "notifications/tasks" => Self::TaskStatus,
            _ => Self::Other,
        }
    }
}
