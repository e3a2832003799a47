//! The tools of published servers: projected and lifted, each is what it was, byte for byte.

use libtest_mimic::{Failed, Trial};
use toolbond_contract::{Form, Revision, lift_tool, project_tool};
use toolbond_harness::corpus::Server;
use toolbond_harness::trials;

use crate::assert_same;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trials::corpus("project/corpus", survives)]
}

fn survives(server: &Server) -> Result<(), Failed> {
    for (index, tool) in server.tools().iter().enumerate() {
        for revision in Revision::PUBLISHED {
            let projected = project_tool(tool, &revision)?;
            let lifted = lift_tool(&projected.tool, &Revision::V2026_07_28)?;
            let opened = lifted.form == Form::Envelope
                && tool["outputSchema"]["x-fastmcp-wrap-result"] == true;
            // An envelope that FastMCP marked is taken off in every revision.
            if !opened {
                assert_same(&lifted.tool, tool, &format!("tool {index} at {revision}"));
            }
        }
    }
    Ok(())
}
