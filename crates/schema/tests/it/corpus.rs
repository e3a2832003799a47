//! The schemas of published tools: none meets a limit, and verdicts are those of the plain crate.

use libtest_mimic::{Failed, Trial};
use toolbond_harness::corpus::{Server, ToolSchema};
use toolbond_harness::generate::{self, Rng};
use toolbond_harness::{plain, trials};
use toolbond_schema::{Dialect, Schema, SchemaErrorKind, Verdict};

use crate::random::accepts;

const VALUES: usize = 12;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trials::corpus("corpus", agrees)]
}

fn agrees(server: &Server) -> Result<(), Failed> {
    let mut rng = Rng::new(server.name.len() as u64);
    trials::none_of(server.schemas().filter_map(|schema| {
        let fault = fault(&mut rng, &schema)?;
        Some(format!("{} {}: {fault}", schema.tool, schema.side))
    }))
}

/// What is wrong with our reading of `schema`.
fn fault(rng: &mut Rng, schema: &ToolSchema<'_>) -> Option<String> {
    let schema = schema.schema;
    let theirs = plain::compile(Dialect::default(), false, &[], schema);
    let (ours, theirs) = match (Schema::compile(schema), theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Ok(_), Err(error)) => return Some(format!("only plain refuses: {error}")),
        (Err(error), theirs) => {
            let right = match error.kind {
                SchemaErrorKind::ExternalReference { .. }
                | SchemaErrorKind::UnsupportedDialect { .. } => true,
                SchemaErrorKind::Metaschema { .. }
                | SchemaErrorKind::DanglingReference { .. }
                | SchemaErrorKind::Pattern { .. } => theirs.is_err(),
                _ => false,
            };
            return (!right).then(|| format!("only ours refuses: {error}"));
        }
    };
    (0..VALUES).find_map(|_| {
        let value = generate::sample(rng, schema, 8);
        let measured = ours.measure(&value);
        let unfinished = matches!(measured.verdict, Verdict::Unfinished(_));
        let agree = measured.verdict.is_valid() == theirs.is_valid(&value);
        if let Err(fault) = accepts(&ours, &value) {
            return Some(format!("{fault:?}"));
        }
        (unfinished || !agree).then(|| format!("{value}: ours {:?}", measured.verdict))
    })
}
