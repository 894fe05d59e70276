//! Special registers that are constant for a thread.

use super::mask::LANES;
use crate::code::{Half, Special, declared_shared};

/// The facts that determine the values of special registers.
#[derive(Clone, Copy, Default)]
pub(super) struct Specials {
    pub(super) warp: u32,
    pub(super) block: [u32; 3],
    pub(super) grid: [u32; 3],
    pub(super) ctaid: [u32; 3],
    pub(super) cluster: [u32; 3],
    pub(super) explicit_cluster: bool,
    pub(super) static_shared: u32,
    pub(super) dynamic_shared: u32,
    pub(super) workspace: u64,
}

impl Specials {
    /// `%tid` of a lane.
    pub(super) fn thread(&self, lane: usize) -> [u32; 3] {
        let [x, y, _] = self.block;
        let linear = self.warp * LANES as u32 + lane as u32;
        [linear % x, linear / x % y, linear / x / y]
    }

    /// The value of a special register in each lane.
    pub(super) fn value(&self, special: Special) -> [u32; LANES] {
        let Specials {
            warp,
            block,
            grid,
            ctaid,
            cluster,
            explicit_cluster,
            static_shared,
            dynamic_shared,
            workspace,
        } = *self;
        let all = |value: u32| [value; LANES];
        let threads = block.iter().product::<u32>();
        let lane = |f: fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
        match special {
            Special::Tid(axis) => std::array::from_fn(|lane| self.thread(lane)[axis]),
            Special::Ntid(axis) => all(block[axis]),
            Special::Position(position) => all(position.of_block(ctaid, cluster)),
            Special::Nctaid(axis) => all(grid[axis]),
            Special::NclusterId(axis) => all(grid[axis] / cluster[axis]),
            Special::ClusterNctaid(axis) => all(cluster[axis]),
            Special::ClusterNctarank => all(cluster.iter().product()),
            Special::ExplicitCluster => all(explicit_cluster.into()),
            Special::LaneId => lane(|lane| lane),
            Special::WarpId => all(warp),
            Special::NwarpId => all(threads.div_ceil(LANES as u32)),
            Special::LaneMaskEq => lane(|lane| 1 << lane),
            Special::LaneMaskLt => lane(|lane| (1 << lane) - 1),
            Special::LaneMaskLe => lane(|lane| u32::MAX >> (31 - lane)),
            Special::LaneMaskGt => lane(|lane| !(u32::MAX >> (31 - lane))),
            Special::LaneMaskGe => lane(|lane| u32::MAX << lane),
            Special::DynamicSharedSize => all(dynamic_shared),
            Special::TotalSharedSize => all(static_shared + dynamic_shared),
            Special::DynamicShared => all(static_shared.next_multiple_of(16)),
            Special::ReservedShared => all(declared_shared(static_shared, dynamic_shared).next_multiple_of(16)),
            Special::Workspace(Half::Low) => all(workspace as u32),
            Special::Workspace(Half::High) => all((workspace >> 32) as u32),
        }
    }
}
