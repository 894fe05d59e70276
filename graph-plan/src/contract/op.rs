//! The steps of a contract: the values that they load, and their results.

use super::{Argument, Op, Param, ParamKind, Scalar};
use crate::{LaunchConfig, Text};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
    Bool(bool),
    /// Not known yet.
    Unknown,
    /// Overflow, division by zero, operands that do not fit.
    Undefined,
}

/// The pattern of operations that load an operand.
macro_rules! operand {
    () => {
        Op::Int(_)
            | Op::Float(_)
            | Op::Bool(_)
            | Op::Threads
            | Op::Grid(_)
            | Op::Block(_)
            | Op::Shared
            | Op::Value(_)
            | Op::Len(_)
    };
}

/// The pattern of operations with one operand.
macro_rules! unary {
    () => {
        Op::Cast { .. } | Op::Neg | Op::Not | Op::IsPowerOfTwo
    };
}

/// The pattern of operations on two numbers whose result is a number.
macro_rules! arithmetic {
    () => {
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Min | Op::Max
    };
}

/// The pattern of comparisons that need an order.
macro_rules! ordering {
    () => {
        Op::Lt | Op::Le | Op::Gt | Op::Ge
    };
}

/// The pattern of operations on two integers only.
macro_rules! of_integers {
    () => {
        Op::Shl | Op::Shr | Op::DivCeil | Op::IsMultipleOf
    };
}

/// The pattern of all operations with two operands.
macro_rules! binary {
    () => {
        arithmetic!()
            | ordering!()
            | of_integers!()
            | Op::BitAnd
            | Op::BitOr
            | Op::BitXor
            | Op::Eq
            | Op::Ne
            | Op::And
            | Op::Or
    };
}

/// Whether the code loads this operand.
pub(super) const fn mentions(code: &[Op], wanted: Op) -> bool {
    let mut rest = code;
    while let [op, next @ ..] = rest {
        match (*op, wanted) {
            (Op::Threads, Op::Threads) | (Op::Shared, Op::Shared) => return true,
            (Op::Grid(a), Op::Grid(b)) | (Op::Block(a), Op::Block(b)) if a == b => return true,
            (Op::Value(a), Op::Value(b)) | (Op::Len(a), Op::Len(b)) if a == b => return true,
            (operand!() | unary!() | binary!(), _) => rest = next,
        }
    }
    false
}

impl Op {
    pub(super) const fn operands(self) -> usize {
        match self {
            operand!() => 0,
            unary!() => 1,
            binary!() => 2,
        }
    }

    pub(super) const fn load(self, config: &LaunchConfig, params: &[Param], arguments: &[Argument]) -> Value {
        match self {
            Op::Int(value) => Value::Int(value),
            Op::Float(value) => Value::Float(value),
            Op::Bool(value) => Value::Bool(value),
            Op::Threads => Value::Int(config.threads() as i128),
            Op::Grid(axis) if axis < 3 => Value::Int(config.grid[axis as usize] as i128),
            Op::Grid(_) => Value::Int(config.blocks() as i128),
            Op::Block(axis) if axis < 3 => Value::Int(config.block[axis as usize] as i128),
            Op::Block(_) => Value::Int(config.block_threads() as i128),
            Op::Shared => Value::Int(config.shared as i128),
            // An argument of the wrong kind or size is a type error that others report: unknown here.
            Op::Len(param) => match (argument(arguments, param), kind(params, param)) {
                (Argument::Buffer(bytes), Some(ParamKind::Buffer { unit, .. })) if unit > 0 => {
                    Value::Int(bytes as i128 / unit as i128)
                }
                // A null pointer, in place of memory.
                (Argument::Bytes(..), Some(ParamKind::Buffer { .. })) => Value::Int(0),
                _ => Value::Unknown,
            },
            Op::Value(param) => match (argument(arguments, param), kind(params, param)) {
                (Argument::Bytes(bytes, len), Some(ParamKind::Value(scalar))) => scalar.read(&bytes, len),
                (Argument::Int(value), _) => Value::Int(value),
                (Argument::Float(value), _) => Value::Float(value),
                _ => Value::Unknown,
            },
            unary!() | binary!() => Value::Undefined,
        }
    }

    pub(super) const fn unary(self, operand: Value) -> Value {
        match (self, operand) {
            (_, Value::Unknown) => Value::Unknown,
            (Op::Cast { bits, signed }, Value::Int(value)) => wrap(value, bits, signed),
            (Op::Neg, Value::Int(value)) => int(value.checked_neg()),
            (Op::Neg, Value::Float(value)) => Value::Float(-value),
            (Op::Not, Value::Bool(value)) => Value::Bool(!value),
            (Op::IsPowerOfTwo, Value::Int(value)) => Value::Bool(value > 0 && (value as u128).is_power_of_two()),
            (operand!() | unary!() | binary!(), _) => Value::Undefined,
        }
    }

    pub(super) const fn binary(self, left: Value, right: Value) -> Value {
        match (self, left, right) {
            (Op::And, Value::Bool(false), _) | (Op::And, _, Value::Bool(false)) => Value::Bool(false),
            (Op::Or, Value::Bool(true), _) | (Op::Or, _, Value::Bool(true)) => Value::Bool(true),
            (_, Value::Unknown, _) | (_, _, Value::Unknown) => Value::Unknown,
            (Op::And | Op::Or, Value::Bool(_), Value::Bool(value)) => Value::Bool(value),
            (_, Value::Bool(left), Value::Bool(right)) => self.compare_bools(left, right),
            (_, Value::Int(left), Value::Int(right)) => self.integers(left, right),
            (_, Value::Int(left), Value::Float(right)) => self.floats(left as f64, right),
            (_, Value::Float(left), Value::Int(right)) => self.floats(left, right as f64),
            (_, Value::Float(left), Value::Float(right)) => self.floats(left, right),
            _ => Value::Undefined,
        }
    }

    const fn compare_bools(self, left: bool, right: bool) -> Value {
        match self {
            Op::Eq => Value::Bool(left == right),
            Op::Ne | Op::BitXor => Value::Bool(left != right),
            Op::BitAnd => Value::Bool(left && right),
            Op::BitOr => Value::Bool(left || right),
            // `binary` has evaluated `&&` and `||`.
            Op::And | Op::Or => Value::Undefined,
            arithmetic!() | ordering!() | of_integers!() | operand!() | unary!() => Value::Undefined,
        }
    }

    const fn integers(self, left: i128, right: i128) -> Value {
        match self {
            Op::Add => int(left.checked_add(right)),
            Op::Sub => int(left.checked_sub(right)),
            Op::Mul => int(left.checked_mul(right)),
            Op::Div => int(left.checked_div(right)),
            Op::Rem => int(left.checked_rem(right)),
            Op::Shl if right >= 0 && right < 64 => int(left.checked_mul(1 << right)),
            Op::Shr if right >= 0 && right < 128 => Value::Int(left >> right),
            Op::BitAnd => Value::Int(left & right),
            Op::BitOr => Value::Int(left | right),
            Op::BitXor => Value::Int(left ^ right),
            Op::Eq => Value::Bool(left == right),
            Op::Ne => Value::Bool(left != right),
            Op::Lt => Value::Bool(left < right),
            Op::Le => Value::Bool(left <= right),
            Op::Gt => Value::Bool(left > right),
            Op::Ge => Value::Bool(left >= right),
            Op::Min => Value::Int(if left < right { left } else { right }),
            Op::Max => Value::Int(if left > right { left } else { right }),
            Op::DivCeil if left >= 0 && right > 0 => match left.checked_add(right - 1) {
                Some(sum) => Value::Int(sum / right),
                None => Value::Undefined,
            },
            Op::IsMultipleOf => match left.checked_rem(right) {
                Some(rest) => Value::Bool(rest == 0),
                None => Value::Undefined,
            },
            Op::Shl | Op::Shr | Op::DivCeil | Op::And | Op::Or | operand!() | unary!() => Value::Undefined,
        }
    }

    const fn floats(self, left: f64, right: f64) -> Value {
        match self {
            Op::Add => Value::Float(left + right),
            Op::Sub => Value::Float(left - right),
            Op::Mul => Value::Float(left * right),
            Op::Div => Value::Float(left / right),
            Op::Rem => Value::Float(left % right),
            Op::Eq => Value::Bool(left == right),
            Op::Ne => Value::Bool(left != right),
            Op::Lt => Value::Bool(left < right),
            Op::Le => Value::Bool(left <= right),
            Op::Gt => Value::Bool(left > right),
            Op::Ge => Value::Bool(left >= right),
            Op::Min => Value::Float(left.min(right)),
            Op::Max => Value::Float(left.max(right)),
            Op::BitAnd | Op::BitOr | Op::BitXor => Value::Undefined,
            of_integers!() | Op::And | Op::Or | operand!() | unary!() => Value::Undefined,
        }
    }

    /// Appends the operand as an author writes it.
    pub(super) const fn name(self, text: Text, params: &[Param]) -> Text {
        const AXES: [&str; 4] = [".x", ".y", ".z", ""];
        match self {
            Op::Threads => text.str("threads"),
            Op::Grid(axis) => text.str("grid").str(AXES[if axis < 3 { axis as usize } else { 3 }]),
            Op::Block(axis) => text.str("block").str(AXES[if axis < 3 { axis as usize } else { 3 }]),
            Op::Shared => text.str("shared"),
            Op::Value(param) if (param as usize) < params.len() => text.str(params[param as usize].name),
            Op::Len(param) if (param as usize) < params.len() => text.str(params[param as usize].name).str(".len()"),
            Op::Value(_) | Op::Len(_) => text.str("?"),
            Op::Int(_) | Op::Float(_) | Op::Bool(_) | unary!() | binary!() => text.str("?"),
        }
    }
}

/// The value as Rust casts it; undefined if no `i128` can hold it (a `u128` from `1 << 127` on).
const fn wrap(value: i128, bits: u8, signed: bool) -> Value {
    let fits = signed || value >= 0;
    if bits >= 128 {
        return if fits { Value::Int(value) } else { Value::Undefined };
    }
    let unused = 128 - bits as u32;
    let shifted = value << unused;
    Value::Int(match signed {
        true => shifted >> unused,
        false => (shifted as u128 >> unused) as i128,
    })
}

const fn argument(arguments: &[Argument], param: u8) -> Argument {
    let known = (param as usize) < arguments.len();
    if known {
        arguments[param as usize]
    } else {
        Argument::Unknown
    }
}

const fn kind(params: &[Param], param: u8) -> Option<ParamKind> {
    let known = (param as usize) < params.len();
    if known { Some(params[param as usize].kind) } else { None }
}

const fn int(value: Option<i128>) -> Value {
    match value {
        Some(value) => Value::Int(value),
        None => Value::Undefined,
    }
}

impl Scalar {
    /// Reads a value as it is in memory. A value of another size is a type error that others report: unknown here.
    const fn read(self, bytes: &[u8; 16], len: usize) -> Value {
        if matches!(self, Scalar::Other) {
            return Value::Undefined;
        }
        if len != self.size() {
            return Value::Unknown;
        }
        let mut index = 0;
        let mut bits = 0_u64;
        while index < len {
            bits |= (bytes[index] as u64) << (8 * index); // little-endian, as every CUDA host is
            index += 1;
        }
        match self {
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Value::Int(bits as i128),
            Scalar::I8 => Value::Int(bits as i8 as i128),
            Scalar::I16 => Value::Int(bits as i16 as i128),
            Scalar::I32 => Value::Int(bits as i32 as i128),
            Scalar::I64 => Value::Int(bits as i64 as i128),
            Scalar::F32 => Value::Float(f32::from_bits(bits as u32) as f64),
            Scalar::F64 => Value::Float(f64::from_bits(bits)),
            Scalar::Other => Value::Undefined,
        }
    }
}
