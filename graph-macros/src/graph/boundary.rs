//! The beginnings of statements and graphs, found by the first few tokens alone. After a mistake the parser goes on
//! there, and the view of editors is split there. So both see the same statements in text that is half typed.

use super::keyword::Keyword;
use graph_plan::NodeKind;
use proc_macro2::{Delimiter, Ident, Spacing, TokenTree};
use quote::ToTokens;

/// Whether a statement begins here: a keyword and a name, perhaps after a visibility, or an attribute. At most six
/// tokens are looked at.
pub(crate) fn starts_statement(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    let mut tokens = tokens.into_iter();
    let keyword = match after_visibility(&mut tokens) {
        Some(TokenTree::Punct(punct)) if punct.as_char() == '#' => {
            return matches!(tokens.next(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
        }
        Some(TokenTree::Ident(word)) => Keyword::of(&word),
        _ => None,
    };
    let Some(keyword) = keyword else { return false };
    if !matches!(tokens.next(), Some(TokenTree::Ident(name)) if is_name(&name)) {
        return false;
    }
    match keyword {
        // Keywords of Rust also occur inside expressions.
        Keyword::For | Keyword::Each => matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "in"),
        Keyword::Node(NodeKind::If | NodeKind::While) => is_assignment(&mut tokens),
        Keyword::Let => is_typed_or_assigned(&mut tokens),
        Keyword::Memory(_) | Keyword::Node(_) | Keyword::Param | Keyword::Rng => true,
    }
}

/// The first token after a visibility, if there is one.
fn after_visibility(tokens: &mut impl Iterator<Item = TokenTree>) -> Option<TokenTree> {
    let first = tokens.next();
    let in_parentheses =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    match &first {
        Some(TokenTree::Ident(word)) if word == "pub" => {
            tokens.next().and_then(|second| match in_parentheses(&second) {
                true => tokens.next(),
                false => Some(second),
            })
        }
        Some(token) if is_fragment(token) => tokens.next(),
        _ => first,
    }
}

/// Whether the tokens are a visibility, as it is written or as a fragment of `macro_rules!`.
pub(crate) fn is_visibility(tokens: &[TokenTree]) -> bool {
    match tokens {
        [TokenTree::Ident(word)] => word == "pub",
        [TokenTree::Ident(word), TokenTree::Group(group)] => {
            word == "pub" && group.delimiter() == Delimiter::Parenthesis
        }
        [token] => is_fragment(token),
        _ => false,
    }
}

/// Whether the token is a visibility, perhaps an empty one, that a macro has got as `$v:vis`.
fn is_fragment(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::None
        && first.is_none_or(|first| matches!(first, TokenTree::Ident(word) if word == "pub"))
}

/// An item of the macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    Graph,
    Group,
}

/// The item that begins here, by `graph Name` or `group Name`. Attributes and visibility come before it.
pub(crate) fn starts_declared(tokens: impl IntoIterator<Item = TokenTree>) -> Option<Declared> {
    let mut tokens = tokens.into_iter();
    let declared = match tokens.next()? {
        TokenTree::Ident(word) if word == "graph" => Declared::Graph,
        TokenTree::Ident(word) if word == "group" => Declared::Group,
        _ => return None,
    };
    matches!(tokens.next()?, TokenTree::Ident(name) if is_name(&name)).then_some(declared)
}

/// Whether the word is not a keyword of Rust.
fn is_name(word: &Ident) -> bool {
    syn::parse2::<Ident>(word.to_token_stream()).is_ok()
}

/// Whether `=` comes next, and not `==` or `=>`.
fn is_assignment(tokens: &mut impl Iterator<Item = TokenTree>) -> bool {
    match tokens.next() {
        Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => {
            let joined = |next| matches!(next, TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | '>'));
            equals.spacing() == Spacing::Alone || !tokens.next().is_some_and(joined)
        }
        _ => false,
    }
}

/// Whether `: type` or `= value` comes next.
fn is_typed_or_assigned(tokens: &mut impl Iterator<Item = TokenTree>) -> bool {
    let mut tokens = tokens.peekable();
    let is_colon = matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
    is_colon || is_assignment(&mut tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenStream;

    fn starts(text: &str) -> bool {
        starts_statement(text.parse::<TokenStream>().unwrap())
    }

    #[test]
    fn statements_begin_with_a_keyword_and_a_name() {
        for text in [
            "kernel k",
            "device x [f32; 4]",
            "join j after k",
            "for i in 0..4 {}",
            "each i in 0..4 {}",
            "let half = d / 2",
            "let half: usize = d / 2",
            "if c = flag {}",
            "while w = x {}",
            "#[allow(dead_node)]",
            "pub device x",
            "pub(in a::b) join j",
            "pub(crate) if c = flag {}",
        ] {
            assert!(starts(text), "{text}");
        }
    }

    /// The keywords of the statements in calls of `cuda_graph!`. `inside` says whether the tokens are in one.
    fn keywords(tokens: TokenStream, inside: bool, found: &mut Vec<Keyword>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if inside && starts_statement(tokens[index..].iter().cloned()) => {
                    found.extend(Keyword::of(word));
                }
                TokenTree::Group(group) => {
                    let called = index > 1 && tokens[index - 2].to_string() == "cuda_graph";
                    keywords(group.stream(), inside || called, found);
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// It is said of these graphs, which show that no memory is lost, that they have every statement.
    #[test]
    fn graphs_that_must_not_leak_have_every_statement() {
        const FAULTS: [&str; 2] = [
            "tests/fault_injection/graphs.rs",
            "tests/fault_injection/graphs/library.rs",
        ];
        for files in [&["benches/soak/graphs.rs"][..], &FAULTS] {
            let mut found = Vec::new();
            for file in files {
                let path = format!("{}/../graph-runtime/{file}", env!("CARGO_MANIFEST_DIR"));
                let text = std::fs::read_to_string(path).unwrap();
                keywords(text.parse().unwrap(), false, &mut found);
            }
            // There are no collectives on the GPUs that these graphs run on.
            let runs = |keyword: &Keyword| !matches!(keyword, Keyword::Node(kind) if kind.is_collective());
            let all = Keyword::all().filter(runs);
            let missing: Vec<Keyword> = all.filter(|keyword| !found.contains(keyword)).collect();
            assert!(missing.is_empty(), "{files:?}: {missing:?}");
        }
    }

    #[test]
    fn expressions_begin_no_statement() {
        for text in [
            "if x == 1 {}",
            "if flag {}",
            "while x => 1",
            "let Some(x) = y",
            "let x",
            "for<'a> Fn(&'a f32)",
            "raw const",
            "device",
            "kernel + 1",
            "# x",
            "pub",
            "pub(crate)",
            "pub [device] x",
            "",
        ] {
            assert!(!starts(text), "{text}");
        }
    }
}
