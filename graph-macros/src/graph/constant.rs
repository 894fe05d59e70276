//! Facts about expressions that need no types: the value of an expression of literals, and whether rustc can evaluate
//! an expression in a constant.

use crate::text::text;
use graph_plan::Bound;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, Ident, Lit, Type, UnOp};

/// The value of an expression of integer literals.
pub(crate) fn value(expr: &Expr) -> Option<i128> {
    value_with(expr, &|_| None)
}

/// The value of an expression of integer literals and of names whose value is known.
pub(crate) fn value_with(expr: &Expr, known: &dyn Fn(&Ident) -> Option<i128>) -> Option<i128> {
    let value = |expr: &Expr| value_with(expr, known);
    match bare(expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        Expr::Path(path) => known(path.path.get_ident()?),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => value(&unary.expr)?.checked_neg(),
        Expr::Binary(binary) => {
            let (left, right) = (value(&binary.left)?, value(&binary.right)?);
            match binary.op {
                BinOp::Add(_) => left.checked_add(right),
                BinOp::Sub(_) => left.checked_sub(right),
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Div(_) => left.checked_div(right),
                BinOp::Rem(_) => left.checked_rem(right),
                BinOp::Shl(_) => left.checked_mul(1_i128.checked_shl(right.try_into().ok()?)?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// An expression without the parentheses around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        other => other,
    }
}

/// Methods that are `const fn`s on every integer type.
const CONST_METHODS: [&str; 14] = [
    "abs_diff",
    "count_ones",
    "div_ceil",
    "ilog2",
    "is_power_of_two",
    "isqrt",
    "leading_zeros",
    "next_multiple_of",
    "next_power_of_two",
    "pow",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
    "trailing_zeros",
];

/// The names that are not constants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    /// The names of params, build arguments and variables of `for`s.
    pub(crate) names: Vec<String>,
    /// Whether there are local variables. If so, a name that is not in upper case counts as one.
    pub(crate) locals: bool,
}

impl Variables {
    fn contain(&self, name: &Ident) -> bool {
        self.names.iter().any(|variable| name == variable) || self.locals && !is_upper(name)
    }

    /// Whether the tokens mention one of the names.
    pub(crate) fn mentioned(&self, tokens: TokenStream) -> bool {
        mentions(tokens.clone(), &self.names) || self.locals && mentions_local(tokens)
    }
}

/// Whether the name is in upper case, as constants and const generics are.
pub(crate) fn is_upper(name: &Ident) -> bool {
    !name.to_string().contains(char::is_lowercase)
}

/// Whether the tokens name something that may be a local variable: not in upper case, and no function, field, method or
/// path.
fn mentions_local(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |index: Option<usize>, chars: &[char]| {
        let token = index.and_then(|index| tokens.get(index));
        matches!(token, Some(TokenTree::Punct(punct)) if chars.contains(&punct.as_char()))
    };
    let called = |index: usize| matches!(tokens.get(index + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(name) => {
            let part = punct(index.checked_sub(1), &['.', ':']) || punct(Some(index + 1), &[':', '!']) || called(index);
            !part
                && !is_upper(name)
                && syn::parse2::<Ident>(name.to_token_stream()).is_ok()
                && !follows_as(&tokens, index)
        }
        TokenTree::Group(group) => mentions_local(group.stream()),
        _ => false,
    })
}

/// Whether the token is the type of a cast.
fn follows_as(tokens: &[TokenTree], index: usize) -> bool {
    let before = index.checked_sub(1).map(|index| &tokens[index]);
    matches!(before, Some(TokenTree::Ident(word)) if word == "as")
}

/// Whether rustc can evaluate the expression in a constant: literals, paths other than `variables`, operators on these,
/// and integer methods known to be `const fn`s. In a graph item all other paths are constants, since no local is in
/// scope.
pub(crate) fn is_constant(expr: &Expr, variables: &Variables) -> bool {
    let constant = |expr: &Expr| is_constant(expr, variables);
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.path.get_ident().is_none_or(|name| !variables.contain(name)),
        Expr::Cast(cast) => constant(&cast.expr),
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Deref(_)) && constant(&unary.expr),
        Expr::Binary(binary) => constant(&binary.left) && constant(&binary.right),
        Expr::MethodCall(call) => {
            CONST_METHODS.iter().any(|method| call.method == method)
                && constant(&call.receiver)
                && call.args.iter().all(constant)
        }
        _ => false,
    }
}

/// A constant expression as the argument of a contract; `Unknown` if the expression is not constant.
pub(crate) fn argument(expr: &Expr, variables: &Variables) -> TokenStream {
    let argument = quote!(::graph_runtime::private::plan::Argument);
    // An expression of any type gets its parameter's type, which is not known here.
    if !is_constant(expr, variables) || only_literals(expr).is_none() && is_of_any_type(expr) {
        return quote!(#argument::Unknown);
    }
    match only_literals(expr) {
        Some(Literals::Integers) => quote!(#argument::Int(#expr)),
        Some(Literals::Floats) => quote!(#argument::Float(#expr)),
        None if is_integer(expr) => quote!(#argument::Int((#expr) as ::core::primitive::i128)),
        // The type of the constant tells whether it is an integer.
        None => quote! {
            match #expr {
                __value => {
                    use ::graph_runtime::private::constants::*;
                    ::graph_runtime::private::Passed::argument(__value, &|| (&::graph_runtime::private::Passed(&__value)).kind())
                }
            }
        },
    }
}

/// Whether a constant expression is certainly an integer: arithmetic in constants is for numbers alone.
fn is_integer(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(literal) => matches!(&literal.lit, Lit::Int(int) if !matches!(int.suffix(), "f32" | "f64")),
        Expr::Cast(cast) => is_number(&cast.ty) && !matches!(&*text(&cast.ty), "f32" | "f64"),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_integer(&unary.expr),
        Expr::Binary(binary) => match binary.op {
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                is_integer(&binary.left) || is_integer(&binary.right)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the expression is made of integer literals without a suffix, and the values of some part of it need more
/// than an `i32`.
pub(crate) fn is_large_literal(expr: &Expr) -> bool {
    only_literals(expr) == Some(Literals::Integers) && !fits_i32(expr)
}

/// Whether the values of all parts of an expression of literals fit an `i32`.
fn fits_i32(expr: &Expr) -> bool {
    let parts = match bare(expr) {
        Expr::Unary(unary) => fits_i32(&unary.expr),
        Expr::Binary(binary) => fits_i32(&binary.left) && fits_i32(&binary.right),
        _ => true,
    };
    parts && value(expr).is_some_and(|value| i32::try_from(value).is_ok())
}

#[derive(PartialEq)]
enum Literals {
    Integers,
    Floats,
}

/// The kind of the literals that the expression is made of, if all are of one kind and have no suffix. The type of the
/// expression is open then.
fn only_literals(expr: &Expr) -> Option<Literals> {
    match bare(expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) if int.suffix().is_empty() => Some(Literals::Integers),
            Lit::Float(float) if float.suffix().is_empty() => Some(Literals::Floats),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => only_literals(&unary.expr),
        Expr::Binary(binary) => {
            let left = only_literals(&binary.left)?;
            (left == only_literals(&binary.right)?).then_some(left)
        }
        _ => None,
    }
}

/// Methods whose result is of the type that is expected of it, or holds a value of that type.
const OPEN_METHODS: [&str; 5] = ["into", "try_into", "parse", "sum", "product"];

/// Methods of `Result` and `Option` that lead from one of these to the value.
const UNWRAPPING_METHODS: [&str; 9] = [
    "expect",
    "map_err",
    "ok",
    "ok_or",
    "ok_or_else",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// Whether the expression is of the type that is expected of it, as `x.try_into()?` and `Default::default()` are.
pub(crate) fn is_of_any_type(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Try(inner) => is_of_any_type(&inner.expr),
        Expr::MethodCall(call) if call.turbofish.is_some() => false,
        Expr::MethodCall(call) => {
            let is = |method: &&str| call.method == *method;
            OPEN_METHODS.iter().any(is) || UNWRAPPING_METHODS.iter().any(is) && is_of_any_type(&call.receiver)
        }
        Expr::Call(call) => text(&call.func) == "Default::default",
        // A shift has the type of its left side alone.
        Expr::Binary(binary) if matches!(binary.op, BinOp::Shl(_) | BinOp::Shr(_)) => {
            is_of_any_type(&binary.left) || only_literals(&binary.left) == Some(Literals::Integers)
        }
        _ => false,
    }
}

/// An end of a range or an index, for the race rule. Equal expressions of constants and of values that are fixed when
/// the graph is built have equal values.
pub(crate) fn bound(expr: &Expr) -> Bound {
    match value(expr) {
        Some(value) => u64::try_from(value).map_or(Bound::Unknown, Bound::Known),
        None if is_constant(expr, &Variables::default()) => Bound::Symbol(expr.to_token_stream().to_string()),
        None => Bound::Unknown,
    }
}

/// Whether the type is certainly a number. Any other path may be an alias, of an array too.
pub(crate) fn is_number(ty: &Type) -> bool {
    const NUMBERS: [&str; 12] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "f32", "f64",
    ];
    let Type::Path(path) = ty else { return false };
    NUMBERS.iter().any(|number| path.path.is_ident(number))
}

/// Whether any of the names occurs anywhere in the tokens.
pub(crate) fn mentions(tokens: TokenStream, names: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.iter().any(|name| ident == name),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}
