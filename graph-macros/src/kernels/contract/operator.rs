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

/// Methods: the name, the operation and the number of arguments.
pub(super) const METHODS: [(&str, &str, usize); 5] = [
    ("min", "Min", 1),
    ("max", "Max", 1),
    ("div_ceil", "DivCeil", 1),
    ("is_multiple_of", "IsMultipleOf", 1),
    ("is_power_of_two", "IsPowerOfTwo", 0),
];

/// The type of the result of two numbers.
pub(super) fn common(left: Sort, right: Sort) -> Sort {
    if left == right { left } else { Sort::Float }
}

/// The name of the operation in `graph_plan::Op`.
pub(super) fn operator(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "Add",
        BinOp::Sub(_) => "Sub",
        BinOp::Mul(_) => "Mul",
        BinOp::Div(_) => "Div",
        BinOp::Rem(_) => "Rem",
        BinOp::Shl(_) => "Shl",
        BinOp::Shr(_) => "Shr",
        BinOp::BitAnd(_) => "BitAnd",
        BinOp::BitOr(_) => "BitOr",
        BinOp::BitXor(_) => "BitXor",
        BinOp::Eq(_) => "Eq",
        BinOp::Ne(_) => "Ne",
        BinOp::Lt(_) => "Lt",
        BinOp::Le(_) => "Le",
        BinOp::Gt(_) => "Gt",
        BinOp::Ge(_) => "Ge",
        BinOp::And(_) => "And",
        BinOp::Or(_) => "Or",
        _ => return None,
    })
}

/// The operation with one operand of this name in `graph_plan::Op`, for proofs.
pub(super) fn unary(op: &str) -> Option<Unary> {
    Some(match op {
        "Neg" => Unary::Neg,
        "Not" => Unary::Not,
        "IsPowerOfTwo" => Unary::IsPowerOfTwo,
        _ => return None,
    })
}

/// The operation with two operands of this name in `graph_plan::Op`, for proofs.
pub(super) fn binary(op: &str) -> Option<Binary> {
    Some(match op {
        "Add" => Binary::Add,
        "Sub" => Binary::Sub,
        "Mul" => Binary::Mul,
        "Div" => Binary::Div,
        "Rem" => Binary::Rem,
        "Shl" => Binary::Shl,
        "Shr" => Binary::Shr,
        "BitAnd" => Binary::BitAnd,
        "BitOr" => Binary::BitOr,
        "BitXor" => Binary::BitXor,
        "Eq" => Binary::Eq,
        "Ne" => Binary::Ne,
        "Lt" => Binary::Lt,
        "Le" => Binary::Le,
        "Gt" => Binary::Gt,
        "Ge" => Binary::Ge,
        "And" => Binary::And,
        "Or" => Binary::Or,
        "Min" => Binary::Min,
        "Max" => Binary::Max,
        "DivCeil" => Binary::DivCeil,
        "IsMultipleOf" => Binary::IsMultipleOf,
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
