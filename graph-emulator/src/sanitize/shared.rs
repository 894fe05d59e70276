//! Checks of one block, or of all blocks of a cluster: the threads that touched each byte of shared memory last, and
//! whether it was ever written; and the threads that touched bytes of device memory.
//!
//! Two accesses to a byte race if different threads make them, at least one writes, and neither comes before the other
//! (see `clocks`). They do not race if both are atomic or `volatile`, if one is atomic and the other a load, or if both
//! store the same value. Two readers since the last store are remembered: a race with a third may be missed, but no
//! race is reported that is not there.

use std::collections::HashMap;

use super::Touch;
use super::clocks::{BARRIERS, Clocks, Meeting};
use crate::code::{ClusterBarrier, block_of};
use crate::fault::{FaultKind, FaultyAccess, Operation};
use crate::state::Context;

/// The checks of the shared memory of a block, or of all blocks of a cluster, whose threads then count as those of one.
pub(crate) struct SharedSanitizer {
    /// The rank of the block that is running.
    rank: usize,
    /// The threads of a block, and the bytes of its memory.
    threads: usize,
    bytes: usize,
    uninitialized: bool,
    /// Whether races on shared memory are faults.
    races: bool,
    clocks: Option<Clocks>,
    cells: Vec<ByteState>,
    /// The bytes of device memory that the block has touched, by address, if races there are faults.
    device: Option<HashMap<u64, ByteState>>,
    /// The number of bytes that kernels must write before they read them. The others are zeroed for them.
    declared: usize,
}

/// The last accesses to a byte.
#[derive(Clone, Copy, Default)]
struct ByteState {
    written: bool,
    value: Option<u8>,
    writer: Option<Mark>,
    readers: [Option<Mark>; 2],
}

/// An access.
#[derive(Clone, Copy)]
struct Mark {
    thread: u16,
    strong: bool,
    operation: Operation,
    tick: u32,
    pc: u32,
}

impl SharedSanitizer {
    /// The checks that the launch asks for, if any, for `bytes` bytes of shared memory of each block of a cluster, of
    /// which the kernel and the launch declare the first `declared`.
    pub(crate) fn new(context: &Context<'_>, declared: usize, bytes: usize) -> Option<SharedSanitizer> {
        let uninitialized = context.options.check_uninitialized;
        let races = context.options.check_shared_races;
        let device = context.options.check_device_races;
        let threads = context.block.iter().product::<u32>() as usize;
        let blocks = context.cluster_blocks();
        (uninitialized || races || device).then(|| SharedSanitizer {
            rank: 0,
            threads,
            bytes,
            uninitialized,
            races,
            clocks: (races || device).then(|| Clocks::new(threads * blocks)),
            device: device.then(HashMap::new),
            cells: vec![ByteState::default(); bytes * blocks],
            declared,
        })
    }

    /// Notes that the block of this rank runs.
    pub(crate) fn enter(&mut self, rank: usize) {
        self.rank = rank;
    }

    /// The number of a thread of the running block among those of the cluster.
    fn in_cluster(&self, thread: usize) -> usize {
        self.rank * self.threads + thread
    }

    pub(crate) fn reset(&mut self) {
        self.cells.fill(ByteState::default());
        for block in self.cells.chunks_mut(self.bytes.max(1)) {
            for cell in &mut block[self.declared..] {
                cell.written = true;
            }
        }
        if let Some(device) = &mut self.device {
            device.clear();
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.reset();
        }
    }

    /// Notes that a thread comes to a barrier of the block, which has opened `generation` times.
    pub(super) fn arrive(&mut self, thread: usize, barrier: u32, generation: u32, waits: bool) {
        let thread = self.in_cluster(thread);
        let barrier = (self.rank as u32 * BARRIERS).wrapping_add(barrier);
        if let Some(clocks) = &mut self.clocks {
            clocks.meet(thread, Meeting::Barrier(barrier, generation), waits);
        }
    }

    /// Notes that a thread arrives at the barrier of the cluster, which has opened `generation` times, or waits there.
    pub(super) fn meet_cluster(&mut self, thread: usize, generation: u32, op: ClusterBarrier) {
        let thread = self.in_cluster(thread);
        let Some(clocks) = &mut self.clocks else { return };
        match op {
            ClusterBarrier::Arrive => clocks.arrive_at_cluster(thread, generation),
            ClusterBarrier::Wait => clocks.leave_cluster(thread),
        }
    }

    /// Notes that a lane comes to `bar.warp.sync`.
    pub(super) fn arrive_at_warp(&mut self, first: usize, lane: usize, members: u32) {
        let first = self.in_cluster(first);
        if let Some(clocks) = &mut self.clocks {
            clocks.meet_warp(first, lane, members);
        }
    }

    /// Checks an access. The instruction itself will fault if it is outside of the memory.
    pub(super) fn touch(
        &mut self,
        context: &Context<'_>,
        thread: usize,
        pc: u32,
        touch: &Touch,
    ) -> Result<(), FaultKind> {
        let (block, offset) = block_of(touch.address);
        let (block, bytes) = (block.unwrap_or(self.rank), u64::from(touch.bytes));
        let ends_after = offset.checked_add(bytes).is_none_or(|end| end > self.bytes as u64);
        if ends_after || block * self.bytes >= self.cells.len() {
            return Ok(());
        }
        let thread = self.in_cluster(thread);
        let start = (block * self.bytes) as u64 + offset;
        let range = start as usize..(start + bytes) as usize;
        if let Some(clocks) = &mut self.clocks {
            clocks.catch_up(thread);
            if touch.strong && touch.operation != Operation::Store {
                clocks.acquire(thread, start);
            }
        }
        for (index, cell) in self.cells[range].iter_mut().enumerate() {
            if self.uninitialized && touch.operation != Operation::Store && !cell.written {
                return Err(FaultKind::Uninitialized(FaultyAccess {
                    operation: touch.operation,
                    buffer: "shared memory".into(),
                    offset,
                    bytes: touch.bytes,
                }));
            }
            cell.written |= touch.operation != Operation::Load;
            let Some(clocks) = self.clocks.as_ref().filter(|_| self.races) else {
                continue;
            };
            if let Some(other) = cell.meet(clocks, mark(clocks, thread, pc, touch), touch.byte(index)) {
                let offset = block_of(touch.address).1;
                return Err(race(context, touch, other, self.rank, ("shared memory".into(), offset)));
            }
        }
        if let Some(clocks) = &mut self.clocks
            && touch.strong
            && touch.operation != Operation::Load
        {
            clocks.release(thread, start);
        }
        Ok(())
    }
}

impl SharedSanitizer {
    /// Checks an access of device memory that the kernel may write. An atomic or `volatile` load may pass on what any
    /// thread has done, perhaps through other blocks, so it orders all that came before.
    pub(super) fn touch_device(
        &mut self,
        context: &Context<'_>,
        thread: usize,
        pc: u32,
        touch: &Touch,
    ) -> Result<(), FaultKind> {
        let thread = self.in_cluster(thread);
        let (Some(cells), Some(clocks)) = (&mut self.device, &mut self.clocks) else {
            return Ok(());
        };
        let (address, bytes) = (touch.address, u64::from(touch.bytes));
        let is_constant =
            context.view.writable(address, bytes).is_none() && context.view.updatable(address, bytes).is_none();
        if is_constant || context.heap.is_some_and(|heap| heap.addresses().contains(&address)) {
            return Ok(());
        }
        clocks.catch_up(thread);
        if touch.strong && touch.operation != Operation::Store {
            clocks.acquire_all(thread);
        }
        for index in 0..touch.bytes as usize {
            let cell = cells.entry(address + index as u64).or_default();
            if let Some(other) = cell.meet(clocks, mark(clocks, thread, pc, touch), touch.byte(index)) {
                return Err(race(context, touch, other, self.rank, context.view.locate(address)));
            }
        }
        Ok(())
    }
}

fn mark(clocks: &Clocks, thread: usize, pc: u32, touch: &Touch) -> Mark {
    Mark {
        thread: thread as u16,
        strong: touch.strong,
        operation: touch.operation,
        tick: clocks.now(thread),
        pc,
    }
}

impl Touch {
    /// A byte of the value that is stored.
    fn byte(&self, index: usize) -> Option<u8> {
        self.value.map(|value| (value >> (8 * index)) as u8)
    }
}

impl Mark {
    /// Whether two accesses may meet. A load may meet an atomic operation, as the first guess in every loop around
    /// `atomicCAS` does.
    fn may_meet(&self, other: &Mark) -> bool {
        let guess = matches!(
            (self.operation, other.operation),
            (Operation::Load, Operation::Atomic) | (Operation::Atomic, Operation::Load)
        );
        guess || self.strong && other.strong
    }
}

impl ByteState {
    /// Notes an access, and returns another one that it races with, if there is one.
    fn meet(&mut self, clocks: &Clocks, mark: Mark, value: Option<u8>) -> Option<Mark> {
        let unordered = |other: &Mark| {
            let (thread, of) = (usize::from(mark.thread), usize::from(other.thread));
            thread != of && !clocks.knows(thread, of, other.tick)
        };
        let races = |other: &Mark| unordered(other) && !mark.may_meet(other);
        let same_value = value.is_some() && value == self.value;
        let writer = self.writer.filter(|other| races(other) && !same_value);
        if mark.operation == Operation::Load {
            // An access replaces a reader that is certain to come earlier, if there is one.
            let room = self
                .readers
                .iter()
                .position(|known| !known.as_ref().is_some_and(unordered));
            if let Some(room) = room {
                self.readers[room] = Some(mark);
            }
            return writer;
        }
        let reader = self.readers.into_iter().flatten().find(races);
        (self.writer, self.value, self.readers) = (Some(mark), value, [None; 2]);
        writer.or(reader)
    }
}

#[cold]
fn race(
    context: &Context<'_>,
    touch: &Touch,
    other: Mark,
    rank: usize,
    (buffer, offset): (Box<str>, u64),
) -> FaultKind {
    let [x, y, z] = context.block;
    let block = u32::from(other.thread) / (x * y * z);
    let thread = u32::from(other.thread) % (x * y * z);
    FaultKind::Race {
        access: FaultyAccess {
            operation: touch.operation,
            buffer,
            offset,
            bytes: touch.bytes,
        },
        other: [thread % x, thread / x % y, thread / x / y],
        other_block: (block as usize != rank).then_some(block),
        other_operation: other.operation,
        other_line: context.code.lines.get(other.pc as usize).map_or(0, |line| line.line),
    }
}
