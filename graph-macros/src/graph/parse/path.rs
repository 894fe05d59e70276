//! Paths of kernels and of graphs, with generic arguments.

use super::base::take;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Ident, Path, PathArguments, PathSegment, Token};

/// The path of a type. syn's own parser would take bindings for the arguments of `Fn(A)`, and the `<<<` of a launch for
/// generic arguments. `what` is expected where there is no path.
pub(super) fn path(input: ParseStream<'_>, what: &str) -> syn::Result<Path> {
    let leading_colon = input.parse()?;
    let mut segments = Punctuated::new();
    loop {
        let mut segment = PathSegment::from(segment(input, what)?);
        let launch = input.peek2(Token![<]);
        if (input.peek(Token![<]) && !launch) || (input.peek(Token![::]) && input.peek3(Token![<])) {
            segment.arguments = PathArguments::AngleBracketed(input.parse()?);
        }
        segments.push_value(segment);
        if !input.peek(Token![::]) {
            return Ok(Path {
                leading_colon,
                segments,
            });
        }
        segments.push_punct(input.parse()?);
    }
}

/// A name, or one of the keywords that a path may hold.
fn segment(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    let keyword = input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![super]);
    if keyword || input.peek(Token![Self]) {
        return input.call(Ident::parse_any);
    }
    take(input, what)
}
