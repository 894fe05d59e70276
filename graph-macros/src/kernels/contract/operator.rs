//! The operators and methods of contracts, and their types.

use graph_ptx::proof::{Binary, Unary};
use syn::BinOp;

/// The type of a sub-expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Int,
    Float,
    Bool,
}

impl Sort {
    /// The type in messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Sort::Int => "an integer",
            Sort::Float => "a floating-point number",
            Sort::Bool => "a condition",
        }
    }
}

/// An operator, by the number of its operands. `graph_plan::Op` has the same under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    One(Unary),
    Two(Binary),
}

/// Methods: the name and the operation.
pub(super) const METHODS: [(&str, Operator); 5] = [
    ("min", Operator::Two(Binary::Min)),
    ("max", Operator::Two(Binary::Max)),
    ("div_ceil", Operator::Two(Binary::DivCeil)),
    ("is_multiple_of", Operator::Two(Binary::IsMultipleOf)),
    ("is_power_of_two", Operator::One(Unary::IsPowerOfTwo)),
];

/// The type of the result of two numbers.
pub(super) fn common(left: Sort, right: Sort) -> Sort {
    if left == right { left } else { Sort::Float }
}

/// The operation of an operator between two operands.
pub(super) fn operator(op: &BinOp) -> Option<Binary> {
    Some(match op {
        BinOp::Add(_) => Binary::Add,
        BinOp::Sub(_) => Binary::Sub,
        BinOp::Mul(_) => Binary::Mul,
        BinOp::Div(_) => Binary::Div,
        BinOp::Rem(_) => Binary::Rem,
        BinOp::Shl(_) => Binary::Shl,
        BinOp::Shr(_) => Binary::Shr,
        BinOp::BitAnd(_) => Binary::BitAnd,
        BinOp::BitOr(_) => Binary::BitOr,
        BinOp::BitXor(_) => Binary::BitXor,
        BinOp::Eq(_) => Binary::Eq,
        BinOp::Ne(_) => Binary::Ne,
        BinOp::Lt(_) => Binary::Lt,
        BinOp::Le(_) => Binary::Le,
        BinOp::Gt(_) => Binary::Gt,
        BinOp::Ge(_) => Binary::Ge,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        _ => return None,
    })
}

/// The type of `left op right`, `None` if there is no such operation.
pub(super) fn result(op: &BinOp, left: Sort, right: Sort) -> Option<Sort> {
    let bools = left == Sort::Bool && right == Sort::Bool;
    let integers = left == Sort::Int && right == Sort::Int;
    let numbers = left != Sort::Bool && right != Sort::Bool;
    let (valid, sort) = match op {
        BinOp::And(_) | BinOp::Or(_) => (bools, Sort::Bool),
        BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => (bools || integers, left),
        BinOp::Shl(_) | BinOp::Shr(_) => (integers, Sort::Int),
        BinOp::Eq(_) | BinOp::Ne(_) => (bools || numbers, Sort::Bool),
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => (numbers, Sort::Bool),
        _ => (numbers, common(left, right)),
    };
    valid.then_some(sort)
}
