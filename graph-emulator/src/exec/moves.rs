//! `mov` in all its forms, and the logic of predicates.

use super::compare::combine;
use crate::code::{DISCARD, Logic, Move};
use crate::state::{LANES, Registers, each};

/// Moves between registers, packing and unpacking.
pub(crate) fn mov(registers: &mut Registers, mask: u32, instruction: &Move) {
    match *instruction {
        Move::Copy { wide: false, d, a } => registers.map1(mask, d, a, |a: u32| a),
        Move::Copy { wide: true, d, a } => registers.map1(mask, d, a, |a: u64| a),
        Move::Pack { wide, parts, d, s } => {
            let (bits, low) = part(wide, parts);
            let mut whole = [0; LANES];
            for (index, &slot) in s[..parts.into()].iter().enumerate() {
                let source = registers.get32(slot);
                whole = each(|lane| whole[lane] | (u64::from(source[lane]) & low) << (index as u32 * bits));
            }
            registers.write(wide, d, mask, whole);
        }
        Move::Unpack { wide, parts, d, a } => {
            let (bits, low) = part(wide, parts);
            let whole = registers.read(wide, a);
            for (index, &d) in d.iter().enumerate().filter(|&(_, &d)| d != DISCARD) {
                let part = |value: u64| (value >> (index as u32 * bits) & low) as u32;
                registers.set(d, mask, whole.map(part));
            }
        }
    }
}

/// The bits of a part, and the mask of the lowest part.
fn part(wide: bool, parts: u8) -> (u32, u64) {
    let bits = if wide { 64 } else { 32 } / u32::from(parts);
    (bits, (1 << bits) - 1)
}

/// `mov.pred`, `not.pred`, `and.pred` and so on.
pub(crate) fn logic(registers: &mut Registers, mask: u32, &Logic { op, d, a, b }: &Logic) {
    let result = combine(op, registers.guard(a), registers.guard(b));
    registers.set_predicate(d, mask, result);
}
