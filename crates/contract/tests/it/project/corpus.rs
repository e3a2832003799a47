//! The tools of published servers: projected and lifted, each is what it was, byte for byte.

use libtest_mimic::{Failed, Trial};
use toolbond_contract::{Form, Revision, lift_tool, project_tool};
use toolbond_harness::corpus::{self, Server};

use super::official::is_same;

pub(crate) fn trials() -> Vec<Trial> {
    match corpus::files() {
        Ok(files) => files
            .into_iter()
            .map(|file| {
                Trial::test(format!("project/corpus/{}", file.name), move || survives(&file.read()))
            })
            .collect(),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            vec![Trial::test("project/corpus/absent", || Ok(())).with_ignored_flag(true)]
        }
    }
}

fn survives(server: &Server) -> Result<(), Failed> {
    for (index, tool) in server.tools().iter().enumerate() {
        for revision in Revision::PUBLISHED {
            let projected = project_tool(tool, &revision)?;
            let lifted = lift_tool(&projected.tool, &Revision::V2026_07_28)?;
            let opened = lifted.form == Form::Envelope
                && tool["outputSchema"]["x-fastmcp-wrap-result"] == true;
            // An envelope that FastMCP marked is taken off in every revision.
            if !is_same(&lifted.tool, tool) && !opened {
                return Err(format!("tool {index} at {revision}: {}", lifted.tool).into());
            }
        }
    }
    Ok(())
}
