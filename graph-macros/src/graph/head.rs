//! `#![crate = path]`, the first line of a macro call: the path of the runtime.

use crate::report::{Report, error};
use crate::runtime::Runtime;
use graph_plan::Code;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Path, Token};

/// The path of the runtime, and the input without the line that gives it. Without that line it is `::graph_runtime`.
pub(super) fn runtime(input: TokenStream, report: &mut Report) -> (Runtime, TokenStream) {
    let mut tokens = input.clone().into_iter();
    let first: Vec<TokenTree> = tokens.by_ref().take(3).collect();
    let attribute = match &first[..] {
        [
            TokenTree::Punct(hash),
            TokenTree::Punct(mark),
            TokenTree::Group(attribute),
        ] if hash.as_char() == '#' && mark.as_char() == '!' && names_crate(attribute) => attribute,
        _ => return (Runtime::Usual, input),
    };
    let found = match path.parse2(attribute.stream()) {
        Ok(path) => Runtime::Given(path),
        Err(mistake) => {
            let message =
                "expected `#![crate = path]`, with the path of `graph_runtime` or of a module that has its items";
            let help = "write it as in Rust code, without quotes: `#![crate = facade::graph_runtime]`";
            report.push(mistake.span(), &error(Code::Syntax, message).help(help));
            Runtime::Usual
        }
    };
    (found, tokens.collect())
}

fn names_crate(attribute: &Group) -> bool {
    let first = attribute.stream().into_iter().next();
    attribute.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(word)) if word == "crate")
}

/// `crate = path`
fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    let word: Token![crate] = input.parse()?;
    if input.is_empty() {
        return Err(syn::Error::new(word.span, "expected `=`"));
    }
    let equals: Token![=] = input.parse()?;
    if input.is_empty() || input.peek(LitStr) {
        let span = if input.is_empty() { equals.span } else { input.span() };
        return Err(syn::Error::new(span, "expected a path"));
    }
    input.call(Path::parse_mod_style)
}
