//! The wheels of NVIDIA that only maintainers need, and the folder of all wheels. `cuda_graph_build` fetches them.

use std::path::{Path, PathBuf};

use cuda_graph_build::{RUNTIME, Wheel};

/// The assembler of a later CUDA, for PTX that the earlier one does not read.
pub(crate) const NVCC_13: Wheel = Wheel {
    project: "nvidia-cuda-nvcc",
    version: "13.5.37",
    sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
};

/// compute-sanitizer. The version of CUDA 13.0 fails more often on conditional nodes; its racecheck loses track of
/// their kernels, and takes named barriers for races (`gpu.sh` lists what the newer version still cannot do).
pub(crate) const SANITIZER: Wheel = Wheel {
    project: "nvidia-cuda-sanitizer-api",
    version: "13.5.25",
    sha256: "5df2efbdf605a812c6bac07600dd3d801cb9d334a30376113a6f1e2bc0679f54",
};

/// The runtime libraries, for graphs by the runtime: the version in the file's name, the wheel, and the file.
pub(crate) const CUDART: [(u32, Wheel, &str); 2] = [
    (12, RUNTIME, "nvidia/cuda_runtime/lib/libcudart.so.12"),
    (13, RUNTIME_13, "nvidia/cu13/lib/libcudart.so.13"),
];

/// The runtime of CUDA 13, whose calls differ from those of CUDA 12.
pub(crate) const RUNTIME_13: Wheel = Wheel {
    project: "nvidia-cuda-runtime",
    version: "13.0.96",
    sha256: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
};

/// The folder of wheels: the workspace's own, which git ignores.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join(".wheels")
}
