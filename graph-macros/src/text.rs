//! Tokens as an author writes them.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// Types and paths with the usual spaces: `&mut [[f32; 16]; 16]`.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    let mut text = String::new();
    append(tokens.to_token_stream(), &mut text);
    text
}

fn append(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        let mut piece = String::new();
        match &token {
            TokenTree::Group(group) => {
                let (open, close) = brackets(&group.to_string());
                piece.push_str(open);
                append(group.stream(), &mut piece);
                piece.push_str(close);
            }
            _ => piece = token.to_string(),
        }
        if needs_space(text, &piece) {
            text.push(' ');
        }
        text.push_str(&piece);
    }
}

/// The delimiters of a group; none for an invisible group.
fn brackets(group: &str) -> (&'static str, &'static str) {
    match group.as_bytes().first() {
        Some(b'(') => ("(", ")"),
        Some(b'[') => ("[", "]"),
        Some(b'{') => ("{", "}"),
        _ => ("", ""),
    }
}

fn needs_space(before: &str, piece: &str) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let after_word = before.ends_with(word) && piece.starts_with(word);
    let after_keyword = ["mut", "const", "dyn"].iter().any(|keyword| before.ends_with(keyword));
    after_word || before.ends_with([',', ';']) || (after_keyword && piece.starts_with(['[', '(', '&', '*']))
}

/// Expressions as text, without the spaces that `to_string` puts around `::` and the like.
pub(crate) fn plain(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" :: ", "::")
        .replace(":: ", "::")
        .replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
}

#[cfg(test)]
mod tests {
    use super::text;
    use proc_macro2::TokenStream;

    #[test]
    fn types_read_as_they_are_written() {
        for written in [
            "&mut [[f32; 16]; 16]",
            "&[half::f16]",
            "*mut f32",
            "*const [u8; 4]",
            "Wrapping<u32>",
            "crate::Params",
        ] {
            let tokens: TokenStream = written.parse().unwrap();
            assert_eq!(text(&tokens), written);
        }
    }
}
