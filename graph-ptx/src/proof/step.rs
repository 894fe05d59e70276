//! The effect of one instruction on the registers.

use super::facts::EVERYWHERE;
use super::machine::{Machine, TooLarge};
use super::poly::Poly;
use super::value::{Condition, Int, Memory, Value, int, range_of};
use super::{Gap, access};
use crate::ast::{Instruction, Operand, Reg, Space, Type};
use std::rc::Rc;

/// The types that the modifiers of an instruction name, in order; `None` for those that are not of integers.
fn types(instruction: &Instruction) -> Vec<Option<Int>> {
    let types = instruction
        .modifiers
        .iter()
        .filter(|modifier| Type::named(modifier).is_some());
    types.map(|modifier| int(modifier)).collect()
}

fn has(instruction: &Instruction, modifier: &str) -> bool {
    instruction.modifiers.iter().any(|given| given == modifier)
}

/// Instructions that touch no memory, and whose results are any numbers.
const OTHERS: &[&str] = &[
    "activemask",
    "addc",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "createpolicy",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "fma",
    "fns",
    "getctarank",
    "isspacep",
    "istypep",
    "lg2",
    "lop3",
    "madc",
    "match",
    "mma",
    "movmatrix",
    "mul24",
    "mad24",
    "popc",
    "prmt",
    "rcp",
    "redux",
    "rsqrt",
    "sad",
    "set",
    "shf",
    "shfl",
    "sin",
    "slct",
    "sqrt",
    "subc",
    "suq",
    "szext",
    "tanh",
    "testp",
    "txq",
    "vote",
    "tex",
    "tld4",
    "suld",
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vset",
    "vshl",
    "vshr",
    "vmad",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
];

/// Instructions that touch no memory that could be left, and have no results.
const HARMLESS: &[&str] = &[
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "membar",
    "fence",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "applypriority",
    "setmaxnreg",
    "griddepcontrol",
    "sust",
    "bar",
    "barrier",
];

impl Machine<'_> {
    /// Runs one instruction at the current place.
    pub(super) fn step(&mut self, index: usize) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
        if self.facts.steps == 0 {
            return Err(TooLarge);
        }
        let instruction = self.instruction(index);
        let Some((register, negated)) = instruction.guard else {
            return self.run(index, instruction);
        };
        let condition = match self.read(register) {
            Value::Truth(condition) => condition,
            _ => Rc::new(Condition::Unknown),
        };
        let before = self.place;
        let (runs, skips) = (self.facts.below(before), self.facts.below(before));
        let can_run = self.facts.assume(runs, &condition, !negated);
        let can_skip = self.facts.assume(skips, &condition, negated);
        if !can_run {
            return Ok(());
        }
        let written = super::flow::written_by(instruction);
        let old: Vec<Value> = written.iter().map(|&register| self.read(register)).collect();
        self.place = runs;
        let done = self.run(index, instruction);
        self.place = before;
        done?;
        if can_skip && !written.is_empty() {
            let new: Vec<Value> = written.iter().map(|&register| self.read(register)).collect();
            let chosen = self.choose(&[(runs, new), (skips, old)])?;
            self.state.extend(written.into_iter().zip(chosen));
        }
        Ok(())
    }

    fn run(&mut self, index: usize, instruction: &Instruction) -> Result<(), TooLarge> {
        let opcode = instruction.opcode.as_str();
        if HARMLESS.contains(&opcode) {
            self.forget(instruction);
            return Ok(());
        }
        if OTHERS.contains(&opcode) {
            // An operand that is an address would be an access that is not known.
            let texture = matches!(opcode, "tex" | "tld4" | "suld");
            let addresses = instruction
                .operands
                .iter()
                .any(|operand| matches!(operand, Operand::Address(..)));
            if addresses && !texture && !matches!(opcode, "txq" | "suq") {
                self.leave_open(index, Gap::Instruction(opcode.to_owned()));
            }
            self.forget(instruction);
            return self.narrow(instruction);
        }
        if access::is_access(opcode) {
            return self.access(index, instruction);
        }
        if opcode == "call" {
            self.forget(instruction);
            let callee = instruction.operands.iter().find_map(|operand| match operand {
                Operand::Symbol(name, _) => Some(name.as_str()),
                _ => None,
            });
            if callee != Some("__assertfail") {
                self.leave_open(index, Gap::Call(callee.unwrap_or("a function").to_owned()));
            }
            return Ok(());
        }
        if let ("mov", [Operand::Vector(parts), from]) = (opcode, &instruction.operands[..]) {
            return self.unpack(parts, from);
        }
        let Some(value) = self.compute(instruction)? else {
            self.forget(instruction);
            let is_arithmetic = matches!(
                opcode,
                "add"
                    | "sub"
                    | "mul"
                    | "mad"
                    | "div"
                    | "rem"
                    | "abs"
                    | "neg"
                    | "min"
                    | "max"
                    | "and"
                    | "or"
                    | "xor"
                    | "not"
                    | "shl"
                    | "shr"
                    | "selp"
                    | "setp"
                    | "cvt"
                    | "cvta"
                    | "mov"
                    | "bfe"
                    | "mapa"
            );
            if !is_arithmetic {
                self.leave_open(index, Gap::Instruction(opcode.to_owned()));
            }
            return Ok(());
        };
        self.write(instruction, value);
        Ok(())
    }

    /// Nothing is known of the results of an instruction.
    fn forget(&mut self, instruction: &Instruction) {
        for register in super::flow::written_by(instruction) {
            self.state.insert(register, Value::Unknown);
        }
    }

    /// The ranges of the results of a few instructions.
    fn narrow(&mut self, instruction: &Instruction) -> Result<(), TooLarge> {
        let high = match instruction.opcode.as_str() {
            "popc" | "clz" => 64,
            _ => return Ok(()),
        };
        if let Some(Operand::Register(register)) = instruction.operands.first() {
            let value = Value::Number(Rc::new(self.any_in(0, high)?));
            self.state.insert(*register, value);
        }
        Ok(())
    }

    fn write(&mut self, instruction: &Instruction, value: Value) {
        match instruction.operands.first() {
            Some(Operand::Register(register)) => {
                self.state.insert(*register, value);
            }
            Some(Operand::Pair(first, second)) => {
                let opposite = match &value {
                    Value::Truth(condition) => Value::Truth(condition.not()),
                    _ => Value::Unknown,
                };
                for (operand, value) in [(first, value), (second, opposite)] {
                    if let Operand::Register(register) = &**operand {
                        self.state.insert(*register, value);
                    }
                }
            }
            _ => self.forget(instruction),
        }
    }

    /// The result of an instruction on numbers; `None` if it is not known.
    fn compute(&mut self, instruction: &Instruction) -> Result<Option<Value>, TooLarge> {
        let types = types(instruction);
        let last = types.last().copied().flatten();
        let operands = &instruction.operands;
        // Results that are clamped, and sums with carries.
        if ["sat", "relu", "cc"].iter().any(|clamps| has(instruction, clamps)) {
            return Ok(None);
        }
        let number = |poly: Option<Poly>| poly.map(|poly| Value::Number(Rc::new(poly)));
        match (instruction.opcode.as_str(), &operands[..]) {
            ("mov", [_, Operand::Vector(parts)]) => self.pack(parts),
            ("mov", [_, from]) => self.value(from).map(Some),
            ("cvta", [_, from]) => {
                let value = self.value(from)?;
                let space = Self::spaces(instruction).first().copied();
                Ok(Some(self.in_other_space(value, space, has(instruction, "to"))))
            }
            ("add" | "sub", [_, a, b]) => {
                let Some(ty) = last else { return Ok(None) };
                let is_add = instruction.opcode == "add";
                self.sum(a, b, ty, is_add)
            }
            ("setp", [_, a, b, rest @ ..]) => {
                let compared = self.compare(instruction, a, b, last)?;
                self.combined(instruction, compared, rest).map(Some)
            }
            ("selp", [_, a, b, condition]) => self.select(a, b, condition).map(Some),
            ("and" | "or" | "xor", [_, a, b]) if has(instruction, "pred") => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                Ok(Some(Value::Truth(Rc::new(match instruction.opcode.as_str() {
                    "and" => Condition::And(a, b),
                    "or" => Condition::Or(a, b),
                    _ => Condition::Unknown,
                }))))
            }
            ("not", [_, a]) if has(instruction, "pred") => Ok(Some(Value::Truth(self.condition(a)?.not()))),
            ("cvt", [to, from]) => self.convert(to, from, &types),
            (opcode, [_, a]) => {
                let Some(ty) = last else { return Ok(None) };
                let a = self.number(a, ty.bits)?;
                Ok(number(match opcode {
                    "neg" => a.negated(),
                    "not" => a.negated().and_then(|a| a.plus_constant(-1)),
                    "abs" => {
                        let a = self.facts.signed(self.place, &a, ty.bits);
                        a.filter(|a| self.facts.proves(self.place, a))
                    }
                    _ => None,
                }))
            }
            ("mad", [_, a, b, c]) => {
                let Some(ty) = last else { return Ok(None) };
                let product = self.product(instruction, a, b, ty)?;
                let bits = if has(instruction, "wide") { ty.bits * 2 } else { ty.bits };
                let (Some(product), c) = (product, self.value(c)?) else {
                    return Ok(None);
                };
                Ok(match c {
                    Value::Address(memory, offset) => {
                        offset.plus(&product).map(|sum| Value::Address(memory, Rc::new(sum)))
                    }
                    Value::Number(c) => number(c.plus(&product)),
                    _ => number(self.any(bits, false)?.plus(&product)),
                })
            }
            ("bfe", [_, a, at, len]) => {
                let Some(ty) = last.filter(|ty| !ty.signed) else {
                    return Ok(None);
                };
                let (at, len) = (self.number(at, 32)?.value(), self.number(len, 32)?.value());
                let a = self.number(a, ty.bits)?;
                let Some((at, len)) = at.zip(len) else { return Ok(None) };
                if at < 0 || len < 0 || at + len > i128::from(ty.bits) {
                    return Ok(None);
                }
                Ok(number(self.field(&a, at as u32, len as u32)))
            }
            (_, [_, a, b]) => {
                let Some(ty) = last else { return Ok(None) };
                self.binary(instruction, a, b, ty).map(number)
            }
            _ => Ok(None),
        }
    }

    fn sum(&mut self, a: &Operand, b: &Operand, ty: Int, is_add: bool) -> Result<Option<Value>, TooLarge> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        let combine = |a: &Poly, b: &Poly| if is_add { a.plus(b) } else { a.minus(b) };
        let address = |memory: Memory, sum: Option<Poly>| sum.map(|sum| Value::Address(memory, Rc::new(sum)));
        Ok(match (a, b) {
            (Value::Address(memory, a), Value::Number(b)) => {
                address(memory, combine(&a, &b).map(|sum| sum.reduced(ty.bits)))
            }
            (Value::Number(a), Value::Address(memory, b)) if is_add => {
                address(memory, combine(&a, &b).map(|sum| sum.reduced(ty.bits)))
            }
            (Value::Address(first, a), Value::Address(second, b)) if !is_add && first == second => {
                a.minus(&b).map(|difference| Value::Number(Rc::new(difference)))
            }
            (Value::Number(a), Value::Number(b)) => {
                let sum = combine(&a, &b).map(|sum| sum.reduced(ty.bits));
                sum.map(|sum| Value::Number(Rc::new(sum)))
            }
            // An address plus any number is an address anywhere.
            (Value::Address(memory, _), Value::Unknown) => {
                let any = self.any(ty.bits, false)?;
                Some(Value::Address(memory, Rc::new(any)))
            }
            _ => None,
        })
    }

    /// The product of `mul` and `mad`, in the width of the result.
    fn product(
        &mut self,
        instruction: &Instruction,
        a: &Operand,
        b: &Operand,
        ty: Int,
    ) -> Result<Option<Poly>, TooLarge> {
        let (a, b) = (self.number(a, ty.bits)?, self.number(b, ty.bits)?);
        if has(instruction, "lo") {
            return Ok(a.times(&b).map(|product| product.reduced(ty.bits)));
        }
        let a = self.facts.number(self.place, &a, ty.bits, ty.signed);
        let b = self.facts.number(self.place, &b, ty.bits, ty.signed);
        let Some(product) = a.zip(b).and_then(|(a, b)| a.times(&b)) else {
            return Ok(None);
        };
        if has(instruction, "wide") {
            return Ok(Some(product));
        }
        Ok(match has(instruction, "hi") && ty.bits <= 32 {
            true => self.facts.quotient(&product, &Poly::constant(1 << ty.bits)),
            false => None,
        })
    }

    /// Bits of a number, from `at` on.
    fn field(&mut self, a: &Poly, at: u32, len: u32) -> Option<Poly> {
        let low = self.facts.quotient(a, &Poly::constant(1 << at))?;
        let high = self.facts.quotient(a, &Poly::constant(1 << (at + len)))?;
        low.minus(&high.scaled(1 << len)?)
    }

    fn binary(
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
                let value = self.chosen_by(&at_least, values)?;
                if let Value::Number(poly) = &value
                    && let Some(symbol) = poly.as_symbol()
                {
                    for side in [&a, &b] {
                        let fact = if opcode == "min" {
                            side.minus(poly)
                        } else {
                            poly.minus(side)
                        };
                        self.facts.info_mut(symbol).facts.extend(fact);
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

    fn shift(&mut self, is_left: bool, a: &Operand, b: &Operand, ty: Int) -> Result<Option<Poly>, TooLarge> {
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
    fn mask(&mut self, a: &Poly, mask: i128, bits: u32) -> Result<Option<Poly>, TooLarge> {
        let all = range_of(bits, false).1;
        let mask = mask & all;
        if mask == 0 || mask == all {
            return Ok(Some(if mask == 0 { Poly::default() } else { a.clone() }));
        }
        let at = mask.trailing_zeros();
        let len = (mask >> at).trailing_ones();
        if mask >> at >> len == 0 {
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
    fn at_most_both(&mut self, a: &Poly, b: &Poly, bits: u32) -> Result<Option<Poly>, TooLarge> {
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
    fn union(&mut self, a: &Poly, b: &Poly, bits: u32) -> Result<Option<Poly>, TooLarge> {
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

    /// The comparison of `setp`.
    fn compare(
        &mut self,
        instruction: &Instruction,
        a: &Operand,
        b: &Operand,
        ty: Option<Int>,
    ) -> Result<Rc<Condition>, TooLarge> {
        let unknown = Rc::new(Condition::Unknown);
        let Some(Int { bits, signed }) = ty else {
            return Ok(unknown);
        };
        let Some(op) = instruction.modifiers.first() else {
            return Ok(unknown);
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let (a, b) = match (a, b) {
            (Value::Number(a), Value::Number(b)) => (a, b),
            _ => return Ok(unknown),
        };
        let place = self.place;
        let signed = signed && !matches!(op.as_str(), "lo" | "ls" | "hi" | "hs");
        let exact_a = self.facts.number(place, &a, bits, signed);
        let exact_b = self.facts.number(place, &b, bits, signed);
        let Some((exact_a, exact_b)) = exact_a.zip(exact_b) else {
            return Ok(unknown);
        };
        let at_least = |more: &Poly, less: &Poly, by: i128| more.minus(less).and_then(|poly| poly.plus_constant(-by));
        let condition = match op.as_str() {
            "eq" | "ne" => a.minus(&b).zip(exact_a.minus(&exact_b)).map(|(difference, exact)| {
                let difference = self.facts.unwrapped(&difference.reduced(bits), bits);
                if let Some(value) = exact.value() {
                    return Condition::Constant(value == 0);
                }
                Condition::IsZero(difference, bits, exact)
            }),
            "lt" | "lo" => at_least(&exact_b, &exact_a, 1).map(Condition::AtLeast0),
            "le" | "ls" => at_least(&exact_b, &exact_a, 0).map(Condition::AtLeast0),
            "gt" | "hi" => at_least(&exact_a, &exact_b, 1).map(Condition::AtLeast0),
            "ge" | "hs" => at_least(&exact_a, &exact_b, 0).map(Condition::AtLeast0),
            _ => None,
        };
        let condition = match condition {
            Some(Condition::AtLeast0(poly)) if poly.value().is_some() => {
                Condition::Constant(poly.value().is_some_and(|value| value >= 0))
            }
            Some(condition) => condition,
            None => return Ok(unknown),
        };
        let condition = Rc::new(condition);
        Ok(if op == "ne" { condition.not() } else { condition })
    }

    /// The rest of `setp.lt.and.u32 %p1, %r1, %r2, %p2`.
    fn combined(
        &mut self,
        instruction: &Instruction,
        condition: Rc<Condition>,
        rest: &[Operand],
    ) -> Result<Value, TooLarge> {
        let [other] = rest else {
            return Ok(Value::Truth(condition));
        };
        // With two results, the second is not the opposite of the first.
        if matches!(instruction.operands.first(), Some(Operand::Pair(..))) {
            return Ok(Value::Unknown);
        }
        let other = self.condition(other)?;
        let both = if has(instruction, "and") {
            Condition::And(condition, other)
        } else if has(instruction, "or") {
            Condition::Or(condition, other)
        } else {
            Condition::Unknown
        };
        Ok(Value::Truth(Rc::new(both)))
    }

    fn select(&mut self, a: &Operand, b: &Operand, condition: &Operand) -> Result<Value, TooLarge> {
        let condition = self.condition(condition)?;
        let values = [self.value(a)?, self.value(b)?];
        self.chosen_by(&condition, values)
    }

    /// The first value if the condition holds, else the second.
    fn chosen_by(&mut self, condition: &Rc<Condition>, values: [Value; 2]) -> Result<Value, TooLarge> {
        let [first, second] = values;
        if first == second {
            return Ok(first);
        }
        let (holds, fails) = (self.facts.below(self.place), self.facts.below(self.place));
        if !self.facts.assume(holds, condition, true) {
            return Ok(second);
        }
        if !self.facts.assume(fails, condition, false) {
            return Ok(first);
        }
        let chosen = self.choose(&[(holds, vec![first]), (fails, vec![second])])?;
        Ok(chosen.into_iter().next().unwrap_or(Value::Unknown))
    }

    fn convert(&mut self, to: &Operand, from: &Operand, types: &[Option<Int>]) -> Result<Option<Value>, TooLarge> {
        let [Some(into), of] = types[..] else { return Ok(None) };
        let Some(of) = of else {
            return Ok(Some(Value::Number(Rc::new(self.any(into.bits, into.signed)?))));
        };
        // Addresses keep all of their bits.
        if let Value::Address(memory, offset) = self.value(from)? {
            return Ok((into.bits == of.bits && of.bits >= 32).then_some(Value::Address(memory, offset)));
        }
        let value = self.number(from, of.bits)?;
        let register = match to {
            Operand::Register(register) => self.bits(*register),
            _ => into.bits,
        };
        let mut value = Some(value);
        let mut bits = of.bits;
        if into.bits > bits {
            value = value.and_then(|value| self.facts.number(self.place, &value, bits, of.signed));
            bits = into.bits;
        }
        bits = bits.min(into.bits);
        if register > bits {
            value = value.and_then(|value| self.facts.number(self.place, &value, bits, into.signed));
        }
        Ok(value.map(|value| Value::Number(Rc::new(value))))
    }

    /// `cvta`: a generic address of one in its own space, or the other way round. Only addresses of global memory keep
    /// their bits.
    fn in_other_space(&self, value: Value, space: Option<Space>, is_from_generic: bool) -> Value {
        let is_own = |name: &str| self.find_variable(name).map(|variable| variable.space) == space;
        match (value, is_from_generic) {
            (Value::Address(Memory::Variable(name), offset), false) if is_own(&name) => {
                Value::Address(Memory::Generic(name), offset)
            }
            (Value::Address(Memory::Generic(name), offset), true) if is_own(&name) => {
                Value::Address(Memory::Variable(name), offset)
            }
            (value @ (Value::Address(Memory::Param(_), _) | Value::Number(_)), _) if space == Some(Space::Global) => {
                value
            }
            _ => Value::Unknown,
        }
    }

    /// `mov.b64 {%r1, %r2}, %rd1`
    fn unpack(&mut self, parts: &[Operand], from: &Operand) -> Result<(), TooLarge> {
        let registers: Vec<Option<Reg>> = parts
            .iter()
            .map(|part| match part {
                Operand::Register(register) => Some(*register),
                _ => None,
            })
            .collect();
        let value = self.value(from)?;
        for (position, register) in registers.into_iter().enumerate() {
            let Some(register) = register else { continue };
            let bits = self.bits(register);
            let part = match &value {
                Value::Number(poly) => {
                    let at = bits * position as u32;
                    self.facts.quotient(poly, &Poly::constant(1 << at.min(100)))
                }
                _ => None,
            };
            let is_float = matches!(self.register_type(register), Some(Type::F32 | Type::F64));
            let part = part.filter(|_| !is_float).map(|poly| Value::Number(Rc::new(poly)));
            self.state.insert(register, part.unwrap_or(Value::Unknown));
        }
        Ok(())
    }

    /// `mov.b64 %rd1, {%r1, %r2}`
    fn pack(&mut self, parts: &[Operand]) -> Result<Option<Value>, TooLarge> {
        let mut sum = Poly::default();
        let mut at = 0;
        for part in parts {
            let Operand::Register(register) = part else {
                return Ok(None);
            };
            let bits = self.bits(*register);
            let poly = self.number(part, bits)?;
            let poly = self.facts.unsigned(self.place, &poly, bits);
            let Some(next) = poly
                .and_then(|poly| poly.scaled(1 << at))
                .and_then(|poly| sum.plus(&poly))
            else {
                return Ok(None);
            };
            sum = next;
            at += bits;
            if at > 64 {
                return Ok(None);
            }
        }
        Ok(Some(Value::Number(Rc::new(sum))))
    }

    /// The value of a kernel's parameter, or of a part of it, in a register of so many bits.
    pub(super) fn argument(&mut self, name: &str, at: i64, ty: Option<Int>, bits: u32) -> Result<Value, TooLarge> {
        let Some(param) = self.function.params.iter().position(|param| param.name == name) else {
            return Ok(Value::Unknown);
        };
        if at == 0
            && bits == 64
            && ty.is_some_and(|ty| ty.bits == 64)
            && matches!(
                self.kernel.params.get(param).map(|param| &param.kind),
                Some(super::Kind::Memory { .. })
            )
        {
            return Ok(Value::Address(Memory::Param(param), Rc::new(Poly::default())));
        }
        let Some(ty) = ty else { return Ok(Value::Unknown) };
        let poly = match (
            &self.kernel.params.get(param).map(|param| &param.kind),
            &self.names.arguments.get(param),
        ) {
            (Some(super::Kind::Integer { bits, .. }), Some(Some(poly))) if at == 0 && *bits == ty.bits => poly.clone(),
            _ => {
                let (low, high) = range_of(ty.bits, ty.signed);
                let name = match self.kernel.params.get(param) {
                    Some(param) => format!("{}+{at} ({})", param.name, ty.bits),
                    None => return Ok(Value::Unknown),
                };
                self.part(&name, low, high)?
            }
        };
        if bits <= ty.bits {
            return Ok(Value::Number(Rc::new(poly)));
        }
        let poly = self.facts.number(EVERYWHERE, &poly, ty.bits, ty.signed);
        Ok(poly.map_or(Value::Unknown, |poly| Value::Number(Rc::new(poly))))
    }

    /// The spaces that an instruction names, in order.
    pub(super) fn spaces(instruction: &Instruction) -> Vec<Space> {
        let spaces = instruction.modifiers.iter().filter_map(|modifier| {
            Some(match modifier.split("::").next()? {
                "global" => Space::Global,
                "shared" => Space::Shared,
                "local" => Space::Local,
                "const" => Space::Const,
                "param" => Space::Param,
                _ => return None,
            })
        });
        spaces.collect()
    }
}
