//! Whether a message is enough to fix a wrong call, beside messages of other validators.

mod advice;
mod calls;
mod follow;
mod mistakes;
mod peers;
mod random;
mod readers;
mod report;
mod run;
mod sample;
mod validators;

use serde_json::Value;

use self::calls::Call;
use self::follow::follow;
use self::peers::Answer;
use self::report::Report;
use self::run::Run;
use self::validators::Validators;

/// How often a call is fixed and sent again.
const ROUNDS: usize = 2;

/// The seeds of the page.
const SEEDS: [u64; 5] = [12, 13, 14, 15, 16];

/// Options of the bench.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print every call that the messages of this validator do not fix, such as `toolbond` or `zod`
    #[arg(long, value_name = "VALIDATOR")]
    failures: Option<String>,
    /// Print the statements that the reader of this validator's messages makes nothing of
    #[arg(long, value_name = "VALIDATOR")]
    unread: Option<String>,
    /// Print the first message of this validator about every call
    #[arg(long, value_name = "VALIDATOR")]
    messages: Option<String>,
    /// Choose the tools and mistakes of one seed, and do not write the page
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
    Covered(Trial),
}

/// A call that was fixed as messages say.
struct Trial {
    steps: Vec<Step>,
    /// The rounds after which it is valid.
    fixed_after: Option<usize>,
}

/// A message, and the arguments that were made after it.
struct Step {
    message: String,
    statements: usize,
    unread: Vec<String>,
    fixed: Value,
}

/// Mends every call with the messages of every validator, prints the tables and writes them to the page.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let seeds = options.seed.map_or(SEEDS.to_vec(), |seed| vec![seed]);
    let mut validators = Validators::start()?;
    let mut report = Report::default();
    for seed in seeds {
        let calls = match calls::choose(seed) {
            Ok(calls) => calls,
            Err(reason) => {
                println!("skipped: {reason}");
                return Ok(());
            }
        };
        let mut run = Run::new(calls);
        for index in 0..validators::ALL.len() {
            let outcomes = run.calls.iter().map(|call| fix(&mut validators, index, call));
            let outcomes = outcomes.collect::<anyhow::Result<Vec<_>>>()?;
            run.outcomes.push(outcomes);
        }
        report.runs.push(run);
    }
    report.print();
    if let Some(name) = &options.failures {
        report.print_failures(name);
    }
    if let Some(name) = &options.unread {
        report.print_unread(name);
    }
    if let Some(name) = &options.messages {
        report.print_messages(name);
    }
    if options.dry_run || options.seed.is_some() { Ok(()) } else { report.write() }
}

/// Sends a call, mends it as the message says, and sends it again.
fn fix(validators: &mut Validators, index: usize, call: &Call) -> anyhow::Result<Outcome> {
    match validators.ask(index, call, &call.valid)? {
        Answer::Valid => {}
        Answer::Invalid(_) => return Ok(Outcome::NotCovered("refuses the valid call")),
        Answer::Unreadable => return Ok(Outcome::NotCovered("cannot read the schema")),
    }
    let mut arguments = call.wrong.clone();
    let mut trial = Trial { steps: Vec::new(), fixed_after: None };
    for round in 1..=ROUNDS {
        let message = match validators.ask(index, call, &arguments)? {
            Answer::Invalid(message) => message,
            _ if round == 1 => return Ok(Outcome::NotCovered("accepts the wrong call")),
            _ => break,
        };
        let reading = (validators::ALL[index].reader)(&message, &arguments);
        follow(&mut arguments, reading.advice, reading.example.as_ref());
        let (statements, unread) = (reading.statements, reading.unread);
        trial.steps.push(Step { message, statements, unread, fixed: arguments.clone() });
        if call.contract.input().schema().is_valid(&arguments) {
            trial.fixed_after = Some(round);
            break;
        }
    }
    Ok(Outcome::Covered(trial))
}
