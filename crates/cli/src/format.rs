//! The output format of results.

use clap::ValueEnum;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: with excerpts or as a table.
    #[default]
    Full,
    /// One line per finding, which starts with `file:line:column`.
    Concise,
    /// JSON, one object per line.
    Json,
}
