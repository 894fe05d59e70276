//! `mbarrier`: barriers that are words of shared memory, and copies that arrive at them.

use super::check::{aligned, all_aligned, inside};
use super::memory::{read_bytes, write_bytes};
use super::{Environment, Flow};
use crate::code::{Arrive, BulkCopy, DISCARD, Mbarrier, MbarrierOp, Phase, Space, block_of};
use crate::fault::{FaultKind, InLane, LaneFault, Operation};
use crate::state::address::addresses;
use crate::state::{LANES, Registers, Warp, all_if, lanes};

/// The most arrivals that a phase can wait for.
const MAX_COUNT: u32 = (1 << 20) - 1;
/// The most bytes that a phase can wait for.
const MAX_BYTES: i64 = (1 << 20) - 1;
const BYTES: u8 = 8;

/// The contents of an `mbarrier`. (The layout of the GPU is not documented.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    /// The arrivals that the current phase still waits for.
    pending: u32,
    /// The arrivals that the next phase waits for.
    expected: u32,
    /// The bytes that the current phase still waits for; negative if more came than were expected so far.
    bytes: i64,
    /// The parity of the current phase.
    odd: bool,
}

/// Why an operation is a mistake.
type Result<T> = std::result::Result<T, String>;

impl Object {
    const VALID: u64 = 1 << 62;
    const ODD: u64 = 1 << 63;

    fn init(count: u32) -> Result<Object> {
        if count == 0 || count > MAX_COUNT {
            return Err(format!("its count is {count}, not 1 to {MAX_COUNT}"));
        }
        Ok(Object {
            pending: count,
            expected: count,
            bytes: 0,
            odd: false,
        })
    }

    fn unpack(word: u64) -> Result<Object> {
        if word & Object::VALID == 0 {
            return Err("it was not initialised".to_owned());
        }
        Ok(Object {
            pending: word as u32 & MAX_COUNT,
            expected: (word >> 20) as u32 & MAX_COUNT,
            // 21 bits with a sign.
            bytes: (word << 3) as i64 >> 43,
            odd: word & Object::ODD != 0,
        })
    }

    fn pack(self) -> u64 {
        let bytes = (self.bytes as u64 & 0x1f_ffff) << 40;
        let odd = if self.odd { Object::ODD } else { 0 };
        u64::from(self.pending) | u64::from(self.expected) << 20 | bytes | Object::VALID | odd
    }

    /// The result of `arrive`: the parity of the current phase, and the number of pending arrivals.
    fn state(self) -> u64 {
        u64::from(self.pending) | if self.odd { Object::ODD } else { 0 }
    }

    /// Whether the phase of this parity, the current one or the one before, is over.
    fn is_over(self, odd: bool) -> bool {
        self.odd != odd
    }

    fn expect(&mut self, bytes: i64) -> Result<()> {
        self.bytes += bytes;
        if self.bytes.abs() > MAX_BYTES {
            return Err(format!("it waits for {} bytes, more than {MAX_BYTES}", self.bytes));
        }
        Ok(())
    }

    fn complete(&mut self, bytes: i64) -> Result<()> {
        self.expect(-bytes)?;
        self.end_phase();
        Ok(())
    }

    fn arrive(&mut self, count: u32, drops: bool, incomplete: bool) -> Result<()> {
        let pending = self.pending.checked_sub(count).filter(|_| count != 0);
        self.pending = pending.ok_or(format!("{count} arrive, and it waits for {}", self.pending))?;
        if drops {
            self.expected = self.expected.saturating_sub(count);
        }
        if incomplete && self.pending == 0 {
            return Err("an arrival that is `.noComplete` ends its phase".to_owned());
        }
        self.end_phase();
        Ok(())
    }

    /// Begins the next phase if the current one waits for nothing.
    fn end_phase(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.odd = !self.odd;
        }
    }
}

impl Warp {
    /// Executes an operation on an `mbarrier`, lane after lane.
    pub(crate) fn mbarrier(
        &mut self,
        op: &Mbarrier,
        mask: u32,
        env: &mut Environment<'_>,
    ) -> std::result::Result<Flow, LaneFault> {
        let all = addresses(&self.registers, &op.address);
        let at = all.map(|address| op.space.resolve(address).1);
        if let Some(lane) = lanes(mask).find(|&lane| op.space.resolve(all[lane]).0 != Space::Shared) {
            let message = format!("the mbarrier at {:#x}: it is not in shared memory", all[lane]);
            return Err(LaneFault::new(lane, FaultKind::InvalidBarrier(message.into())));
        }
        all_aligned(Operation::Atomic, &at, mask, BYTES.into())?;
        let mut waits = false;
        for lane in lanes(mask) {
            let (block, at) = block_of(at[lane]);
            let (memory, name) = env.shared_of_mut(block);
            inside(Operation::Atomic, name, at, BYTES.into(), memory.len()).in_lane(lane)?;
            let word = read_bytes(memory, at, BYTES);
            let new = apply(&mut self.registers, &op.op, lane, word, &mut waits);
            let new = new.map_err(|message| mistake(lane, at, &message))?;
            write_bytes(memory, at, BYTES, new);
        }
        Ok(if waits { Flow::Spin } else { Flow::Next })
    }
}

/// Carries out an operation in a lane. Returns the new contents, and notes in `waits` that a phase is not over.
fn apply(registers: &mut Registers, op: &MbarrierOp, lane: usize, word: u64, waits: &mut bool) -> Result<u64> {
    let mut object = match *op {
        MbarrierOp::Init { count } => return Ok(Object::init(registers.get32(count)[lane])?.pack()),
        _ => Object::unpack(word)?,
    };
    match *op {
        MbarrierOp::Init { .. } => {}
        MbarrierOp::Invalidate => return Ok(0),
        MbarrierOp::Expect { bytes } => object.expect(registers.get32(bytes)[lane].into())?,
        MbarrierOp::Complete { bytes } => object.complete(registers.get32(bytes)[lane].into())?,
        MbarrierOp::Copied { adds: true } => {}
        MbarrierOp::Copied { adds: false } => object.arrive(1, false, false)?,
        MbarrierOp::Arrive(Arrive {
            state,
            count,
            expects,
            drops,
            incomplete,
        }) => {
            let before = object.state();
            if expects != DISCARD {
                object.expect(registers.get32(expects)[lane].into())?;
            }
            object.arrive(registers.get32(count)[lane], drops, incomplete)?;
            if state != DISCARD {
                registers.get64_mut(state)[lane] = before;
            }
        }
        MbarrierOp::Wait { p, phase } => {
            let odd = match phase {
                Phase::State(state) => registers.get64(state)[lane] & Object::ODD != 0,
                Phase::Parity(parity) => registers.get32(parity)[lane] & 1 != 0,
            };
            let over = object.is_over(odd);
            *waits |= !over;
            registers.set_predicate(p, 1 << lane, all_if(over));
        }
    }
    Ok(object.pack())
}

#[cold]
fn mistake(lane: usize, address: u64, message: &str) -> LaneFault {
    let message = format!("the mbarrier at {address:#x} of shared memory: {message}");
    LaneFault::new(lane, FaultKind::InvalidBarrier(message.into()))
}

/// `cp.async.bulk`: copies at once, then tells the `mbarrier`.
pub(crate) fn bulk_copy(
    registers: &Registers,
    env: &mut Environment<'_>,
    mask: u32,
    op: &BulkCopy,
) -> std::result::Result<(), LaneFault> {
    let (to, from) = (addresses(registers, &op.to), addresses(registers, &op.from));
    let barriers = op.barrier.map(|barrier| addresses(registers, &barrier));
    for lane in lanes(mask) {
        let bytes = registers.get32(op.bytes)[lane];
        aligned(Operation::Load, from[lane] | u64::from(bytes), 16).in_lane(lane)?;
        aligned(Operation::Store, to[lane], 16).in_lane(lane)?;
        copy(env, op.spaces, to[lane], from[lane], bytes).in_lane(lane)?;
        if let Some(at) = barriers.map(|barriers: [u64; LANES]| barriers[lane]) {
            aligned(Operation::Atomic, at, BYTES.into()).in_lane(lane)?;
            let (block, at) = block_of(at);
            let (memory, name) = env.shared_of_mut(block);
            inside(Operation::Atomic, name, at, BYTES.into(), memory.len()).in_lane(lane)?;
            let object = Object::unpack(read_bytes(memory, at, BYTES));
            let object = object.and_then(|mut object| object.complete(bytes.into()).map(|()| object));
            let object = object.map_err(|message| mistake(lane, at, &message))?;
            write_bytes(memory, at, BYTES, object.pack());
        }
    }
    Ok(())
}

/// Copies `bytes`, a multiple of 16, in the order of addresses.
fn copy(
    env: &mut Environment<'_>,
    (to_space, from_space): (Space, Space),
    to: u64,
    from: u64,
    bytes: u32,
) -> std::result::Result<(), FaultKind> {
    let view = env.context.view;
    let check = |operation, space, address| match space {
        _ if bytes == 0 => Ok(None),
        Space::Shared => {
            let (block, address) = block_of(address);
            let (memory, name) = env.shared_of(block);
            inside(operation, name, address, bytes, memory.len()).map(|()| None)
        }
        _ => view.find(operation, address, bytes).map(Some),
    };
    let source = check(Operation::Load, from_space, from)?;
    let target = check(Operation::Store, to_space, to)?;
    let ((from_block, from_offset), (to_block, to_offset)) = (block_of(from), block_of(to));
    for offset in (0..u64::from(bytes)).step_by(BYTES.into()) {
        let value = match source {
            Some(region) => region.storage().load(from + offset, BYTES),
            None => read_bytes(env.shared_of(from_block).0, from_offset + offset, BYTES),
        };
        match target {
            Some(region) => region.storage().store(to + offset, BYTES, value),
            None => write_bytes(env.shared_of_mut(to_block).0, to_offset + offset, BYTES, value),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_keeps_all_parts() {
        for bytes in [0, 1, -1, MAX_BYTES, -MAX_BYTES] {
            for (pending, expected, odd) in [(1, 2, true), (MAX_COUNT, 1, false), (0, MAX_COUNT, true)] {
                let object = Object {
                    pending,
                    expected,
                    bytes,
                    odd,
                };
                assert_eq!(Object::unpack(object.pack()), Ok(object));
            }
        }
        assert!(Object::unpack(0).is_err() && Object::init(0).is_err() && Object::init(1 << 20).is_err());
    }

    #[test]
    fn a_phase_waits_for_arrivals_and_bytes() {
        let mut object = Object::init(2).unwrap();
        object.expect(48).unwrap();
        object.arrive(2, false, false).unwrap();
        assert!(!object.is_over(false) && object.arrive(1, false, false).is_err());
        object.complete(16).unwrap();
        object.complete(32).unwrap();
        assert!(object.is_over(false) && !object.is_over(true) && object.pending == 2);
        // Bytes may come before they are expected.
        object.complete(16).unwrap();
        object.arrive(1, false, true).unwrap();
        object.expect(16).unwrap();
        assert!(object.arrive(1, false, true).is_err());
        let mut object = Object::init(3).unwrap();
        object.arrive(1, true, false).unwrap();
        object.arrive(2, false, false).unwrap();
        assert!(object.is_over(false) && object.pending == 2);
        assert!(object.expect(MAX_BYTES + 1).is_err());
    }
}
