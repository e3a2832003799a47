//! Reading JSON text strictly without parsing it: where values stand.
//!
//! `serde_json` passes over short strings, and over those with many escapes, at four times the cost.

use smallvec::SmallVec;
use toolbond_schema::{Instance, string_end_or_special};

/// A place in a JSON text. Each method passes over something, or fails where that is not next.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The bytes that were passed over.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text from `start` on that was passed over.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte that is not white space.
    pub fn next_byte(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Passes over white space to the end of the text.
    pub fn finish(mut self) -> Option<()> {
        self.next_byte().is_none().then_some(())
    }

    /// Passes over an object. `member` gets each name, with its quotes, and passes over the value.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.byte(b'{')?;
        if self.next_byte()? == b'}' {
            return self.byte(b'}');
        }
        loop {
            let name = self.name()?;
            member(self, name)?;
            match self.next_byte()? {
                b',' => self.at += 1,
                _ => return self.byte(b'}'),
            }
        }
    }

    /// Passes over an array. `element` passes over each element.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.byte(b'[')?;
        if self.next_byte()? == b']' {
            return self.byte(b']');
        }
        loop {
            element(self)?;
            match self.next_byte()? {
                b',' => self.at += 1,
                _ => return self.byte(b']'),
            }
        }
    }

    /// Passes over a value, and returns its text.
    pub fn value(&mut self) -> Option<&'a str> {
        self.next_byte()?;
        let start = self.at;
        // Whether each array or object around the next value is an object.
        let mut open = SmallVec::<[bool; 32]>::new();
        loop {
            match self.next_byte()? {
                b'"' => self.string().map(drop)?,
                b'{' => {
                    self.at += 1;
                    if self.next_byte()? == b'}' {
                        self.at += 1;
                    } else {
                        self.name()?;
                        open.push(true);
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if self.next_byte()? == b']' {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.number()?,
            }
            loop {
                let Some(is_object) = open.last() else {
                    return self.text.get(start..self.at);
                };
                match (self.next_byte()?, is_object) {
                    (b',', true) => {
                        self.at += 1;
                        self.name()?;
                        break;
                    }
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Passes over a value that is parsed to be validated.
    pub fn instance(&mut self) -> Option<Instance<'a>> {
        let (instance, length) = Instance::parse_start(self.text.get(self.at..)?).ok()?;
        self.at += length;
        Some(instance)
    }

    /// Passes over the name of a member and the colon after it, and returns the name with its quotes.
    fn name(&mut self) -> Option<&'a str> {
        self.next_byte()?;
        let name = self.string()?;
        self.byte(b':')?;
        Some(name)
    }

    /// Passes over a string, and returns it with its quotes.
    fn string(&mut self) -> Option<&'a str> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            self.at = string_end_or_special(bytes, self.at);
            match self.peek()? {
                b'"' => break,
                b'\\' => match bytes.get(self.at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    b'u' => {
                        let digits = bytes.get(self.at + 2..self.at + 6)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 6;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        self.at += 1;
        self.text.get(start..self.at)
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek()? == b'-');
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// Passes over at least one digit.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_next = self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        is_next.then_some(())
    }

    /// Passes over `byte`, and white space before it.
    fn byte(&mut self, byte: u8) -> Option<()> {
        let is_next = self.next_byte()? == byte;
        self.at += 1;
        is_next.then_some(())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// The elements of the array `text`.
pub fn elements(text: &str) -> Option<Vec<&str>> {
    let (mut scanner, mut elements) = (Scanner::new(text), Vec::new());
    scanner.array(|scanner| {
        elements.push(scanner.value()?);
        Some(())
    })?;
    scanner.finish()?;
    Some(elements)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::{Scanner, elements};

    /// The only value in `text`, without the white space around it.
    fn only_value(text: &str) -> Option<&str> {
        let mut scanner = Scanner::new(text);
        let value = scanner.value()?;
        scanner.finish()?;
        Some(value)
    }

    fn agrees(text: &str) {
        let raw = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(only_value(text), raw, "{text:?}");
        let all = serde_json::from_str::<Vec<&RawValue>>(text).ok();
        let all = all.map(|all| all.into_iter().map(RawValue::get).collect::<Vec<_>>());
        assert_eq!(elements(text), all, "{text:?}");
    }

    #[test]
    fn finds_the_value_that_serde_json_finds() {
        for text in [
            "",
            " ",
            "1",
            " [ ] ",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{1:2}",
            "{\"a\" : [ {} , \"b\" ] } ",
            "[1] x",
            "[}",
            "{]",
            "[[",
            "-",
            "-0",
            "01",
            "1.",
            ".1",
            "1e",
            "1e+",
            "1E-5",
            "-1.5e10",
            "1e999",
            "true",
            "tru",
            "truex",
            "null",
            "nul",
            "falsy",
            "\"",
            "\"a",
            "\"\\\"",
            "\"\\\"\"",
            "\"\\u00\"",
            "\"\\u00e9\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\n\"",
            "\"\u{7f}é\"",
            "\"12345678\\n\"",
            "[\"a\\\\\",\"b\"]",
            "\u{feff}1",
            "\u{a0}1",
            "[1]\u{b}",
        ] {
            agrees(text);
        }
        agrees(&format!("{}{}", "[".repeat(100), "]".repeat(100)));
        agrees(&format!("{}{}", "[".repeat(100), "]".repeat(99)));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"([\[\]{},:"\\ \n0-9eE.+\-untrlfas]|"[a-f\\"u0-9é]*"|[0-9]{1,3}){0,24}"#) {
            agrees(&text);
        }

        #[test]
        fn a_value_that_is_broken_is_read_as_by_serde_json(at in 0_usize..200, byte in 0_u8..128) {
            let text = r#"{"a":[1,-2.5e3,true,false,null,"b\"c\\\u00e9"],"d":{"e":{},"f":[]},"g":"0123456789"}"#;
            let mut bytes = text.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            agrees(std::str::from_utf8(&bytes).unwrap());
        }
    }
}
