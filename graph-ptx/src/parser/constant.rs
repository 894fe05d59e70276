//! Literals and the constant expressions that compilers write.

use super::{Parser, Result};
use crate::ast::Operand;
use crate::lexer::Kind;

impl<'a> Parser<'a> {
    /// A literal without sign.
    pub(super) fn parse_literal(&mut self) -> Result<Operand> {
        let Kind::Number(text) = self.token.kind else {
            return self.expected("a number");
        };
        let Some(value) = literal(text) else {
            return self.error(format!("invalid number {}", self.token.kind.describe()));
        };
        self.advance()?;
        Ok(value)
    }

    /// A literal after any signs, `~` and `!`: an `Integer`, `F32` or `F64`.
    pub(super) fn parse_signed(&mut self) -> Result<Operand> {
        let mut signs = Vec::new();
        while let Kind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) = self.token.kind {
            signs.push(sign);
            self.advance()?;
        }
        let mut value = self.parse_literal()?;
        for sign in signs.into_iter().rev() {
            value = match (sign, value) {
                (b'+', value) => value,
                (b'-', Operand::Integer(value)) => Operand::Integer(value.wrapping_neg()),
                (b'-', Operand::F32(bits)) => Operand::F32(bits ^ (1 << 31)),
                (b'-', Operand::F64(bits)) => Operand::F64(bits ^ (1 << 63)),
                (b'~', Operand::Integer(value)) => Operand::Integer(!value),
                (b'!', Operand::Integer(value)) => Operand::Integer(i128::from(value == 0)),
                _ => return self.error("a floating-point literal cannot be complemented"),
            };
        }
        Ok(value)
    }

    /// A literal, or a sum or difference of integer literals.
    pub(super) fn parse_constant(&mut self) -> Result<Operand> {
        match self.parse_signed()? {
            Operand::Integer(first) => Ok(Operand::Integer(first.wrapping_add(self.parse_addends()?))),
            value => Ok(value),
        }
    }

    /// `+8 - 4`: the sum of what follows an operand, 0 if nothing does.
    pub(super) fn parse_addends(&mut self) -> Result<i128> {
        let mut sum = 0_i128;
        while let Kind::Punct(sign @ (b'+' | b'-')) = self.token.kind {
            self.advance()?;
            let Operand::Integer(value) = self.parse_signed()? else {
                return self.error("expected an integer");
            };
            sum = if sign == b'+' {
                sum.wrapping_add(value)
            } else {
                sum.wrapping_sub(value)
            };
        }
        Ok(sum)
    }

    /// [`Self::parse_addends`] as an address offset. Offsets above the range of `i64` wrap, as address arithmetic does.
    pub(super) fn parse_offset(&mut self) -> Result<i64> {
        let at = self.token;
        let sum = self.parse_addends()?;
        match i64::try_from(sum).or_else(|_| u64::try_from(sum).map(u64::cast_signed)) {
            Ok(offset) => Ok(offset),
            Err(_) => self.error_at(at, "the offset does not fit in 64 bits"),
        }
    }

    pub(super) fn parse_u64(&mut self) -> Result<u64> {
        let at = self.token;
        match self.parse_literal()? {
            Operand::Integer(value) => match u64::try_from(value) {
                Ok(value) => Ok(value),
                Err(_) => self.error_at(at, "the number does not fit in 64 bits"),
            },
            _ => self.error_at(at, "expected an integer"),
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

/// The value of a literal, `None` if it is malformed or too large.
fn literal(text: &str) -> Option<Operand> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] if text.len() == 10 => u32::from_str_radix(&text[2..], 16).ok().map(Operand::F32),
        [b'0', b'd' | b'D', ..] if text.len() == 18 => u64::from_str_radix(&text[2..], 16).ok().map(Operand::F64),
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(&text[2..], 2),
        _ if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'u' | b'U')) =>
        {
            let octal = text.len() > 1 && text.starts_with('0');
            integer(text, if octal { 8 } else { 10 })
        }
        _ => text.parse::<f64>().ok().map(|value| Operand::F64(value.to_bits())),
    }
}

/// An integer of 1 to 64 bits (128 with hexadecimal digits, for `.b128`) with an optional suffix `U`.
fn integer(digits: &str, radix: u32) -> Option<Operand> {
    let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
    u128::from_str_radix(digits, radix)
        .ok()
        .map(|value| Operand::Integer(value.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_every_kind() {
        assert_eq!(literal("0x1F"), Some(Operand::Integer(31)));
        assert_eq!(literal("0b101U"), Some(Operand::Integer(5)));
        assert_eq!(literal("017"), Some(Operand::Integer(15)));
        assert_eq!(literal("0U"), Some(Operand::Integer(0)));
        assert_eq!(literal("18446744073709551615"), Some(Operand::Integer(u64::MAX.into())));
        assert_eq!(literal("0f3F800000"), Some(Operand::F32(0x3F80_0000)));
        assert_eq!(literal("0dBFF0000000000000"), Some(Operand::F64((-1.0_f64).to_bits())));
        assert_eq!(literal("2.5e-1"), Some(Operand::F64(0.25_f64.to_bits())));
        for malformed in ["0f3F80", "0x", "0xG", "09", "12ab", "0b2"] {
            assert_eq!(literal(malformed), None, "{malformed}");
        }
    }
}
