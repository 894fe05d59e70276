//! Mistakes and warnings as tokens: `compile_error!`s, and uses of deprecated items, since stable proc macros have no
//! warnings of their own.

use crate::span::{ends, is_call_site};
use graph_plan::{Code, Diagnostic, Subject};
use proc_macro2::{Ident, LineColumn, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

/// The mistakes and warnings of one macro call.
#[derive(Debug, Default)]
pub(crate) struct Report {
    errors: Vec<Entry>,
    warnings: Vec<Entry>,
    /// The last token of the input, where mistakes at the end of the input are shown.
    end: Option<Span>,
}

/// One mistake and the user's tokens it is about: from the first span to the second.
#[derive(Clone, Debug)]
struct Entry {
    start: Span,
    end: Span,
    code: Code,
    text: String,
    /// Whether it is about tokens beside a statement that is itself right.
    aside: bool,
}

impl Report {
    /// The report of an input.
    pub(crate) fn of(input: &TokenStream) -> Self {
        let last = input.clone().into_iter().last();
        let end = last.map(|last| match last {
            TokenTree::Group(group) => group.span_close(),
            other => other.span(),
        });
        Self { end, ..Self::default() }
    }

    /// Adds an error (or, for a warning's code, a warning) at one token.
    pub(crate) fn push(&mut self, span: Span, diagnostic: &Diagnostic) {
        self.push_between(span, span, diagnostic);
    }

    /// Adds an error or a warning at the tokens from `start` to `end`.
    pub(crate) fn push_between(&mut self, start: Span, end: Span, diagnostic: &Diagnostic) {
        let entry = Entry {
            start: self.placed(start),
            end: self.placed(end),
            code: diagnostic.code,
            text: diagnostic.to_string(),
            aside: false,
        };
        if diagnostic.code.is_warning() {
            self.warnings.push(entry)
        } else {
            self.errors.push(entry)
        }
    }

    /// Adds a warning at one token, also for the code of an error.
    pub(crate) fn warn(&mut self, span: Span, diagnostic: &Diagnostic) {
        let placed = self.placed(span);
        self.warnings.push(Entry {
            start: placed,
            end: placed,
            code: diagnostic.code,
            text: diagnostic.to_string(),
            aside: false,
        });
    }

    /// Adds an error or a warning at all of the tokens.
    pub(crate) fn push_at(&mut self, tokens: &impl ToTokens, diagnostic: &Diagnostic) {
        let (start, end) = ends(tokens);
        self.push_between(start, end, diagnostic);
    }

    /// The place of a mistake. What is missing at the end of the input has no token: rustc would underline all of it.
    fn placed(&self, span: Span) -> Span {
        let end = self.end.filter(|_| is_call_site(span));
        end.unwrap_or(span)
    }

    /// Adds a `syntax` error: what was expected, in rustc's style.
    pub(crate) fn syntax(&mut self, span: Span, message: impl Into<String>) {
        self.push(span, &error(Code::Syntax, message));
    }

    /// Adds a parse error of syn's. If it combines several, only the first: the others are about tokens left over after
    /// it.
    pub(crate) fn syn(&mut self, error: &syn::Error) {
        if let Some(first) = error.into_iter().next() {
            self.syntax(first.span(), first.to_string());
        }
    }

    /// Adds a parse error of syn's with this code and help. An error at the end of the tokens has no token of its own,
    /// and is shown at `all` of them.
    pub(crate) fn unparsed(&mut self, fault: &syn::Error, all: &impl ToTokens, code: Code, help: &str) {
        let text = fault.to_string();
        match text.strip_prefix("unexpected end of input, ") {
            Some(text) => self.push_at(all, &error(code, text).help(help)),
            None => self.push(fault.span(), &error(code, text).help(help)),
        }
    }

    /// Adds a parse error about tokens between statements; the statement before them can be compiled.
    pub(crate) fn aside(&mut self, error: &syn::Error) {
        self.syn(error);
        if let Some(entry) = self.errors.last_mut() {
            entry.aside = true;
        }
    }

    /// Adds the entries of another report, but none whose code and place an entry has already. Errors about signatures
    /// are left out only if their text is the same too.
    pub(crate) fn absorb(&mut self, other: &Report) {
        let lists = [(&mut self.errors, &other.errors), (&mut self.warnings, &other.warnings)];
        for (own, others) in lists {
            for entry in others {
                let place = |entry: &Entry| (entry.start.start(), entry.end.start());
                let alike = |known: &Entry| known.code == entry.code && place(known) == place(entry);
                let same = |known: &Entry| alike(known) && (known.code != Code::Signature || known.text == entry.text);
                if !own.iter().any(same) {
                    own.push(entry.clone());
                }
            }
        }
    }

    /// Whether there are errors.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The positions of the errors with these codes that are about statements.
    pub(crate) fn places(&self, codes: &[Code]) -> impl Iterator<Item = LineColumn> {
        let errors = self
            .errors
            .iter()
            .filter(|entry| codes.contains(&entry.code) && !entry.aside);
        errors.map(|entry| entry.start.start())
    }

    /// The first tokens that the errors are about.
    #[cfg(test)]
    pub(crate) fn starts(&self) -> Vec<Span> {
        self.errors.iter().map(|entry| entry.start).collect()
    }

    /// The messages that [`Report::tokens`] shows, in source order.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        let shown = if self.has_errors() {
            &self.errors
        } else {
            &self.warnings
        };
        sorted(shown).map(|entry| entry.text.clone()).collect()
    }

    /// One `compile_error!` an error, in source order; without errors the warnings.
    pub(crate) fn tokens(&self) -> TokenStream {
        if self.has_errors() {
            sorted(&self.errors).map(compile_error).collect()
        } else {
            self.warnings(|block| quote!(const _: () = { #block };))
        }
    }

    /// The warnings; `item` makes an item of each block.
    pub(crate) fn warnings(&self, item: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
        sorted(&self.warnings).map(warning).map(item).collect()
    }
}

/// A diagnostic that is placed by a span rather than by its subject.
pub(crate) fn error(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, Subject::Node(0), message)
}

fn sorted(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by_key(|entry| (entry.start.start().line, entry.start.start().column));
    entries.into_iter()
}

/// `compile_error!("..")` whose tokens begin at the first span and end at the second, which is what rustc underlines.
fn compile_error(entry: &Entry) -> TokenStream {
    let text = &entry.text;
    let head = quote_spanned!(entry.start=> ::core::compile_error);
    let tail = quote_spanned!(entry.end=> { #text });
    quote!(#head ! #tail)
}

/// A use, at the user's tokens, of a deprecated macro whose name is the rule; the message is the reason for the
/// deprecation. Of all items whose use rustc warns of, macros have the shortest name in the warning.
fn warning(entry: &Entry) -> TokenStream {
    let text = &entry.text;
    let name = Ident::new(&entry.code.as_str().replace('-', "_"), entry.start);
    quote! {
        #[deprecated(note = #text)]
        macro_rules! #name { () => {} }
        #name!();
    }
}

/// A warning that rustc gives only where `condition`, a constant of the user's types, is true. `ty` is a name of its
/// own, `rule` the name of the rule at the user's tokens.
pub(crate) fn conditional_warning(ty: &Ident, rule: &Ident, note: &str, condition: &TokenStream) -> TokenStream {
    quote! {
        #[allow(dead_code)]
        struct #ty<const WARNS: bool>;
        impl #ty<false> {
            const fn #rule() {}
        }
        impl #ty<true> {
            #[deprecated(note = #note)]
            const fn #rule() {}
        }
        const _: () = #ty::<{ #condition }>::#rule();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_mistakes_of_the_parser_the_first_is_told() {
        let mut mistake = syn::Error::new(Span::call_site(), "first");
        mistake.combine(syn::Error::new(Span::call_site(), "second"));
        let mut report = Report::default();
        report.syn(&mistake);
        assert_eq!(report.messages(), ["first [syntax]"]);
    }
}
