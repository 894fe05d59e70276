//! Parses the attributed block into [`Declaration`]s. A declaration that cannot be parsed does not affect the others.

use super::attribute::{self, Arguments, File};
use super::declaration::{Declaration, OWN_LINTS, without_own_lints};
use super::for_each;
use crate::report::{Report, error};
use crate::runtime::Runtime;
use crate::span::{ends, on_line};
use graph_plan::Code;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Abi, Attribute, ForeignItem, Ident, Token, braced};

/// The block.
pub(super) struct Block {
    /// The file with the kernels; `None` if a mistake was reported.
    pub(super) file: Option<File>,
    /// The path of the runtime.
    pub(super) runtime: Runtime,
    /// Whether each `safe fn` must be proved to stay within its memory.
    pub(super) prove: bool,
    /// The block without its content, as it is written: rustc's lint `unsafe_code` sees it.
    pub(super) shell: TokenStream,
    /// The block's other attributes, without documentation. They are on each item of the expansion, so that
    /// expectations are only permissions there.
    pub(super) attributes: Vec<Attribute>,
    pub(super) kernels: Vec<Declaration>,
    /// Items that do not parse. rustc has reported them already, and does not report them again.
    pub(super) unparsed: TokenStream,
}

const FORM: &str = "write `#[cuda_kernels(\"kernels.ptx\")] unsafe extern \"C\" { safe fn name(data: &mut [f32]); }`";

/// Parses the whole input; `None` if it is no `extern` block.
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
    let arguments = attribute::parse(attribute, start, report);
    let given = arguments.and_then(|Arguments { file, runtime, prove }| {
        block.file = Some(file);
        block.prove = prove;
        runtime
    });
    block.runtime = given.map_or(Runtime::Usual, Runtime::Given);
    drop_repetitions(&mut block, report);
    Some(block)
}

fn contents(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Block> {
    let mut attributes = input.call(Attribute::parse_outer)?;
    attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    let mut allows = [false; OWN_LINTS.len()];
    let split = attributes.into_iter().filter_map(|attribute| {
        if !attribute.path().is_ident("allow") && !attribute.path().is_ident("expect") {
            return Some(attribute);
        }
        let (kept, allowed) = without_own_lints(attribute);
        allows = std::array::from_fn(|lint| allows[lint] || allowed[lint]);
        kept
    });
    let mut attributes: Vec<Attribute> = split.collect();
    let unsafety: Option<Token![unsafe]> = input.parse()?;
    let abi: Abi = input.parse()?;
    let body;
    let braces = braced!(body in input);
    let mut shell = quote!(#(#attributes)* #unsafety #abi);
    braces.surround(&mut shell, |_| ());
    attributes.iter_mut().for_each(permit);
    if unsafety.is_none() || abi.name.as_ref().is_none_or(|name| name.value() != "C") {
        let message = "a block of kernels is `unsafe extern \"C\"`: its author vouches for them";
        report.push_at(&abi, &error(Code::Syntax, message).help(FORM));
        shell = TokenStream::new();
    }
    let mut block = Block {
        file: None,
        runtime: Runtime::Usual,
        prove: false,
        shell,
        attributes,
        kernels: Vec::new(),
        unparsed: TokenStream::new(),
    };
    while !body.is_empty() {
        let kernel = item(&body, &mut block.unparsed, report)?;
        block.kernels.extend(kernel);
    }
    for kernel in &mut block.kernels {
        kernel.allow(allows);
    }
    Ok(block)
}

/// Makes `#[allow(..)]` of an `#[expect(..)]`.
fn permit(attribute: &mut Attribute) {
    if attribute.path().is_ident("expect")
        && let syn::Meta::List(list) = &mut attribute.meta
    {
        let span = list.path.span();
        list.path = Ident::new("allow", span).into();
    }
}

/// One item of the block. One that cannot be parsed is skipped up to its `;`.
fn item(body: ParseStream<'_>, unparsed: &mut TokenStream, report: &mut Report) -> syn::Result<Option<Declaration>> {
    let fork = body.fork();
    match fork.parse::<ForeignItem>() {
        Ok(ForeignItem::Fn(function)) => {
            body.advance_to(&fork);
            Ok(Some(for_each::declaration(function)))
        }
        Ok(other) => {
            body.advance_to(&fork);
            let fault = error(Code::Syntax, "expected a kernel: `fn name(..);`");
            report.push_at(&other, &fault);
            Ok(Declaration::recover(other.to_token_stream()))
        }
        Err(_) => {
            let skipped = skip(body)?;
            unparsed.extend(skipped.clone());
            // If a `;` is missing, rustc has said so.
            let ended =
                matches!(skipped.clone().into_iter().last(), Some(TokenTree::Punct(last)) if last.as_char() == ';');
            unparsed.extend((!ended).then(|| quote!(;)));
            Ok(Declaration::recover(skipped))
        }
    }
}

/// Skips past the next `;`, or to the end.
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

/// Reports and drops kernels whose name an earlier one has, since rustc would report several errors about them. Kernels
/// with `#[cfg]` stay: perhaps only one of them is compiled.
fn drop_repetitions(block: &mut Block, report: &mut Report) {
    let mut spans = HashMap::new();
    block.kernels.retain(|kernel| {
        if !kernel.conditions.is_empty() {
            return true;
        }
        let span = kernel.ident.span();
        let Some(first) = spans.insert(kernel.ident.to_string(), span) else {
            return true;
        };
        let message = format!("the kernel `{}` is declared twice", kernel.ident);
        let note = format!("the other declaration is {}", on_line(first));
        report.push(span, &error(Code::DuplicateName, message).note(note).help("remove one"));
        false
    });
}
