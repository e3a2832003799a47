//! `[fetch]`: which documents may be fetched for schemas that refer to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use toolbond_fetch::{FetchLimits, Policy};

/// Which documents may be fetched for schemas that refer to them. By default none is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct FetchConfig {
    /// URL prefixes to fetch from (`https://schemas.example.com/`), and addresses that are not public and may be connected
    /// to (`10.1.2.3`, `10.1.0.0/16`). A prefix whose host is an address allows that address.
    allow: Vec<String>,
    /// Folders with documents, to be used instead of the network, relative to the folder of this file: `FOLDER`, or
    /// `URL=FOLDER` with the URL where it is published.
    documents: Vec<String>,
    /// A file that records the digest of each document; documents that have changed since are refused. Relative to the
    /// folder of this file.
    lock: Option<PathBuf>,
    /// The folder that keeps the documents of the lock file (default: the user's cache folder).
    cache: Option<PathBuf>,
    /// Whether to take all documents from that folder, without any connection.
    offline: bool,
    /// Whether to refuse documents that are not in the lock file.
    locked: bool,
    /// Whether to use the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name.
    proxy_from_environment: bool,
    /// Limits on what one schema may make the guard fetch: `documents`, `document-bytes`, `total-bytes`, `redirects`,
    /// `depth`, `document-seconds`, `total-seconds`, `connections`.
    limits: BTreeMap<String, u64>,
}

impl FetchConfig {
    /// The policy, with paths relative to `folder`; `None` if nothing is allowed.
    pub(crate) fn policy(
        &self,
        folder: &Path,
        ca_file: Option<&Path>,
    ) -> Result<Option<Policy>, String> {
        let mut limits = FetchLimits::default();
        for (name, limit) in &self.limits {
            limits.set(name, *limit).map_err(|error| error.to_string())?;
        }
        let mut policy = Policy::default()
            .limits(limits)
            .offline(self.offline)
            .locked(self.locked)
            .proxy_from_environment(self.proxy_from_environment);
        for prefix in &self.allow {
            policy = policy.allow(prefix).map_err(|error| error.to_string())?;
        }
        for documents in &self.documents {
            let (url, path) = match documents.split_once('=') {
                Some((url, path)) => (format!("{url}="), path),
                None => (String::new(), documents.as_str()),
            };
            let documents = format!("{url}{}", folder.join(path).display());
            policy = policy.documents(&documents).map_err(|error| error.to_string())?;
        }
        if let Some(file) = &self.lock {
            policy = policy.lock(folder.join(file));
        }
        if let Some(cache) = &self.cache {
            policy = policy.cache(folder.join(cache));
        }
        if let Some(file) = ca_file {
            policy = policy.ca_file(file);
        }
        Ok((!policy.is_empty()).then_some(policy))
    }
}
