//! Bit manipulation: counting, fields, permutation, dot products of bytes.

use crate::code::{Bits, BitsOp as Op, PrmtMode, Slot};
use crate::state::vector::dispatch;
use crate::state::{Registers, each};

dispatch! {
    /// Bit manipulation instructions.
    fn bits(registers: &mut Registers, mask: u32, instruction: &Bits) = bits_lanes
}

#[inline(always)]
fn bits_lanes(registers: &mut Registers, mask: u32, &Bits { op, wide, d, s }: &Bits) {
    let (a, ab, abc) = (s[0], [s[0], s[1]], [s[0], s[1], s[2]]);
    match (op, wide) {
        (Op::Popc, false) => registers.map1(mask, d, a, u32::count_ones),
        (Op::Popc, true) => registers.map1(mask, d, a, u64::count_ones),
        (Op::Clz, false) => registers.map1(mask, d, a, u32::leading_zeros),
        (Op::Clz, true) => registers.map1(mask, d, a, u64::leading_zeros),
        (Op::Brev, false) => registers.map1(mask, d, a, u32::reverse_bits),
        (Op::Brev, true) => registers.map1(mask, d, a, u64::reverse_bits),
        (Op::Bfind { signed, shift }, false) => registers.map1(mask, d, a, |a: u32| {
            bfind(if signed && (a as i32) < 0 { !a } else { a }.into(), 31, shift)
        }),
        (Op::Bfind { signed, shift }, true) => registers.map1(mask, d, a, |a: u64| {
            bfind(if signed && (a as i64) < 0 { !a } else { a }, 63, shift)
        }),
        (Op::Bfe { signed }, false) => registers.map3(mask, d, abc, |a: u32, b: u32, c: u32| {
            extract(a.into(), b, c, 31, signed) as u32
        }),
        (Op::Bfe { signed }, true) => registers.map3(mask, d, abc, |a, b, c| extract(a, b, c, 63, signed)),
        (Op::Bfi, _) => insert_all(registers, mask, wide, d, s),
        (Op::Lop3(table), _) => registers.map3(mask, d, abc, |a, b, c| lop3(table, a, b, c)),
        (Op::Funnel { left, clamp }, _) => registers.map3(mask, d, abc, |a: u32, b: u32, c: u32| {
            let count = if clamp { c.min(32) } else { c & 31 };
            let both = u64::from(b) << 32 | u64::from(a);
            (if left { both << count >> 32 } else { both >> count }) as u32
        }),
        (Op::Prmt(mode), _) => registers.map3(mask, d, abc, |a, b, c| prmt(mode, a, b, c)),
        (Op::Fns, _) => registers.map3(mask, d, abc, fns),
        (Op::Dp4a { a_signed, b_signed }, _) => registers.map3(mask, d, abc, |a: u32, b: u32, c: u32| {
            let product = |i: usize| byte(a, i, a_signed).wrapping_mul(byte(b, i, b_signed));
            (0..4).fold(c, |sum, i| sum.wrapping_add(product(i)))
        }),
        (
            Op::Dp2a {
                a_signed,
                b_signed,
                high,
            },
            _,
        ) => registers.map3(mask, d, abc, |a: u32, b: u32, c: u32| {
            let half = |index: usize| {
                let half = (a >> (16 * index)) as u16;
                if a_signed { half as i16 as u32 } else { half.into() }
            };
            let start = if high { 2 } else { 0 };
            let product = |i: usize| half(i).wrapping_mul(byte(b, start + i, b_signed));
            (0..2).fold(c, |sum, i| sum.wrapping_add(product(i)))
        }),
        (Op::Bmsk { clamp }, _) => registers.map2(mask, d, ab, |a: u32, b: u32| {
            let [a, b] = [a, b].map(|count| if clamp { count.min(32) } else { count & 31 });
            (((1u64 << b) - 1) << a) as u32
        }),
        (Op::Szext { signed, clamp }, _) => registers.map2(mask, d, ab, |a, b| szext(a, b, clamp, signed)),
    }
}

/// The position of the highest set bit, or its distance from the top; all ones if no bit is set.
#[inline(always)]
fn bfind(value: u64, top: u32, shift: bool) -> u32 {
    if value == 0 {
        return u32::MAX;
    }
    let position = 63 - value.leading_zeros();
    if shift { top - position } else { position }
}

/// `bfe`, as in the PTX manual's pseudocode.
#[inline(always)]
fn extract(a: u64, start: u32, len: u32, top: u32, signed: bool) -> u64 {
    let (start, len) = (start & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let sign = signed && a >> (start.saturating_add(len) - 1).min(top) & 1 != 0;
    let field = if start > top { 0 } else { a >> start };
    let kept = len.min(top.saturating_sub(start) + 1).min(64);
    let kept = if start > top { 0 } else { kept };
    let mask = if kept >= 64 { u64::MAX } else { (1 << kept) - 1 };
    if sign { (field & mask) | !mask } else { field & mask }
}

#[inline(always)]
fn insert_all(registers: &mut Registers, mask: u32, wide: bool, d: Slot, [a, b, start, len]: [Slot; 4]) {
    let (a, b) = (registers.read(wide, a), registers.read(wide, b));
    let (start, len) = (*registers.get32(start), *registers.get32(len));
    let width = if wide { 64 } else { 32 };
    let result = each(|lane| insert(a[lane], b[lane], start[lane], len[lane], width));
    registers.write(wide, d, mask, result);
}

/// `bfi`: inserts the low `len` bits of `a` into `b` at `start`.
#[inline(always)]
fn insert(a: u64, b: u64, start: u32, len: u32, width: u32) -> u64 {
    let (start, len) = (start & 0xff, len & 0xff);
    if start >= width || len == 0 {
        return b;
    }
    let field = if len >= 64 { u64::MAX } else { (1 << len) - 1 };
    (b & !(field << start)) | ((a & field) << start)
}

/// Any function of three bits: bit `a * 4 + b * 2 + c` of the table.
#[inline(always)]
fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let entry = |index: u32| 0u32.wrapping_sub(u32::from(table) >> index & 1);
    let pair = |low: u32, high: u32| (entry(low) & !c) | (entry(high) & c);
    let not_a = (pair(0, 1) & !b) | (pair(2, 3) & b);
    let with_a = (pair(4, 5) & !b) | (pair(6, 7) & b);
    (not_a & !a) | (with_a & a)
}

#[inline(always)]
fn prmt(mode: PrmtMode, a: u32, b: u32, c: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let pick = |index: u32| (bytes >> (index * 8) & 0xff) as u32;
    let selectors = match mode {
        PrmtMode::Index => {
            return (0..4).fold(0, |result, i| {
                let selector = c >> (4 * i);
                let byte = pick(selector & 7);
                let byte = if selector & 8 != 0 {
                    (byte as u8 as i8 >> 7) as u8 as u32
                } else {
                    byte
                };
                result | byte << (8 * i)
            });
        }
        PrmtMode::F4e => [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        PrmtMode::B4e => [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        PrmtMode::Rc8 => [[0; 4], [1; 4], [2; 4], [3; 4]],
        PrmtMode::Ecl => [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        PrmtMode::Ecr => [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        PrmtMode::Rc16 => [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
    };
    let selectors: [u32; 4] = selectors[(c & 3) as usize];
    (0..4).fold(0, |result, i| result | pick(selectors[i]) << (8 * i))
}

/// `fns`: the position of the n-th set bit from a base, upwards or downwards.
fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let up = offset > 0;
    let mut left = offset.unsigned_abs();
    let mut position = base as i32;
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += if up { 1 } else { -1 };
    }
    u32::MAX
}

#[inline(always)]
fn byte(value: u32, index: usize, signed: bool) -> u32 {
    let byte = (value >> (8 * index)) as u8;
    if signed { byte as i8 as u32 } else { u32::from(byte) }
}

/// `szext`: extends the low bits from a position.
#[inline(always)]
fn szext(a: u32, width: u32, clamp: bool, signed: bool) -> u32 {
    let width = if clamp { width.min(32) } else { width & 31 };
    if width == 0 {
        return 0;
    }
    let shift = 32 - width;
    if signed {
        ((a << shift) as i32 >> shift) as u32
    } else {
        a << shift >> shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prmt_selects_and_replicates_signs() {
        assert_eq!(prmt(PrmtMode::Index, 0x3322_1180, 0x7766_5544, 0x7610), 0x7766_1180);
        assert_eq!(prmt(PrmtMode::Index, 0x3322_1180, 0x7766_5544, 0x0008), 0x8080_80ff);
        assert_eq!(prmt(PrmtMode::F4e, 0x3322_1100, 0x7766_5544, 1), 0x4433_2211);
        assert_eq!(prmt(PrmtMode::B4e, 0x3322_1100, 0x7766_5544, 1), 0x6677_0011);
        assert_eq!(prmt(PrmtMode::Rc16, 0x3322_1100, 0, 1), 0x3322_3322);
    }

    #[test]
    fn fields_end_at_the_top() {
        assert_eq!(extract(0xff00_0000, 28, 8, 31, false), 0xf);
        assert_eq!(extract(0xff00_0000, 28, 8, 31, true) as u32, u32::MAX);
        assert_eq!(extract(0x8000_0000, 200, 8, 31, true) as u32, u32::MAX);
        assert_eq!(extract(0x8000_0000, 200, 8, 31, false), 0);
        assert_eq!(extract(u64::MAX, 0, 64, 63, false), u64::MAX);
        assert_eq!(extract(0x70, 4, 3, 31, true) as i32, -1);
        assert_eq!(insert(0xff, 0, 28, 8, 32) as u32, 0xf000_0000);
        assert_eq!(insert(0xff, 7, 32, 8, 32), 7);
    }

    #[test]
    fn lop3_is_its_table() {
        let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa);
        assert_eq!(lop3(0x96, a, b, c), a ^ b ^ c);
        assert_eq!(lop3(0xea, a, b, c), (a & b) | c);
        for table in 0..=255 {
            assert_eq!(lop3(table, a, b, c) as u8, table);
        }
    }

    #[test]
    fn nth_set_bits() {
        assert_eq!(fns(0b1011_0000, 0, 1), 4);
        assert_eq!(fns(0b1011_0000, 0, 3), 7);
        assert_eq!(fns(0b1011_0000, 6, -1), 5);
        assert_eq!(fns(0b1011_0000, 5, 0), 5);
        assert_eq!(fns(0b1011_0000, 0, 4), u32::MAX);
    }
}
