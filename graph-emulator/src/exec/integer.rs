//! Integer arithmetic: operations of one type, wide multiplication, shifts and carry chains.

use crate::code::{Carry, CarryOp, DISCARD, Integer, IntegerOp as Op, IntegerType as Ty, Shift, WideMultiply};
use crate::state::vector::dispatch;
use crate::state::{LANES, Lane, Registers};

dispatch! {
    /// Operations whose operands and result have one type.
    fn integer(registers: &mut Registers, mask: u32, instruction: &Integer) = integer_lanes
}

dispatch! {
    /// `mul.wide` and `mad.wide`.
    fn multiply_wide(registers: &mut Registers, mask: u32, instruction: &WideMultiply) = multiply_lanes
}

dispatch! {
    /// `shl` and `shr`.
    fn shift(registers: &mut Registers, mask: u32, instruction: &Shift) = shift_lanes
}

#[inline(always)]
fn integer_lanes(registers: &mut Registers, mask: u32, instruction: &Integer) {
    match instruction.ty {
        Ty::U32 => typed::<u32>(registers, mask, instruction),
        Ty::S32 => typed::<i32>(registers, mask, instruction),
        Ty::U64 => typed::<u64>(registers, mask, instruction),
        Ty::S64 => typed::<i64>(registers, mask, instruction),
        Ty::U16 => typed::<u16>(registers, mask, instruction),
        Ty::S16 => typed::<i16>(registers, mask, instruction),
    }
}

#[inline(always)]
fn typed<T: Number>(registers: &mut Registers, mask: u32, &Integer { op, d, s, .. }: &Integer) {
    let ab = [s[0], s[1]];
    match op {
        Op::Add => registers.map2(mask, d, ab, T::add),
        Op::Sub => registers.map2(mask, d, ab, T::sub),
        Op::Mul => registers.map2(mask, d, ab, T::mul),
        Op::MulHigh => registers.map2(mask, d, ab, T::mul_high),
        Op::Mad => registers.map3(mask, d, s, |a: T, b: T, c: T| a.mul(b).add(c)),
        Op::MadHigh => registers.map3(mask, d, s, |a: T, b: T, c: T| a.mul_high(b).add(c)),
        Op::MadHighSat => registers.map3(mask, d, s, |a: T, b: T, c: T| a.mul_high(b).add_sat(c)),
        Op::Div => registers.map2(mask, d, ab, T::div),
        Op::Rem => registers.map2(mask, d, ab, T::rem),
        Op::Min => registers.map2(mask, d, ab, T::min),
        Op::Max => registers.map2(mask, d, ab, T::max),
        Op::Abs => registers.map1(mask, d, s[0], T::abs),
        Op::Neg => registers.map1(mask, d, s[0], |a: T| T::ZERO.sub(a)),
        Op::Sad => registers.map3(mask, d, s, |a: T, b: T, c: T| {
            c.add(if a < b { b.sub(a) } else { a.sub(b) })
        }),
        Op::AddSat => registers.map2(mask, d, ab, T::add_sat),
        Op::SubSat => registers.map2(mask, d, ab, T::sub_sat),
        Op::Mul24 => registers.map2(mask, d, ab, T::mul24),
        Op::Mul24High => registers.map2(mask, d, ab, T::mul24_high),
        Op::Mad24 => registers.map3(mask, d, s, |a: T, b: T, c: T| a.mul24(b).add(c)),
        Op::Mad24High => registers.map3(mask, d, s, |a: T, b: T, c: T| a.mul24_high(b).add(c)),
        Op::And => registers.map2(mask, d, ab, T::and),
        Op::Or => registers.map2(mask, d, ab, T::or),
        Op::Xor => registers.map2(mask, d, ab, T::xor),
        Op::Not => registers.map1(mask, d, s[0], T::not),
        Op::Cnot => registers.map1(mask, d, s[0], |a: T| if a == T::ZERO { T::ONE } else { T::ZERO }),
    }
}

/// Operations that the six integer types share.
trait Number: Lane + Ord {
    const ZERO: Self;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn mul_high(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn add_sat(self, other: Self) -> Self;
    fn sub_sat(self, other: Self) -> Self;
    fn mul24(self, other: Self) -> Self;
    fn mul24_high(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
}

macro_rules! number {
    ($($ty:ident, $double:ident, |$a:ident| $abs:expr;)*) => {$(
        impl Number for $ty {
            const ZERO: $ty = 0;
            const ONE: $ty = 1;
            #[inline(always)]
            fn add(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn mul_high(self, other: $ty) -> $ty {
                (($double::from(self) * $double::from(other)) >> $ty::BITS) as $ty
            }
            /// The quotient; division by zero gives all ones, as on the hardware.
            #[inline(always)]
            fn div(self, other: $ty) -> $ty {
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            /// The remainder of a division by zero is the dividend.
            #[inline(always)]
            fn rem(self, other: $ty) -> $ty {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn abs(self) -> $ty {
                let $a = self;
                $abs
            }
            #[inline(always)]
            fn add_sat(self, other: $ty) -> $ty {
                self.saturating_add(other)
            }
            #[inline(always)]
            fn sub_sat(self, other: $ty) -> $ty {
                self.saturating_sub(other)
            }
            #[inline(always)]
            fn mul24(self, other: $ty) -> $ty {
                low24(i128::from(self), $ty::MIN != 0).wrapping_mul(low24(i128::from(other), $ty::MIN != 0)) as $ty
            }
            #[inline(always)]
            fn mul24_high(self, other: $ty) -> $ty {
                (low24(i128::from(self), $ty::MIN != 0).wrapping_mul(low24(i128::from(other), $ty::MIN != 0)) >> 16) as $ty
            }
            #[inline(always)]
            fn and(self, other: $ty) -> $ty {
                self & other
            }
            #[inline(always)]
            fn or(self, other: $ty) -> $ty {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: $ty) -> $ty {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> $ty {
                !self
            }
        }
    )*};
}

number! {
    u16, u32, |a| a;
    i16, i32, |a| a.wrapping_abs();
    u32, u64, |a| a;
    i32, i64, |a| a.wrapping_abs();
    u64, u128, |a| a;
    i64, i128, |a| a.wrapping_abs();
}

/// The low 24 bits of a 32-bit value, sign-extended for signed types.
#[inline(always)]
fn low24(value: i128, signed: bool) -> i64 {
    let value = value as i32;
    if signed {
        i64::from(value << 8 >> 8)
    } else {
        i64::from(value & 0xff_ffff)
    }
}

#[inline(always)]
fn multiply_lanes(registers: &mut Registers, mask: u32, instruction: &WideMultiply) {
    macro_rules! product {
        ($narrow:ty, $wide:ty) => {{
            let WideMultiply { d, a, b, c, .. } = *instruction;
            let multiply = |a: $narrow, b: $narrow| <$wide>::from(a).wrapping_mul(<$wide>::from(b));
            if c == DISCARD {
                registers.map2(mask, d, [a, b], multiply);
            } else {
                registers.map3(mask, d, [a, b, c], |a, b, c: $wide| multiply(a, b).wrapping_add(c));
            }
        }};
    }
    match instruction.ty {
        Ty::U16 => product!(u16, u32),
        Ty::S16 => product!(i16, i32),
        Ty::U32 | Ty::U64 => product!(u32, u64),
        Ty::S32 | Ty::S64 => product!(i32, i64),
    }
}

#[inline(always)]
fn shift_lanes(registers: &mut Registers, mask: u32, &Shift { ty, left, d, a, b }: &Shift) {
    // PTX clamps shift counts to the width of the type, at which only zeros or signs are left.
    macro_rules! logical {
        ($ty:ty) => {
            if left {
                registers.map2(
                    mask,
                    d,
                    [a, b],
                    |a: $ty, b: u32| if b < <$ty>::BITS { a << b } else { 0 },
                )
            } else {
                registers.map2(
                    mask,
                    d,
                    [a, b],
                    |a: $ty, b: u32| if b < <$ty>::BITS { a >> b } else { 0 },
                )
            }
        };
    }
    match ty {
        Ty::U16 => logical!(u16),
        Ty::U32 => logical!(u32),
        Ty::U64 => logical!(u64),
        Ty::S16 => registers.map2(mask, d, [a, b], |a: i16, b: u32| a >> b.min(15)),
        Ty::S32 => registers.map2(mask, d, [a, b], |a: i32, b: u32| a >> b.min(31)),
        Ty::S64 => registers.map2(mask, d, [a, b], |a: i64, b: u32| a >> b.min(63)),
    }
}

/// Extended-precision arithmetic through the carry flag: the carry of a sum, and the absence of a borrow of a
/// difference, as measured on an H200. Chains of one kind agree with the manual, which calls the flag of a difference
/// its borrow and leaves open what mixed chains do.
pub(crate) fn carry(registers: &mut Registers, mask: u32, instruction: &Carry) {
    match instruction.ty {
        Ty::U64 => carry_lanes::<u64>(registers, mask, instruction, |a, b| u128::from(a) * u128::from(b)),
        Ty::S64 => carry_lanes::<u64>(registers, mask, instruction, |a, b| {
            (i128::from(a as i64) * i128::from(b as i64)) as u128
        }),
        Ty::S32 => carry_lanes::<u32>(registers, mask, instruction, |a, b| {
            (i64::from(a as i32) * i64::from(b as i32)) as u128
        }),
        Ty::U16 | Ty::S16 | Ty::U32 => {
            carry_lanes::<u32>(registers, mask, instruction, |a, b| u128::from(a) * u128::from(b));
        }
    }
}

fn carry_lanes<T>(registers: &mut Registers, mask: u32, instruction: &Carry, multiply: impl Fn(T, T) -> u128)
where
    T: Lane<Raw = T> + crate::state::LaneBits,
{
    let bits = size_of::<T>() as u32 * 8;
    let low = |value: u128| {
        if bits == 64 {
            value & u128::from(u64::MAX)
        } else {
            value & u128::from(u32::MAX)
        }
    };
    let [a, b, c] = instruction.s;
    let (a, b) = (registers.lanes::<T>(a), registers.lanes::<T>(b));
    let c = if matches!(instruction.op, CarryOp::Add | CarryOp::Sub) {
        a
    } else {
        registers.lanes::<T>(c)
    };
    let mut result = [T::default(); LANES];
    let mut flags = 0;
    for lane in 0..LANES {
        let flag = u128::from(instruction.carry_in && registers.carry >> lane & 1 != 0);
        let (a, b, c) = (a[lane], b[lane], c[lane]);
        let (wide_a, wide_b) = (u128::from(a.widen()), u128::from(b.widen()));
        let sum = match instruction.op {
            CarryOp::Add => wide_a + wide_b + flag,
            // Bits above the width are ones exactly when it borrows.
            CarryOp::Sub => wide_a.wrapping_sub(wide_b + u128::from(instruction.carry_in) - flag),
            CarryOp::MadLow => low(multiply(a, b)) + u128::from(c.widen()) + flag,
            CarryOp::MadHigh => low(multiply(a, b) >> bits) + u128::from(c.widen()) + flag,
        };
        result[lane] = T::narrow(low(sum) as u64);
        let beyond = sum >> bits != 0;
        flags |= u32::from(beyond != (instruction.op == CarryOp::Sub)) << lane;
    }
    registers.set(instruction.d, mask, result);
    if instruction.carry_out {
        registers.carry = (registers.carry & !mask) | (flags & mask);
    }
}
