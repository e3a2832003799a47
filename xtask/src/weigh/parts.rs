//! Functions and structs of a file, read by indentation: rustfmt has written all code.

use std::ops::Range;

/// A function and its size.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) lines: Range<usize>,
    /// How many parameters it has, without `self`.
    pub(super) parameters: usize,
}

/// The functions in `lines`. One ends at the first line below its `fn` that starts with `}`, or in a trait with `;`.
pub(super) fn functions<'a>(lines: &[&'a str]) -> Vec<Function<'a>> {
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = name_after("fn", line) else { continue };
        let is_end =
            |rest: &str| rest.starts_with('}') || rest.starts_with(')') && rest.ends_with(';');
        let length =
            if line.ends_with([';', '}']) { Some(1) } else { length(&lines[start..], is_end) };
        if let Some(length) = length {
            let parameters = parameters(&lines[start..start + length]);
            functions.push(Function { name, lines: start..start + length, parameters });
        }
    }
    functions
}

/// The structs in `lines`: name, line, and how many fields are `bool`.
pub(super) fn structs<'a>(lines: &[&'a str]) -> Vec<(&'a str, usize, usize)> {
    let mut structs = Vec::new();
    for (start, line) in lines.iter().enumerate().filter(|(_, line)| line.ends_with('{')) {
        let Some(name) = name_after("struct", line) else { continue };
        let length = length(&lines[start..], |rest| rest.starts_with('}')).unwrap_or_default();
        let fields = lines[start..start + length].iter();
        structs.push((name, start, fields.filter(|line| is_bool(line)).count()));
    }
    structs
}

fn is_bool(field: &str) -> bool {
    field.ends_with(": bool,") && !field.trim_start().starts_with("//")
}

/// How many lines there are up to the first that is indented as the first one and whose rest `is_end`.
fn length(lines: &[&str], is_end: impl Fn(&str) -> bool) -> Option<usize> {
    let first = lines.first()?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let end = lines.iter().position(|line| line.strip_prefix(indent).is_some_and(&is_end))?;
    Some(end + 1)
}

/// The name of the item of `kind`, `fn` or `struct`, that starts in `line`.
fn name_after<'a>(kind: &str, line: &'a str) -> Option<&'a str> {
    let mut words = line.trim_start().split(' ');
    let before = |word: &&str| {
        word.starts_with("pub") || matches!(*word, "const" | "async" | "unsafe" | "in" | "extern")
    };
    let first = words.by_ref().find(|word| !before(word))?;
    let name = words.next().filter(|_| first == kind)?;
    name.split(['(', '<']).next()
}

/// How many parameters the function in `lines` has: what stands between its parentheses, apart at commas that are in no
/// other brackets.
fn parameters(lines: &[&str]) -> usize {
    let code = lines.iter().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.copied().collect::<Vec<_>>().join(" ").replace("->", "");
    let (_, code) = code.split_once("fn ").unwrap_or_default();
    let (mut depth, mut list) = (0_usize, Vec::new());
    for c in code.chars() {
        match c {
            '(' if depth == 0 => list.push(String::new()),
            ',' if depth == 1 && !list.is_empty() => list.push(String::new()),
            _ => list.last_mut().into_iter().for_each(|parameter| parameter.push(c)),
        }
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !list.is_empty() {
            break;
        }
    }
    list.iter().filter(|parameter| is_counted(parameter)).count()
}

/// Whether there is a parameter other than `self`, `&mut self` or `self: Box<Self>`.
fn is_counted(parameter: &str) -> bool {
    let name = parameter.split(':').next().unwrap_or_default();
    !matches!(
        name.trim_end_matches(')').split([' ', '&']).rfind(|word| !word.is_empty()),
        None | Some("self")
    )
}

#[cfg(test)]
mod tests {
    use super::{functions, structs};

    #[test]
    fn functions_end_at_their_own_brace() {
        let text = "\
pub(crate) async fn one<T>(
    a: T,
) -> T {
    if a { b }
    else {
    }
}
impl A {
    const fn two() -> u8 { 2 }
    fn three(&self) {
        {
        }
    }
}
trait B {
    fn four(&self);
    fn five(
        &self,
    ) -> u8;
    fn six() {}
}
// fn seven() {
";
        let lines: Vec<_> = text.lines().collect();
        let found: Vec<_> =
            functions(&lines).iter().map(|found| (found.name, found.lines.len())).collect();
        let expected = [("one", 7), ("two", 1), ("three", 4), ("four", 1), ("five", 3), ("six", 1)];
        assert_eq!(found, expected);
    }

    #[test]
    fn parameters_are_counted_without_self() {
        for (text, count) in [
            ("fn none() {}", 0),
            ("pub(crate) fn only_self(&mut self) {}", 0),
            ("fn boxed(self: Box<Self>, a: u8) -> (u8, u8) { (a, a) }", 1),
            ("fn lent<'a>(&'a self, a: &'a [u8; 2], (b, c): (u8, u8)) {}", 2),
            ("fn nested<F: Fn(u8, u8) -> u8>(f: F, map: Map<u8, u8>) where F: Sized {}", 2),
            ("fn lines(\n    a: u8,\n    // b, c\n    d: impl Fn(u8) -> Vec<u8>,\n) {\n}", 2),
        ] {
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(functions(&lines)[0].parameters, count, "{text}");
        }
    }

    #[test]
    fn bools_are_fields_of_structs() {
        let text = "\
struct A<T> {
    // b: bool,
    c: bool,
    pub(crate) d: bool,
    e: Option<bool>,
    f: T,
}
fn g(
    h: bool,
) {
}
struct I;
";
        assert_eq!(structs(&text.lines().collect::<Vec<_>>()), [("A", 0, 2)]);
    }
}
