//! Literals and constant expressions, with the types and the precedence that `ptxas` gives them.

use super::{MAX_DEPTH, Parser, Result};
use crate::ast::Operand;
use crate::lexer::Kind;

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Constant {
    /// `.s64`: literals that fit, and comparisons.
    Signed(i64),
    /// `.u64`: literals with a `U` or too large for `.s64`, remainders and complements.
    Unsigned(u64),
    /// `.f64`
    Float(f64),
    /// A literal with which no operator is allowed: `0f3F800000`, or an integer of 128 bits.
    Exact(Exact),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Exact {
    F32(u32),
    Wide(i128),
}

/// The prefix of an operand.
#[derive(Clone, Copy, Debug)]
enum Prefix {
    Sign(u8),
    /// `(.s64)` or `(.u64)`
    Cast {
        signed: bool,
    },
}

/// The operators between two operands, weakest first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Parser<'a> {
    /// A literal without sign.
    fn parse_literal(&mut self) -> Result<Constant> {
        let Kind::Number(text) = self.token.kind else {
            return self.expected("a number");
        };
        let Some(value) = literal(text) else {
            return self.error(format!("invalid number {}", self.token.kind.describe()));
        };
        self.advance()?;
        Ok(value)
    }

    /// A constant expression: an `Integer`, `F32` or `F64`.
    pub(super) fn parse_constant(&mut self) -> Result<Operand> {
        Ok(match self.parse_expression(0)? {
            Constant::Signed(value) => Operand::Integer(value.into()),
            Constant::Unsigned(value) => Operand::Integer(value.into()),
            Constant::Float(value) => Operand::F64(value.to_bits()),
            Constant::Exact(Exact::F32(bits)) => Operand::F32(bits),
            Constant::Exact(Exact::Wide(value)) => Operand::Integer(value),
        })
    }

    /// `a ? b : c`, or an operand and what is combined with it.
    fn parse_expression(&mut self, depth: usize) -> Result<Constant> {
        if depth > MAX_DEPTH {
            return self.error("the expression is nested too deeply");
        }
        let at = self.token;
        let condition = self.parse_binary(1, depth)?;
        if !self.accept(b'?')? {
            return Ok(condition);
        }
        let then = self.parse_expression(depth + 1)?;
        self.expect(b':')?;
        let otherwise = self.parse_expression(depth + 1)?;
        match (condition.truth(), then.bits(), otherwise.bits()) {
            (Some(condition), Some(_), Some(_)) => Ok(if condition { then } else { otherwise }),
            _ => self.error_at(at, "the parts of `? :` are integers"),
        }
    }

    /// An operand, and all operators after it that bind at least as tightly as `least`.
    fn parse_binary(&mut self, least: usize, depth: usize) -> Result<Constant> {
        let mut value = self.parse_prefixed(depth)?;
        while let Some((operator, strength)) = self.operator().filter(|&(_, strength)| strength >= least) {
            let at = self.token;
            for _ in 0..operator.len() {
                self.advance()?;
            }
            let right = self.parse_binary(strength + 1, depth)?;
            value = match combine(operator, value, right) {
                Ok(value) => value,
                Err(message) => return self.error_at(at, message),
            };
        }
        Ok(value)
    }

    /// The operator that comes next, and how tightly it binds.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let may_begin = match self.token.kind {
            Kind::Punct(first) => b"|&^=!<>+-*/%".contains(&first),
            Kind::Word(word) => word == "%",
            _ => false,
        };
        if !may_begin {
            return None;
        }
        let rest = self.lexer.text_from(self.token);
        let all = OPERATORS
            .iter()
            .zip(1..)
            .flat_map(|(alike, strength)| alike.iter().map(move |&name| (name, strength)));
        let fitting = all.filter(|(operator, _)| rest.starts_with(operator));
        fitting.max_by_key(|(operator, _)| operator.len())
    }

    /// An operand after any signs and casts.
    fn parse_prefixed(&mut self, depth: usize) -> Result<Constant> {
        let mut prefixes = Vec::new();
        let mut value = loop {
            let at = self.token;
            match at.kind {
                Kind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) => {
                    self.advance()?;
                    prefixes.push((at, Prefix::Sign(sign)));
                }
                Kind::Punct(b'(') => {
                    self.advance()?;
                    if let Kind::Dotted(ty @ ("s64" | "u64")) = self.token.kind {
                        self.advance()?;
                        self.expect(b')')?;
                        prefixes.push((at, Prefix::Cast { signed: ty == "s64" }));
                    } else {
                        let value = self.parse_expression(depth + 1)?;
                        self.expect(b')')?;
                        break value;
                    }
                }
                Kind::Word("WARP_SZ") => {
                    self.advance()?;
                    break Constant::Signed(32);
                }
                _ => break self.parse_literal()?,
            }
        };
        for (at, prefix) in prefixes.into_iter().rev() {
            value = match prefixed(prefix, value) {
                Some(value) => value,
                None => return self.error_at(at, "this operator does not take an operand of this type"),
            };
        }
        Ok(value)
    }

    /// `+8`, `+2*4` or `-8` after a register or a symbol; 0 if nothing follows. Offsets above the range of `i64` wrap,
    /// as address arithmetic does.
    pub(super) fn parse_offset(&mut self) -> Result<i64> {
        let at = self.token;
        if !self.accept(b'+')? && !self.at(b'-') {
            return Ok(0);
        }
        match self.parse_expression(0)?.bits() {
            Some(bits) => Ok(bits.cast_signed()),
            None => self.error_at(at, "an offset is an integer of 64 bits"),
        }
    }

    pub(super) fn parse_u64(&mut self) -> Result<u64> {
        let at = self.token;
        match self.parse_literal()?.bits() {
            Some(bits) => Ok(bits),
            None => self.error_at(at, "expected an integer of 64 bits"),
        }
    }

    pub(super) fn parse_u32(&mut self) -> Result<u32> {
        let at = self.token;
        match u32::try_from(self.parse_u64()?) {
            Ok(value) => Ok(value),
            Err(_) => self.error_at(at, "the number does not fit in 32 bits"),
        }
    }
}

impl Constant {
    /// The bits of an integer of 64 bits.
    fn bits(self) -> Option<u64> {
        match self {
            Constant::Signed(value) => Some(value.cast_unsigned()),
            Constant::Unsigned(value) => Some(value),
            Constant::Float(_) | Constant::Exact(_) => None,
        }
    }

    /// Whether an integer is not zero.
    fn truth(self) -> Option<bool> {
        self.bits().map(|bits| bits != 0)
    }
}

fn prefixed(prefix: Prefix, value: Constant) -> Option<Constant> {
    Some(match (prefix, value) {
        (Prefix::Sign(b'+'), value) => value,
        (Prefix::Sign(b'-'), Constant::Signed(value)) => Constant::Signed(value.wrapping_neg()),
        (Prefix::Sign(b'-'), Constant::Unsigned(value)) => Constant::Unsigned(value.wrapping_neg()),
        (Prefix::Sign(b'-'), Constant::Float(value)) => Constant::Float(-value),
        (Prefix::Sign(b'~'), value) => Constant::Unsigned(!value.bits()?),
        (Prefix::Sign(_), value) => Constant::Signed((!value.truth()?).into()),
        (Prefix::Cast { signed: true }, value) => Constant::Signed(value.bits()?.cast_signed()),
        (Prefix::Cast { signed: false }, value) => Constant::Unsigned(value.bits()?),
    })
}

/// The value of `a operator b`. Integers of different types are both `.u64`; an integer and a number are no pair.
fn combine(operator: &str, a: Constant, b: Constant) -> Result<Constant, String> {
    let mismatch = || format!("the operands of `{operator}` have different types, or types that it does not take");
    let truth = |value: bool| Constant::Signed(value.into());
    if let (Constant::Float(a), Constant::Float(b)) = (a, b) {
        return Ok(match operator {
            "+" => Constant::Float(a + b),
            "-" => Constant::Float(a - b),
            "*" => Constant::Float(a * b),
            "/" if b != 0.0 => Constant::Float(a / b),
            "/" => return Err("a division by zero".to_owned()),
            _ => truth(compare(operator, &a, &b).ok_or_else(mismatch)?),
        });
    }
    let (Some(left), Some(right)) = (a.bits(), b.bits()) else {
        return Err(mismatch());
    };
    let signed = matches!((a, b), (Constant::Signed(_), Constant::Signed(_)));
    let integer = |bits: u64| match signed {
        true => Constant::Signed(bits.cast_signed()),
        false => Constant::Unsigned(bits),
    };
    Ok(match operator {
        "+" => integer(left.wrapping_add(right)),
        "-" => integer(left.wrapping_sub(right)),
        "*" => integer(left.wrapping_mul(right)),
        "/" | "%" if right == 0 => return Err("a division by zero".to_owned()),
        "/" if signed => Constant::Signed(left.cast_signed().wrapping_div(right.cast_signed())),
        "/" => Constant::Unsigned(left / right),
        "%" => Constant::Unsigned(left % right),
        "&" => integer(left & right),
        "|" => integer(left | right),
        "^" => integer(left ^ right),
        "&&" => truth(left != 0 && right != 0),
        "||" => truth(left != 0 || right != 0),
        // The first operand alone gives the type of a shift. The lowest 6 bits of the second one count.
        "<<" | ">>" => match a {
            Constant::Signed(a) if operator == "<<" => Constant::Signed(a.wrapping_shl(right as u32)),
            Constant::Signed(a) => Constant::Signed(a.wrapping_shr(right as u32)),
            _ if operator == "<<" => Constant::Unsigned(left.wrapping_shl(right as u32)),
            _ => Constant::Unsigned(left.wrapping_shr(right as u32)),
        },
        _ => {
            let order = match signed {
                true => compare(operator, &left.cast_signed(), &right.cast_signed()),
                false => compare(operator, &left, &right),
            };
            truth(order.ok_or_else(mismatch)?)
        }
    })
}

fn compare<T: PartialOrd>(operator: &str, a: &T, b: &T) -> Option<bool> {
    Some(match operator {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "==" => a == b,
        "!=" => a != b,
        _ => return None,
    })
}

/// The value of a literal, `None` if it is malformed or too large.
fn literal(text: &str) -> Option<Constant> {
    let float = |value: f64| Constant::Float(value);
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] if text.len() == 10 => {
            let bits = u32::from_str_radix(&text[2..], 16).ok()?;
            Some(Constant::Exact(Exact::F32(bits)))
        }
        [b'0', b'd' | b'D', ..] if text.len() == 18 => {
            u64::from_str_radix(&text[2..], 16).ok().map(f64::from_bits).map(float)
        }
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(&text[2..], 2),
        _ if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'u' | b'U')) =>
        {
            let octal = text.len() > 1 && text.starts_with('0');
            integer(text, if octal { 8 } else { 10 })
        }
        _ => text.parse().ok().map(float),
    }
}

/// An integer of 1 to 64 bits (128 with hexadecimal digits, for `.b128`) with an optional suffix `U`.
fn integer(digits: &str, radix: u32) -> Option<Constant> {
    let stripped = digits.strip_suffix(['U', 'u']);
    let value = u128::from_str_radix(stripped.unwrap_or(digits), radix).ok()?;
    let signed = i64::try_from(value).ok().filter(|_| stripped.is_none());
    Some(match (signed, u64::try_from(value)) {
        (Some(value), _) => Constant::Signed(value),
        (None, Ok(value)) => Constant::Unsigned(value),
        (None, Err(_)) => Constant::Exact(Exact::Wide(value.cast_signed())),
    })
}
