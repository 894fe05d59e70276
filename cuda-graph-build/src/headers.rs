//! CUDA's own headers: the wheel that each is in, and the header that a compilation has missed.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::wheel::{CCCL, CURAND, NVCC, RUNTIME, Wheel};

/// The folder of headers in each wheel that has some.
const FOLDERS: [(Wheel, &str); 4] = [
    (RUNTIME, "nvidia/cuda_runtime/include"),
    (CCCL, "nvidia/cuda_cccl/include"),
    (NVCC, "nvidia/cuda_nvcc/include"),
    (CURAND, "nvidia/curand/include"),
];

/// The beginnings of the names of CUDA's headers, and the wheel that each is in, as its place in [`FOLDERS`].
const NAMES: [(&str, usize); 18] = [
    ("curand", 3),
    ("crt/", 2),
    ("cuda/", 1),
    ("cub/", 1),
    ("thrust/", 1),
    ("nv/", 1),
    ("cuda", 0),
    ("cooperative_groups", 0),
    ("cuComplex", 0),
    ("mma.h", 0),
    ("math_constants.h", 0),
    ("vector_", 0),
    ("device_", 0),
    ("sm_", 0),
    ("surface_", 0),
    ("texture_", 0),
    ("builtin_types.h", 0),
    ("library_types.h", 0),
];

/// The header that NVRTC could not open, as its log tells.
pub(crate) fn missing(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("cannot open source file \"")?;
    rest.split_once('"').map(|(name, _)| name)
}

/// Headers that CUDA has.
#[derive(Clone, Copy)]
pub(crate) struct Headers(usize);

impl Headers {
    /// The headers that `name` is among; `None` if it is not CUDA's.
    pub(crate) fn with(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(beginning, _)| name.starts_with(beginning));
        found.map(|&(_, wheel)| Self(wheel))
    }

    /// The wheel's name, for messages.
    pub(crate) fn project(self) -> &'static str {
        FOLDERS[self.0].0.project
    }

    /// Their folder below `wheels`, if it is there.
    pub(crate) fn present(self, wheels: &Path) -> Option<PathBuf> {
        let (wheel, folder) = &FOLDERS[self.0];
        wheel.present(wheels, folder)
    }

    /// Their folder below `wheels`, fetched first if it is not there.
    pub(crate) fn fetched(self, wheels: &Path) -> Result<PathBuf> {
        let (wheel, folder) = &FOLDERS[self.0];
        wheel.file(wheels, folder)
    }

    /// All headers, for a machine that will have no network.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..FOLDERS.len()).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_names_the_missing_header() {
        let log = "kernels/x.cu(1): catastrophic error: cannot open source file \"cuda_fp16.h\"\n  #include\n";
        assert_eq!(missing(log), Some("cuda_fp16.h"));
        assert_eq!(missing("kernels/x.cu(1): error: identifier \"x\" is undefined"), None);
    }

    #[test]
    fn headers_are_looked_for_in_the_right_wheel() {
        let project = |name| Headers::with(name).map(Headers::project);
        for (name, expected) in [
            ("cuda_fp16.h", RUNTIME),
            ("cooperative_groups/reduce.h", RUNTIME),
            ("mma.h", RUNTIME),
            ("crt/mma.h", NVCC),
            ("cuda/barrier", CCCL),
            ("cub/cub.cuh", CCCL),
            ("nv/target", CCCL),
            ("curand_kernel.h", CURAND),
        ] {
            assert_eq!(project(name), Some(expected.project), "{name}");
        }
        assert_eq!(project("stdio.h"), None);
        assert_eq!(project("my/header.h"), None);
    }
}
