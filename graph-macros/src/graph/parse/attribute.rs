//! Attributes of graphs and statements: documentation, `#[allow(rule)]`, and those that only nodes have.

use super::base::expected;
use crate::graph::ast::{Attributes, Extent, NodeAttribute, NodeAttributes};
use crate::graph::keyword::Keyword;
use crate::report::{Report, error};
use graph_plan::{Code, NodeKind, nearest};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Meta, Token, Visibility, parse_quote_spanned};

/// The warnings of a graph.
const SILENCEABLE: [Code; 5] = [
    Code::UnusedResource,
    Code::RedundantEdge,
    Code::DeadNode,
    Code::NeedlessMut,
    Code::ProgrammaticEdge,
];

/// Parses all attributes before a graph or a statement, and its visibility; unknown attributes are reported.
pub(super) fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Attributes> {
    let mut found = Attributes::default();
    for attribute in input.call(Attribute::parse_outer)? {
        let name = attribute.path().to_token_stream().to_string();
        match name.as_str() {
            "doc" => found.docs.push(attribute),
            "allow" => allow(&attribute, &mut found, report)?,
            name => match NodeAttribute::ALL.into_iter().find(|known| known.as_str() == name) {
                Some(known) => of_node(&attribute, known, &mut found.node, report),
                None => {
                    // With `#[cfg]`, for example, the statement might run after other nodes.
                    found.astray = true;
                    unknown(&attribute, name, report);
                }
            },
        }
    }
    found.visibility = visibility(input)?;
    Ok(found)
}

/// The visibility before a graph or a statement, if it has one.
fn visibility(input: ParseStream<'_>) -> syn::Result<Option<Visibility>> {
    match input.parse()? {
        Visibility::Inherited => Ok(None),
        Visibility::Public(_) if input.peek(syn::token::Paren) => Err(expected(
            input.span(),
            "`(crate)`, `(self)`, `(super)` or `(in path)` after `pub`",
        )),
        _ if input.peek(Token![#]) => Err(syn::Error::new(
            input.span(),
            "attributes and documentation come before the visibility",
        )),
        visibility => Ok(Some(visibility)),
    }
}

fn unknown(attribute: &Attribute, name: &str, report: &mut Report) {
    let help = match nearest(name, NodeAttribute::ALL.map(NodeAttribute::as_str)) {
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

/// An attribute that only nodes have.
fn of_node(attribute: &Attribute, known: NodeAttribute, found: &mut NodeAttributes, report: &mut Report) {
    let span = attribute.path().span();
    if found.span(known).is_some() {
        report.syntax(span, format!("`#[{}]` is given twice", known.as_str()));
        return;
    }
    let word = matches!(attribute.meta, Meta::Path(_)).then_some(span);
    let form = match known {
        NodeAttribute::Priority => {
            let priority = attribute.parse_args::<Expr>().ok();
            found.priority = priority.map(|priority| (span, priority));
            "#[priority(n)]"
        }
        NodeAttribute::Cluster => {
            found.cluster = extent(attribute).map(|extent| (span, extent));
            "#[cluster(x, y, z)]"
        }
        NodeAttribute::Cooperative => {
            found.cooperative = word;
            "#[cooperative]"
        }
        NodeAttribute::Disabled => {
            found.disabled = word;
            "#[disabled]"
        }
    };
    if found.span(known).is_none() {
        report.syntax(span, format!("expected `{form}`"));
    }
}

/// One to three dimensions in parentheses, as in a launch.
fn extent(attribute: &Attribute) -> Option<Extent> {
    let Meta::List(list) = &attribute.meta else { return None };
    let parts = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    let parts: Vec<Expr> = parts.ok()?.into_iter().collect();
    let whole = match &parts[..] {
        [single] => single.clone(),
        _ => parse_quote_spanned!(list.delimiter.span().join()=> (#(#parts,)*)),
    };
    (1..=3).contains(&parts.len()).then_some(Extent { whole, parts })
}

/// Reports attributes of nodes that a statement with this keyword cannot have.
pub(super) fn misplaced(attributes: &NodeAttributes, keyword: Keyword, report: &mut Report) {
    for attribute in NodeAttribute::ALL {
        let (fits, belongs): (&[NodeKind], _) = match attribute {
            NodeAttribute::Disabled => (
                &[NodeKind::Kernel, NodeKind::Memcpy, NodeKind::Memset],
                "a `kernel`, `memcpy` or `memset` node",
            ),
            NodeAttribute::Priority | NodeAttribute::Cluster | NodeAttribute::Cooperative => {
                (&[NodeKind::Kernel], "a `kernel` node")
            }
        };
        if let Some(span) = attributes
            .span(attribute)
            .filter(|_| !matches!(keyword, Keyword::Node(kind) if fits.contains(&kind)))
        {
            let name = attribute.as_str();
            report.syntax(span, format!("`#[{name}]` belongs on {belongs}, not on a `{keyword}`"));
        }
    }
}
