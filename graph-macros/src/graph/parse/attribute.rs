//! Attributes of graphs and statements: documentation and `#[allow(rule)]`.

use crate::graph::ast::Attributes;
use crate::report::{Report, error};
use graph_plan::Code;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Token};

/// The warnings of a graph.
const SILENCEABLE: [Code; 2] = [Code::UnusedResource, Code::RedundantEdge];

/// Documentation and `#[allow(rule)]`; others are reported.
pub(super) fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Attributes> {
    let mut found = Attributes::default();
    for attribute in input.call(Attribute::parse_outer)? {
        if attribute.path().is_ident("doc") {
            found.docs.push(attribute);
        } else if attribute.path().is_ident("allow") {
            allow(&attribute, &mut found, report)?;
        } else {
            let name = attribute.path().to_token_stream().to_string();
            report.syntax(
                attribute.path().span(),
                format!("`#[{name}]` is not supported here: use `///` or `#[allow(rule)]`"),
            );
        }
    }
    Ok(found)
}

fn allow(attribute: &Attribute, found: &mut Attributes, report: &mut Report) -> syn::Result<()> {
    // A rule is written `unused-resource`, as in messages, or `unused_resource`.
    let rule =
        |input: ParseStream<'_>| Punctuated::<Ident, Token![-]>::parse_separated_nonempty_with(input, Ident::parse_any);
    let rules = attribute
        .parse_args_with(|input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, rule))?;
    for rule in rules {
        let words: Vec<String> = rule.iter().map(|word| word.to_string().replace('_', "-")).collect();
        let text = words.join("-");
        if SILENCEABLE.iter().any(|code| code.as_str() == text) {
            found.allowed.push(text);
        } else {
            let warnings = SILENCEABLE.map(|code| format!("`{code}`")).join(" and ");
            let diagnostic = error(Code::Syntax, format!("no warning is named `{text}`"));
            report.push(rule.span(), &diagnostic.help(format!("there are {warnings}")));
        }
    }
    Ok(())
}
