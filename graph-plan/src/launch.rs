//! Launch dimensions, CUDA's limits on them and the kernel's own. These are `const fn`s, so that the same check runs in
//! the macro, in compile-time assertions and at build.

use crate::Text;

/// The dimensions of a launch, in the order x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// More threads in a block than CUDA or `.maxntid` allows.
    TooManyThreads {
        /// Threads in a block.
        threads: u64,
        /// The largest valid number.
        limit: u64,
        /// Whether the limit is the kernel's (`.maxntid`, `__launch_bounds__`) rather than CUDA's.
        kernel: bool,
    },
    /// The block is not the one that `.reqntid` requires.
    NotRequired {
        /// The block of the launch.
        block: [u32; 3],
        /// The block of the kernel.
        required: [u32; 3],
    },
    /// The kernel counts its grid in clusters (`.blocksareclusters`).
    GridOfClusters,
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
        if shared < 0 {
            return Err(LaunchFault::TooSmall {
                dimension: "shared",
                value: shared,
                least: 0,
            });
        }
        if shared > i32::MAX as i128 {
            return Err(LaunchFault::TooLarge {
                dimension: "shared",
                value: shared,
                limit: i32::MAX as u32,
            });
        }
        let config = Self {
            grid,
            block,
            shared: shared as u32,
        };
        let threads = config.block_threads();
        if threads > Self::MAX_BLOCK_THREADS {
            return Err(LaunchFault::TooManyThreads {
                threads,
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
        if let Some(required) = limits.required_block {
            let same = self.block[0] == required[0] && self.block[1] == required[1] && self.block[2] == required[2];
            if !same {
                return Err(LaunchFault::NotRequired {
                    block: self.block,
                    required,
                });
            }
        }
        if let Some(max) = limits.max_block {
            let limit = max[0] as u64 * max[1] as u64 * max[2] as u64;
            if self.block_threads() > limit {
                return Err(LaunchFault::TooManyThreads {
                    threads: self.block_threads(),
                    limit,
                    kernel: true,
                });
            }
        }
        Ok(())
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
        let (dimension, limit) = limits[axis];
        let value = values[axis];
        if value < 1 {
            return Err(LaunchFault::TooSmall {
                dimension,
                value,
                least: 1,
            });
        }
        if value > limit as i128 {
            return Err(LaunchFault::TooLarge {
                dimension,
                value,
                limit,
            });
        }
        extents[axis] = value as u32;
        axis += 1;
    }
    Ok(extents)
}

impl LaunchFault {
    /// Appends the fault in words, without its code.
    pub const fn describe(&self, text: Text) -> Text {
        match *self {
            LaunchFault::TooSmall {
                dimension,
                value,
                least,
            } => text
                .str("`")
                .str(dimension)
                .str("` is ")
                .int(value)
                .str(", but must be at least ")
                .int(least as i128),
            LaunchFault::TooLarge {
                dimension,
                value,
                limit,
            } => text
                .str("`")
                .str(dimension)
                .str("` is ")
                .int(value)
                .str(", over CUDA's limit of ")
                .int(limit as i128),
            LaunchFault::TooManyThreads { threads, limit, kernel } => text
                .str("a block of ")
                .int(threads as i128)
                .str(" threads is over ")
                .str(if kernel {
                    "the kernel's own limit (`.maxntid`) of "
                } else {
                    "CUDA's limit of "
                })
                .int(limit as i128),
            LaunchFault::NotRequired { block, required } => text
                .str("the block is ")
                .sides(block)
                .str(", but the kernel requires ")
                .sides(required)
                .str(" (`.reqntid`)"),
            LaunchFault::GridOfClusters => {
                text.str("the kernel counts its grid in clusters (`.blocksareclusters`), which is not supported")
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
        assert_eq!(
            message(LaunchConfig::new([1, 65_536, 1], [1, 1, 1], 0)),
            "`grid.y` is 65536, over CUDA's limit of 65535"
        );
        assert_eq!(
            message(LaunchConfig::new([1, 1, 1], [1, 1, 65], 0)),
            "`block.z` is 65, over CUDA's limit of 64"
        );
        assert_eq!(
            message(LaunchConfig::new([1, 1, 1], [512, 4, 1], 0)),
            "a block of 2048 threads is over CUDA's limit of 1024"
        );
        assert_eq!(
            message(LaunchConfig::new([0, 1, 1], [1, 1, 1], 0)),
            "`grid.x` is 0, but must be at least 1"
        );
        assert_eq!(
            message(LaunchConfig::new([1, 1, 1], [1, -3, 1], 0)),
            "`block.y` is -3, but must be at least 1"
        );
        assert_eq!(
            message(LaunchConfig::new([1, 1, 1], [1, 1, 1], 1 << 40)),
            "`shared` is 1099511627776, over CUDA's limit of 2147483647"
        );
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
        assert_eq!(
            message(config.check_kernel(&limits(None, Some([128, 1, 1])))),
            "a block of 256 threads is over the kernel's own limit (`.maxntid`) of 128"
        );
        assert_eq!(
            message(config.check_kernel(&limits(Some([256, 1, 1]), None))),
            "the block is (16, 16, 1), but the kernel requires (256, 1, 1) (`.reqntid`)"
        );
        let counted = KernelLimits {
            grid_of_clusters: true,
            ..KernelLimits::NONE
        };
        assert_eq!(
            message(config.check_kernel(&counted)),
            "the kernel counts its grid in clusters (`.blocksareclusters`), which is not supported"
        );
    }
}
