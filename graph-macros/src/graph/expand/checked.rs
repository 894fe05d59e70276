//! Lengths and launch dimensions that are arithmetic over build arguments and params. If their type cannot hold a
//! result, `build` or the setter returns an error that names the expression: Rust's own operators would panic.

use crate::graph::constant::bare;
use crate::graph::resolve::Graph;
use crate::text::plain;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ExprLit, Lit, Type};

/// The expression, or those of a tuple, with an error for results that do not exist. Expressions of other forms than
/// sums, differences, products, quotients and casts of integer arguments and params stay as they are.
pub(super) fn checked(graph: &Graph<'_>, expr: &Expr) -> TokenStream {
    if let Expr::Tuple(tuple) = bare(expr) {
        let parts = tuple.elems.iter().map(|part| checked(graph, part));
        return quote!((#(#parts,)*));
    }
    let mut names = Vec::new();
    let term = term(graph, expr, &mut names).filter(|(_, value)| value.to_string().contains('?'));
    let Some((_, value)) = term.filter(|_| !graph.is_expression()) else {
        return expr.to_token_stream();
    };
    let (owner, text, texts) = (graph.item.name.to_string(), plain(expr), names.iter().map(plain));
    let names = quote!(&[#((#texts, #names as ::core::primitive::i128)),*]);
    quote!(__p::checked(#owner, #text, #names, (|| ::core::option::Option::Some(#value))())?)
}

/// The type of an expression, which a literal does not tell, and its value in a function that returns an `Option`.
/// `names` gets the arguments and params that it mentions.
fn term(graph: &Graph<'_>, expr: &Expr, names: &mut Vec<Ident>) -> Option<(Option<Ident>, TokenStream)> {
    match bare(expr) {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) if int.suffix().is_empty() => Some((None, int.to_token_stream())),
        Expr::Path(path) => {
            let name = path.path.get_ident()?;
            let is_counted = graph.loops.iter().any(|around| around.variable() == name);
            let scalar = graph
                .scalar_values()
                .find(|scalar| scalar.name == name && !is_counted)?;
            if !names.contains(name) {
                names.push(name.clone());
            }
            Some((Some(integer(scalar.ty)?), name.to_token_stream()))
        }
        Expr::Cast(cast) => {
            let ((_, value), ty) = (term(graph, &cast.expr, names)?, integer(&cast.ty)?);
            let value = quote!((#value) as ::core::primitive::#ty);
            Some((Some(ty), value))
        }
        Expr::Binary(binary) => {
            let function = match binary.op {
                BinOp::Add(_) => "checked_add",
                BinOp::Sub(_) => "checked_sub",
                BinOp::Mul(_) => "checked_mul",
                BinOp::Div(_) => "checked_div",
                BinOp::Rem(_) => "checked_rem",
                _ => return None,
            };
            let (ty, left) = term(graph, &binary.left, names)?;
            let (other, right) = term(graph, &binary.right, names)?;
            let is_one = ty.is_none() || other.is_none() || ty == other;
            let ty = ty.or(other).filter(|_| is_one)?;
            let function = Ident::new(function, Span::call_site());
            let value = quote!(::core::primitive::#ty::#function(#left, #right)?);
            Some((Some(ty), value))
        }
        _ => None,
    }
}

fn integer(ty: &Type) -> Option<Ident> {
    let Type::Path(path) = ty else { return None };
    let name = path.path.get_ident()?.to_string();
    let bits = name.strip_prefix(['u', 'i'])?;
    ["8", "16", "32", "64", "128", "size"]
        .contains(&bits)
        .then(|| Ident::new(&name, Span::call_site()))
}
