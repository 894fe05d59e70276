//! Thread block clusters: the rules of CUDA and of the kernel for a launch in clusters, as `const fn`s.

use crate::{KernelLimits, LaunchConfig, Text};

/// The reason why a launch in clusters is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterFault {
    /// More blocks than CUDA or `.maxclusterrank` allows, or none.
    Blocks {
        /// Blocks of the cluster.
        blocks: u64,
        /// The largest valid number.
        limit: u64,
        /// Whether the limit is the kernel's rather than CUDA's.
        kernel: bool,
    },
    /// The cluster is not the one that `.reqnctapercluster` requires.
    NotRequired {
        /// The cluster of the launch.
        cluster: [u32; 3],
        /// The cluster of the kernel.
        required: [u32; 3],
    },
    /// The kernel has `.explicitcluster`, and the launch does not say its cluster.
    Missing,
    /// The grid is not made of whole clusters.
    Broken {
        /// Blocks of the grid.
        grid: [u32; 3],
        /// Blocks of the cluster.
        cluster: [u32; 3],
    },
}

impl LaunchConfig {
    /// The most blocks of a cluster on any device. The kernel must allow more than 8 (CUDA programming guide,
    /// "thread block clusters").
    pub const MAX_CLUSTER_BLOCKS: u64 = 16;

    /// Checks a launch in clusters of `cluster` blocks or, if it is `None`, of the blocks that the kernel requires.
    /// Returns the number of blocks of a cluster in x, y and z; `None` if the launch has no clusters.
    ///
    /// # Errors
    /// A [`ClusterFault`] if the cluster is not the one that the kernel requires, has too many blocks, or does not
    /// divide the grid, and if the kernel demands one but has none.
    pub const fn check_cluster(
        &self,
        cluster: Option<[u32; 3]>,
        limits: &KernelLimits,
    ) -> Result<Option<[u32; 3]>, ClusterFault> {
        let cluster = match (cluster, limits.required_cluster) {
            (Some(cluster), Some(required)) if !same(cluster, required) => {
                return Err(ClusterFault::NotRequired { cluster, required });
            }
            (Some(cluster), _) | (None, Some(cluster)) => cluster,
            (None, None) if limits.explicit_cluster => return Err(ClusterFault::Missing),
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
            let blocks = if blocks > u64::MAX as u128 {
                u64::MAX
            } else {
                blocks as u64
            };
            return Err(ClusterFault::Blocks { blocks, limit, kernel });
        }
        let grid = self.grid;
        if !grid[0].is_multiple_of(x) || !grid[1].is_multiple_of(y) || !grid[2].is_multiple_of(z) {
            return Err(ClusterFault::Broken { grid, cluster });
        }
        Ok(Some(cluster))
    }
}

const fn same(a: [u32; 3], b: [u32; 3]) -> bool {
    a[0] == b[0] && a[1] == b[1] && a[2] == b[2]
}

impl ClusterFault {
    /// Appends the fault in words, without its code.
    pub const fn describe(&self, text: Text) -> Text {
        match *self {
            ClusterFault::Blocks { blocks: 0, .. } => text.str("a cluster has at least one block"),
            ClusterFault::Blocks { blocks, limit, kernel } => text
                .str("a cluster of ")
                .int(blocks as i128)
                .str(" blocks is over ")
                .str(match kernel {
                    true => "the kernel's own limit (`.maxclusterrank`) of ",
                    false => "CUDA's limit of ",
                })
                .int(limit as i128),
            ClusterFault::NotRequired { cluster, required } => text
                .str("the cluster is ")
                .sides(cluster)
                .str(", but the kernel requires ")
                .sides(required)
                .str(" (`.reqnctapercluster`)"),
            ClusterFault::Missing => {
                text.str("the kernel is launched in clusters (`.explicitcluster`), but the node says none")
            }
            ClusterFault::Broken { grid, cluster } => text
                .str("the grid ")
                .sides(grid)
                .str(" is not made of whole clusters of ")
                .sides(cluster)
                .str(" blocks"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: KernelLimits = KernelLimits::NONE;
    const PAIRS: KernelLimits = KernelLimits {
        required_cluster: Some([2, 1, 1]),
        explicit_cluster: true,
        ..LIMITS
    };

    fn message(grid: [i128; 3], cluster: Option<[u32; 3]>, limits: &KernelLimits) -> String {
        let config = LaunchConfig::new(grid, [32, 1, 1], 0).unwrap();
        match config.check_cluster(cluster, limits) {
            Ok(cluster) => format!("{cluster:?}"),
            Err(fault) => fault.describe(Text::new()).as_str().to_owned(),
        }
    }

    #[test]
    fn a_kernel_without_clusters_runs_in_those_of_the_launch() {
        assert_eq!(message([3, 1, 1], None, &LIMITS), "None");
        assert_eq!(message([4, 6, 2], Some([2, 2, 2]), &LIMITS), "Some([2, 2, 2])");
        assert_eq!(
            message([4, 5, 2], Some([2, 2, 1]), &LIMITS),
            "the grid (4, 5, 2) is not made of whole clusters of (2, 2, 1) blocks"
        );
        assert_eq!(
            message([32, 1, 1], Some([17, 1, 1]), &LIMITS),
            "a cluster of 17 blocks is over CUDA's limit of 16"
        );
        assert_eq!(
            message([32, 1, 1], Some([u32::MAX; 3]), &LIMITS),
            "a cluster of 18446744073709551615 blocks is over CUDA's limit of 16"
        );
        assert_eq!(
            message([4, 1, 1], Some([2, 0, 1]), &LIMITS),
            "a cluster has at least one block"
        );
    }

    #[test]
    fn a_kernel_narrows_the_clusters() {
        assert_eq!(message([4, 1, 1], None, &PAIRS), "Some([2, 1, 1])");
        assert_eq!(message([4, 1, 1], Some([2, 1, 1]), &PAIRS), "Some([2, 1, 1])");
        assert_eq!(
            message([3, 1, 1], None, &PAIRS),
            "the grid (3, 1, 1) is not made of whole clusters of (2, 1, 1) blocks"
        );
        assert_eq!(
            message([4, 1, 1], Some([4, 1, 1]), &PAIRS),
            "the cluster is (4, 1, 1), but the kernel requires (2, 1, 1) (`.reqnctapercluster`)"
        );
        let largest = KernelLimits {
            max_cluster: Some(4),
            explicit_cluster: true,
            ..LIMITS
        };
        assert_eq!(
            message([8, 1, 1], Some([8, 1, 1]), &largest),
            "a cluster of 8 blocks is over the kernel's own limit (`.maxclusterrank`) of 4"
        );
        assert_eq!(
            message([8, 1, 1], None, &largest),
            "the kernel is launched in clusters (`.explicitcluster`), but the node says none"
        );
    }
}
