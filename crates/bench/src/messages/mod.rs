//! Whether a message is enough to fix a wrong call, beside messages of other validators.

mod advice;
mod calls;
mod follow;
mod mistakes;
mod peers;
mod random;
mod readers;
mod report;
mod sample;
mod validators;

use serde_json::Value;

use self::calls::Call;
use self::follow::follow;
use self::peers::Answer;
use self::report::Report;
use self::validators::Validators;

/// How often a call is fixed and sent again.
const ROUNDS: usize = 2;

/// Options of the bench.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print every call that the messages of this validator do not fix, such as `toolpact` or `zod`
    #[arg(long, value_name = "VALIDATOR")]
    failures: Option<String>,
    /// Choose other tools and mistakes, and do not write the page
    #[arg(long)]
    seed: Option<u64>,
    /// Do not write the page
    #[arg(long)]
    dry_run: bool,
}

/// What came of one call with the messages of one validator.
enum Outcome {
    /// The validator has no message for this call, for this reason.
    NotCovered(&'static str),
    /// Valid after so many rounds.
    Fixed(usize),
    Wrong(Vec<Step>),
}

/// A message, and the arguments that were made after it.
struct Step {
    message: String,
    fixed: Value,
}

/// Mends every call with the messages of every validator, prints the table and writes it to the page.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let calls = match calls::choose(options.seed) {
        Ok(calls) => calls,
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    let mut validators = Validators::start()?;
    let mut report = Report::new(&calls);
    for index in 0..validators::ALL.len() {
        for call in &calls {
            let mut lengths = Vec::new();
            let outcome = fix(&mut validators, index, call, &mut lengths)?;
            report.add(index, outcome, lengths.first().copied());
        }
    }
    report.print();
    if let Some(name) = &options.failures {
        report.print_failures(name);
    }
    if options.dry_run || options.seed.is_some() { Ok(()) } else { report.write() }
}

/// Sends a call, mends it as the message says, and sends it again.
fn fix(
    validators: &mut Validators,
    index: usize,
    call: &Call,
    lengths: &mut Vec<usize>,
) -> anyhow::Result<Outcome> {
    match validators.ask(index, call, &call.valid)? {
        Answer::Valid => {}
        Answer::Invalid(_) => return Ok(Outcome::NotCovered("refuses the valid call")),
        Answer::Unreadable => return Ok(Outcome::NotCovered("cannot read the schema")),
    }
    let mut arguments = call.wrong.clone();
    let mut steps = Vec::new();
    for round in 1..=ROUNDS {
        let message = match validators.ask(index, call, &arguments)? {
            Answer::Invalid(message) => message,
            _ if round == 1 => return Ok(Outcome::NotCovered("accepts the wrong call")),
            _ => break,
        };
        lengths.push(message.chars().count());
        let reading = (validators::ALL[index].reader)(&message, &arguments);
        follow(&mut arguments, reading.advice, reading.example.as_ref());
        steps.push(Step { message, fixed: arguments.clone() });
        if call.contract.input().schema().is_valid(&arguments) {
            return Ok(Outcome::Fixed(round));
        }
    }
    Ok(Outcome::Wrong(steps))
}
