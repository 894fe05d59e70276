//! The workspace of a cooperative launch. `%envreg2` and `%envreg1` hold the lower and the upper half of its address,
//! which compilers put together in a few ways. Any other use of a half makes a number of it.

use super::flow::Flow;
use super::source::{Part, Source};
use super::value::Value;
use crate::ast::{Instruction, Operand};

impl Flow<'_, '_> {
    /// The value of a special register.
    pub(super) fn special(&mut self, name: &str) -> Value {
        match name {
            "%envreg1" => self.part(Part::High),
            "%envreg2" => self.part(Part::Low),
            _ => Value::NUMBER,
        }
    }

    fn part(&mut self, part: Part) -> Value {
        Value::pointer(self.sets.single(Source::WorkspacePart(part)))
    }

    /// The result of an instruction that computes with parts of the workspace's address, `None` for others. `packed`
    /// has the values of the parts of a vector of two.
    pub(super) fn workspace(
        &mut self,
        instruction: &Instruction,
        sources: &[Value],
        packed: Option<[Value; 2]>,
    ) -> Option<Value> {
        let is_part = |source: &Source| matches!(source, Source::WorkspacePart(_));
        let has_part = |value: &Value| self.sets.members(value.base).iter().any(is_part);
        if !sources.iter().any(has_part) {
            return None;
        }
        if sources.iter().any(|source| source.is_bottom()) {
            return Some(Value::BOTTOM);
        }
        let [low, high, top] = [Part::Low, Part::High, Part::Top].map(|part| self.part(part));
        let whole = Value::pointer(self.sets.single(Source::Workspace));
        let has = |modifier: &str| instruction.has(modifier);
        match (instruction.opcode.as_str(), sources, &instruction.operands[..]) {
            ("mov", ..) if has("b64") && packed == Some([low, high]) => return Some(whole),
            ("mov", [source], [_, Operand::Register(_) | Operand::Special(_)]) => return Some(*source),
            ("selp", ..) => return None,
            ("cvt", [source], _) if has("u64") && has("u32") => return Some(*source),
            ("shl", [source, _], [.., Operand::Integer(32)]) if has("b64") && *source == high => return Some(top),
            ("bfi", [a, b, ..], [.., Operand::Integer(32), Operand::Integer(32)])
                if has("b64") && (*a, *b) == (high, low) =>
            {
                return Some(whole);
            }
            ("or" | "add", [a, b], _) if [(*a, *b), (*b, *a)].contains(&(low, top)) => return Some(whole),
            _ => {}
        }
        Some(self.sets.mix(sources))
    }
}
