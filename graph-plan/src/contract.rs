//! `#[requires(..)]` contracts as data: a postfix program that a `const fn` evaluates, in compile-time assertions, at
//! build and at every update.
//!
//! Integers are `i128`, so that `n <= data.len()` means what it says whatever the types; floats are `f64`. Overflow
//! and division by zero are undefined, and an undefined contract does not hold. `&&` and `||` decide early: `n == 0 ||
//! m / n > 1` holds for `n == 0`.

use crate::{LaunchConfig, Mode, Text, text::same};

/// A boolean expression over a launch and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// The text as the author wrote it.
    pub text: &'static str,
    /// The expression in postfix order.
    pub code: &'static [Op],
}

/// One step of a contract: pushes a value, or replaces the topmost by a result.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operators are named as in `std::ops`")]
pub enum Op {
    /// An integer literal or constant.
    Int(i128),
    /// A floating-point literal or constant.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// All threads of the launch.
    Threads,
    /// Blocks along an axis (0 to 2), or all of them (3).
    Grid(u8),
    /// Threads of a block along an axis (0 to 2), or all of them (3).
    Block(u8),
    /// Dynamic shared memory in bytes.
    Shared,
    /// The value of a by-value parameter, by index.
    Value(u8),
    /// The length of a buffer parameter, by index.
    Len(u8),
    /// `as`: wraps to a number of bits.
    Cast {
        /// 8, 16, 32, 64 or 128.
        bits: u8,
        /// Whether the type is signed.
        signed: bool,
    },
    Neg,
    Not,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Min,
    Max,
    DivCeil,
    IsMultipleOf,
    IsPowerOfTwo,
}

/// A parameter of a kernel, as contracts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// The kind of argument.
    pub kind: ParamKind,
}

/// The kind of argument that a kernel's parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A buffer. `.len()` counts units: `T` for `&[T]`, `[T; C]` for `&[[T; C]; R]`.
    Buffer {
        /// Size of a unit in bytes.
        unit: usize,
        /// The kernel's accesses to it: `Read` for `&[T]`, `ReadWrite` for `&mut [T]`, `Atomic` for `&[Atomic<T>]` and
        /// `Write` for `&mut [MaybeUninit<T>]`.
        mode: Mode,
    },
    /// A value.
    Value(Scalar),
}

/// The type of a by-value parameter, if contracts can use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are Rust's own type names")]
pub enum Scalar {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    /// A struct, an array, a half: contracts cannot use it.
    Other,
}

/// The value of an argument, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// A buffer, by its size in bytes.
    Buffer(u64),
    /// A by-value argument as it is in memory: its bytes, and how many of them count.
    Bytes([u8; 16], usize),
    /// An integer of any type, which fits the parameter or not.
    Int(i128),
    /// A floating-point literal of no particular type.
    Float(f64),
    /// Not known before the graph is built.
    Unknown,
}

/// The result of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold, or is undefined.
    Fails,
    /// It depends on something that is not known yet.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i128),
    Float(f64),
    Bool(bool),
    /// Not known yet.
    Unknown,
    /// Overflow, division by zero, operands that do not fit.
    Undefined,
}

impl Contract {
    /// Whether the contract depends on the parameter of this index.
    pub fn mentions(&self, param: usize) -> bool {
        let mentions = |op: &Op| matches!(op, Op::Value(known) | Op::Len(known) if usize::from(*known) == param);
        self.code.iter().any(mentions)
    }

    /// The most values that an expression may have on the stack of its evaluation.
    pub const MAX_DEPTH: usize = 32;

    /// Evaluates the contract. `params` and `arguments` have one entry for each parameter of the kernel.
    pub const fn evaluate(&self, config: &LaunchConfig, params: &[Param], arguments: &[Argument]) -> Verdict {
        let mut stack = [Value::Undefined; Self::MAX_DEPTH];
        let mut top = 0;
        let mut index = 0;
        while index < self.code.len() {
            let op = self.code[index];
            index += 1;
            let operands = op.operands();
            if top < operands || top - operands >= Self::MAX_DEPTH {
                return Verdict::Fails;
            }
            let value = match operands {
                0 => op.load(config, params, arguments),
                1 => op.unary(stack[top - 1]),
                _ => op.binary(stack[top - 2], stack[top - 1]),
            };
            top = top - operands + 1;
            stack[top - 1] = value;
        }
        match stack[0] {
            Value::Bool(true) => Verdict::Holds,
            Value::Unknown => Verdict::Unknown,
            Value::Bool(false) | Value::Int(_) | Value::Float(_) | Value::Undefined => Verdict::Fails,
        }
    }

    /// The part of a contract that fails: the first side of an `&&` that does not hold, else the contract itself.
    pub const fn failing(&self, config: &LaunchConfig, params: &[Param], arguments: &[Argument]) -> Contract {
        let mut part = *self;
        while let Some((left, right)) = part.halves() {
            part = match left.evaluate(config, params, arguments) {
                Verdict::Holds => right,
                Verdict::Fails | Verdict::Unknown => left,
            };
        }
        part
    }

    /// The two sides of a contract that is an `&&`: then that is the last step of its code.
    const fn halves(&self) -> Option<(Contract, Contract)> {
        let Some((Op::And, sides)) = self.code.split_last() else {
            return None;
        };
        let Some((left, right)) = split_text(self.text) else {
            return None;
        };
        // Going back from the end, the right side begins where its code makes exactly one value.
        let (mut start, mut missing) = (sides.len(), 1);
        while missing > 0 {
            if start == 0 {
                return None; // no valid code
            }
            start -= 1;
            missing = missing - 1 + sides[start].operands();
        }
        let (first, second) = sides.split_at(start);
        let left = Contract {
            text: left,
            code: first,
        };
        let right = Contract {
            text: right,
            code: second,
        };
        Some((left, right))
    }

    /// Appends the value of every operand that the contract mentions, each once: `threads = 2048, data.len() = 1024`.
    pub const fn describe(
        &self,
        mut text: Text,
        config: &LaunchConfig,
        params: &[Param],
        arguments: &[Argument],
    ) -> Text {
        let mut index = 0;
        let mut first = true;
        while index < self.code.len() {
            let op = self.code[index];
            if let Value::Int(value) = op.load(config, params, arguments)
                && !matches!(op, Op::Int(_))
                && !mentions(self.code.split_at(index).0, op)
            {
                text = op
                    .name(text.str(if first { "" } else { ", " }), params)
                    .str(" = ")
                    .int(value);
                first = false;
            }
            index += 1;
        }
        text
    }

    /// Appends a help. It names numbers if the contract says that something is at most the length of a buffer.
    pub const fn help(&self, text: Text, config: &LaunchConfig, params: &[Param], arguments: &[Argument]) -> Text {
        let [least, Op::Len(param), Op::Le] = self.code else {
            return text.str("\nhelp: change the launch or the arguments so that it holds");
        };
        let (Value::Int(least_value), Value::Int(length)) = (
            least.load(config, params, arguments),
            Op::Len(*param).load(config, params, arguments),
        ) else {
            return text;
        };
        let text = match least {
            Op::Threads => text.str("\nhelp: launch at most ").int(length).str(" threads"),
            _ => least
                .name(text.str("\nhelp: make `"), params)
                .str("` at most ")
                .int(length),
        };
        let text = text.str(", or pass at least ").int(least_value).str(" elements as `");
        text.str(params[*param as usize].name).str("`")
    }

    /// Appends a note for each buffer whose length the contract mentions: the memory that is passed, if its name
    /// differs. `memory` has a name for each argument, empty if there is none.
    pub const fn name_memory(&self, mut text: Text, params: &[Param], memory: &[&str]) -> Text {
        let mut param = 0;
        while param < params.len() && param < memory.len() {
            let (name, passed) = (params[param].name, memory[param]);
            if mentions(self.code, Op::Len(param as u8)) && !passed.is_empty() && !same(name, passed) {
                text = text
                    .str("\nnote: parameter `")
                    .str(name)
                    .str("` is `")
                    .str(passed)
                    .str("`");
            }
            param += 1;
        }
        text
    }
}

/// The two sides of the last `&&` outside of all parentheses.
const fn split_text(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (mut index, mut depth) = (bytes.len(), 0);
    while index > 1 {
        index -= 1;
        match bytes[index] {
            b')' | b']' => depth += 1,
            b'(' | b'[' => depth -= 1,
            b'&' if depth == 0 && bytes[index - 1] == b'&' => {
                let (left, rest) = text.split_at(index - 1);
                let (_, right) = rest.split_at(2);
                return Some((left.trim_ascii(), right.trim_ascii()));
            }
            _ => {}
        }
    }
    None
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
const fn mentions(code: &[Op], wanted: Op) -> bool {
    let mut index = 0;
    while index < code.len() {
        let found = match code[index] {
            Op::Threads => matches!(wanted, Op::Threads),
            Op::Shared => matches!(wanted, Op::Shared),
            Op::Grid(axis) => matches!(wanted, Op::Grid(other) if axis == other),
            Op::Block(axis) => matches!(wanted, Op::Block(other) if axis == other),
            Op::Value(param) => matches!(wanted, Op::Value(other) if param == other),
            Op::Len(param) => matches!(wanted, Op::Len(other) if param == other),
            Op::Int(_) | Op::Float(_) | Op::Bool(_) | unary!() | binary!() => false,
        };
        if found {
            return true;
        }
        index += 1;
    }
    false
}

impl Op {
    const fn operands(self) -> usize {
        match self {
            operand!() => 0,
            unary!() => 1,
            binary!() => 2,
        }
    }

    const fn load(self, config: &LaunchConfig, params: &[Param], arguments: &[Argument]) -> Value {
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

    const fn unary(self, operand: Value) -> Value {
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

    const fn binary(self, left: Value, right: Value) -> Value {
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
            Op::IsMultipleOf if right != 0 => match left.checked_rem(right) {
                Some(rest) => Value::Bool(rest == 0),
                None => Value::Undefined,
            },
            of_integers!() | Op::And | Op::Or | operand!() | unary!() => Value::Undefined,
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
    const fn name(self, text: Text, params: &[Param]) -> Text {
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
    if bits >= 128 {
        return if signed || value >= 0 {
            Value::Int(value)
        } else {
            Value::Undefined
        };
    }
    let unused = 128 - bits as u32;
    let shifted = value << unused;
    Value::Int(if signed {
        shifted >> unused
    } else {
        (shifted as u128 >> unused) as i128
    })
}

const fn argument(arguments: &[Argument], param: u8) -> Argument {
    if (param as usize) < arguments.len() {
        arguments[param as usize]
    } else {
        Argument::Unknown
    }
}

const fn kind(params: &[Param], param: u8) -> Option<ParamKind> {
    if (param as usize) < params.len() {
        Some(params[param as usize].kind)
    } else {
        None
    }
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

    /// The name of the type, with the article that belongs to it.
    pub(crate) const fn described(self) -> &'static str {
        match self {
            Scalar::U8 => "a `u8`",
            Scalar::U16 => "a `u16`",
            Scalar::U32 => "a `u32`",
            Scalar::U64 => "a `u64`",
            Scalar::I8 => "an `i8`",
            Scalar::I16 => "an `i16`",
            Scalar::I32 => "an `i32`",
            Scalar::I64 => "an `i64`",
            Scalar::F32 => "an `f32`",
            Scalar::F64 => "an `f64`",
            Scalar::Other => "of another type",
        }
    }

    /// Whether it is an integer type.
    pub const fn is_integer(self) -> bool {
        self.range().is_some()
    }

    /// The least and the greatest value of an integer type.
    pub(crate) const fn range(self) -> Option<(i128, i128)> {
        match self {
            Scalar::U8 => Some((0, u8::MAX as i128)),
            Scalar::U16 => Some((0, u16::MAX as i128)),
            Scalar::U32 => Some((0, u32::MAX as i128)),
            Scalar::U64 => Some((0, u64::MAX as i128)),
            Scalar::I8 => Some((i8::MIN as i128, i8::MAX as i128)),
            Scalar::I16 => Some((i16::MIN as i128, i16::MAX as i128)),
            Scalar::I32 => Some((i32::MIN as i128, i32::MAX as i128)),
            Scalar::I64 => Some((i64::MIN as i128, i64::MAX as i128)),
            Scalar::F32 | Scalar::F64 | Scalar::Other => None,
        }
    }

    /// Size in bytes; 0 for [`Scalar::Other`].
    pub const fn size(self) -> usize {
        match self {
            Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 | Scalar::I16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
            Scalar::Other => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: LaunchConfig = LaunchConfig {
        grid: [4, 2, 1],
        block: [128, 1, 1],
        shared: 64,
    };
    const THREADS_FIT: Contract = Contract {
        text: "threads <= data.len()",
        code: &[Op::Threads, Op::Len(0), Op::Le],
    };

    const DATA: &[Param] = &[Param {
        name: "data",
        kind: ParamKind::Buffer {
            unit: 4,
            mode: Mode::ReadWrite,
        },
    }];

    #[test]
    fn the_usual_contract_is_decided_at_compile_time() {
        const HOLDS: Verdict = THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Buffer(4096)]);
        const FAILS: Verdict = THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Buffer(4092)]);
        assert_eq!((HOLDS, FAILS), (Verdict::Holds, Verdict::Fails));
        assert_eq!(
            THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Unknown]),
            Verdict::Unknown
        );
        let text = THREADS_FIT.describe(Text::new(), &CONFIG, DATA, &[Argument::Buffer(4092)]);
        assert_eq!(text.as_str(), "threads = 1024, data.len() = 1023");
    }

    fn run(code: &'static [Op], types: &[Scalar], arguments: &[Argument]) -> Verdict {
        let param = |scalar: &Scalar| Param {
            name: "n",
            kind: ParamKind::Value(*scalar),
        };
        let params: Vec<Param> = types.iter().map(param).collect();
        Contract { text: "", code }.evaluate(&CONFIG, &params, arguments)
    }

    #[test]
    fn the_half_that_fails_is_told_with_each_value_once() {
        const BUFFERS: &[Param] = &[
            Param {
                name: "n",
                kind: ParamKind::Value(Scalar::U32),
            },
            DATA[0],
        ];
        let both = Contract {
            text: "(n > 0 && n < 500) && n <= data.len()",
            code: &[
                Op::Value(0),
                Op::Int(0),
                Op::Gt,
                Op::Value(0),
                Op::Int(500),
                Op::Lt,
                Op::And,
                Op::Value(0),
                Op::Len(1),
                Op::Le,
                Op::And,
            ],
        };
        let told = |n: i128, bytes: u64| {
            let arguments = [Argument::Int(n), Argument::Buffer(bytes)];
            let part = both.failing(&CONFIG, BUFFERS, &arguments);
            let text = part.describe(Text::new().str(part.text).str(": "), &CONFIG, BUFFERS, &arguments);
            part.help(text, &CONFIG, BUFFERS, &arguments).as_str().to_owned()
        };
        assert_eq!(
            told(200, 400),
            "n <= data.len(): n = 200, data.len() = 100\n\
             help: make `n` at most 100, or pass at least 200 elements as `data`"
        );
        assert_eq!(
            told(600, 4000),
            "(n > 0 && n < 500): n = 600\nhelp: change the launch or the arguments so that it holds"
        );
    }

    #[test]
    fn scalars_are_read_by_their_type() {
        let bytes = |value: i32| {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&value.to_le_bytes());
            Argument::Bytes(bytes, 4)
        };
        let positive: &[Op] = &[Op::Value(0), Op::Int(0), Op::Gt];
        assert_eq!(run(positive, &[Scalar::I32], &[bytes(-1)]), Verdict::Fails);
        assert_eq!(run(positive, &[Scalar::U32], &[bytes(-1)]), Verdict::Holds);
        assert_eq!(
            run(positive, &[Scalar::F32], &[bytes(1.5_f32.to_bits() as i32)]),
            Verdict::Holds
        );
        assert_eq!(
            run(positive, &[Scalar::U64], &[bytes(1)]),
            Verdict::Unknown,
            "another type's error"
        );
        assert_eq!(run(positive, &[Scalar::U32], &[Argument::Int(7)]), Verdict::Holds);
        assert_eq!(run(positive, &[Scalar::Other], &[bytes(1)]), Verdict::Fails);
    }

    #[test]
    fn undefined_does_not_hold_and_logic_decides_early() {
        let divide: &[Op] = &[Op::Int(1), Op::Value(0), Op::Div, Op::Int(0), Op::Ge];
        assert_eq!(run(divide, &[Scalar::U32], &[Argument::Int(0)]), Verdict::Fails);
        let guarded: &[Op] = &[
            Op::Value(0),
            Op::Int(0),
            Op::Eq,
            Op::Int(1),
            Op::Value(0),
            Op::Div,
            Op::Int(0),
            Op::Ge,
            Op::Or,
        ];
        assert_eq!(run(guarded, &[Scalar::U32], &[Argument::Int(0)]), Verdict::Holds);
        let or_unknown: &[Op] = &[Op::Value(0), Op::Int(0), Op::Eq, Op::Bool(true), Op::Or];
        assert_eq!(run(or_unknown, &[Scalar::U32], &[Argument::Unknown]), Verdict::Holds);
        assert_eq!(
            run(&[Op::Int(i128::MAX), Op::Int(1), Op::Add, Op::Int(0), Op::Gt], &[], &[]),
            Verdict::Fails
        );
        assert_eq!(run(&[Op::Add], &[], &[]), Verdict::Fails, "a program that is none");
        assert_eq!(run(&[Op::Int(3)], &[], &[]), Verdict::Fails, "not a boolean");
    }

    #[test]
    fn operators_mean_what_rust_means() {
        let holds = |code| run(code, &[], &[]) == Verdict::Holds;
        assert!(holds(&[Op::Grid(0), Op::Int(4), Op::Eq]));
        assert!(holds(&[Op::Grid(3), Op::Int(8), Op::Eq]));
        assert!(holds(&[Op::Block(3), Op::IsPowerOfTwo]));
        assert!(holds(&[Op::Shared, Op::Block(0), Op::Int(2), Op::Div, Op::Eq]));
        assert!(holds(&[Op::Int(10), Op::Int(3), Op::DivCeil, Op::Int(4), Op::Eq]));
        assert!(holds(&[Op::Int(9), Op::Int(3), Op::IsMultipleOf]));
        assert!(holds(&[Op::Int(1), Op::Int(10), Op::Shl, Op::Int(1024), Op::Eq]));
        assert!(holds(&[Op::Float(0.5), Op::Int(1), Op::Lt]));
        let cast = |bits, signed| Op::Cast { bits, signed };
        let casts = [
            (-1, cast(32, false), u32::MAX.into()),
            (-1, cast(64, false), u64::MAX.into()),
            (300, cast(8, false), 44),
            (200, cast(8, true), -56),
            (-5, cast(64, true), -5),
            (7, cast(128, false), 7),
        ];
        for (value, cast, expected) in casts {
            assert_eq!(cast.unary(Value::Int(value)), Value::Int(expected), "{value} {cast:?}");
        }
        assert_eq!(cast(128, false).unary(Value::Int(-1)), Value::Undefined);
        assert!(holds(&[
            Op::Int(3),
            Op::Neg,
            Op::Int(2),
            Op::Rem,
            Op::Int(1),
            Op::Neg,
            Op::Eq
        ]));
    }
}
