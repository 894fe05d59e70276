//! Video instructions and packed integers, as in the PTX manual's pseudocode, in more bits than any result needs.

use super::number::holds;
use crate::code::{DISCARD, Part, Source, Then, Video, VideoOp as Op};
use crate::state::{LANES, Registers, each};

/// Executes a video instruction.
pub(crate) fn video(registers: &mut Registers, mask: u32, instruction: &Video) {
    let a = *registers.get32(instruction.a.slot);
    let b = *registers.get32(instruction.b.slot);
    let c = match instruction.c {
        DISCARD => [0; LANES],
        slot => *registers.get32(slot),
    };
    let result = each(|lane| match instruction.lanes {
        1 => scalar(instruction, a[lane], b[lane], c[lane]),
        _ => parallel(instruction, a[lane], b[lane], c[lane]),
    });
    registers.set::<u32>(instruction.d, mask, result);
}

fn scalar(instruction: &Video, a: u32, b: u32, c: u32) -> u32 {
    let (x, y) = (take(instruction.a, a), take(instruction.b, b));
    match instruction.op {
        Op::Mad { plus_one, shift } => return mad(instruction, x, y, c, plus_one, shift),
        Op::Pack { bits } => return pack(instruction.signed, bits.into(), x, y, c),
        _ => {}
    }
    let bits = match instruction.then {
        Then::Merge(part) => part.bits,
        _ => 32,
    };
    let value = compute(instruction, x, y, bits.into()) as u32;
    let signed = instruction.signed;
    match instruction.then {
        Then::Add => value.wrapping_add(c),
        Then::Min if signed => (value as i32).min(c as i32) as u32,
        Then::Max if signed => (value as i32).max(c as i32) as u32,
        Then::Min => value.min(c),
        Then::Max => value.max(c),
        Then::Merge(part) => put(c, value, part),
        Then::Nothing | Then::Lanes(_) => value,
    }
}

/// Operations on parts of words, one part after the other.
fn parallel(instruction: &Video, a: u32, b: u32, c: u32) -> u32 {
    let bits = 32 / instruction.lanes;
    let at = |source: Source, word: u32, lane: u8| {
        let start = lane * bits;
        take(
            Source {
                part: Part { start, bits },
                ..source
            },
            word,
        )
    };
    let mut result = match instruction.then {
        Then::Add | Then::Lanes(_) => c,
        Then::Nothing | Then::Min | Then::Max | Then::Merge(_) => 0,
    };
    for lane in 0..instruction.lanes {
        let (x, y) = (at(instruction.a, a, lane), at(instruction.b, b, lane));
        let value = compute(instruction, x, y, bits.into());
        match instruction.then {
            Then::Add => result = result.wrapping_add(value as u32),
            Then::Lanes(chosen) if chosen >> lane & 1 == 0 => {}
            Then::Nothing | Then::Min | Then::Max | Then::Merge(_) | Then::Lanes(_) => {
                let start = lane * bits;
                result = put(result, value as u32, Part { start, bits });
            }
        }
    }
    result
}

/// The lowest bits of a number, extended.
fn narrow(value: i64, bits: u32, signed: bool) -> i64 {
    let shift = 64 - bits;
    if signed {
        value << shift >> shift
    } else {
        ((value << shift) as u64 >> shift) as i64
    }
}

/// The part of a word that is used, extended.
fn take(source: Source, word: u32) -> i64 {
    let Part { start, bits } = source.part;
    narrow(i64::from(word >> start), bits.into(), source.signed)
}

/// Replaces a part of a word.
fn put(word: u32, value: u32, Part { start, bits }: Part) -> u32 {
    let ones = (u64::from(u32::MAX) >> (32 - bits)) as u32;
    (word & !(ones << start)) | (value & ones) << start
}

fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    if signed {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

/// The result before `c` is used, saturated if the instruction says so.
fn compute(instruction: &Video, x: i64, y: i64, bits: u32) -> i64 {
    let count = |wrap: bool| if wrap { y & 31 } else { (y as u64).min(32) as i64 };
    let value = match instruction.op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Average => (x + y + i64::from(x + y >= 0)) >> 1,
        Op::AbsoluteDifference => (x - y).abs(),
        Op::Min => x.min(y),
        Op::Max => x.max(y),
        Op::ShiftLeft { clamp } => x << count(!clamp),
        Op::ShiftRight { clamp } => x >> count(!clamp),
        Op::Set(comparison) => i64::from(holds(comparison, x, y)),
        Op::Mad { .. } | Op::Pack { .. } => 0,
    };
    let value = if instruction.relu { value.max(0) } else { value };
    if instruction.saturate {
        clamp(value, bits, instruction.signed)
    } else {
        value
    }
}

fn mad(instruction: &Video, x: i64, y: i64, c: u32, plus_one: bool, shift: u8) -> u32 {
    let signed = instruction.a.signed || instruction.b.signed;
    let addend = if signed { i128::from(c as i32) } else { i128::from(c) };
    let value = (i128::from(x) * i128::from(y) + addend + i128::from(plus_one)) >> shift;
    match (instruction.saturate, signed) {
        (false, _) => value as u32,
        (true, true) => value.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
        (true, false) => value.clamp(0, u32::MAX.into()) as u32,
    }
}

fn pack(signed: bool, bits: u32, x: i64, y: i64, c: u32) -> u32 {
    let ones = (1u32 << bits) - 1;
    let part = |value: i64| clamp(value, bits, signed) as u32 & ones;
    let both = part(x) << bits | part(y);
    if bits == 16 { both } else { both | c << (2 * bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(signed: bool, start: u8, bits: u8) -> Source {
        let part = Part { start, bits };
        Source { slot: 0, part, signed }
    }

    fn instruction(op: Op, signed: bool) -> Video {
        let whole = source(signed, 0, 32);
        Video {
            op,
            lanes: 1,
            a: whole,
            b: whole,
            c: 0,
            signed,
            saturate: false,
            relu: false,
            then: Then::Nothing,
            d: 0,
        }
    }

    #[test]
    fn parts_are_extended_and_results_saturate() {
        let mut add = Video {
            a: source(true, 8, 8),
            b: source(false, 16, 16),
            ..instruction(Op::Add, true)
        };
        assert_eq!(scalar(&add, 0x0000_8000, 0xffff_0000, 0), 0xffff - 128);
        let then = Then::Merge(Part { start: 24, bits: 8 });
        (add.then, add.saturate) = (then, true);
        assert_eq!(scalar(&add, 0x0000_8000, 0xffff_0000, 0x0011_2233), 0x7f11_2233);
        let sub = Video {
            saturate: true,
            ..instruction(Op::Sub, false)
        };
        assert_eq!(scalar(&sub, 3, 5, 0), 0);
        let difference = Video {
            then: Then::Add,
            ..instruction(Op::AbsoluteDifference, false)
        };
        assert_eq!(scalar(&difference, 3, 5, 100), 102);
    }

    #[test]
    fn shifts_clamp_or_wrap() {
        let shift = |clamp| instruction(Op::ShiftLeft { clamp }, false);
        assert_eq!(scalar(&shift(true), 1, 33, 0), 0);
        assert_eq!(scalar(&shift(false), 1, 33, 0), 2);
        let right = instruction(Op::ShiftRight { clamp: true }, true);
        assert_eq!(scalar(&right, 0x8000_0000, 100, 0), u32::MAX);
    }

    #[test]
    fn mad_is_exact_before_it_is_scaled() {
        let mut mad = instruction(
            Op::Mad {
                plus_one: true,
                shift: 15,
            },
            true,
        );
        let (a, b) = (i32::MIN as u32, i32::MIN as u32);
        assert_eq!(scalar(&mad, a, b, 0), ((1u128 << 62 | 1) >> 15) as u32);
        mad.saturate = true;
        assert_eq!(scalar(&mad, a, b, 0), i32::MAX as u32);
    }

    #[test]
    fn lanes_work_apart() {
        let four = Video {
            lanes: 4,
            saturate: true,
            ..instruction(Op::Sub, false)
        };
        assert_eq!(parallel(&four, 0x01ff_0305, 0x02fe_0304, 0), 0x0001_0001);
        let sum = Video {
            saturate: false,
            then: Then::Add,
            op: Op::AbsoluteDifference,
            ..four
        };
        assert_eq!(parallel(&sum, 0x01ff_0305, 0x02fe_0304, 1000), 1003);
        let masked = Video {
            then: Then::Lanes(0b0101),
            op: Op::Max,
            ..four
        };
        assert_eq!(parallel(&masked, 0x0102_0304, 0x0000_0900, 0xaaaa_aaaa), 0xaa02_aa04);
        let average = Video {
            lanes: 2,
            op: Op::Average,
            then: Then::Nothing,
            ..instruction(Op::Average, true)
        };
        assert_eq!(parallel(&average, 0x0001_ffff, 0x0002_fffe, 0), 0x0002_fffe);
    }

    #[test]
    fn packing_saturates_both_and_keeps_the_third() {
        assert_eq!(pack(true, 8, 300, -300, 0x1234_5678), 0x5678_7f80);
        assert_eq!(pack(false, 16, -1, 70_000, 0), 0x0000_ffff);
        assert_eq!(pack(true, 2, 5, -5, 0x3), 0x36);
    }
}
