//! Tool lists: of one server, or merged by the gateway from several.
//!
//! agentgateway writes `SERVER_TOOL` for the tools of a merged list, unless its configuration asks for no prefix. A tool
//! whose name starts like that with the name of exactly one server is one of that server. Any other tool may be of each of
//! the servers that its name fits, or of any: it has to pass under the terms of all of them.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::future::try_join_all;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_contract::Revision;

use super::NamedServer;
use super::reply::{failure, pass, refusal, verdict};
use super::wire::{Code, Verdict};
use crate::json::edit::{Span, apply};
use crate::json::members::{Name, members};
use crate::proxy::{Answer, Expected};

/// What stands between the name of a server and that of a tool.
const SEPARATOR: char = '_';

/// Checks `result`, a tool list of `servers` for clients of `revision`.
pub(super) async fn check(
    servers: &[NamedServer],
    revision: &Revision,
    result: Bytes,
) -> Result<Verdict, Verdict> {
    if let [server] = servers {
        if !server.is_inspecting() {
            return Ok(pass());
        }
        let checked = server.proxy.check_result(Expected::List(revision.clone()), result).await;
        return checked.map(verdict).map_err(|unread| failure(&unread, "the tool list"));
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        refusal(Code::Unknown, &format!("could not read the tool list of the servers: {error}"))
    };
    let text = std::str::from_utf8(&result).map_err(|error| unreadable(&error))?;
    let [tools] = members(text, ["tools"]).map_err(|error| unreadable(&error))?;
    let Some(tools) = tools.map(RawValue::get) else { return Ok(pass()) };
    let raws: Vec<&RawValue> = serde_json::from_str(tools).map_err(|error| unreadable(&error))?;
    let mut groups: BTreeMap<Vec<usize>, Vec<&str>> = BTreeMap::new();
    for tool in raws.iter().map(|raw| raw.get()) {
        groups.entry(owners(servers, tool)).or_default().push(tool);
    }
    let checks = groups.iter().map(|(owners, tools)| check_group(servers, owners, tools, revision));
    let checked = try_join_all(checks).await?.concat();
    if checked.iter().map(String::as_str).eq(raws.iter().map(|raw| raw.get())) {
        return Ok(pass());
    }
    let span = Span::locate(text, tools).unwrap_or(Span::from(0, text));
    let edited = apply(text, Span::from(0, text), vec![(span, format!("[{}]", checked.join(",")))]);
    let edited = edited.map_err(|_| refusal(Code::Unknown, "could not edit the tool list"))?;
    Ok(Verdict::Mutated(edited.into()))
}

/// The servers that `tool` may be of.
fn owners(servers: &[NamedServer], tool: &str) -> Vec<usize> {
    let name = name(tool);
    let fits = |server: &NamedServer| {
        name.as_deref().is_some_and(|name| own_name(&server.name, name).is_some())
    };
    let fitting: Vec<_> = (0..servers.len()).filter(|at| fits(&servers[*at])).collect();
    if fitting.is_empty() { (0..servers.len()).collect() } else { fitting }
}

fn name(tool: &str) -> Option<String> {
    let [name] = members(tool, ["name"]).ok()?;
    serde_json::from_str::<Name<'_>>(name?.get()).ok().map(|name| name.0.into_owned())
}

/// The name that `server` has for the tool that clients call `name`.
fn own_name<'a>(server: &str, name: &'a str) -> Option<&'a str> {
    let own = name.strip_prefix(server)?.strip_prefix(SEPARATOR)?;
    (!own.is_empty()).then_some(own)
}

/// `tool` under the name that `rename` makes of its own.
fn rename(tool: &str, rename: impl Fn(&str) -> Option<String>) -> Option<String> {
    let [name] = members(tool, ["name"]).ok()?;
    let name = name?.get();
    let new = rename(&serde_json::from_str::<Name<'_>>(name).ok()?.0)?;
    let edits = vec![(Span::locate(tool, name)?, Value::from(new).to_string())];
    apply(tool, Span::from(0, tool), edits).ok()
}

/// Checks `tools`, which may be of each of `owners`: those that are left, as the client gets them.
async fn check_group(
    servers: &[NamedServer],
    owners: &[usize],
    tools: &[&str],
    revision: &Revision,
) -> Result<Vec<String>, Verdict> {
    let mut tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    for server in owners.iter().map(|at| &servers[*at]).filter(|server| server.is_inspecting()) {
        if let [_] = owners {
            let own = |name: &str| own_name(&server.name, name).map(str::to_owned);
            tools = tools.iter().filter_map(|tool| rename(tool, own)).collect();
        }
        tools = check_tools(server, &tools, revision).await?;
        if let [_] = owners {
            let prefixed = |name: &str| Some(format!("{}{SEPARATOR}{name}", server.name));
            tools = tools.iter().filter_map(|tool| rename(tool, prefixed)).collect();
        }
    }
    Ok(tools)
}

/// Checks `tools` as a list of `server`. A list that is refused has no tools: those of other servers stay.
async fn check_tools(
    server: &NamedServer,
    tools: &[String],
    revision: &Revision,
) -> Result<Vec<String>, Verdict> {
    let page = format!("{{\"tools\":[{}]}}", tools.join(","));
    let checked = server.proxy.check_result(Expected::List(revision.clone()), page.into()).await;
    let result = match checked.map_err(|unread| failure(&unread, "the tool list"))? {
        None => return Ok(tools.to_vec()),
        Some(Answer::Error(_)) => return Ok(Vec::new()),
        Some(Answer::Result(result)) => result,
    };
    let texts = || -> serde_json::Result<Vec<String>> {
        let [tools] = members(std::str::from_utf8(&result).unwrap_or_default(), ["tools"])?;
        let raws: Vec<&RawValue> = serde_json::from_str(tools.map_or("[]", RawValue::get))?;
        Ok(raws.into_iter().map(|raw| raw.get().to_owned()).collect())
    };
    texts()
        .map_err(|error| refusal(Code::Unknown, &format!("could not edit the tool list: {error}")))
}
