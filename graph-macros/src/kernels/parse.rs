//! From the attributed block to [`Declaration`]s. One that cannot be parsed costs no other.

use super::param::{Param, push, signature};
use super::text::ends;
use crate::report::{Report, error};
use graph_plan::Code;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Abi, Attribute, Expr, ForeignItem, ForeignItemFn, Lit, LitStr, Meta, ReturnType, Safety, Signature, Token,
    Visibility, braced,
};

/// The block.
pub(super) struct Block {
    /// The PTX file; `None` if a mistake was reported.
    pub(super) path: Option<LitStr>,
    /// Its other attributes, without documentation.
    pub(super) attributes: Vec<Attribute>,
    pub(super) kernels: Vec<Declaration>,
    /// Items that do not parse: rustc has said so already, and says it once if it meets them again.
    pub(super) unparsed: TokenStream,
}

/// A declared kernel.
pub(super) struct Declaration {
    /// What is left for the generated type.
    pub(super) attributes: Vec<Attribute>,
    /// Its `#[cfg(..)]`s.
    pub(super) conditions: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) safe: Option<Token![safe]>,
    pub(super) ident: Ident,
    /// The name of its `.entry`.
    pub(super) entry: String,
    pub(super) params: Vec<Param>,
    /// Are these all of its parameters, as far as the author said?
    pub(super) complete: bool,
    /// Its `#[requires(..)]`s.
    pub(super) requires: Vec<Attribute>,
    /// `#[allow(needless_mut)]`
    pub(super) allows_needless_mut: bool,
    /// Its own mistakes: with a `#[cfg]` they are conditional too.
    pub(super) report: Report,
}

const FORM: &str = "write `#[cuda_kernels(\"kernels.ptx\")] unsafe extern \"C\" { safe fn name(data: &mut [f32]); }`";

/// Parses the whole input, `None` if it is no `extern` block.
pub(super) fn block(attribute: TokenStream, item: TokenStream, report: &mut Report) -> Option<Block> {
    let (start, _) = ends(&item);
    let mut block = match (|input: ParseStream<'_>| contents(input, report)).parse2(item) {
        Ok(block) => block,
        Err(_) => {
            let message = "`#[cuda_kernels]` goes on an `unsafe extern \"C\"` block";
            report.push(start, &error(Code::Syntax, message).help(FORM));
            return None;
        }
    };
    let (first, last) = if attribute.is_empty() {
        (start, start)
    } else {
        ends(&attribute)
    };
    match syn::parse2(attribute) {
        Ok(path) => block.path = Some(path),
        Err(_) => {
            let message = "expected the path of a PTX file, in quotes";
            report.push_between(first, last, &error(Code::Syntax, message).help(FORM));
        }
    }
    drop_repetitions(&mut block, report);
    Some(block)
}

fn contents(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Block> {
    let mut attributes = input.call(Attribute::parse_outer)?;
    attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    let unsafety: Option<Token![unsafe]> = input.parse()?;
    let abi: Abi = input.parse()?;
    let body;
    braced!(body in input);
    if unsafety.is_none() || abi.name.as_ref().is_none_or(|name| name.value() != "C") {
        let message = "a block of kernels is `unsafe extern \"C\"`: its author vouches for them";
        push(&abi, &error(Code::Syntax, message).help(FORM), report);
    }
    let mut block = Block {
        path: None,
        attributes,
        kernels: Vec::new(),
        unparsed: TokenStream::new(),
    };
    while !body.is_empty() {
        let kernel = item(&body, &mut block.unparsed, report)?;
        block.kernels.extend(kernel);
    }
    Ok(block)
}

/// One item of the block. One that cannot be parsed is skipped up to its `;`.
fn item(body: ParseStream<'_>, unparsed: &mut TokenStream, report: &mut Report) -> syn::Result<Option<Declaration>> {
    let fork = body.fork();
    match fork.parse::<ForeignItem>() {
        Ok(ForeignItem::Fn(function)) => {
            body.advance_to(&fork);
            Ok(Some(Declaration::new(function)))
        }
        Ok(other) => {
            body.advance_to(&fork);
            let fault = error(Code::Syntax, "expected a kernel without a body: `fn name(..);`");
            push(&other, &fault, report);
            Ok(Declaration::recover(other.to_token_stream()))
        }
        Err(_) => {
            let skipped = skip(body)?;
            unparsed.extend(skipped.clone());
            // Where rustc misses a `;`, it has said so.
            let ended =
                matches!(skipped.clone().into_iter().last(), Some(TokenTree::Punct(last)) if last.as_char() == ';');
            unparsed.extend((!ended).then(|| quote!(;)));
            Ok(Declaration::recover(skipped))
        }
    }
}

/// Skips to behind the next `;`, or the end.
fn skip(body: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut skipped = TokenStream::new();
    while !body.is_empty() {
        let token: TokenTree = body.parse()?;
        let end = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
        skipped.extend([token]);
        if end {
            break;
        }
    }
    Ok(skipped)
}

/// Two kernels of one name would be several of rustc's errors. With `#[cfg]` they may be one.
fn drop_repetitions(block: &mut Block, report: &mut Report) {
    let mut lines = HashMap::new();
    block.kernels.retain(|kernel| {
        if !kernel.conditions.is_empty() {
            return true;
        }
        let span = kernel.ident.span();
        let Some(line) = lines.insert(kernel.ident.to_string(), span.start().line) else {
            return true;
        };
        let message = format!("the kernel `{}` is declared twice", kernel.ident);
        let note = format!("the other declaration is in line {line}");
        report.push(span, &error(Code::DuplicateName, message).note(note));
        false
    });
}

impl Declaration {
    fn new(function: ForeignItemFn) -> Self {
        let mut report = Report::default();
        reject_parts(&function.sig, &mut report);
        let inputs = function.sig.inputs.iter().enumerate();
        let params = inputs
            .map(|(index, argument)| Param::parse(argument, index, &mut report))
            .collect();
        let mut declaration = Self {
            attributes: Vec::new(),
            conditions: Vec::new(),
            visibility: function.vis,
            safe: match function.sig.safety {
                Safety::Safe(safe) => Some(safe),
                _ => None,
            },
            entry: function.sig.ident.unraw().to_string(),
            ident: function.sig.ident,
            params,
            complete: function.sig.variadic.is_none(),
            requires: Vec::new(),
            allows_needless_mut: false,
            report,
        };
        for attribute in function.attrs {
            declaration.attribute(attribute);
        }
        declaration
    }

    /// The declaration in tokens that do not parse: a kernel with as many parameters that take anything, so that calls of it
    /// give no further errors.
    fn recover(tokens: TokenStream) -> Option<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let keyword = |word: &str| {
            tokens
                .iter()
                .position(|token| matches!(token, TokenTree::Ident(ident) if ident == word))
        };
        let start = keyword("fn")?;
        let (Some(TokenTree::Ident(ident)), Some(TokenTree::Group(group))) =
            (tokens.get(start + 1), tokens.get(start + 2))
        else {
            return None;
        };
        let commas = group.stream().into_iter();
        let (mut count, mut open) = (0, false);
        for token in commas {
            let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
            count += usize::from(!comma && !open);
            open = !comma;
        }
        let visibility = match keyword("pub").filter(|&public| public < start) {
            Some(public) => {
                let end = public + 1 + usize::from(is_parenthesis(tokens.get(public + 1)));
                let visibility: TokenStream = tokens.get(public..end)?.iter().cloned().collect();
                syn::parse2(visibility).unwrap_or(Visibility::Inherited)
            }
            None => Visibility::Inherited,
        };
        Some(Self {
            attributes: Vec::new(),
            conditions: Vec::new(),
            visibility,
            safe: keyword("safe")
                .filter(|&safe| safe < start)
                .map(|safe| Token![safe](tokens[safe].span())),
            entry: ident.unraw().to_string(),
            ident: ident.clone(),
            params: (0..count).map(Param::invalid).collect(),
            complete: false,
            requires: Vec::new(),
            allows_needless_mut: true,
            report: Report::default(),
        })
    }

    /// The name in messages.
    pub(super) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    fn attribute(&mut self, attribute: Attribute) {
        let path = attribute.path();
        if path.is_ident("requires") {
            self.requires.push(attribute);
        } else if path.is_ident("cfg") {
            self.conditions.push(attribute);
        } else if path.is_ident("link_name") {
            match link_name(&attribute) {
                Some(name) => self.entry = name,
                None => {
                    let fault = error(Code::Syntax, "expected a name").help("write `#[link_name = \"_Z3fooPf\"]`");
                    push(&attribute.meta, &fault, &mut self.report);
                }
            }
        } else if path.is_ident("allow") || path.is_ident("expect") {
            let (kept, allows) = without_needless_mut(attribute);
            self.attributes.extend(kept);
            self.allows_needless_mut |= allows;
        } else {
            self.attributes.push(attribute);
        }
    }
}

fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

fn link_name(attribute: &Attribute) -> Option<String> {
    match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(name) => Some(name.value()),
            _ => None,
        },
        _ => None,
    }
}

/// `#[allow(..)]` without our own lint, which rustc does not know, and whether it was there.
fn without_needless_mut(mut attribute: Attribute) -> (Option<Attribute>, bool) {
    let Ok(lints) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return (Some(attribute), false);
    };
    let ours = |lint: &&Meta| lint.path().is_ident("needless_mut");
    let others: Vec<&Meta> = lints.iter().filter(|lint| !ours(lint)).collect();
    if others.len() == lints.len() {
        return (Some(attribute), false);
    }
    let only_reason = others.iter().all(|lint| lint.path().is_ident("reason"));
    if let Meta::List(list) = &mut attribute.meta {
        list.tokens = quote!(#(#others),*);
    }
    ((!only_reason).then_some(attribute), true)
}

/// Reports the parts of Rust signatures that kernels do not have.
fn reject_parts(sig: &Signature, report: &mut Report) {
    if let ReturnType::Type(_, ty) = &sig.output {
        let fault = signature("a kernel returns nothing").help("pass memory for the result: `out: &mut [T]`");
        push(ty, &fault, report);
    }
    if !sig.generics.params.is_empty() {
        let fault =
            signature("a kernel has no generics").help("declare each instance of a CUDA template under its own name");
        push(&sig.generics, &fault, report);
    } else if let Some(clause) = &sig.generics.where_clause {
        push(clause, &signature("a kernel has no generics"), report);
    }
    if let Some(variadic) = &sig.variadic {
        push(
            &variadic.dots,
            &signature("a kernel has a fixed number of parameters"),
            report,
        );
    }
    let words = [
        sig.constness.map(|word| word.to_token_stream()),
        sig.asyncness.map(|word| word.to_token_stream()),
        sig.abi.as_ref().map(ToTokens::to_token_stream),
    ];
    for word in words.into_iter().flatten() {
        push(&word, &signature("a kernel is a plain `fn` or a `safe fn`"), report);
    }
    if sig.inputs.len() > usize::from(u8::MAX) {
        push(&sig.ident, &signature("a kernel has at most 255 parameters"), report);
    }
}
