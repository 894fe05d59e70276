//! Calls of the macros in Rust files, for tests.

use crate::{graph, kernels};
use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use std::fs;
use std::path::{Path, PathBuf};

/// The input of a macro call.
pub(crate) enum Call {
    /// `cuda_graph! { input }`
    Graph(TokenStream),
    /// `#[cuda_kernels(attribute)] item`
    Kernels { attribute: TokenStream, item: TokenStream },
}

impl Call {
    pub(crate) fn expand(self) -> TokenStream {
        match self {
            Call::Graph(input) => graph::expand(input),
            Call::Kernels { attribute, item } => kernels::expand(attribute, item),
        }
    }
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().expect("the workspace").to_owned()
}

/// The calls among the tokens of a file in `folder`, and in groups of them. The paths of existing files are absolute.
pub(crate) fn calls(tokens: TokenStream, folder: &Path) -> Vec<Call> {
    let mut found = Vec::new();
    find(tokens, folder, &mut found);
    found
}

fn find(tokens: TokenStream, folder: &Path, found: &mut Vec<Call>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, tree) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        let (before, after) = (&tokens[..index], &tokens[index + 1..]);
        if matches!(before, [.., name, mark] if is(name, "cuda_graph") && is(mark, "!")) {
            found.push(Call::Graph(group.stream()));
        } else if before.last().is_some_and(|hash| is(hash, "#"))
            && let Some(attribute) = attribute(group, folder)
        {
            let is_end = |token: &TokenTree| is(token, ";") || is_block(token);
            let end = after.iter().position(is_end).map_or(after.len(), |end| end + 1);
            let item = after[..end].iter().cloned().collect();
            found.push(Call::Kernels { attribute, item });
        }
        find(group.stream(), folder, found);
    }
}

/// The arguments of `cuda_kernels`, if the group is that attribute.
fn attribute(group: &Group, folder: &Path) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let name = tokens.iter().position(|token| is(token, "cuda_kernels"))?;
    let arguments = match &tokens[name + 1..] {
        [TokenTree::Group(arguments)] => arguments.stream(),
        _ => TokenStream::new(),
    };
    Some(absolute(arguments, folder))
}

/// The tokens with paths of existing files made absolute: such paths are relative to a crate's folder.
fn absolute(tokens: TokenStream, folder: &Path) -> TokenStream {
    let tree = |tree| match tree {
        TokenTree::Literal(literal) => existing(&literal, folder).unwrap_or(literal).into(),
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), absolute(group.stream(), folder));
            inside.set_span(group.span());
            inside.into()
        }
        other => other,
    };
    tokens.into_iter().map(tree).collect()
}

/// The absolute path of the file that a literal names.
fn existing(literal: &Literal, folder: &Path) -> Option<Literal> {
    let text = literal.to_string();
    let path = text.trim_matches('"').trim_start_matches("../");
    let file = folder
        .ancestors()
        .map(|folder| folder.join(path))
        .find(|file| fs::metadata(file).is_ok_and(|data| data.is_file()))?;
    let mut absolute = Literal::string(&file.display().to_string());
    absolute.set_span(literal.span());
    Some(absolute)
}

/// Whether a token has this text.
pub(crate) fn is(token: &TokenTree, text: &str) -> bool {
    !matches!(token, TokenTree::Group(_)) && token.to_string() == text
}

/// Whether a token is this word.
pub(crate) fn word<'a>(token: &'a TokenTree, text: &str) -> Option<&'a Ident> {
    match token {
        TokenTree::Ident(ident) if ident == text => Some(ident),
        _ => None,
    }
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
