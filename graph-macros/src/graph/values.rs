//! The types of `let`s. Functions of the expansion take values as parameters, so each has a type: the one that is
//! written, or else the one that the text of the expression tells.

use super::ast::{BuildArgument, Item, Let, Statement};
use super::constant::bare;
use crate::report::{Report, error};
use graph_plan::Code;
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::{BinOp, Expr, ExprLit, GenericParam, Lit, Type, UnOp, parse_quote};

/// Methods of numbers whose result has the type of the number.
const OWN_TYPE: [&str; 10] = [
    "div_ceil",
    "isqrt",
    "max",
    "min",
    "next_multiple_of",
    "next_power_of_two",
    "pow",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
];

/// Gives each `let` of a graph its type. Reports those whose type the text does not tell.
pub(super) fn typed(item: &mut Item, report: &mut Report) {
    let mut known: HashMap<String, Type> = HashMap::new();
    for generic in &item.generics.params {
        if let GenericParam::Const(generic) = generic {
            known.insert(generic.ident.to_string(), generic.ty.clone());
        }
    }
    for argument in &item.arguments {
        if let BuildArgument::Value { name, ty } = argument {
            known.insert(name.to_string(), (**ty).clone());
        }
    }
    let lets = item.statements.iter_mut().filter_map(|statement| match statement {
        Statement::Let(found) => Some(found),
        _ => None,
    });
    let mut left: Vec<&mut Let> = lets.collect();
    // A `let` may mention one that is written after it.
    loop {
        let before = left.len();
        left.retain_mut(|found| {
            found.ty = found.ty.take().or_else(|| of(&found.value, &known));
            if let Some(ty) = &found.ty {
                known.insert(found.name.to_string(), ty.clone());
            }
            found.ty.is_none()
        });
        if left.len() == before {
            break;
        }
    }
    for found in left {
        let message = format!("the type of `{}` is not clear from its expression", found.name);
        let help = format!("write it: `let {}: usize = ..;`", found.name);
        report.push(found.name.span(), &error(Code::Syntax, message).help(help));
    }
}

/// The type of an expression of build arguments and other `let`s.
fn of(expr: &Expr, known: &HashMap<String, Type>) -> Option<Type> {
    match bare(expr) {
        Expr::Path(path) => known.get(&path.path.get_ident().map(Ident::to_string)?).cloned(),
        Expr::Cast(cast) => Some((*cast.ty).clone()),
        Expr::Lit(ExprLit { lit, .. }) => suffix(lit),
        Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => of(&unary.expr, known),
        Expr::Binary(binary) => match binary.op {
            BinOp::Shl(_) | BinOp::Shr(_) => of(&binary.left, known),
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                of(&binary.left, known).or_else(|| of(&binary.right, known))
            }
            _ => None,
        },
        Expr::MethodCall(call) if OWN_TYPE.iter().any(|method| call.method == method) => of(&call.receiver, known),
        _ => None,
    }
}

/// The type that the suffix of a literal tells.
fn suffix(lit: &Lit) -> Option<Type> {
    let suffix = match lit {
        Lit::Int(int) => int.suffix(),
        Lit::Float(float) => float.suffix(),
        Lit::Bool(_) => return Some(parse_quote!(bool)),
        _ => "",
    };
    syn::parse_str(suffix).ok()
}
