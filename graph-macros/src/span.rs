//! The beginnings and ends of tokens in the user's source.

use proc_macro2::Span;
use quote::ToTokens;

/// The span of the last token.
pub(crate) fn last_span(tokens: &impl ToTokens) -> Span {
    ends(tokens).1
}

/// The spans of the first and the last token; stable Rust cannot join them.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Whether the span is that of the whole macro call: tokens that the expansion makes have it, and the end of the input.
pub(crate) fn is_call_site(span: Span) -> bool {
    format!("{span:?}") == format!("{:?}", Span::call_site())
}

/// The line of a span; `None` in rust-analyzer, where every span says the first line.
pub(crate) fn line(span: Span) -> Option<usize> {
    Some(span.start().line).filter(|&line| line > 1)
}

/// The line of a span in words.
pub(crate) fn on_line(span: Span) -> String {
    line(span).map_or_else(|| "elsewhere".to_owned(), |line| format!("on line {line}"))
}
