//! The members of an attribute: `name`, `name = value` and `name(…)`, with commas between them.

use proc_macro2::TokenStream;
use syn::{
    Error, Expr, ExprLit, Lit, LitBool, LitStr, Meta, Path, Result, Token, parse::Parser as _,
    punctuated::Punctuated,
};

/// The members that nobody has taken yet, and the mistakes that were found.
pub(crate) struct Members {
    rest: Vec<Meta>,
    names: Vec<&'static str>,
    mistakes: Vec<Error>,
}

impl Members {
    pub(crate) fn parse(tokens: TokenStream) -> Self {
        let (names, mut mistakes) = (Vec::new(), Vec::new());
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        let rest = match (syn::parse2::<Lit>(tokens.clone()), parser.parse2(tokens)) {
            (Ok(value), _) => {
                let message = "expected a name before it: `description = …`";
                mistakes.push(Error::new_spanned(value, message));
                Vec::new()
            }
            (_, Ok(members)) => members.into_iter().collect(),
            (_, Err(mistake)) => {
                mistakes.push(mistake);
                Vec::new()
            }
        };
        Self { rest, names, mistakes }
    }

    /// Takes `name = "text"`.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<LitStr> {
        self.one(name, text)
    }

    /// Takes `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.one(name, |meta| match (meta, value(meta)) {
            (Meta::Path(_), _) => Ok(true),
            (_, Some(Lit::Bool(LitBool { value, .. }))) => Ok(*value),
            _ => Err(Error::new_spanned(meta, format!("expected `{name}` or `{name} = false`"))),
        })
    }

    /// Takes `name = "path"` or `name = path`.
    pub(crate) fn path(&mut self, name: &'static str) -> Option<Path> {
        self.one(name, |meta| match (meta, value(meta)) {
            (_, Some(Lit::Str(text))) => text.parse(),
            (Meta::NameValue(pair), _) => match &pair.value {
                Expr::Path(path) => Ok(path.path.clone()),
                other => Err(Error::new_spanned(other, "expected a path")),
            },
            _ => Err(Error::new_spanned(meta, format!("expected `{name} = \"…\"`"))),
        })
    }

    fn one<T>(&mut self, name: &'static str, read: impl Fn(&Meta) -> Result<T>) -> Option<T> {
        let before = self.rest.clone();
        let mut found = self.each(name, read).into_iter();
        let first = found.next();
        if found.next().is_some() {
            let second = before.iter().filter(|meta| meta.path().is_ident(name)).nth(1);
            self.mistakes.push(Error::new_spanned(second, format!("expected `{name}` once")));
        }
        first
    }

    /// Takes all members of this name.
    pub(crate) fn each<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&Meta) -> Result<T>,
    ) -> Vec<T> {
        self.names.push(name);
        let (found, rest) =
            std::mem::take(&mut self.rest).into_iter().partition(|meta| meta.path().is_ident(name));
        self.rest = rest;
        let found: Vec<Meta> = found;
        let mut values = Vec::new();
        for meta in &found {
            match read(meta) {
                Ok(value) => values.push(value),
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        values
    }

    /// Returns all mistakes: a member that was not taken is one.
    pub(crate) fn finish(mut self) -> Vec<Error> {
        for meta in &self.rest {
            let path = meta.path();
            let found = path.get_ident().map(ToString::to_string).unwrap_or_default();
            let distance = |name: &&&str| strsim::damerau_levenshtein(name, &found);
            let message = match self.names.iter().min_by_key(distance) {
                Some(name) if distance(&name) <= 3 => format!("did you mean `{name}`?"),
                _ => format!("expected one of `{}`", self.names.join("`, `")),
            };
            self.mistakes
                .push(Error::new_spanned(path, format!("unknown attribute `{found}`; {message}")));
        }
        self.mistakes
    }
}

/// All of `mistakes` as one error.
pub(crate) fn all(mistakes: Vec<Error>) -> Option<Error> {
    mistakes.into_iter().reduce(|mut all, mistake| {
        all.combine(mistake);
        all
    })
}

/// The text of `name = "text"`.
pub(crate) fn text(meta: &Meta) -> Result<LitStr> {
    match value(meta) {
        Some(Lit::Str(text)) => Ok(text.clone()),
        _ => Err(Error::new_spanned(meta, "expected a name and a text: `name = \"…\"`")),
    }
}

fn value(meta: &Meta) -> Option<&Lit> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit, .. }) => Some(lit),
            _ => None,
        },
        _ => None,
    }
}
