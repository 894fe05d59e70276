//! The path of the crate `graph_runtime` in the crate that is being compiled.
//!
//! All expansions mention `::graph_runtime`. Where the runtime has another path, because the dependency is renamed or
//! because another crate re-exports it, the user gives that path, and [`Runtime::apply`] puts it in the place of each
//! mention.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

/// The name of the runtime, unless its users rename it.
const NAME: &str = "graph_runtime";

/// The path of the runtime.
#[derive(Clone, Debug)]
pub(crate) enum Runtime {
    /// `::graph_runtime`
    Usual,
    /// The path that the user gave, as it is written in the module around the macro.
    Given(Path),
}

impl Runtime {
    /// The expansion with this path in the place of each `::graph_runtime`. A mention of the user's own is replaced,
    /// too: it means the same crate.
    ///
    /// The path that the user gave is imported once, and mentions are of that import: if the path is wrong, rustc
    /// reports the import, and nothing that goes through it. `owner` is a name that the expansion has to itself, among
    /// those of types in the module around.
    pub(crate) fn apply(&self, expansion: TokenStream, owner: Option<String>) -> TokenStream {
        let Self::Given(path) = self else {
            return expansion;
        };
        let alias = owner.filter(|_| is_imported(path)).map(|owner| {
            let name = format!("__runtime_of_{owner}");
            Ident::new(&name, Span::call_site())
        });
        let import = alias.as_ref().map(|alias| import(path, alias));
        let replaced = replaced(path, expansion, alias.as_ref());
        let mut tokens = replaced.clone().into_iter();
        match (tokens.next(), tokens.next()) {
            // The import is in the block of an expression.
            (Some(TokenTree::Group(block)), None) if block.delimiter() == Delimiter::Brace => {
                let content = block.stream();
                quote!({ #import #content })
            }
            _ => quote!(#import #replaced),
        }
    }
}

/// The tokens with `path`, or its import, in the place of each mention.
fn replaced(path: &Path, tokens: TokenStream, alias: Option<&Ident>) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = TokenStream::new();
    let mut index = 0;
    while index < tokens.len() {
        if let Some(span) = mention(&tokens, index) {
            found.extend(match alias {
                Some(alias) => Ident::new(&alias.to_string(), alias.span().located_at(span)).to_token_stream(),
                None => located(path.to_token_stream(), span),
            });
            index += 3;
            continue;
        }
        found.extend([match &tokens[index] {
            TokenTree::Group(group) => {
                let inside = if is_module(&tokens[..index]) && group.delimiter() == Delimiter::Brace {
                    in_module(path, group.stream(), alias)
                } else {
                    replaced(path, group.stream(), alias)
                };
                let mut changed = Group::new(group.delimiter(), inside);
                changed.set_span(group.span());
                changed.into()
            }
            other => other.clone(),
        }]);
        index += 1;
    }
    found
}

/// The content of a module that the expansion makes: relative paths begin one module further in.
fn in_module(path: &Path, content: TokenStream, alias: Option<&Ident>) -> TokenStream {
    let mut inner = path.clone();
    let first = path.segments[0].ident.to_string();
    let mut outer = path.segments[0].clone();
    outer.ident = Ident::new("super", outer.ident.span());
    let mut names = TokenStream::new();
    match first.as_str() {
        _ if path.leading_colon.is_some() => {}
        "crate" | "$crate" => {}
        "self" => inner.segments[0] = outer,
        "super" => inner.segments.insert(0, outer),
        // The name of a crate, or of something in the module around.
        _ => {
            names = quote!(
                #[allow(unused_imports, clippy::wildcard_imports)]
                use super::*;
            )
        }
    }
    let import = alias.map(|alias| import(&inner, alias));
    let content = replaced(&inner, content, alias);
    quote!(#names #import #content)
}

/// Whether `use` can import what the path names by another name.
fn is_imported(path: &Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| ["self", "super", "crate"].iter().all(|word| last.ident != word))
}

fn import(path: &Path, alias: &Ident) -> TokenStream {
    // All is at the place of the path, so that rustc underlines that.
    let span = path
        .segments
        .first()
        .map_or_else(Span::call_site, |first| first.ident.span());
    let alias = Ident::new(&alias.to_string(), alias.span().located_at(span));
    quote_spanned!(span=> #[allow(unused_imports)] use #path as #alias;)
}

/// The tokens at another place, with the same meaning.
fn located(tokens: TokenStream, place: Span) -> TokenStream {
    let located = |mut token: TokenTree| {
        token.set_span(token.span().located_at(place));
        token
    };
    tokens.into_iter().map(located).collect()
}

/// The span of the name if `::graph_runtime` is at this index, and not as the rest of a longer path.
fn mention(tokens: &[TokenTree], index: usize) -> Option<Span> {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let [first, second, TokenTree::Ident(name), ..] = &tokens[index..] else {
        return None;
    };
    let found = is_colon(first) && is_colon(second) && name == NAME;
    let before = index.checked_sub(1).map(|before| &tokens[before]);
    let continues = matches!(before, Some(TokenTree::Ident(before)) if ends_path(before));
    (found && !continues).then(|| name.span())
}

/// Whether a path may go on after the word: all but the keywords that come before types and expressions.
fn ends_path(word: &Ident) -> bool {
    let segments = ["self", "super", "crate", "Self"];
    segments.iter().any(|segment| word == segment) || syn::parse2::<Ident>(word.to_token_stream()).is_ok()
}

/// Whether the tokens end with `mod __name`, as only expansions write it.
fn is_module(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word), TokenTree::Ident(name)] => word == "mod" && name.to_string().starts_with("__"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Runtime;

    fn applied(runtime: &Runtime, text: &str) -> String {
        let tokens = runtime.apply(text.parse().unwrap(), None);
        tokens.to_string().split_whitespace().collect()
    }

    fn given(path: &str) -> Runtime {
        Runtime::Given(syn::parse_str(path).unwrap())
    }

    fn assert_applied(runtime: &Runtime, text: &str, expected: &str) {
        let expected: String = expected.split_whitespace().collect();
        assert_eq!(applied(runtime, text), expected, "{text}");
    }

    #[test]
    fn each_mention_is_replaced() {
        let text = "use ::graph_runtime::{self as __g}; fn f(x: &::graph_runtime::A) -> ::graph_runtime::B<::graph_runtime::C> {}
                    impl ::graph_runtime::D for x { ::a::graph_runtime::b(graph_runtime::c, self::graph_runtime) }";
        let expected = text
            .replace("::a::graph_runtime", "KEPT")
            .replace("self::graph_runtime", "SELF");
        let expected = |path: &str| {
            let replaced = expected.replace("::graph_runtime", path);
            replaced
                .replace("KEPT", "::a::graph_runtime")
                .replace("SELF", "self::graph_runtime")
        };
        assert_applied(&Runtime::Usual, text, text);
        assert_applied(&given("::gpu"), text, &expected("::gpu"));
        assert_applied(&given("facade::rt"), text, &expected("facade::rt"));
    }

    #[test]
    fn a_path_of_the_users_is_imported_once() {
        let applied = |path: &str, text: &str| {
            let tokens = given(path).apply(text.parse().unwrap(), Some("G".to_owned()));
            tokens.to_string().split_whitespace().collect::<String>()
        };
        let expected = |text: &str| text.split_whitespace().collect::<String>();
        let import = |path: &str| format!("#[allow(unused_imports)] use {path} as __runtime_of_G;");
        let (outer, inner) = (import("self::rt"), import("super::rt"));
        assert_eq!(
            applied(
                "self::rt",
                "struct G(::graph_runtime::A); mod __a { use ::graph_runtime::B; }"
            ),
            expected(&format!(
                "{outer} struct G(__runtime_of_G::A); mod __a {{ {inner} use __runtime_of_G::B; }}"
            ))
        );
        let wanted = expected(&format!("{{ {} __runtime_of_G::f() }}", import("rt")));
        assert_eq!(applied("rt", "{ ::graph_runtime::f() }"), wanted);
        assert_eq!(applied("super", "::graph_runtime::f()"), "super::f()");
    }

    #[test]
    fn relative_paths_go_on_in_modules() {
        let text = "mod __a { use ::graph_runtime::b; pub mod __b { use ::graph_runtime::b; } } mod user { ::graph_runtime::x }";
        let names = "#[allow(unused_imports, clippy::wildcard_imports)] use super::*;";
        for (path, first, second, names) in [
            ("::rt", "::rt", "::rt", ""),
            ("crate::rt", "crate::rt", "crate::rt", ""),
            ("self::rt", "super::rt", "super::super::rt", ""),
            ("super::rt", "super::super::rt", "super::super::super::rt", ""),
            ("rt", "rt", "rt", names),
        ] {
            let expected = format!(
                "mod __a {{ {names} use {first}::b; pub mod __b {{ {names} use {second}::b; }} }} mod user {{ {path}::x }}"
            );
            assert_applied(&given(path), text, &expected);
        }
    }
}
