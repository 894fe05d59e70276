//! The forms in which small copies from the host run on a GPU.

use std::fmt;

/// The form in which copies from memory of the host to the device run on a GPU: see
/// [`Device::with_uploads`](crate::Device::with_uploads).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uploads {
    /// The form that costs less, for each copy. The default.
    #[default]
    Cheapest,
    /// Copy nodes of CUDA.
    Copies,
    /// Kernels that read the memory of the host, where that can be.
    Kernels,
}

/// The form of one copy from the host of a graph: see [`Graph::upload_forms`](crate::Graph::upload_forms).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadForm {
    /// The name of the node.
    pub node: String,
    /// Whether it is a kernel that reads the memory of the host. If not, it is a copy node of CUDA.
    pub kernel: bool,
    /// The reason: the size up to which a kernel costs less, or what stands in the way of one.
    pub reason: String,
}

impl fmt::Display for UploadForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, kernel, reason } = self;
        let form = if *kernel { "kernel" } else { "copy node" };
        write!(f, "`{node}` is a {form}: {reason}")
    }
}
