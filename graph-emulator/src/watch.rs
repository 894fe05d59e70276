//! The checks that a launch may ask for: every access to memory is looked at before it is done. What a single thread of the
//! block did to shared memory is in [`shared`], what the whole launch did to global memory in [`global`].

mod clocks;
pub(crate) mod global;
mod shared;

use crate::code::{Access, AsyncCopy, DISCARD, MatrixOp, Op, Space};
use crate::exec::address::{addresses, lanes};
use crate::exec::cell::resolve;
use crate::exec::{Context, Environment, LaneFault, Warp};
use crate::fault::{FaultKind, Operation};
use crate::registers::LANES;
use shared::SharedWatch;

/// The watch over a block.
pub(crate) struct Watch {
    shared: Option<SharedWatch>,
}

/// One access of one lane, to no more than eight bytes.
struct Touch {
    lane: usize,
    space: Space,
    /// Within the space.
    address: u64,
    bytes: u32,
    operation: Operation,
    /// `volatile`, `relaxed` and stronger accesses, and atomic ones: these may race with each other.
    strong: bool,
    /// What is stored.
    value: Option<u64>,
}

impl Watch {
    /// The watch over a block, if the launch asks for one.
    pub(crate) fn new(context: &Context<'_>, shared: usize) -> Option<Box<Watch>> {
        let checks = context.checks;
        let shared = (checks.uninitialized || checks.races).then(|| SharedWatch::new(context, shared));
        (shared.is_some() || context.global.is_some()).then(|| Box::new(Watch { shared }))
    }

    /// Begin a block.
    pub(crate) fn reset(&mut self) {
        if let Some(shared) = &mut self.shared {
            shared.reset();
        }
    }

    fn instruction(
        &mut self,
        warp: &Warp,
        env: &Environment<'_>,
        mask: u32,
        pc: u32,
        op: &Op,
    ) -> Result<(), LaneFault> {
        let first = warp.index() * LANES;
        match (op, &mut self.shared) {
            (Op::WarpBarrier { mask: members }, Some(shared)) => {
                let members = warp.registers.get32(*members);
                lanes(mask).for_each(|lane| shared.arrive_at_warp(first, lane, members[lane]));
            }
            (Op::Barrier(barrier), Some(shared)) => {
                let ids = warp.registers.get32(barrier.id);
                for lane in lanes(mask) {
                    let generation = env.barriers.generation(ids[lane] as usize);
                    let waits = barrier.op != crate::code::BarrierOp::Arrive;
                    shared.arrive(first + lane, ids[lane], generation, waits);
                }
            }
            _ => {
                for touch in touches(warp, mask, op) {
                    self.touch(env, first + touch.lane, pc, &touch)
                        .map_err(|kind| LaneFault::new(touch.lane, kind))?;
                }
            }
        }
        Ok(())
    }

    fn touch(&mut self, env: &Environment<'_>, thread: usize, pc: u32, touch: &Touch) -> Result<(), FaultKind> {
        match (touch.space, &mut self.shared) {
            (Space::Shared, Some(shared)) => shared.touch(env.context, thread, pc, touch),
            (Space::Global, _) => match env.context.global {
                Some(global) => global.touch(env.context.view, touch.operation, touch.address, touch.bytes),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Look at an instruction before it is executed.
#[cold]
pub(crate) fn observe(warp: &Warp, env: &mut Environment<'_>, mask: u32, pc: u32, op: &Op) -> Result<(), LaneFault> {
    let Some(watch) = env.watch.take() else {
        return Ok(());
    };
    let result = watch.instruction(warp, env, mask, pc, op);
    env.watch = Some(watch);
    result
}

/// What an instruction will access.
fn touches(warp: &Warp, mask: u32, op: &Op) -> Vec<Touch> {
    match op {
        Op::Load(access) => plain(warp, mask, access, Operation::Load),
        Op::Store(access) => plain(warp, mask, access, Operation::Store),
        Op::Atomic(atomic) => {
            let (at, bytes) = (addresses(&warp.registers, &atomic.address), atomic.ty.bytes());
            let touch = |lane| Touch {
                strong: true,
                ..one(lane, atomic.space, at[lane], bytes.into(), Operation::Atomic)
            };
            lanes(mask).map(touch).collect()
        }
        Op::AsyncCopy(copy) => copied(warp, mask, copy),
        Op::Matrix(matrix) => match &matrix.op {
            MatrixOp::Rows(rows) => {
                let at = addresses(&warp.registers, &rows.address);
                let used = u32::MAX >> (LANES - 8 * rows.values.len());
                let row = |lane: usize| {
                    let words = 0..4;
                    words.map(move |word| {
                        one(
                            lane,
                            rows.space,
                            at[lane].wrapping_add(4 * word),
                            4,
                            direction(rows.store),
                        )
                    })
                };
                lanes(mask & used).flat_map(row).collect()
            }
            MatrixOp::Tile(tile) => {
                let at = addresses(&warp.registers, &tile.address);
                let bytes = (tile.fragment.element.bits() / 8) as u32;
                let element = |lane, register, element| {
                    let address = warp.element_address(tile, &at, lane, register, element);
                    one(lane, tile.space, address, bytes, direction(tile.store))
                };
                let per = tile.fragment.element.per_slot();
                let registers =
                    || (0..tile.fragment.slots.len()).flat_map(|slot| (0..per).map(move |part| (slot, part)));
                lanes(mask)
                    .flat_map(|lane| registers().map(move |(slot, part)| (lane, slot, part)))
                    .map(|(lane, slot, part)| element(lane, slot, part))
                    .collect()
            }
            MatrixOp::Multiply(_) | MatrixOp::Transpose { .. } => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn direction(store: bool) -> Operation {
    if store { Operation::Store } else { Operation::Load }
}

fn one(lane: usize, space: Space, address: u64, bytes: u32, operation: Operation) -> Touch {
    let (space, address) = resolve(space, address);
    Touch {
        lane,
        space,
        address,
        bytes,
        operation,
        strong: false,
        value: None,
    }
}

/// The elements of a load or a store; none in lanes whose address is misaligned, which is a fault of its own.
fn plain(warp: &Warp, mask: u32, access: &Access, operation: Operation) -> Vec<Touch> {
    let at = addresses(&warp.registers, &access.address);
    let bytes = u32::from(access.bytes);
    let total = u64::from(bytes) * u64::from(access.count);
    let mut touches = Vec::new();
    for lane in lanes(mask).filter(|&lane| at[lane].is_multiple_of(total)) {
        for (element, &slot) in access.values[..usize::from(access.count)].iter().enumerate() {
            if slot == DISCARD {
                continue;
            }
            let value = match (operation, access.wide) {
                (Operation::Store, true) => Some(warp.registers.get64(slot)[lane]),
                (Operation::Store, false) => Some(warp.registers.get32(slot)[lane].into()),
                _ => None,
            };
            let address = at[lane] + element as u64 * u64::from(bytes);
            touches.push(Touch {
                strong: access.strong,
                value,
                ..one(lane, access.space, address, bytes, operation)
            });
        }
    }
    touches
}

/// `cp.async`: what is read, and the bytes that are written.
fn copied(warp: &Warp, mask: u32, copy: &AsyncCopy) -> Vec<Touch> {
    let (to, from) = (
        addresses(&warp.registers, &copy.to),
        addresses(&warp.registers, &copy.from),
    );
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        let read = copy.bytes_read(&warp.registers, lane);
        let byte = |space, address, operation| one(lane, space, address, 1, operation);
        touches.extend((0..u64::from(read)).map(|offset| byte(Space::Global, from[lane] + offset, Operation::Load)));
        let bytes = 0..u64::from(copy.bytes);
        touches.extend(bytes.map(|offset| byte(Space::Shared, to[lane] + offset, Operation::Store)));
    }
    touches
}
