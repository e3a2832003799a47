//! Names of tools that a target accepts.

use std::collections::HashSet;

use serde_json::Value;

use crate::target::check::full_name;
use crate::{NameForm, Target};

/// Returns the name of each view where it differs from the name of the tool.
///
/// A tool with a user interface (MCP Apps) keeps its name: the code in that interface calls it.
pub(super) fn rename(tools: &[Value], target: &Target) -> Vec<Option<String>> {
    let name =
        |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut taken: HashSet<String> =
        tools.iter().map(name).filter(|name| accepts(&target.names, name)).collect();
    tools
        .iter()
        .map(|tool| {
            let own = name(tool);
            if own.is_empty() || accepts(&target.names, &own) || has_interface(tool) {
                return None;
            }
            let new = shorten(&target.names, &own, &taken);
            taken.insert(new.clone());
            Some(new)
        })
        .collect()
}

/// Whether `name` suits the target without a prefix.
pub(crate) fn accepts(form: &NameForm, name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let first = name.chars().next();
    if form.accepts_any() {
        return true;
    }
    !name.is_empty()
        && name.chars().count() <= room(form)
        && name.chars().all(allowed)
        && (!form.starts_with_letter || first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_'))
}

/// The characters that a name may have, if the prefix is of ordinary length.
fn room(form: &NameForm) -> usize {
    form.longest.saturating_sub(full_name(form, "", None).chars().count()).max(16)
}

/// A name that the target accepts: with other characters replaced, and with a hash at the end if it is cut or taken.
fn shorten(form: &NameForm, own: &str, taken: &HashSet<String>) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let mut plain: String = own.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if form.starts_with_letter && !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    {
        plain.insert(0, '_');
    }
    let most = room(form);
    if plain.chars().count() <= most && !taken.contains(&plain) {
        return plain;
    }
    // FNV-1a: the same name on every machine and in every run.
    let mut hash = own.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    loop {
        let end = format!("_{:08x}", hash & 0xffff_ffff);
        let head: String = plain.chars().take(most.saturating_sub(end.len())).collect();
        let name = format!("{head}{end}");
        if !taken.contains(&name) {
            return name;
        }
        hash = hash.wrapping_add(1);
    }
}

fn has_interface(tool: &Value) -> bool {
    let meta = tool.get("_meta");
    meta.is_some_and(|meta| meta.get("ui").is_some() || meta.get("ui/resourceUri").is_some())
}
