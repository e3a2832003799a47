//! Random schemas of all dialects, broken by random values.

use libtest_mimic::{Failed, Trial};
use toolbond_contract::{Relaxation, relax};
use toolbond_schema::{Dialect, Schema};

use super::relaxed;
use crate::project::random::{Random, schemas};

/// Values for each schema.
const VALUES: usize = 40;

/// Of these, how many break it.
const BROKEN: usize = 4;

pub(crate) fn trials() -> Vec<Trial> {
    let trial =
        |dialect| Trial::test(format!("relax/random/{dialect}"), move || accepts_more(dialect));
    Dialect::ALL.into_iter().map(trial).collect()
}

fn accepts_more(dialect: Dialect) -> Result<(), Failed> {
    let mut random = Random::new(77 + dialect as u64, dialect);
    let (mut kept, mut dropped, mut valid_values) = (0, 0, 0);
    for _ in 0..schemas() {
        let schema = random.document();
        let Ok(author) = Schema::compile(&schema) else { continue };
        let values: Vec<_> = (0..VALUES).map(|_| random.value(3)).collect();
        let (valid, invalid): (Vec<_>, Vec<_>) =
            values.iter().partition(|value| author.is_valid(value));
        // One after the other, as a server breaks its schema in several ways.
        let mut so_far = Relaxation::default();
        let mut broken = Vec::new();
        for value in invalid.into_iter().take(BROKEN) {
            let Some(after) = relaxed(&author, value)? else {
                dropped += 1;
                continue;
            };
            kept += 1;
            for valid in &valid {
                valid_values += 1;
                let source = after.source();
                assert!(
                    after.is_valid(valid),
                    "{valid} under {source}, for {value} under {schema}"
                );
            }
            let Some(next) = relax(&author, &so_far, value) else { continue };
            so_far = next;
            broken.push(value);
            let source = so_far.apply(&schema).ok_or("what was chosen does not apply")?;
            let all = Schema::compile(&source)?;
            for value in valid.iter().chain(&broken) {
                assert!(all.is_valid(value), "{value} under {source}, of {schema}");
            }
        }
    }
    assert!(
        dropped < kept && valid_values > kept,
        "{kept} relaxed, {dropped} dropped, {valid_values} valid values"
    );
    Ok(())
}
