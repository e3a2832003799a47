//! The `toolbond` command, as a user meets it: output and exit code.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

#[cfg(unix)]
mod answers;
mod bowtie;
#[cfg(unix)]
mod breaks;
#[cfg(target_os = "linux")]
mod breaks_attacks;
#[cfg(unix)]
mod breaks_table;
mod bundle;
#[cfg(target_os = "linux")]
mod bundle_ends;
mod bundle_proxy;
mod bundle_suite;
#[cfg(unix)]
mod bypass_arguments;
#[cfg(unix)]
mod bypass_results;
#[cfg(unix)]
mod bypass_targets;
mod clients;
mod command;
#[cfg(unix)]
mod completions;
mod demo;
mod dependencies;
mod dialects;
#[cfg(unix)]
mod differential;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod echo;
#[cfg(target_os = "linux")]
mod era_faults;
#[cfg(target_os = "linux")]
mod era_remote;
#[cfg(unix)]
mod eras;
#[cfg(unix)]
mod eras_table;
#[cfg(target_os = "linux")]
mod ext_proc;
#[cfg(target_os = "linux")]
mod ext_proc_raw;
#[cfg(target_os = "linux")]
mod fleet_faults;
#[cfg(unix)]
mod guard_bridge;
#[cfg(unix)]
mod guard_cancelled;
mod guard_config;
mod guard_conformance;
#[cfg(unix)]
mod guard_details;
mod guard_enforce;
#[cfg(target_os = "linux")]
mod guard_faults;
#[cfg(unix)]
mod guard_fetch;
mod guard_http;
mod guard_many;
#[cfg(unix)]
mod guard_memory;
mod guard_modern;
#[cfg(unix)]
mod guard_operator;
mod guard_peers;
#[cfg(unix)]
mod guard_process;
#[cfg(unix)]
mod guard_repairs;
mod guard_results;
#[cfg(unix)]
mod guard_results_file;
mod guard_sse;
mod guard_stalls;
mod guard_tls;
mod guard_unlabelled;
#[cfg(unix)]
mod guard_upstream;
mod guard_views;
#[cfg(target_os = "linux")]
mod hosts;
mod inspector;
#[cfg(unix)]
mod lint;
mod lint_bounds;
#[cfg(unix)]
mod lint_call;
mod lint_fix;
mod lint_formats;
#[cfg(target_os = "linux")]
mod lint_screens;
#[cfg(target_os = "linux")]
mod lint_writes;
#[cfg(unix)]
mod messages;
#[cfg(target_os = "linux")]
mod packages;
mod pairs;
#[cfg(unix)]
mod published;
#[cfg(unix)]
mod reader;
mod readme;
#[cfg(unix)]
mod recorder;
mod telemetry;
#[cfg(unix)]
mod telemetry_peers;
#[cfg(unix)]
mod transcripts;
#[cfg(unix)]
mod wrap;
