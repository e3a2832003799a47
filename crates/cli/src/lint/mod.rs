//! `toolbond lint`: lists with their findings, and one file for each way to write them.

mod baseline;
mod call;
mod concise;
mod fix;
mod format;
mod full;
mod github;
mod gitlab;
mod impacts;
mod json;
mod junit;
mod linter;
mod list;
mod markdown;
mod matrix;
mod report;
mod sarif;
mod settings;
mod sources;
mod statistics;
mod text_edit;

pub(crate) use baseline::Baseline;
pub(crate) use call::CallOptions;
pub(crate) use fix::{Fixed, fix_source, write_back};
pub(crate) use format::LintFormat;
pub(crate) use impacts::{ImpactGroup, describe_evidence, group_impacts};
pub(crate) use linter::Linter;
pub(crate) use list::is_tool_list;
pub(crate) use report::{Detail, Report, plural};
pub(crate) use settings::{Settings, SettingsArgs};
pub(crate) use sources::{Input, expand, note_skipped};
