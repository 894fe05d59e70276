//! Sums, products, quotients, shifts and masks of numbers; sums of addresses and numbers.

use super::machine::{Machine, TooLarge};
use super::poly::Poly;
use super::value::{Condition, Int, Value, range_of};
use crate::ast::{Instruction, Operand};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn sum(&mut self, a: &Operand, b: &Operand, ty: Int, is_add: bool) -> Result<Option<Value>, TooLarge> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        let combine = |a: &Poly, b: &Poly| if is_add { a.plus(b) } else { a.minus(b) };
        let reduced = |sum: Option<Poly>| sum.map(|sum| sum.reduced(ty.bits));
        Ok(match (a, b) {
            (a @ (Value::Address(..) | Value::OneOf(_)), Value::Number(b)) => {
                a.with_offset(|a| reduced(combine(a, &b)))
            }
            (Value::Number(a), b @ (Value::Address(..) | Value::OneOf(_))) if is_add => {
                b.with_offset(|b| reduced(combine(&a, b)))
            }
            (Value::Address(first, a), Value::Address(second, b)) if !is_add && first == second => {
                a.minus(&b).map(|difference| Value::Number(Rc::new(difference)))
            }
            (Value::Number(a), Value::Number(b)) => reduced(combine(&a, &b)).map(|sum| Value::Number(Rc::new(sum))),
            // An address plus any number is an address anywhere.
            (Value::Address(memory, _), Value::Unknown) => {
                let any = self.any(ty.bits, false)?;
                Some(Value::Address(memory, Rc::new(any)))
            }
            _ => None,
        })
    }

    /// The product of `mul` and `mad`, in the width of the result.
    pub(super) fn product(
        &mut self,
        instruction: &Instruction,
        a: &Operand,
        b: &Operand,
        ty: Int,
    ) -> Result<Option<Poly>, TooLarge> {
        let (a, b) = (self.number(a, ty.bits)?, self.number(b, ty.bits)?);
        if instruction.has("lo") {
            return Ok(a.times(&b).map(|product| product.reduced(ty.bits)));
        }
        let a = self.facts.number(self.place, &a, ty.bits, ty.signed);
        let b = self.facts.number(self.place, &b, ty.bits, ty.signed);
        let Some(product) = a.zip(b).and_then(|(a, b)| a.times(&b)) else {
            return Ok(None);
        };
        if instruction.has("wide") {
            return Ok(Some(product));
        }
        Ok(match instruction.has("hi") && ty.bits <= 32 {
            true => self.facts.quotient(&product, &Poly::constant(1 << ty.bits)),
            false => None,
        })
    }

    /// Bits of a number, from `at` on.
    pub(super) fn field(&mut self, a: &Poly, at: u32, len: u32) -> Option<Poly> {
        let low = self.facts.quotient(a, &Poly::constant(1 << at))?;
        let high = self.facts.quotient(a, &Poly::constant(1 << (at + len)))?;
        low.minus(&high.scaled(1 << len)?)
    }

    pub(super) fn binary(
        &mut self,
        instruction: &Instruction,
        a: &Operand,
        b: &Operand,
        ty: Int,
    ) -> Result<Option<Poly>, TooLarge> {
        let Int { bits, signed } = ty;
        let opcode = instruction.opcode.as_str();
        if opcode == "mul" {
            return self.product(instruction, a, b, ty);
        }
        if matches!(opcode, "shl" | "shr") {
            return self.shift(opcode == "shl", a, b, ty);
        }
        let (a, b) = (self.number(a, bits)?, self.number(b, bits)?);
        let place = self.place;
        Ok(match opcode {
            "and" => match (a.value(), b.value()) {
                (_, Some(mask)) => self.mask(&a, mask, bits)?,
                (Some(mask), _) => self.mask(&b, mask, bits)?,
                _ => self.at_most_both(&a, &b, bits)?,
            },
            "or" => self.union(&a, &b, bits)?,
            "xor"
                if b.value()
                    .is_some_and(|b| b & range_of(bits, false).1 == range_of(bits, false).1) =>
            {
                a.negated().and_then(|a| a.plus_constant(-1))
            }
            "div" | "rem" => {
                let (a, b) = (
                    self.facts.number(place, &a, bits, signed),
                    self.facts.number(place, &b, bits, signed),
                );
                let Some((a, b)) = a.zip(b) else { return Ok(None) };
                if !self.facts.proves(place, &a) || !self.facts.proves_sum(place, Some(b.clone()), -1) {
                    return Ok(None);
                }
                let quotient = self.facts.quotient(&a, &b);
                match opcode {
                    "div" => quotient,
                    _ => quotient.and_then(|quotient| a.minus(&quotient.times(&b)?)),
                }
            }
            "min" | "max" => {
                let (a, b) = (
                    self.facts.number(place, &a, bits, signed),
                    self.facts.number(place, &b, bits, signed),
                );
                let Some((a, b)) = a.zip(b) else { return Ok(None) };
                let (less, more) = if opcode == "min" { (&a, &b) } else { (&b, &a) };
                // The first is the result if `more - less` is at least 0.
                let difference = more.minus(less);
                let Some(difference) = difference else { return Ok(None) };
                let at_least = Rc::new(Condition::AtLeast0(difference));
                let values = [&a, &b].map(|poly| Value::Number(Rc::new(poly.clone())));
                let new = self.facts.next().ok_or(TooLarge)?;
                let value = self.chosen_by(&at_least, values)?;
                if let Value::Number(poly) = &value {
                    let chosen = poly.as_symbol().filter(|&symbol| symbol >= new);
                    for side in [&a, &b] {
                        let fact = if opcode == "min" {
                            side.minus(poly)
                        } else {
                            poly.minus(side)
                        };
                        let fact = fact.filter(|fact| fact.value().is_none());
                        match chosen {
                            Some(symbol) => self.facts.info_mut(symbol).facts.extend(fact),
                            // A side is the result here, and need not be elsewhere.
                            None => self.facts.at_least_0(place, fact),
                        }
                    }
                }
                return Ok(match value {
                    Value::Number(poly) => Some((*poly).clone()),
                    _ => None,
                });
            }
            _ => None,
        })
    }

    pub(super) fn shift(&mut self, is_left: bool, a: &Operand, b: &Operand, ty: Int) -> Result<Option<Poly>, TooLarge> {
        let Int { bits, signed } = ty;
        let (a, by) = (self.number(a, bits)?, self.number(b, 32)?);
        let Some(by) = by.value() else {
            if is_left || signed {
                return Ok(None);
            }
            let Some(most) = self.facts.unsigned(self.place, &a, bits) else {
                return Ok(None);
            };
            let value = self.any(bits, false)?;
            if let Some(symbol) = value.as_symbol() {
                self.facts.info_mut(symbol).facts.extend(most.minus(&value));
            }
            return Ok(Some(value));
        };
        let by = u32::try_from(by.rem_euclid(1 << 32).min(64)).unwrap_or(64);
        if is_left {
            return Ok(if by >= bits {
                Some(Poly::default())
            } else {
                a.scaled(1 << by).map(|a| a.reduced(bits))
            });
        }
        if by >= bits {
            return Ok((!signed).then(Poly::default));
        }
        let a = self.facts.number(self.place, &a, bits, signed);
        Ok(a.and_then(|a| self.facts.quotient(&a, &Poly::constant(1 << by))))
    }

    /// `a & mask`
    pub(super) fn mask(&mut self, a: &Poly, mask: i128, bits: u32) -> Result<Option<Poly>, TooLarge> {
        let all = range_of(bits, false).1;
        let mask = mask & all;
        if mask == 0 || mask == all {
            return Ok(Some(if mask == 0 { Poly::default() } else { a.clone() }));
        }
        let at = mask.trailing_zeros();
        let len = (mask >> at).trailing_ones();
        if mask >> at >> len == 0 {
            // Half of a register is a number of its own.
            if len == 32 {
                let above = self.facts.quotient(a, &Poly::constant(1 << at));
                let half = above.and_then(|above| self.facts.unsigned(self.place, &above, len));
                return Ok(half.and_then(|half| half.scaled(1 << at)));
            }
            if at + len == bits {
                let quotient = self.facts.quotient(a, &Poly::constant(1 << at));
                return Ok(quotient.and_then(|quotient| quotient.scaled(1 << at)));
            }
            let field = self.field(a, at, len);
            return Ok(field.and_then(|field| field.scaled(1 << at)));
        }
        let value = self.any_in(0, mask)?;
        let most = self.facts.unsigned(self.place, a, bits);
        if let (Some(symbol), Some(most)) = (value.as_symbol(), most) {
            self.facts.info_mut(symbol).facts.extend(most.minus(&value));
        }
        Ok(Some(value))
    }

    /// `a & b`
    pub(super) fn at_most_both(&mut self, a: &Poly, b: &Poly, bits: u32) -> Result<Option<Poly>, TooLarge> {
        let value = self.any(bits, false)?;
        for side in [a, b] {
            let side = self.facts.unsigned(self.place, side, bits);
            if let (Some(symbol), Some(side)) = (value.as_symbol(), side) {
                self.facts.info_mut(symbol).facts.extend(side.minus(&value));
            }
        }
        Ok(Some(value))
    }

    /// `a | b`: the sum, if no bit is in both.
    pub(super) fn union(&mut self, a: &Poly, b: &Poly, bits: u32) -> Result<Option<Poly>, TooLarge> {
        for (high, low) in [(a, b), (b, a)] {
            let multiple = self.facts.multiple(high);
            let power = multiple & multiple.wrapping_neg();
            if power > 1
                && power <= 1 << bits.min(64)
                && self.facts.proves(self.place, low)
                && self.facts.proves_sum(self.place, low.negated(), power - 1)
            {
                return Ok(high.plus(low));
            }
        }
        let sides = (
            self.facts.unsigned(self.place, a, bits),
            self.facts.unsigned(self.place, b, bits),
        );
        let (Some(a), Some(b)) = sides else { return Ok(None) };
        let value = self.any(bits, false)?;
        if let Some(symbol) = value.as_symbol() {
            let sum = a.plus(&b).and_then(|sum| sum.minus(&value));
            let facts = [sum, value.minus(&a), value.minus(&b)];
            self.facts.info_mut(symbol).facts.extend(facts.into_iter().flatten());
        }
        Ok(Some(value))
    }
}
