//! Integer arithmetic, and carry chains.

use crate::code::{Carry, CarryOp, Integer, IntegerOp as Op, IntegerType as Ty};
use crate::state::vector::dispatch;
use crate::state::{LANES, Registers};

dispatch! {
    /// Arithmetic of all integer types.
    fn integer(registers: &mut Registers, mask: u32, instruction: &Integer) = integer_lanes
}

#[inline(always)]
fn integer_lanes(registers: &mut Registers, mask: u32, &Integer { op, ty, d, s }: &Integer) {
    let (a, ab) = (s[0], [s[0], s[1]]);
    // The operations, compiled for a type, the type of twice the width, and the type of results that are wider.
    macro_rules! typed {
        ($ty:ident, $double:ident, $wide:ident) => {{
            let high = |a: $ty, b: $ty| (($double::from(a) * $double::from(b)) >> $ty::BITS) as $ty;
            let product24 =
                |a: $ty, b: $ty| low24(a as i32, $ty::MIN != 0).wrapping_mul(low24(b as i32, $ty::MIN != 0));
            let wide = |a: $ty, b: $ty| $wide::from(a).wrapping_mul($wide::from(b));
            let is_logical = $ty::MIN == 0;
            match op {
                Op::Add => registers.map2(mask, d, ab, $ty::wrapping_add),
                Op::Sub => registers.map2(mask, d, ab, $ty::wrapping_sub),
                Op::Mul => registers.map2(mask, d, ab, $ty::wrapping_mul),
                Op::MulHigh => registers.map2(mask, d, ab, high),
                Op::Mad => registers.map3(mask, d, s, |a: $ty, b, c| a.wrapping_mul(b).wrapping_add(c)),
                Op::MadHigh => registers.map3(mask, d, s, |a, b, c| high(a, b).wrapping_add(c)),
                Op::MadHighSat => registers.map3(mask, d, s, |a, b, c| high(a, b).saturating_add(c)),
                // Division by zero gives all ones, as on the hardware, and its remainder is the dividend.
                Op::Div => registers.map2(mask, d, ab, |a: $ty, b| if b == 0 { !0 } else { a.wrapping_div(b) }),
                Op::Rem => registers.map2(mask, d, ab, |a: $ty, b| if b == 0 { a } else { a.wrapping_rem(b) }),
                Op::Min => registers.map2(mask, d, ab, <$ty>::min),
                Op::Max => registers.map2(mask, d, ab, <$ty>::max),
                Op::Abs => registers.map1(mask, d, a, |a: $ty| a.abs_diff(0) as $ty),
                Op::Neg => registers.map1(mask, d, a, $ty::wrapping_neg),
                Op::Sad => registers.map3(mask, d, s, |a: $ty, b, c: $ty| c.wrapping_add(a.abs_diff(b) as $ty)),
                Op::AddSat => registers.map2(mask, d, ab, $ty::saturating_add),
                Op::SubSat => registers.map2(mask, d, ab, $ty::saturating_sub),
                Op::Mul24 => registers.map2(mask, d, ab, |a, b| product24(a, b) as $ty),
                Op::Mul24High => registers.map2(mask, d, ab, |a, b| (product24(a, b) >> 16) as $ty),
                Op::Mad24 => registers.map3(mask, d, s, |a, b, c| (product24(a, b) as $ty).wrapping_add(c)),
                Op::Mad24High => registers.map3(mask, d, s, |a, b, c| ((product24(a, b) >> 16) as $ty).wrapping_add(c)),
                Op::And => registers.map2(mask, d, ab, |a: $ty, b: $ty| a & b),
                Op::Or => registers.map2(mask, d, ab, |a: $ty, b: $ty| a | b),
                Op::Xor => registers.map2(mask, d, ab, |a: $ty, b: $ty| a ^ b),
                Op::Not => registers.map1(mask, d, a, |a: $ty| !a),
                Op::Cnot => registers.map1(mask, d, a, |a: $ty| $ty::from(a == 0)),
                Op::MulWide => registers.map2(mask, d, ab, wide),
                Op::MadWide => registers.map3(mask, d, s, |a, b, c: $wide| wide(a, b).wrapping_add(c)),
                // Counts are clamped to the width of the type, at which only zeros or signs are left.
                Op::ShiftRight if !is_logical => {
                    registers.map2(mask, d, ab, |a: $ty, b: u32| a >> b.min($ty::BITS - 1))
                }
                Op::ShiftRight => registers.map2(mask, d, ab, |a: $ty, b: u32| if b < $ty::BITS { a >> b } else { 0 }),
                Op::ShiftLeft => registers.map2(mask, d, ab, |a: $ty, b: u32| if b < $ty::BITS { a << b } else { 0 }),
            }
        }};
    }
    match ty {
        Ty::U16 => typed!(u16, u32, u32),
        Ty::S16 => typed!(i16, i32, i32),
        Ty::U32 => typed!(u32, u64, u64),
        Ty::S32 => typed!(i32, i64, i64),
        Ty::U64 => typed!(u64, u128, u64),
        Ty::S64 => typed!(i64, i128, i64),
    }
}

/// The low 24 bits of a 32-bit value, sign-extended for signed types.
#[inline(always)]
fn low24(value: i32, signed: bool) -> i64 {
    if signed {
        i64::from(value << 8 >> 8)
    } else {
        i64::from(value & 0xff_ffff)
    }
}

/// Extended-precision arithmetic through the carry flag: the carry of a sum, and the absence of a borrow of a
/// difference, as measured on an H200. Chains of one kind agree with the manual, which calls the flag of a difference
/// its borrow and leaves open what mixed chains do.
pub(crate) fn carry(registers: &mut Registers, mask: u32, instruction: &Carry) {
    let bits = 8 * u32::from(instruction.ty.bytes());
    let wide = bits == 64;
    let low = |value: u128| value & (u128::MAX >> (128 - bits));
    let multiply = |a: u64, b: u64| match instruction.ty {
        Ty::S64 => (i128::from(a as i64) * i128::from(b as i64)) as u128,
        Ty::S32 => (i128::from(a as i32) * i128::from(b as i32)) as u128,
        Ty::U16 | Ty::S16 | Ty::U32 | Ty::U64 => u128::from(a) * u128::from(b),
    };
    let [a, b, c] = instruction.s.map(|slot| registers.read(wide, slot));
    let (mut result, mut flags) = ([0; LANES], 0);
    for lane in 0..LANES {
        let flag = u128::from(instruction.carry_in && registers.carry >> lane & 1 != 0);
        let (a, b, c) = (a[lane], b[lane], u128::from(c[lane]));
        let sum = match instruction.op {
            CarryOp::Add => u128::from(a) + u128::from(b) + flag,
            // Bits above the width are ones exactly when it borrows.
            CarryOp::Sub => u128::from(a).wrapping_sub(u128::from(b) + u128::from(instruction.carry_in) - flag),
            CarryOp::MadLow => low(multiply(a, b)) + c + flag,
            CarryOp::MadHigh => low(multiply(a, b) >> bits) + c + flag,
        };
        result[lane] = low(sum) as u64;
        let beyond = sum >> bits != 0;
        flags |= u32::from(beyond != (instruction.op == CarryOp::Sub)) << lane;
    }
    registers.write(wide, instruction.d, mask, result);
    if instruction.carry_out {
        registers.carry = (registers.carry & !mask) | (flags & mask);
    }
}
