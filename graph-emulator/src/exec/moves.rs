//! `mov` in all its forms, and the logic of predicates.

use super::compare::combine;
use crate::code::{DISCARD, Move, PredicateOp};
use crate::state::{FULL, LANES, Registers, each};

/// Moves between registers, packing and unpacking.
pub(crate) fn mov(registers: &mut Registers, mask: u32, instruction: &Move) {
    match *instruction {
        Move::M32 { d, a } => registers.map1(mask, d, a, |a: u32| a),
        Move::M64 { d, a } => registers.map1(mask, d, a, |a: u64| a),
        Move::Pack32 { d, s } => registers.map2(mask, d, s, |a: u32, b: u32| a & 0xffff | b << 16),
        Move::Pack64 { d, s } => registers.map2(mask, d, s, |a: u32, b: u32| u64::from(b) << 32 | u64::from(a)),
        Move::PackBytes { d, s } => {
            let parts = s.map(|slot| *registers.get32(slot));
            let pack = |lane: usize| (0..4).fold(0, |all, i| all | (parts[i][lane] & 0xff) << (8 * i));
            registers.set::<u32>(d, mask, each(pack));
        }
        Move::PackQuarters { d, s } => {
            let parts = s.map(|slot| *registers.get32(slot));
            let pack = |lane: usize| (0..4).fold(0, |all, i| all | u64::from(parts[i][lane] & 0xffff) << (16 * i));
            registers.set::<u64>(d, mask, each(pack));
        }
        Move::Unpack32 { d, a } => {
            let whole = registers.get32(a).map(u64::from);
            unpack(registers, mask, &d, &whole, 16);
        }
        Move::UnpackBytes { d, a } => {
            let whole = registers.get32(a).map(u64::from);
            unpack(registers, mask, &d, &whole, 8);
        }
        Move::Unpack64 { d, a } => {
            let whole = *registers.get64(a);
            unpack(registers, mask, &d, &whole, 32);
        }
        Move::UnpackQuarters { d, a } => {
            let whole = *registers.get64(a);
            unpack(registers, mask, &d, &whole, 16);
        }
    }
}

fn unpack(registers: &mut Registers, mask: u32, to: &[u32], whole: &[u64; LANES], bits: u32) {
    let low = ((1u64 << bits) - 1) as u32;
    for (index, &d) in to.iter().enumerate().filter(|&(_, &d)| d != DISCARD) {
        registers.set(
            d,
            mask,
            whole.map(|value| (value >> (index as u32 * bits)) as u32 & low),
        );
    }
}

/// `mov.pred`, `not.pred`, `and.pred` and so on.
pub(crate) fn predicate(registers: &mut Registers, mask: u32, instruction: &PredicateOp) {
    match *instruction {
        PredicateOp::Mov { d, a } => registers.set_predicate(d, mask, registers.predicate(a)),
        PredicateOp::Set { d, value } => registers.set_predicate(d, mask, value),
        PredicateOp::Not { d, a } => registers.set_predicate(d, mask, registers.predicate(a) ^ FULL),
        PredicateOp::Combine { op, d, a, b } => {
            registers.set_predicate(d, mask, combine(op, registers.predicate(a), registers.predicate(b)));
        }
    }
}
