//! Matrix instructions.
//!
//! Products are exact. A sum is computed in double precision, in the order of `k`, the addend first, and rounded once
//! to the type of the result; `f64` matrices round after every product.
//!
//! The hardware adds in an order and with guard bits of its own, so sums of floats agree with it only within bounds.
//! For `f32` results these are `k + 1` units in the last place of the largest term. For `f16` results they are one unit
//! of the last place more if the exact sum is near the middle of two numbers. Sums that are exact in `f32` in any
//! order, of small integers for example, agree bit for bit, and so do integers.

use super::check::all_aligned;
use super::fragment::Numbers;
use super::{Environment, Flow};
use crate::code::{DISCARD, Element, MAX_ELEMENTS, Matrix, MatrixOp, MatrixRows, Multiply, Space, Tile};
use crate::fault::{FaultKind, InLane, LaneFault, Operation};
use crate::state::address::addresses;
use crate::state::vector::dispatch;
use crate::state::{FULL, LANES, Registers, Warp, lanes};

impl Warp {
    /// Executes a matrix instruction once all lanes of the warp are there.
    pub(crate) fn matrix(
        &mut self,
        op: &Matrix,
        mask: u32,
        pc: u32,
        env: &mut Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        if self.ready(&[FULL; LANES], mask) == 0 {
            self.set_pcs(mask, pc);
            self.waiting |= mask;
            return Ok(Flow::Split);
        }
        match &op.op {
            MatrixOp::Multiply(op) => multiply(&mut self.registers, mask, op),
            MatrixOp::Rows(op) if op.store => self.store_rows(op, mask, env)?,
            MatrixOp::Rows(op) => self.load_rows(op, mask, env)?,
            MatrixOp::Tile(op) if op.store => self.store_tile(op, mask, env)?,
            MatrixOp::Tile(op) => self.load_tile(op, mask, env)?,
            &MatrixOp::Transpose { d, a } => {
                let rows = *self.registers.get32(a);
                let half = |row: usize, column: usize| rows[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
                let value = |lane: usize| {
                    let (row, column) = (lane / 4, lane % 4 * 2);
                    half(column, row) | half(column + 1, row) << 16
                };
                self.registers.set::<u32>(d, mask, std::array::from_fn(value));
            }
        }
        Ok(Flow::Next)
    }

    /// `ldmatrix`
    fn load_rows(&mut self, op: &MatrixRows, mask: u32, env: &Environment<'_>) -> Result<(), LaneFault> {
        let at = addresses(&self.registers, &op.address);
        let used = row_lanes(op) & mask;
        are_shared(op, Operation::Load, &at, used)?;
        let mut words = [[0u32; 4]; LANES];
        for lane in lanes(used) {
            for (index, word) in words[lane].iter_mut().enumerate() {
                let address = at[lane].wrapping_add(4 * index as u64);
                *word = self.peek(env, lane, op.space, address, 4).in_lane(lane)? as u32;
            }
        }
        let half = |row: usize, column: usize| words[row][column / 2] >> (column % 2 * 16) & 0xffff;
        for (matrix, &slot) in op.values.iter().enumerate().filter(|&(_, &slot)| slot != DISCARD) {
            let value = |lane: usize| {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let element = |row: usize, column: usize| half(matrix * 8 + row, column);
                if op.transposed {
                    element(column, row) | element(column + 1, row) << 16
                } else {
                    element(row, column) | element(row, column + 1) << 16
                }
            };
            self.registers.set::<u32>(slot, mask, std::array::from_fn(value));
        }
        Ok(())
    }

    /// `stmatrix`
    fn store_rows(&mut self, op: &MatrixRows, mask: u32, env: &mut Environment<'_>) -> Result<(), LaneFault> {
        let at = addresses(&self.registers, &op.address);
        let used = row_lanes(op) & mask;
        are_shared(op, Operation::Store, &at, used)?;
        for lane in lanes(used) {
            let values = *self.registers.get32(op.values[lane / 8]);
            let half = |row: usize, column: usize| values[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
            for index in 0..8 {
                let value = if op.transposed {
                    half(index, lane % 8)
                } else {
                    half(lane % 8, index)
                };
                let address = at[lane].wrapping_add(2 * index as u64);
                self.poke(env, lane, op.space, address, 2, value.into()).in_lane(lane)?;
            }
        }
        Ok(())
    }

    /// `wmma.load`
    fn load_tile(&mut self, op: &Tile, mask: u32, env: &Environment<'_>) -> Result<(), LaneFault> {
        let at = addresses(&self.registers, &op.address);
        let (per, bits) = (op.fragment.element.per_slot(), op.fragment.element.bits());
        for (register, &slot) in op.fragment.slots.iter().enumerate() {
            let mut values = [0u64; LANES];
            for lane in lanes(mask) {
                for element in 0..per {
                    let address = op.element_address(&self.registers, &at, lane, register, element);
                    let value = self.peek(env, lane, op.space, address, (bits / 8) as u8);
                    values[lane] |= value.in_lane(lane)? << (element * bits);
                }
            }
            if slot != DISCARD {
                self.registers.write(op.fragment.element.is_wide(), slot, mask, values);
            }
        }
        Ok(())
    }

    /// `wmma.store`
    fn store_tile(&mut self, op: &Tile, mask: u32, env: &mut Environment<'_>) -> Result<(), LaneFault> {
        let at = addresses(&self.registers, &op.address);
        let (per, bits) = (op.fragment.element.per_slot(), op.fragment.element.bits());
        for (register, &slot) in op.fragment.slots.iter().enumerate() {
            for lane in lanes(mask) {
                let value = self.registers.read_lane(op.fragment.element.is_wide(), slot, lane);
                for element in 0..per {
                    let address = op.element_address(&self.registers, &at, lane, register, element);
                    let part = value >> (element * bits);
                    self.poke(env, lane, op.space, address, (bits / 8) as u8, part)
                        .in_lane(lane)?;
                }
            }
        }
        Ok(())
    }
}

/// Refuses rows that begin elsewhere than at a multiple of 16 bytes, or that generic addresses name outside of shared
/// memory: a GPU may do anything there.
fn are_shared(op: &MatrixRows, operation: Operation, at: &[u64; LANES], used: u32) -> Result<(), LaneFault> {
    const BYTES: u32 = 16;
    all_aligned(operation, at, used, BYTES)?;
    let other = lanes(used).find(|&lane| op.space.resolve(at[lane]).0 != Space::Shared);
    other.map_or(Ok(()), |lane| {
        let (address, bytes) = (at[lane], BYTES);
        Err(LaneFault::new(
            lane,
            FaultKind::NotShared {
                operation,
                address,
                bytes,
            },
        ))
    })
}

/// The lanes whose addresses name rows.
fn row_lanes(op: &MatrixRows) -> u32 {
    FULL >> (LANES - 8 * op.values.len())
}

dispatch! {
    fn multiply(registers: &mut Registers, mask: u32, op: &Multiply) = multiply_numbers
}

#[inline(always)]
fn multiply_numbers(registers: &mut Registers, mask: u32, op: &Multiply) {
    let (mut a, mut b, mut c): (Numbers, Numbers, Numbers) =
        ([0.0; MAX_ELEMENTS], [0.0; MAX_ELEMENTS], [0.0; MAX_ELEMENTS]);
    op.a.read(registers, &mut a);
    op.b.read(registers, &mut b);
    op.c.read(registers, &mut c);
    let (m, k, n) = (op.a.rows, op.a.columns, op.b.columns);
    for group in 0..op.a.groups {
        let (a, b) = (&a[group * m * k..][..m * k], &b[group * k * n..][..k * n]);
        let c = &mut c[group * m * n..][..m * n];
        for row in 0..m {
            for (step, &factor) in a[row * k..][..k].iter().enumerate() {
                let (from, to) = (&b[step * n..][..n], &mut c[row * n..][..n]);
                for (sum, &other) in to.iter_mut().zip(from) {
                    // Only `f64` needs the fused operation; other products are exact.
                    *sum = factor.mul_add(other, *sum);
                }
            }
        }
    }
    if op.saturate && op.d.element == Element::S32 {
        let limit = |sum: f64| sum.clamp(i32::MIN.into(), i32::MAX.into());
        c.iter_mut().for_each(|sum| *sum = limit(*sum));
    }
    op.d.write(registers, mask, &c);
}
