//! Comparisons, and values that they choose.

use super::machine::{Machine, TooLarge};
use super::poly::Poly;
use super::value::{Condition, Int, Value};
use crate::ast::{Instruction, Operand};
use std::rc::Rc;

impl Machine<'_> {
    /// The comparison of `setp`.
    pub(super) fn compare(
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
    pub(super) fn combined(
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
        let both = if instruction.has("and") {
            Condition::And(condition, other)
        } else if instruction.has("or") {
            Condition::Or(condition, other)
        } else {
            Condition::Unknown
        };
        Ok(Value::Truth(Rc::new(both)))
    }

    pub(super) fn select(&mut self, a: &Operand, b: &Operand, condition: &Operand) -> Result<Value, TooLarge> {
        let condition = self.condition(condition)?;
        let values = [self.value(a)?, self.value(b)?];
        self.chosen_by(&condition, values)
    }

    /// The first value if the condition holds, else the second.
    pub(super) fn chosen_by(&mut self, condition: &Rc<Condition>, values: [Value; 2]) -> Result<Value, TooLarge> {
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
}
