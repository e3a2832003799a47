//! Keeping secrets out of what is printed.

use std::collections::BTreeMap;

/// The fewest characters of a secret: shorter values are everywhere.
const SHORTEST: usize = 4;

/// Values that are not to be printed.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Adds a value that is a secret as a whole, such as that of a variable or a header.
    pub(super) fn add(&mut self, value: &str) {
        // `Bearer TOKEN` is printed as `TOKEN` by some.
        for part in [value].into_iter().chain(value.split_whitespace().last()) {
            if part.chars().count() >= SHORTEST {
                self.0.push(part.to_owned());
            }
        }
    }

    /// Adds the values of variables or headers.
    pub(super) fn add_all(&mut self, values: &BTreeMap<String, String>) {
        for value in values.values() {
            self.add(value);
        }
    }

    /// Adds what follows options such as `--api-key` in `arguments`.
    pub(super) fn add_arguments(&mut self, arguments: &[String]) {
        for (index, word) in arguments.iter().enumerate() {
            match word.split_once('=') {
                Some((name, value)) if names_secret(name) => self.add(value),
                None if word.starts_with('-') && names_secret(word) => {
                    if let Some(value) = arguments.get(index + 1) {
                        self.add(value);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the variables of this process that a server inherits.
    pub(super) fn add_inherited(&mut self) {
        for (name, value) in std::env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
                && names_secret(name)
            {
                self.add(value);
            }
        }
    }

    /// `text` without them.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut secrets: Vec<_> = self.0.iter().collect();
        // What contains another one goes first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, it| text.replace(it.as_str(), "[secret]"))
    }
}

/// Whether `name` is that of a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "passwd", "auth", "credential"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn secrets_are_hidden() {
        let mut secrets = Secrets::default();
        secrets.add("Bearer sk-12345");
        secrets.add("abc");
        secrets.add_arguments(
            &["--api-key", "k-777", "--token=t-888", "--port", "8080"].map(str::to_owned),
        );
        assert_eq!(
            secrets.hide("got Bearer sk-12345, sk-12345, abc, k-777, t-888 at 8080"),
            "got [secret], [secret], abc, [secret], [secret] at 8080"
        );
    }
}
