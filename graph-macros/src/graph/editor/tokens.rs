//! Helpers that look at tokens without parsing them, since a statement may be half typed.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

pub(super) fn stream(tokens: &[TokenTree]) -> TokenStream {
    tokens.iter().cloned().collect()
}

/// Whether the token is this word.
pub(super) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// Whether the token is a group in these brackets.
pub(super) fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

pub(super) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// Whether the tokens begin with this punctuation, and not with a longer one such as `::` for `:`.
pub(super) fn single_punct(tokens: &[TokenTree], character: char) -> bool {
    match tokens {
        [TokenTree::Punct(first), TokenTree::Punct(second), ..] => {
            let joint = first.spacing() == Spacing::Joint && matches!(second.as_char(), '=' | '>' | ':');
            first.as_char() == character && !joint
        }
        [first, ..] => is_punct(first, character),
        [] => false,
    }
}

/// The index of the first place where these punctuation characters follow each other.
pub(super) fn find_puncts(tokens: &[TokenTree], puncts: &str) -> Option<usize> {
    let count = puncts.chars().count();
    tokens.windows(count).position(|window| {
        window
            .iter()
            .zip(puncts.chars())
            .all(|(token, punct)| is_punct(token, punct))
    })
}

/// The tokens before and after the first place that [`find_puncts`] finds; else all tokens, and none.
pub(super) fn split_at_puncts<'t>(tokens: &'t [TokenTree], puncts: &str) -> (&'t [TokenTree], &'t [TokenTree]) {
    match find_puncts(tokens, puncts) {
        Some(start) => (&tokens[..start], &tokens[start + puncts.chars().count()..]),
        None => (tokens, &[]),
    }
}

/// The parts between commas.
pub(super) fn commas(tokens: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    tokens
        .split(|token| is_punct(token, ','))
        .filter(|part| !part.is_empty())
}

/// The tokens without the given words at their beginning.
pub(super) fn without_words<'t>(mut tokens: &'t [TokenTree], words: &[&str]) -> &'t [TokenTree] {
    while let Some((first, rest)) = tokens.split_first()
        && words.iter().any(|word| is_word(first, word))
    {
        tokens = rest;
    }
    tokens
}

/// The number of tokens of `<..>` at the beginning.
pub(super) fn angle_end(tokens: &[TokenTree]) -> usize {
    let mut depth = 0_usize;
    let mut arrow = false;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
        arrow = is_punct(token, '-');
        if depth == 0 {
            return if index == 0 { 0 } else { index + 1 };
        }
    }
    tokens.len()
}
