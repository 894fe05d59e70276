//! Attributes of graphs and statements: documentation, `#[allow(rule)]`, and what only nodes have.

use crate::graph::ast::{Attributes, Extent, NodeAttributes};
use crate::report::{Report, error};
use graph_plan::{Code, nearest};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Meta, Token, parse_quote_spanned};

/// The warnings of a graph.
const SILENCEABLE: [Code; 5] = [
    Code::UnusedResource,
    Code::RedundantEdge,
    Code::DeadNode,
    Code::NeedlessMut,
    Code::ProgrammaticEdge,
];

/// All attributes that stand here; unknown ones are reported.
pub(super) fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Attributes> {
    let mut found = Attributes::default();
    for attribute in input.call(Attribute::parse_outer)? {
        let name = attribute.path().to_token_stream().to_string();
        match name.as_str() {
            "doc" => found.docs.push(attribute),
            "allow" => allow(&attribute, &mut found, report)?,
            name if NodeAttributes::NAMES.contains(&name) => of_node(&attribute, name, &mut found.node, report),
            name => {
                // With `#[cfg]`, say, it would have another order.
                found.astray = true;
                unknown(&attribute, name, report);
            }
        }
    }
    Ok(found)
}

fn unknown(attribute: &Attribute, name: &str, report: &mut Report) {
    let help = match nearest(name, NodeAttributes::NAMES) {
        Some(near) => format!("did you mean `#[{near}]`?"),
        None => "use `///` or `#[allow(rule)]`".to_owned(),
    };
    let message = format!("`#[{name}]` is not supported here: {help}");
    report.syntax(attribute.path().span(), message);
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
            let warnings = SILENCEABLE.map(|code| format!("`{code}`")).join(", ");
            let diagnostic = error(Code::Syntax, format!("no warning is named `{text}`"));
            report.push(rule.span(), &diagnostic.help(format!("there are {warnings}")));
        }
    }
    Ok(())
}

/// One of [`NodeAttributes::NAMES`].
fn of_node(attribute: &Attribute, name: &str, found: &mut NodeAttributes, report: &mut Report) {
    let span = attribute.path().span();
    if found.present().iter().any(|(known, _)| *known == name) {
        report.syntax(span, format!("`#[{name}]` is given twice"));
        return;
    }
    let word = matches!(attribute.meta, Meta::Path(_)).then_some(span);
    let form = match name {
        "priority" => {
            let priority = attribute.parse_args::<Expr>().ok();
            found.priority = priority.map(|priority| (span, priority));
            "#[priority(n)]"
        }
        "cluster" => {
            found.cluster = extent(attribute).map(|extent| (span, extent));
            "#[cluster(x, y, z)]"
        }
        "cooperative" => {
            found.cooperative = word;
            "#[cooperative]"
        }
        _ => {
            found.disabled = word;
            "#[disabled]"
        }
    };
    if !found.present().iter().any(|(known, _)| *known == name) {
        report.syntax(span, format!("expected `{form}`"));
    }
}

/// One to three dimensions in parentheses, as those of a launch.
fn extent(attribute: &Attribute) -> Option<Extent> {
    let Meta::List(list) = &attribute.meta else { return None };
    let parts = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    let parts: Vec<Expr> = parts.ok()?.into_iter().collect();
    let whole = parse_quote_spanned!(list.delimiter.span().join()=> (#(#parts,)*));
    (1..=3).contains(&parts.len()).then_some(Extent { whole, parts })
}

/// Reports attributes that a statement with this keyword cannot have.
pub(super) fn misplaced(attributes: &NodeAttributes, keyword: &str, report: &mut Report) {
    for (name, span) in attributes.present() {
        let (kinds, belongs): (&[&str], _) = match name {
            "disabled" => (&["kernel", "memcpy", "memset"], "a `kernel`, `memcpy` or `memset` node"),
            _ => (&["kernel"], "a `kernel` node"),
        };
        if !kinds.contains(&keyword) {
            report.syntax(span, format!("`#[{name}]` belongs on {belongs}, not on a `{keyword}`"));
        }
    }
}
