//! Variables in configurations, which clients replace.

use std::env;

use toolbond_clients::Variables;

/// Replaces the variables in `text` that a client replaces. Fails with what only the client knows.
pub(super) fn expand(text: &str, variables: Variables) -> Result<String, String> {
    expand_with(text, variables, &|name| env::var(name).ok())
}

fn expand_with(
    text: &str,
    variables: Variables,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    if variables == Variables::Nothing {
        return Ok(text.to_owned());
    }
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, found)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, after) = match found.strip_prefix('{') {
            Some(braced) => braced.split_once('}').unwrap_or(("", found)),
            None if variables == Variables::Shell => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                found.split_at(found.find(|c| !is_name(c)).unwrap_or(found.len()))
            }
            None => ("", found),
        };
        let whole = &rest[before.len()..rest.len() - after.len()];
        expanded.push_str(&match name {
            "" => "$".to_owned(),
            name => value(name, variables, variable)
                .or_else(|| (variables == Variables::Shell).then(|| whole.to_owned()))
                .ok_or_else(|| whole.to_owned())?,
        });
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The value of what stands between the braces, if it is known here.
fn value(
    name: &str,
    variables: Variables,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_editor = matches!(variables, Variables::Editor | Variables::Unknown);
    let is_shell = variables != Variables::Editor;
    match name.split_once(':') {
        Some(("env", name)) if is_editor => Some(variable(name).unwrap_or_default()),
        Some((name, default)) if is_shell && variables != Variables::Shell => {
            variable(name).or_else(|| default.strip_prefix('-').map(str::to_owned))
        }
        Some(_) => None,
        None => match name {
            "userHome" if is_editor => variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" }),
            "workspaceFolder" if is_editor => {
                env::current_dir().ok().and_then(|it| it.to_str().map(str::to_owned))
            }
            "pathSeparator" | "/" if is_editor => Some(std::path::MAIN_SEPARATOR.to_string()),
            name => variable(name).filter(|_| is_shell),
        },
    }
}

#[cfg(test)]
mod tests {
    use toolbond_clients::Variables;

    use super::expand_with;

    #[test]
    fn variables_are_replaced_as_clients_do() {
        let known = |name: &str| (name == "A").then(|| "a".to_owned());
        for (variables, text, expected) in [
            (Variables::Nothing, "${A} $A ${input:x}", Ok("${A} $A ${input:x}")),
            (Variables::Braced, "x $A ${", Ok("x $A ${")),
            (Variables::Braced, "${A}-${B:-b}", Ok("a-b")),
            (Variables::Braced, "x ${B}", Err("${B}")),
            (Variables::Editor, "${env:A}/${env:B}", Ok("a/")),
            (Variables::Editor, "${A}", Err("${A}")),
            (Variables::Editor, "x ${input:token}", Err("${input:token}")),
            (Variables::Shell, "$A/${A}$B ${B} $", Ok("a/a$B ${B} $")),
            (Variables::Unknown, "${A}/${env:A}-${B:-b}", Ok("a/a-b")),
            (Variables::Unknown, "${env:B}", Ok("")),
            (Variables::Unknown, "$A ${", Ok("$A ${")),
            (Variables::Unknown, "x ${input:token}", Err("${input:token}")),
        ] {
            let found = expand_with(text, variables, &known);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}
