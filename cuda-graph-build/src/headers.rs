//! CUDA's own headers: the wheel that each is in.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::wheel::{
    CCCL, CCCL_13, CRT_13, CURAND, NVCC, NVCC_12, NVRTC, NVRTC_12, NVRTC_13, RUNTIME, RUNTIME_12, RUNTIME_13, Wheel,
};

/// A file or a folder in a wheel.
type Place = (Wheel, &'static str);

/// A compiler and the headers that belong to it.
#[derive(Debug)]
pub(crate) struct Toolkit {
    /// The name by which people choose it.
    pub(crate) name: &'static str,
    /// NVRTC. Its `libnvrtc-builtins` is beside it.
    pub(crate) nvrtc: Place,
    /// The oldest GPUs that it compiles for, of those that are supported here.
    pub(crate) oldest: &'static str,
    /// The folders of headers: of the runtime, of the C++ libraries, `crt/`, and curand.
    headers: [Place; 4],
    /// Whether the C++ libraries compile only if they find the headers of the runtime, which they do not ask for.
    libraries_need_runtime: bool,
}

/// The places of the runtime and of the C++ libraries in [`Toolkit::headers`].
const RUNTIME_PLACE: usize = 0;
const LIBRARIES_PLACE: usize = 1;

/// The toolkits that can be fetched; the first one is used unless another is chosen.
pub(crate) static TOOLKITS: [Toolkit; 3] = [
    Toolkit {
        name: "12.4",
        nvrtc: (NVRTC, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
        oldest: "compute_70",
        headers: [
            (RUNTIME, "nvidia/cuda_runtime/include"),
            (CCCL, "nvidia/cuda_cccl/include"),
            (NVCC, "nvidia/cuda_nvcc/include"),
            (CURAND, "nvidia/curand/include"),
        ],
        libraries_need_runtime: false,
    },
    Toolkit {
        name: "12",
        nvrtc: (NVRTC_12, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
        oldest: "compute_70",
        headers: [
            (RUNTIME_12, "nvidia/cuda_runtime/include"),
            (CCCL, "nvidia/cuda_cccl/include"),
            (NVCC_12, "nvidia/cuda_nvcc/include"),
            (CURAND, "nvidia/curand/include"),
        ],
        libraries_need_runtime: false,
    },
    Toolkit {
        name: "13",
        nvrtc: (NVRTC_13, "nvidia/cu13/lib/libnvrtc.so.13"),
        oldest: "compute_75",
        headers: [
            (RUNTIME_13, "nvidia/cu13/include"),
            (CCCL_13, "nvidia/cu13/include/cccl"),
            (CRT_13, "nvidia/cu13/include"),
            (CURAND, "nvidia/curand/include"),
        ],
        libraries_need_runtime: true,
    },
];

impl Toolkit {
    /// The headers that `name` is among; `None` if it is not CUDA's.
    pub(crate) fn headers_with(&self, name: &str) -> Option<Headers> {
        let found = NAMES.iter().find(|(beginning, _)| name.starts_with(beginning));
        found.map(|&(_, wheel)| Headers(self.headers[wheel]))
    }

    /// The headers that `name` is among, and others without which they do not compile.
    pub(crate) fn needed_for(&self, name: &str) -> impl Iterator<Item = Headers> {
        let own = self.headers_with(name);
        let is_of_library = own.is_some_and(|own| own.0 == self.headers[LIBRARIES_PLACE]);
        let more = (is_of_library && self.libraries_need_runtime).then(|| Headers(self.headers[RUNTIME_PLACE]));
        own.into_iter().chain(more)
    }

    /// All headers, for a machine that will have no network.
    pub(crate) fn all_headers(&self) -> impl Iterator<Item = Headers> {
        self.headers.into_iter().map(Headers)
    }
}

/// The beginnings of the names of CUDA's headers, and the wheel that each is in, as its place in
/// [`Toolkit::headers`].
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

/// Headers that CUDA has: the folder in their wheel.
#[derive(Clone, Copy)]
pub(crate) struct Headers(Place);

impl Headers {
    /// The wheel's name, for messages.
    pub(crate) fn project(self) -> &'static str {
        self.0.0.project
    }

    /// Their folder below `wheels`, if it is there.
    pub(crate) fn present(self, wheels: &Path) -> Option<PathBuf> {
        let (wheel, folder) = &self.0;
        wheel.present(wheels, folder)
    }

    /// Their folder below `wheels`, fetched first if it is not there.
    pub(crate) fn fetched(self, wheels: &Path) -> Result<PathBuf> {
        let (wheel, folder) = &self.0;
        wheel.file(wheels, folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_cuda_13_come_with_the_runtime() {
        let needed = |toolkit: &Toolkit, name| toolkit.needed_for(name).map(Headers::project).collect::<Vec<_>>();
        assert_eq!(needed(&TOOLKITS[0], "cuda/barrier"), [CCCL.project]);
        let expected = [CCCL_13.project, RUNTIME_13.project];
        assert_eq!(needed(&TOOLKITS[2], "cuda/barrier"), expected);
        assert_eq!(needed(&TOOLKITS[2], "mma.h"), [RUNTIME_13.project]);
        assert_eq!(needed(&TOOLKITS[2], "stdio.h"), [""; 0]);
    }

    #[test]
    fn headers_are_looked_for_in_the_right_wheel() {
        let project = |name| TOOLKITS[0].headers_with(name).map(Headers::project);
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
