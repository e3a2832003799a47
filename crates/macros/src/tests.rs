//! Tests of the expansion: mistakes are reported where they were made, and a renamed crate is used.

use proc_macro2::TokenStream;

/// The messages that `source` gives, with the text that each points at.
fn mistakes(attribute: &str, source: &str) -> Vec<(String, String)> {
    let attribute: TokenStream = attribute.parse().unwrap();
    let error = crate::compile(attribute, syn::parse_str(source).unwrap()).1.unwrap();
    let text = |error: syn::Error| {
        let (start, end) = (error.span().start(), error.span().end());
        assert_eq!(start.line, end.line);
        let line: Vec<char> = source.lines().nth(start.line - 1).unwrap().chars().collect();
        let place = line[start.column..end.column].iter().collect();
        (place, error.to_string())
    };
    error.into_iter().map(text).collect()
}

#[track_caller]
fn check(source: &str, expected: &[(&str, &str)]) {
    let found = mistakes("", source);
    let found: Vec<_> = found.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn parameters_own_their_data_and_have_a_name() {
    check(
        "impl S {
            #[tool] fn a(&self, city: &str) {}
            #[tool] fn b(&self, #[schemars(range(min = 1))] (x, y): (u8, u8)) {}
            #[tool] fn c(&self, any: impl Sized) -> impl Sized {}
        }",
        &[
            ("&str", "expected a type that owns its data, such as `String` or `Vec<T>`"),
            ("#[schemars(range(min = 1))]", "expected a parameter with a name, found a pattern"),
            ("impl Sized", "expected a type that can be named, found `impl Trait`"),
            ("impl Sized", "expected a type that can be named, found `impl Trait`"),
        ],
    );
}

#[test]
fn methods_take_a_shared_self_and_nothing_generic() {
    check(
        "impl S {
            #[tool] fn a(&mut self) {}
            #[tool] fn b() {}
            #[tool] fn c<T>(&self) {}
            #[tool] unsafe fn d(&self) {}
            #[tool] fn e<'a>(&'a self) -> &'a str { self.0 }
        }",
        &[
            (
                "&mut self",
                "expected `&self`: a server answers many calls at once; put what they change into a `Mutex`, and that into an `Arc` if clones share it",
            ),
            ("b", "expected a method with `&self`"),
            ("T", "expected a method without type parameters"),
            ("unsafe", "expected a safe method"),
            ("'a", "expected a method without named lifetimes"),
        ],
    );
}

#[test]
fn names_are_well_formed_and_unique() {
    check(
        "impl S {
            #[tool(name = \"no spaces\")] fn a(&self) {}
            #[tool] fn b(&self) {}
            #[tool(name = \"b\")] fn c(&self) {}
        }",
        &[
            (
                "\"no spaces\"",
                "expected a tool name of 1 to 128 letters, digits, `_`, `-` and `.`, found `no spaces`",
            ),
            ("\"b\"", "expected a name used once, found a second tool `b`"),
            ("b", "the first tool `b` is here"),
        ],
    );
}

#[test]
fn attributes_are_known_and_meta_is_an_object() {
    check(
        "impl S { #[tool(meta = \"[1]\")] fn a(&self) {} }",
        &[("\"[1]\"", "expected a JSON object")],
    );
    check(
        "impl S {
            #[tool(readonly, read_only = 1, title)] fn a(&self) {}
            #[tool(name = \"b\", name = \"c\", icon(source = \"x.png\"))] fn b(&self) {}
        }",
        &[
            ("title", "expected a name and a text: `name = \"…\"`"),
            ("read_only = 1", "expected `read_only` or `read_only = false`"),
            ("readonly", "unknown attribute `readonly`; did you mean `read_only`?"),
            ("name = \"c\"", "expected `name` once"),
            ("source", "unknown attribute `source`; did you mean `src`?"),
        ],
    );
    assert_eq!(
        mistakes("", "impl S { #[tool = \"a\"] fn a(&self) {} }")[0].1,
        "expected `#[tool]` or `#[tool(…)]`"
    );
}

#[test]
fn the_block_is_the_types_own_and_has_tools() {
    check(
        "impl S { fn a(&self) {} }",
        &[("S", "expected at least one method marked with `#[tool]`")],
    );
    check(
        "impl<'a> S<'a> { #[tool] fn a(&self) {} }",
        &[("'a", "expected a type that owns its data")],
    );
    check(
        "impl Clone for S { #[tool] fn a(&self) {} }",
        &[("Clone", "expected the type's own `impl` block, found one of a trait")],
    );
}

#[test]
fn an_argument_is_in_one_parameter() {
    let message = |name| format!("expected a name used once, found a second argument `{name}`");
    check(
        "impl S {
            #[tool] fn a(&self, n: u8, #[serde(rename = \"n\")] m: u8) {}
            #[tool] fn b(&self, _n: u8, n: u8, #[serde(flatten)] rest: R, r#type: u8) {}
            #[tool] fn c(&self, #[serde(rename(deserialize = \"type\"))] m: u8, r#type: u8) {}
            #[tool] fn d(&self, #[serde(rename(serialize = \"n\"), default)] m: u8, n: u8) {}
        }",
        &[("m", &message("n")), ("n", &message("n")), ("r#type", &message("type"))],
    );
}

#[test]
fn misspelt_attributes_of_parameters_are_reported_once() {
    let message = "unknown attribute `ranges`; did you mean `range`?";
    check(
        "impl S {
            #[tool] fn a(&self, #[schemars(ranges(max = 3), length(max = 3))] n: u8) {}
            #[tool] fn b(&self, #[schemars(skip_serializing, pattern = \"a\", url, email)] n: u8) {}
        }",
        &[("ranges", message)],
    );
}

#[test]
fn what_is_said_of_a_tool_has_a_name() {
    let message = "expected a name before it: `description = …`";
    check("impl S { #[tool(\"Counts.\")] fn a(&self) {} }", &[("\"Counts.\"", message)]);
}

#[test]
fn a_renamed_crate_is_used_everywhere() {
    let source = "impl S {
        /// Counts.
        #[tool(name = \"count\", title = \"Count\", read_only, icon = \"x.png\", meta = \"{}\")]
        async fn a(&self, n: u8, #[serde(default)] m: u8, Args(all): Args<T>) -> Result<u8, E> {}
    }";
    for attribute in ["crate = \"renamed\"", "crate = renamed", "crate = \"renamed\", tools_only"] {
        let item = syn::parse_str(source).unwrap();
        let code = crate::compile(attribute.parse().unwrap(), item).0.to_string();
        assert!(code.contains("renamed :: Tools") && !code.contains("toolbond"), "{code}");
        assert!(code.contains("\"renamed::__private::serde\""), "{code}");
    }
    let generic = "impl<T> S<T> { #[tool] fn a(&self) {} }";
    let item = syn::parse_str(generic).unwrap();
    let code = crate::compile("crate = \"renamed\"".parse().unwrap(), item).0.to_string();
    assert!(!code.contains("toolbond"), "{code}");
}
