//! `#[requires(..)]` contracts as data: a postfix program that a `const fn` evaluates, in compile-time assertions, at
//! build and at every update.
//!
//! Integers are `i128`, so that `n <= data.len()` means what it says whatever the types; floats are `f64`. Overflow
//! and division by zero are undefined, and an undefined contract does not hold. `&&` and `||` decide early: `n == 0 ||
//! m / n > 1` holds for `n == 0`.

mod op;
mod scalar;

use crate::{LaunchConfig, Mode, Text, text::same};
use op::{Value, mentions};
pub use scalar::Scalar;

/// A boolean expression over a launch and its arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Contract {
    const fn new(text: &'static str, code: &'static [Op]) -> Self {
        Self { text, code }
    }

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
        let mut rest = self.code;
        while let [op, next @ ..] = rest {
            rest = next;
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
        Some((Contract::new(left, first), Contract::new(right, second)))
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
                let separated = text.str(if first { "" } else { ", " });
                text = op.name(separated, params).str(" = ").int(value);
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
            _ => {
                let text = least.name(text.str("\nhelp: make `"), params);
                text.str("` at most ").int(length)
            }
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
                text = text.str("\nnote: parameter `").str(name);
                text = text.str("` is `").str(passed).str("`");
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

#[cfg(test)]
mod tests;
