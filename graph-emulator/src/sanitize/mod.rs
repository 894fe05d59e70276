//! The checks that a launch may ask for: every access to memory is examined before it is carried out. [`shared`] checks
//! the shared memory of a block or a cluster, [`global`] the global memory of the whole launch. [`counts`] counts.

pub(crate) mod global;
pub(crate) mod shared;
pub(crate) mod counts;
mod clocks;

use crate::code::{
    Address, AsyncCopy, BarrierOp, BulkCopy, Collective, DISCARD, MAX_SHARED, MatrixOp, MbarrierOp, MemoryOp, Op,
    Space, SurfaceAccess, TextureFetch, Tile, Transfer, Wait,
};
use crate::fault::{FaultKind, InLane, LaneFault, Operation};
use crate::state::address::addresses;
use crate::state::floats::Store;
use crate::state::texels::surfel;
use crate::state::{Context, LANES, Texels, Warp, lanes};
use counts::Counts;
use global::GlobalSanitizer;
use shared::SharedSanitizer;

/// The checks of the block that is running, and of its launch.
pub(crate) struct Sanitizer<'a> {
    pub(crate) shared: Option<&'a mut SharedSanitizer>,
    pub(crate) global: Option<&'a GlobalSanitizer<'a>>,
    pub(crate) counts: Option<&'a mut Counts>,
    /// The position of the block.
    pub(crate) block: [u32; 3],
}

/// One access of one lane, to no more than eight bytes.
struct Touch {
    lane: usize,
    space: Space,
    /// The address within the space.
    address: u64,
    bytes: u32,
    operation: Operation,
    /// Whether it is atomic, `volatile`, `relaxed` or stronger: such accesses may race with each other.
    strong: bool,
    /// The value that is stored, if any.
    value: Option<u64>,
}

impl Sanitizer<'_> {
    /// Examines an instruction before it is executed. `generations` has the number of times that each barrier of the
    /// block has opened, and then that of the cluster.
    #[cold]
    pub(crate) fn observe(
        &mut self,
        context: &Context<'_>,
        warp: &Warp,
        generations: &[u32],
        mask: u32,
        pc: u32,
        op: &Op,
    ) -> Result<(), LaneFault> {
        let first = warp.index() * LANES;
        match (op, &mut self.shared) {
            (Op::Collective(Collective::Barrier { members }), Some(shared)) => {
                let members = warp.registers.get32(*members);
                lanes(mask).for_each(|lane| shared.arrive_at_warp(first, lane, members[lane]));
            }
            (Op::Wait(Wait::Barrier(barrier)), Some(shared)) => {
                let ids = warp.registers.get32(barrier.id);
                for lane in lanes(mask) {
                    let generation = generations.get(ids[lane] as usize).copied().unwrap_or_default();
                    let waits = barrier.op != BarrierOp::Arrive;
                    shared.arrive(first + lane, ids[lane], generation, waits);
                }
            }
            (&Op::Wait(Wait::Cluster(cluster)), Some(shared)) => {
                let generation = generations.last().copied().unwrap_or_default();
                lanes(mask).for_each(|lane| shared.meet_cluster(first + lane, generation, cluster));
            }
            _ => {
                let touches = touches(context, warp, mask, op);
                if let (Some(counts), true) = (&mut self.counts, is_counted(op)) {
                    counts.access(&touches);
                }
                if context.floats.is_active() {
                    self.note_floats(context, warp, pc, &touches);
                }
                for touch in touches {
                    self.touch(context, first + touch.lane, pc, &touch)
                        .in_lane(touch.lane)?;
                }
            }
        }
        Ok(())
    }

    /// Looks for values that are not finite among those that an instruction will store.
    fn note_floats(&self, context: &Context<'_>, warp: &Warp, pc: u32, touches: &[Touch]) {
        let stores = touches.iter().filter(|touch| touch.space == Space::Global);
        for (touch, value) in stores.filter_map(|touch| Some((touch, touch.value?))) {
            let store = Store {
                block: self.block,
                thread: warp.thread(touch.lane),
                pc,
            };
            context.floats.note(touch.address, touch.bytes, value, store);
        }
    }

    /// Notes that some lanes of a warp take a branch, and others do not.
    pub(crate) fn diverges(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.divergent_branches += 1;
        }
    }

    fn touch(&mut self, context: &Context<'_>, thread: usize, pc: u32, touch: &Touch) -> Result<(), FaultKind> {
        match (touch.space, &mut self.shared, self.global) {
            (Space::Shared, Some(shared), _) => shared.touch(context, thread, pc, touch),
            (Space::Global, shared, global) => {
                if let Some(shared) = shared {
                    shared.touch_device(context, thread, pc, touch)?;
                }
                global.map_or(Ok(()), |global| {
                    global.touch(context.view, touch.operation, touch.address, touch.bytes)
                })
            }
            (Space::Shared, None, _) => Ok(()),
            // No other thread has access to these, and `touches` has resolved generic addresses.
            (Space::Local | Space::Param | Space::Generic, ..) => Ok(()),
        }
    }
}

/// Whether bank conflicts of an instruction are counted: not if PTX leaves open in which parts it is carried out.
fn is_counted(op: &Op) -> bool {
    match op {
        Op::Memory(op) => !matches!(
            op,
            MemoryOp::AsyncStore(_) | MemoryOp::BulkCopy(_) | MemoryOp::Mbarrier(_)
        ),
        Op::Matrix(matrix) => matches!(matrix.op, MatrixOp::Rows(_)),
        Op::Sequence(_) | Op::Nop | Op::Lanes(_) | Op::Carry(_) | Op::Query(_) => false,
        Op::Jump(_) | Op::Wait(_) | Op::Collective(_) => false,
    }
}

/// The accesses that an instruction will make.
fn touches(context: &Context<'_>, warp: &Warp, mask: u32, op: &Op) -> Vec<Touch> {
    match op {
        Op::Memory(op) => accesses(context, warp, mask, op),
        Op::Matrix(matrix) => match &matrix.op {
            MatrixOp::Rows(rows) => {
                let at = addresses(&warp.registers, &rows.address);
                let used = u32::MAX >> (LANES - 8 * rows.values.len());
                let word = |lane: usize, word: u64| {
                    let address = at[lane].wrapping_add(4 * word);
                    one(lane, rows.space, address, 4, direction(rows.store))
                };
                let row = |lane| (0..4).map(move |index| (lane, index));
                let words = lanes(mask & used).flat_map(row);
                words.map(|(lane, index)| word(lane, index)).collect()
            }
            MatrixOp::Tile(tile) => tiles(warp, mask, tile),
            MatrixOp::Multiply(_) | MatrixOp::Transpose { .. } => Vec::new(),
        },
        // Each of the operations of a sequence is examined when it is executed.
        Op::Sequence(_) | Op::Nop | Op::Lanes(_) | Op::Carry(_) | Op::Query(_) => Vec::new(),
        Op::Jump(_) | Op::Wait(_) | Op::Collective(_) => Vec::new(),
    }
}

fn accesses(context: &Context<'_>, warp: &Warp, mask: u32, op: &MemoryOp) -> Vec<Touch> {
    match op {
        MemoryOp::Load(access) => plain(warp, mask, access, Operation::Load),
        MemoryOp::Store(access) => plain(warp, mask, access, Operation::Store),
        MemoryOp::Atomic(op) => {
            let bytes = op.ty.bytes().into();
            atomic(warp, mask, op.space, &op.address, bytes, Operation::Atomic)
        }
        MemoryOp::AsyncCopy(copy) => copied(warp, mask, copy),
        MemoryOp::AsyncStore(op) => {
            let mut touches = plain(warp, mask, &op.store, Operation::Store);
            let (space, address) = (op.barrier.space, &op.barrier.address);
            touches.extend(atomic(warp, mask, space, address, 8, Operation::Atomic));
            touches
        }
        MemoryOp::Mbarrier(barrier) => {
            let operation = match barrier.op {
                MbarrierOp::Init { .. } => Operation::Store,
                _ => Operation::Atomic,
            };
            atomic(warp, mask, barrier.space, &barrier.address, 8, operation)
        }
        MemoryOp::BulkCopy(copy) => bulk(warp, mask, copy),
        MemoryOp::Texture(fetch) => fetched(context, warp, mask, fetch),
        MemoryOp::Surface(access) => surface(context, warp, mask, access),
    }
}

/// An access of each lane that is indivisible.
fn atomic(warp: &Warp, mask: u32, space: Space, address: &Address, bytes: u32, operation: Operation) -> Vec<Touch> {
    let at = addresses(&warp.registers, address);
    let touch = |lane| Touch {
        strong: true,
        ..one(lane, space, at[lane], bytes, operation)
    };
    lanes(mask).map(touch).collect()
}

/// The elements that `wmma.load` and `wmma.store` access.
fn tiles(warp: &Warp, mask: u32, tile: &Tile) -> Vec<Touch> {
    let at = addresses(&warp.registers, &tile.address);
    let (bits, per) = (tile.fragment.element.bits(), tile.fragment.element.per_slot());
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        for element in 0..tile.fragment.slots.len() * per {
            let address = tile.element_address(&warp.registers, &at, lane, element / per, element % per);
            touches.push(one(lane, tile.space, address, (bits / 8) as u32, direction(tile.store)));
        }
    }
    touches
}

fn direction(store: bool) -> Operation {
    if store { Operation::Store } else { Operation::Load }
}

fn one(lane: usize, space: Space, address: u64, bytes: u32, operation: Operation) -> Touch {
    let (space, address) = space.resolve(address);
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

/// The elements of a load or a store. Lanes with a misaligned address have none, since the instruction will fault.
fn plain(warp: &Warp, mask: u32, access: &Transfer, operation: Operation) -> Vec<Touch> {
    let at = addresses(&warp.registers, &access.address);
    let bytes = u32::from(access.bytes);
    let total = u64::from(bytes) * u64::from(access.count);
    let mut touches = Vec::new();
    for lane in lanes(mask).filter(|&lane| at[lane].is_multiple_of(total)) {
        for (element, &slot) in access.values[..usize::from(access.count)].iter().enumerate() {
            if slot == DISCARD {
                continue;
            }
            let stores = operation == Operation::Store;
            let value = stores.then(|| warp.registers.read_lane(access.wide, slot, lane));
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

/// The bytes that `cp.async` reads and writes.
fn copied(warp: &Warp, mask: u32, copy: &AsyncCopy) -> Vec<Touch> {
    let to = addresses(&warp.registers, &copy.to);
    let from = addresses(&warp.registers, &copy.from);
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        let read = copy.bytes_read(&warp.registers, lane);
        let byte = |space, address, operation| one(lane, space, address, 1, operation);
        touches.extend(
            (0..u64::from(read)).map(|offset| byte(Space::Global, from[lane].wrapping_add(offset), Operation::Load)),
        );
        let bytes = 0..u64::from(copy.bytes);
        touches.extend(bytes.map(|offset| byte(Space::Shared, to[lane].wrapping_add(offset), Operation::Store)));
    }
    touches
}

/// The channels of texels that `tex` reads. A lane whose read will fault has none.
fn fetched(context: &Context<'_>, warp: &Warp, mask: u32, fetch: &TextureFetch) -> Vec<Touch> {
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        let Ok((texture, texels)) = Texels::of(&warp.registers, context.textures, fetch, lane) else {
            continue;
        };
        let bytes = u64::from(texture.channel.bytes());
        for (address, _) in texels.used() {
            let channels = address.iter().flat_map(|&first| {
                (0..u64::from(texture.channels)).map(move |channel| first.wrapping_add(channel * bytes))
            });
            touches.extend(channels.map(|address| one(lane, Space::Global, address, bytes as u32, Operation::Load)));
        }
    }
    touches
}

/// The elements that `suld` and `sust` access. A lane whose access will fault has none.
fn surface(context: &Context<'_>, warp: &Warp, mask: u32, access: &SurfaceAccess) -> Vec<Touch> {
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        let Ok((_, Some(first))) = surfel(&warp.registers, context.surfaces, access, lane) else {
            continue;
        };
        let elements =
            (0..u64::from(access.count)).map(|element| first.wrapping_add(element * u64::from(access.bytes)));
        let bytes = access.bytes.into();
        touches.extend(elements.map(|address| one(lane, Space::Global, address, bytes, access.operation())));
    }
    touches
}

/// The words that `cp.async.bulk` reads and writes, and the `mbarrier` that it tells. A copy that does not fit into
/// shared memory has none, since the instruction will fault.
fn bulk(warp: &Warp, mask: u32, copy: &BulkCopy) -> Vec<Touch> {
    const WORD: u64 = 8;
    let at = |address| addresses(&warp.registers, address);
    let (to, from) = (at(&copy.to), at(&copy.from));
    let barrier = copy.barrier.as_ref().map(at);
    let mut touches = Vec::new();
    for lane in lanes(mask) {
        let bytes = warp.registers.get32(copy.bytes)[lane];
        if bytes > MAX_SHARED || !(to[lane] | from[lane]).is_multiple_of(WORD) {
            continue;
        }
        for offset in (0..u64::from(bytes)).step_by(WORD as usize) {
            let word = |space, address: u64, operation| one(lane, space, address.wrapping_add(offset), 8, operation);
            touches.push(word(copy.spaces.1, from[lane], Operation::Load));
            touches.push(word(copy.spaces.0, to[lane], Operation::Store));
        }
        touches.extend(barrier.map(|at: [u64; LANES]| Touch {
            strong: true,
            ..one(lane, Space::Shared, at[lane], 8, Operation::Atomic)
        }));
    }
    touches
}
