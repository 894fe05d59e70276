//! Initialisers of variables: numbers, strings, nested braces and addresses.

use super::{MAX_DEPTH, Parser, Result};
use crate::ast::{Operand, Type, Variable};
use crate::lexer::Kind;

/// The most zero bytes that short inner rows may cost in one module.
pub(super) const MAX_PADDING: u64 = 1 << 26;

/// The variable that values are written to, and the place of the next value.
struct Target<'v> {
    variable: &'v mut Variable,
    /// The bytes of one row at each depth of braces; the last is the size of a single value.
    strides: Vec<u64>,
    /// The size if it is declared.
    limit: Option<u64>,
    offset: u64,
}

impl<'a> Parser<'a> {
    /// Parses what follows `=`. Values go to consecutive elements; the end of a brace moves on to the next row. The
    /// size of an `open` array follows from its values.
    pub(super) fn parse_initializer(&mut self, variable: &mut Variable, dimensions: &[u64], open: bool) -> Result<()> {
        let mut stride = variable.ty.size() as u64;
        let mut strides = vec![stride];
        for &length in dimensions.iter().skip(1).rev() {
            stride = stride.saturating_mul(length);
            strides.push(stride);
        }
        strides.reverse();
        let limit = (!open).then_some(variable.size);
        let row = strides[0].max(1);
        let mut target = Target {
            variable,
            strides,
            limit,
            offset: 0,
        };
        self.parse_values(&mut target, 0)?;
        if open {
            let size = target.offset.div_ceil(row).saturating_mul(row);
            if size > i64::MAX as u64 {
                return self.error("the variable is too large");
            }
            target.variable.size = size;
        }
        Ok(())
    }

    fn parse_values(&mut self, target: &mut Target<'_>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return self.error("the initialiser is nested too deeply");
        }
        if !self.accept(b'{')? {
            return self.parse_value(target);
        }
        while !self.accept(b'}')? {
            let start = target.offset;
            let row = self.at(b'{') || matches!(self.token.kind, Kind::Text(_));
            self.parse_values(target, depth + 1)?;
            if row {
                let end = start.saturating_add(target.strides.get(depth).copied().unwrap_or(0));
                target.offset = target.offset.max(end.min(target.limit.unwrap_or(u64::MAX)));
            }
            if !self.at(b'}') {
                self.expect(b',')?;
            }
        }
        Ok(())
    }

    fn parse_value(&mut self, target: &mut Target<'_>) -> Result<()> {
        match self.token.kind {
            Kind::Text(text) => {
                let mut bytes = unescape(text);
                if target
                    .limit
                    .is_some_and(|limit| target.offset + bytes.len() as u64 == limit + 1)
                {
                    bytes.pop(); // as in C, the zero may be left out
                }
                self.put(target, &bytes)?;
                self.advance()?;
            }
            Kind::Word(_) => self.parse_relocation(target, 0xFF)?,
            _ => {
                let ty = target.variable.ty;
                match self.parse_constant()? {
                    // `0xFF00(symbol)`: one byte of an address.
                    Operand::Integer(mask) if self.at(b'(') => {
                        self.advance()?;
                        self.parse_relocation(target, mask)?;
                        self.expect(b')')?;
                    }
                    value => self.put(target, &bytes(&value, ty)[..ty.size()])?,
                }
            }
        }
        Ok(())
    }

    /// `symbol+8` or `generic(symbol)+8`. For a masked address, the lowest byte is recorded as the whole address.
    fn parse_relocation(&mut self, target: &mut Target<'_>, mask: i128) -> Result<()> {
        let word = self.expect_word("a symbol")?;
        let mut symbol = word;
        if word == "generic" && self.accept(b'(')? {
            symbol = self.expect_word("a symbol")?;
            self.expect(b')')?;
        }
        let addend = self.parse_offset()?;
        if mask == 0xFF {
            target
                .variable
                .relocations
                .push((target.offset, symbol.to_owned(), addend));
        }
        let size = target.variable.ty.size();
        self.put(target, &[0; 16][..size])
    }

    /// Writes `bytes` at the current offset, and moves the offset past them.
    fn put(&mut self, target: &mut Target<'_>, bytes: &[u8]) -> Result<()> {
        let end = target.offset.saturating_add(bytes.len() as u64);
        if target.limit.is_some_and(|limit| end > limit) {
            return self.error("the initialiser is longer than the variable");
        }
        let initial = &mut target.variable.initial;
        let gap = target.offset.saturating_sub(initial.len() as u64);
        match self.padding.checked_sub(gap) {
            Some(left) => self.padding = left,
            None => return self.error("the initialiser is too large"),
        }
        initial.resize(initial.len() + usize::try_from(gap).unwrap_or(0), 0);
        initial.extend_from_slice(bytes);
        target.offset = end;
        Ok(())
    }
}

/// The bytes of a literal in memory, little-endian; the caller takes as many as the type has.
fn bytes(value: &Operand, ty: Type) -> [u8; 16] {
    let bits = match (value, ty) {
        (Operand::Integer(value), Type::F32) => u128::from((*value as f32).to_bits()),
        (Operand::Integer(value), Type::F64) => u128::from((*value as f64).to_bits()),
        (Operand::F64(bits), Type::F32) => u128::from((f64::from_bits(*bits) as f32).to_bits()),
        (Operand::Integer(value), _) => value.cast_unsigned(),
        (Operand::F32(bits), Type::F64) => u128::from(f64::from(f32::from_bits(*bits)).to_bits()),
        (Operand::F32(bits), _) => u128::from(*bits),
        (Operand::F64(bits), _) => u128::from(*bits),
        _ => 0,
    };
    bits.to_le_bytes()
}

/// The bytes of a string literal with C's escapes, and the zero that ends it.
fn unescape(text: &str) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() + 1);
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        result.push(match byte {
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                other => other.unwrap_or(b'\\'),
            },
            byte => byte,
        });
    }
    result.push(0);
    result
}
