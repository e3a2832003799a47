//! What is measured: the server itself, the guard in front of it, and peers in front of it.

use toolbond_harness::address::local;
use toolbond_harness::guard::ENFORCE;
use toolbond_harness::mcp::url;
use toolbond_harness::process::{Process, command};

use crate::calls::{Era, REPAIRABLE};
use crate::cases::{
    COPIER, Case, Cases, Kind, Missing, OFF, Way, copier, guard, lines, through, through_peer,
};
use crate::load::{Call, FORECAST, HttpLoad, REPORT};
use crate::{peers, serve};

/// A client of 2025-11-25, which gets the array in an envelope.
const LEGACY: Call = Call { era: Era::Legacy, data: "/result", ..FORECAST };

/// Not every peer carries arrays: all are given objects of the same size.
const OBJECTS: Call = Call { era: Era::Legacy, ..REPORT };

const REPAIRED: Call = Call { arguments: REPAIRABLE, ..FORECAST };

/// The crate `mcp-proxy` has a path and names of its own.
const MCP_PROXY: Call = Call { path: "/", tool: "b/report", ..OBJECTS };

const REPAIR: &[&str] = &["--arguments", "repair", "--results", "enforce"];

/// A valid call under `enforce`, under `repair`, and a call that is repaired.
pub(super) const REPAIRS: [&str; 3] =
    ["guard, validated", "guard, valid call under repair", "guard, repaired call"];

/// A call of a client of 2025-11-25 to a server of both eras, and to one of 2026-07-28 only.
pub(super) const ERAS: [&str; 2] =
    ["guard, validated and projected", "guard, projected and bridged"];

/// What the guard is called, told and sent, and what its server is.
const GUARDS: [(Kind, &str, &[&str], Call, &str); 6] = [
    (Kind::Guard, "guard, everything off", OFF, FORECAST, "arrays"),
    (Kind::Guard, REPAIRS[0], &ENFORCE, FORECAST, "arrays"),
    (Kind::Guard, REPAIRS[1], REPAIR, FORECAST, "arrays"),
    (Kind::Changing, REPAIRS[2], REPAIR, REPAIRED, "arrays"),
    (Kind::Guard, ERAS[0], &ENFORCE, LEGACY, "arrays"),
    (Kind::Changing, ERAS[1], &ENFORCE, LEGACY, "modern"),
];

/// Starts everything, and the servers that those on HTTP share. `only` leaves out what has it not in its name.
pub(super) fn all(only: Option<&str>) -> anyhow::Result<(Vec<Case>, Missing, impl Sized)> {
    let start = |kind| serve::on_http(kind, &[]);
    let servers = [start("arrays")?, start("objects")?, start("modern")?];
    let [arrays, objects, modern] = servers.each_ref().map(|(_, port)| *port);
    let mut cases = Cases { only, ..Cases::default() };
    let server = |kind| serve::words(&[kind, "stdio"]);

    cases.add(Way::Http, Kind::Direct, "direct", || {
        Ok((Box::new(HttpLoad::new(local(arrays), FORECAST, ())), None))
    });
    cases.add(Way::Http, Kind::Copier, COPIER, || {
        let copier = copier(&["--to", &arrays.to_string()])?;
        Ok(through(Process::listening(copier), FORECAST))
    });
    cases.add(Way::Stdio, Kind::Direct, "direct", || lines(command(&server("arrays")?), FORECAST));
    cases.add(Way::Stdio, Kind::Copier, COPIER, || {
        let mut copier = copier(&["--"])?;
        copier.args(server("arrays")?);
        lines(copier, FORECAST)
    });
    for (way, (kind, name, options, call, offers)) in
        [Way::Http, Way::Stdio].into_iter().flat_map(|way| GUARDS.map(|one| (way, one)))
    {
        let port = if offers == "modern" { modern } else { arrays };
        cases.add(way, kind, name, || guard(way, options, (port, &server(offers)?), call));
    }

    // Arrays are nothing to those that read no message.
    cases.add_proxies(arrays, FORECAST);
    cases.add(Way::Http, Kind::Peer, "crate mcp-proxy", || {
        let backend = format!("transport = \"http\"\nurl = \"{}\"", url(objects));
        Ok(through_peer(peers::mcp_proxy_crate(&backend)?, MCP_PROXY))
    });
    cases.add(Way::Http, Kind::Peer, "FastMCP proxy", || {
        Ok(through_peer(peers::fastmcp_http(&url(objects))?, OBJECTS))
    });
    let server = serve::words(&["objects", "stdio"])?;
    cases.add(Way::Bridge, Kind::Peer, "crate mcp-proxy", || {
        let (program, rest) = (&server[0], &server[1..]);
        let backend = format!("transport = \"stdio\"\ncommand = \"{program}\"\nargs = {rest:?}");
        Ok(through_peer(peers::mcp_proxy_crate(&backend)?, MCP_PROXY))
    });
    cases.add(Way::Bridge, Kind::Peer, "npm supergateway", || {
        Ok(through_peer(peers::supergateway(&server)?, OBJECTS))
    });
    cases.add(Way::Bridge, Kind::Peer, "PyPI mcp-proxy", || {
        Ok(through_peer(peers::mcp_proxy_python(&server)?, OBJECTS))
    });
    cases.add(Way::Stdio, Kind::Peer, "FastMCP proxy", || {
        lines(peers::fastmcp(&server, 0)?, OBJECTS)
    });
    Ok((cases.started, cases.missing, servers))
}
