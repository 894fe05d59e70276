//! Launch dimensions and clusters, CUDA's limits on them and the kernel's own. These are `const fn`s, so that the same
//! check runs in the macro, in compile-time assertions and at build.

use crate::Text;

/// The dimensions of a launch, in the order x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LaunchConfig {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of each block, in bytes.
    pub shared: u32,
}

/// The limits on launches that a kernel's PTX states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelLimits {
    /// `.reqntid`: the only block that is valid.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: no block may have more threads than the product of these.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the only cluster that is valid, in blocks.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: no cluster may have more blocks.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`: a launch has to say its cluster, unless the kernel requires one.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: the kernel counts its grid in clusters. It cannot be launched: a grid counts blocks here.
    pub grid_of_clusters: bool,
}

impl KernelLimits {
    /// No limits but CUDA's.
    pub const NONE: Self = Self {
        required_block: None,
        max_block: None,
        required_cluster: None,
        max_cluster: None,
        explicit_cluster: false,
        grid_of_clusters: false,
    };
}

/// The reason why a launch is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchFault {
    /// A dimension is below the least valid value: zero or negative.
    TooSmall {
        /// `grid.x` and so on.
        dimension: &'static str,
        /// Its value.
        value: i128,
        /// The least valid value.
        least: u32,
    },
    /// A dimension is over CUDA's limit.
    TooLarge {
        /// `grid.x`, `block.z`, `shared` and so on.
        dimension: &'static str,
        /// Its value.
        value: i128,
        /// The largest valid value.
        limit: u32,
    },
    /// More threads in a block, or blocks in a cluster, than CUDA or the kernel allows, or no blocks in a cluster.
    Count {
        /// A block or a cluster.
        group: Group,
        /// The number of its threads or blocks.
        count: u64,
        /// The largest valid number.
        limit: u64,
        /// Whether the limit is the kernel's (`.maxntid`, `__launch_bounds__`, `.maxclusterrank`) rather than CUDA's.
        kernel: bool,
    },
    /// The block or the cluster is not the one that the kernel requires.
    NotRequired {
        /// A block or a cluster.
        group: Group,
        /// The one of the launch.
        sides: [u32; 3],
        /// The one of the kernel.
        required: [u32; 3],
    },
    /// The kernel counts its grid in clusters (`.blocksareclusters`).
    GridOfClusters,
    /// The kernel has `.explicitcluster`, and the launch does not say its cluster.
    NoCluster,
    /// The grid is not made of whole clusters.
    BrokenCluster {
        /// Blocks of the grid.
        grid: [u32; 3],
        /// Blocks of the cluster.
        cluster: [u32; 3],
    },
}

/// A group of threads or of blocks, on which a kernel may have limits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Threads: `.maxntid` and `.reqntid`.
    Block,
    /// Blocks: `.maxclusterrank` and `.reqnctapercluster`.
    Cluster,
}

const GRID: [(&str, u32); 3] = [("grid.x", i32::MAX as u32), ("grid.y", 65_535), ("grid.z", 65_535)];
const BLOCK: [(&str, u32); 3] = [("block.x", 1024), ("block.y", 1024), ("block.z", 64)];

impl LaunchConfig {
    /// The most threads a block may have on any CUDA device.
    pub const MAX_BLOCK_THREADS: u64 = 1024;

    /// Checks the dimensions against the limits that hold on every CUDA device (CUDA C++ programming guide, "technical
    /// specifications per compute capability"). `grid` is in blocks, `block` in threads, both in x, y and z; `shared`
    /// is the dynamic shared memory of a block in bytes.
    ///
    /// # Errors
    /// A [`LaunchFault`] about the first dimension that is out of range.
    pub const fn new(grid: [i128; 3], block: [i128; 3], shared: i128) -> Result<Self, LaunchFault> {
        let grid = match extents(grid, &GRID) {
            Ok(grid) => grid,
            Err(fault) => return Err(fault),
        };
        let block = match extents(block, &BLOCK) {
            Ok(block) => block,
            Err(fault) => return Err(fault),
        };
        let shared = match extent(shared, ("shared", i32::MAX as u32), 0) {
            Ok(shared) => shared,
            Err(fault) => return Err(fault),
        };
        let config = Self { grid, block, shared };
        if config.block_threads() > Self::MAX_BLOCK_THREADS {
            return Err(LaunchFault::Count {
                group: Group::Block,
                count: config.block_threads(),
                limit: Self::MAX_BLOCK_THREADS,
                kernel: false,
            });
        }
        Ok(config)
    }

    /// Checks the block against the limits in the kernel's PTX.
    ///
    /// # Errors
    /// A [`LaunchFault`] if the block is not the one that the kernel requires, or has more threads than it allows.
    pub const fn check_kernel(&self, limits: &KernelLimits) -> Result<(), LaunchFault> {
        if limits.grid_of_clusters {
            return Err(LaunchFault::GridOfClusters);
        }
        if let Some(required) = limits.required_block
            && !same(self.block, required)
        {
            return Err(LaunchFault::NotRequired {
                group: Group::Block,
                sides: self.block,
                required,
            });
        }
        if let Some(max) = limits.max_block {
            let limit = max[0] as u64 * max[1] as u64 * max[2] as u64;
            if self.block_threads() > limit {
                return Err(LaunchFault::Count {
                    group: Group::Block,
                    count: self.block_threads(),
                    limit,
                    kernel: true,
                });
            }
        }
        Ok(())
    }

    /// The most blocks of a cluster on any device. The kernel must allow more than 8 (CUDA programming guide,
    /// "thread block clusters").
    pub const MAX_CLUSTER_BLOCKS: u64 = 16;

    /// Checks a launch in clusters of `cluster` blocks or, if it is `None`, of the blocks that the kernel requires.
    /// Returns the number of blocks of a cluster in x, y and z; `None` if the launch has no clusters.
    ///
    /// # Errors
    /// A [`LaunchFault`] if the cluster is not the one that the kernel requires, has too many blocks, or does not
    /// divide the grid, and if the kernel demands one but has none.
    pub const fn check_cluster(
        &self,
        cluster: Option<[u32; 3]>,
        limits: &KernelLimits,
    ) -> Result<Option<[u32; 3]>, LaunchFault> {
        let cluster = match (cluster, limits.required_cluster) {
            (Some(cluster), Some(required)) if !same(cluster, required) => {
                return Err(LaunchFault::NotRequired {
                    group: Group::Cluster,
                    sides: cluster,
                    required,
                });
            }
            (Some(cluster), _) | (None, Some(cluster)) => cluster,
            (None, None) if limits.explicit_cluster => return Err(LaunchFault::NoCluster),
            (None, None) => return Ok(None),
        };
        let [x, y, z] = cluster;
        // The product of three `u32`s fits a `u128`. Above the limit it need not be exact.
        let blocks = x as u128 * y as u128 * z as u128;
        let (limit, kernel) = match limits.max_cluster {
            Some(max) if (max as u64) < Self::MAX_CLUSTER_BLOCKS => (max as u64, true),
            _ => (Self::MAX_CLUSTER_BLOCKS, false),
        };
        if blocks == 0 || blocks > limit as u128 {
            return Err(LaunchFault::Count {
                group: Group::Cluster,
                // It is only told: beyond a `u64` the greatest one stands for it.
                count: if blocks >> 64 == 0 { blocks as u64 } else { u64::MAX },
                limit,
                kernel,
            });
        }
        let grid = self.grid;
        if !grid[0].is_multiple_of(x) || !grid[1].is_multiple_of(y) || !grid[2].is_multiple_of(z) {
            return Err(LaunchFault::BrokenCluster { grid, cluster });
        }
        Ok(Some(cluster))
    }

    /// Threads of one block.
    pub const fn block_threads(&self) -> u64 {
        self.block[0] as u64 * self.block[1] as u64 * self.block[2] as u64
    }

    /// Blocks of the grid.
    pub const fn blocks(&self) -> u128 {
        self.grid[0] as u128 * self.grid[1] as u128 * self.grid[2] as u128
    }

    /// All threads of the launch.
    pub const fn threads(&self) -> u128 {
        self.blocks() * self.block_threads() as u128
    }
}

const fn extents(values: [i128; 3], limits: &[(&'static str, u32); 3]) -> Result<[u32; 3], LaunchFault> {
    let mut extents = [0; 3];
    let mut axis = 0;
    while axis < 3 {
        extents[axis] = match extent(values[axis], limits[axis], 1) {
            Ok(extent) => extent,
            Err(fault) => return Err(fault),
        };
        axis += 1;
    }
    Ok(extents)
}

const fn extent(value: i128, (dimension, limit): (&'static str, u32), least: u32) -> Result<u32, LaunchFault> {
    if value < least as i128 {
        return Err(LaunchFault::TooSmall {
            dimension,
            value,
            least,
        });
    }
    if value > limit as i128 {
        return Err(LaunchFault::TooLarge {
            dimension,
            value,
            limit,
        });
    }
    Ok(value as u32)
}

const fn same(a: [u32; 3], b: [u32; 3]) -> bool {
    a[0] == b[0] && a[1] == b[1] && a[2] == b[2]
}

impl LaunchFault {
    /// The mend of the fault, for a help.
    pub const fn help(&self) -> &'static str {
        match *self {
            LaunchFault::Count { .. } => "use more blocks of fewer threads",
            LaunchFault::TooLarge { dimension, .. } | LaunchFault::TooSmall { dimension, .. }
                if matches!(dimension.as_bytes(), [b's', ..]) =>
            {
                "the third operand is dynamic shared memory in bytes"
            }
            LaunchFault::TooLarge { dimension, .. } if matches!(dimension.as_bytes(), [b'b', ..]) => {
                "use more blocks of fewer threads"
            }
            LaunchFault::TooLarge { .. } => "spread the work over the other dimensions, or over a loop in the kernel",
            LaunchFault::TooSmall {
                dimension, value: 0, ..
            } if matches!(dimension.as_bytes(), [b'g', ..]) => {
                "a launch is `<<<blocks, threads per block>>>`; to launch nothing, put the node into an `if`, or disable \
                 it by `set_enabled(false)`"
            }
            LaunchFault::TooSmall { .. }
            | LaunchFault::NotRequired { .. }
            | LaunchFault::GridOfClusters
            | LaunchFault::NoCluster
            | LaunchFault::BrokenCluster { .. } => "a launch is `<<<blocks, threads per block>>>`",
        }
    }

    /// Appends the fault in words, without its code.
    pub const fn describe(&self, text: Text) -> Text {
        match *self {
            LaunchFault::TooSmall {
                dimension,
                value,
                least,
            } => {
                let text = text.str("`").str(dimension).str("` is ").int(value);
                text.str(", but must be at least ").int(least as i128)
            }
            LaunchFault::TooLarge {
                dimension,
                value,
                limit,
            } => {
                let text = text.str("`").str(dimension).str("` is ").int(value);
                text.str(", over CUDA's limit of ").int(limit as i128)
            }
            LaunchFault::Count {
                group,
                count,
                limit,
                kernel,
            } => {
                let (count, limit) = (count as i128, limit as i128);
                let (of, members, own) = match group {
                    Group::Cluster if count == 0 => return text.str("a cluster has at least one block"),
                    Group::Cluster => ("a cluster of ", " blocks is over ", "(`.maxclusterrank`)"),
                    Group::Block => ("a block of ", " threads is over ", "(`.maxntid`)"),
                };
                let text = text.str(of).int(count).str(members);
                match kernel {
                    true => text.str("the kernel's own limit ").str(own).str(" of ").int(limit),
                    false => text.str("CUDA's limit of ").int(limit),
                }
            }
            LaunchFault::NotRequired { group, sides, required } => {
                let (is, directive) = match group {
                    Group::Cluster => ("the cluster is ", " (`.reqnctapercluster`)"),
                    Group::Block => ("the block is ", " (`.reqntid`)"),
                };
                let text = text.str(is).sides(sides).str(", but the kernel requires ");
                text.sides(required).str(directive)
            }
            LaunchFault::GridOfClusters => {
                text.str("the kernel counts its grid in clusters (`.blocksareclusters`), which is not supported")
            }
            LaunchFault::NoCluster => {
                text.str("the kernel is launched in clusters (`.explicitcluster`), but the node says none")
            }
            LaunchFault::BrokenCluster { grid, cluster } => {
                let text = text
                    .str("the grid ")
                    .sides(grid)
                    .str(" is not made of whole clusters of ");
                text.sides(cluster).str(" blocks")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<impl Sized, LaunchFault>) -> String {
        result
            .err()
            .map_or(String::new(), |fault| fault.describe(Text::new()).as_str().to_owned())
    }

    #[test]
    fn the_limits_themselves_are_valid_and_one_more_is_not() {
        assert_eq!(
            message(LaunchConfig::new([i32::MAX as i128, 65_535, 65_535], [16, 1, 64], 0)),
            ""
        );
        assert_eq!(message(LaunchConfig::new([1, 1, 1], [1024, 1, 1], 0)), "");
        let expected = "`grid.y` is 65536, over CUDA's limit of 65535";
        assert_eq!(message(LaunchConfig::new([1, 65_536, 1], [1, 1, 1], 0)), expected);
        let expected = "`block.z` is 65, over CUDA's limit of 64";
        assert_eq!(message(LaunchConfig::new([1, 1, 1], [1, 1, 65], 0)), expected);
        let expected = "a block of 2048 threads is over CUDA's limit of 1024";
        assert_eq!(message(LaunchConfig::new([1, 1, 1], [512, 4, 1], 0)), expected);
        let expected = "`grid.x` is 0, but must be at least 1";
        assert_eq!(message(LaunchConfig::new([0, 1, 1], [1, 1, 1], 0)), expected);
        let expected = "`block.y` is -3, but must be at least 1";
        assert_eq!(message(LaunchConfig::new([1, 1, 1], [1, -3, 1], 0)), expected);
        let expected = "`shared` is 1099511627776, over CUDA's limit of 2147483647";
        assert_eq!(message(LaunchConfig::new([1, 1, 1], [1, 1, 1], 1 << 40)), expected);
    }

    #[test]
    fn a_kernel_narrows_the_limits() {
        let config = LaunchConfig::new([1, 1, 1], [16, 16, 1], 0).unwrap();
        let limits = |required_block, max_block| KernelLimits {
            required_block,
            max_block,
            ..KernelLimits::NONE
        };
        assert_eq!(
            config.check_kernel(&limits(Some([16, 16, 1]), Some([256, 1, 1]))),
            Ok(())
        );
        let expected = "a block of 256 threads is over the kernel's own limit (`.maxntid`) of 128";
        assert_eq!(message(config.check_kernel(&limits(None, Some([128, 1, 1])))), expected);
        let expected = "the block is (16, 16, 1), but the kernel requires (256, 1, 1) (`.reqntid`)";
        assert_eq!(message(config.check_kernel(&limits(Some([256, 1, 1]), None))), expected);
        let counted = KernelLimits {
            grid_of_clusters: true,
            ..KernelLimits::NONE
        };
        let expected = "the kernel counts its grid in clusters (`.blocksareclusters`), which is not supported";
        assert_eq!(message(config.check_kernel(&counted)), expected);
    }

    const LIMITS: KernelLimits = KernelLimits::NONE;
    const PAIRS: KernelLimits = KernelLimits {
        required_cluster: Some([2, 1, 1]),
        explicit_cluster: true,
        ..LIMITS
    };

    fn cluster(grid: [i128; 3], cluster: Option<[u32; 3]>, limits: &KernelLimits) -> String {
        let config = LaunchConfig::new(grid, [32, 1, 1], 0).unwrap();
        match config.check_cluster(cluster, limits) {
            Ok(cluster) => format!("{cluster:?}"),
            Err(fault) => fault.describe(Text::new()).as_str().to_owned(),
        }
    }

    #[test]
    fn a_kernel_without_clusters_runs_in_those_of_the_launch() {
        assert_eq!(cluster([3, 1, 1], None, &LIMITS), "None");
        assert_eq!(cluster([4, 6, 2], Some([2, 2, 2]), &LIMITS), "Some([2, 2, 2])");
        let expected = "the grid (4, 5, 2) is not made of whole clusters of (2, 2, 1) blocks";
        assert_eq!(cluster([4, 5, 2], Some([2, 2, 1]), &LIMITS), expected);
        let expected = "a cluster of 17 blocks is over CUDA's limit of 16";
        assert_eq!(cluster([32, 1, 1], Some([17, 1, 1]), &LIMITS), expected);
        let expected = "a cluster of 18446744073709551615 blocks is over CUDA's limit of 16";
        assert_eq!(cluster([32, 1, 1], Some([u32::MAX; 3]), &LIMITS), expected);
        let expected = "a cluster has at least one block";
        assert_eq!(cluster([4, 1, 1], Some([2, 0, 1]), &LIMITS), expected);
    }

    #[test]
    fn a_kernel_narrows_the_clusters() {
        assert_eq!(cluster([4, 1, 1], None, &PAIRS), "Some([2, 1, 1])");
        assert_eq!(cluster([4, 1, 1], Some([2, 1, 1]), &PAIRS), "Some([2, 1, 1])");
        let expected = "the grid (3, 1, 1) is not made of whole clusters of (2, 1, 1) blocks";
        assert_eq!(cluster([3, 1, 1], None, &PAIRS), expected);
        let expected = "the cluster is (4, 1, 1), but the kernel requires (2, 1, 1) (`.reqnctapercluster`)";
        assert_eq!(cluster([4, 1, 1], Some([4, 1, 1]), &PAIRS), expected);
        let largest = KernelLimits {
            max_cluster: Some(4),
            explicit_cluster: true,
            ..LIMITS
        };
        let expected = "a cluster of 8 blocks is over the kernel's own limit (`.maxclusterrank`) of 4";
        assert_eq!(cluster([8, 1, 1], Some([8, 1, 1]), &largest), expected);
        let expected = "the kernel is launched in clusters (`.explicitcluster`), but the node says none";
        assert_eq!(cluster([8, 1, 1], None, &largest), expected);
    }
}
