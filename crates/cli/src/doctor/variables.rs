//! Variables in configurations, which clients replace.

use std::env;

/// Replaces the variables in `text`. Fails with what only the client knows.
pub(super) fn expand(text: &str) -> Result<String, String> {
    expand_with(text, &|name| env::var(name).ok())
}

fn expand_with(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, found)) = rest.split_once("${") {
        let Some((name, after)) = found.split_once('}') else { break };
        expanded.push_str(before);
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (name, None),
        };
        let value = match name.split_once(':') {
            Some(("env", name)) => variable(name).or(Some(String::new())),
            Some(_) => None,
            None => match name {
                "userHome" => variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" }),
                "workspaceFolder" => {
                    env::current_dir().ok().and_then(|it| it.to_str().map(str::to_owned))
                }
                "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
                name => variable(name).or(default),
            },
        };
        let Some(value) = value else { return Err(format!("${{{name}}}")) };
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::expand_with;

    #[test]
    fn variables_are_replaced_as_clients_do() {
        let known = |name: &str| (name == "A").then(|| "a".to_owned());
        for (text, expected) in [
            ("x", Ok("x")),
            ("${A}/${env:A}-${B:-b}", Ok("a/a-b")),
            ("${env:B}", Ok("")),
            ("$A ${", Ok("$A ${")),
            ("${B}", Err("${B}")),
            ("x ${input:token}", Err("${input:token}")),
        ] {
            let found = expand_with(text, &known);
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        }
    }
}
