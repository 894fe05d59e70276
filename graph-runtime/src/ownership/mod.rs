//! The memory of graphs: memory of each kind, the blocks and pools that several graphs share, and the list of all
//! memory of one graph.

pub(crate) mod storage;
pub(crate) mod blueprint;
pub(crate) mod shared_resources;
pub(crate) mod pool_memory;
pub(crate) mod station;
pub(crate) mod nccl_rank;
pub(crate) mod post;
pub(crate) mod block;
pub(crate) mod mapped_memory;
pub(crate) mod device_memory;
pub(crate) mod host_memory;
