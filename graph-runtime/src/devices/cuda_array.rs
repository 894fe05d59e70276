//! CUDA arrays in a context.

use crate::devices::cuda::Cuda;
use crate::driver::copy::{Copy3d, CopySide};
use crate::driver::cuda_array::{ArrayDescriptor, CUarray};
use crate::driver::texel_object::TexelFormat;
use crate::driver::{self, RelaxedCapture};
use crate::error::CudaError;
use crate::kernel::texels::{Channel, TexelExtent};
use crate::program::array::ArrayForm;
use std::sync::Arc;

/// A CUDA array. It has no address: only its handle names it, in copies, textures and surfaces.
///
/// # Soundness
///
/// `handle` was made by `cuArray3DCreate` in the context of `cuda`, is given to nobody who could destroy it, and is
/// destroyed in `drop` only. Whoever makes a node, a texture or a surface of it keeps it alive until no launch can use
/// that (fact 2 of `CudaExecutable`).
pub(crate) struct CudaArray {
    cuda: Arc<Cuda>,
    handle: ArrayHandle,
}

/// The handle of an array, and its dimensions.
#[derive(Clone, Copy)]
pub(crate) struct ArrayHandle {
    pub(crate) handle: CUarray,
    /// The bytes of a row, the rows of a plane or a layer, and the planes or layers. None is 0.
    pub(crate) sides: [usize; 3],
    /// The bytes of a texel.
    pub(crate) texel: usize,
}

// SAFETY: driver handles are not bound to threads (D2).
unsafe impl Send for CudaArray {}
// SAFETY: as above; `&CudaArray` gives no access but to the handle.
unsafe impl Sync for CudaArray {}

impl CudaArray {
    /// Allocates a zeroed array of `bytes` bytes.
    pub(crate) fn zeroed(cuda: &Arc<Cuda>, form: &ArrayForm, bytes: usize) -> Result<Self, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        let (descriptor, sides) = described(form, bytes);
        cuda.bind()?;
        // SAFETY: the context is current.
        let handle = unsafe { driver::cuda_array::create(&descriptor) }?;
        let array = Self {
            cuda: cuda.clone(),
            handle: ArrayHandle {
                handle,
                sides,
                texel: form.texels.bytes(),
            },
        };
        array.clear()?;
        Ok(array)
    }

    /// Zeroes all texels, and waits for that. The caller has checked that nothing touches them.
    pub(crate) fn clear(&self) -> Result<(), CudaError> {
        let ArrayHandle { handle, sides, texel } = self.handle;
        let [width, rows, planes] = sides;
        // One plane at a time, since the zeros are in memory of the host.
        let mut zeros = vec![0_u8; width.saturating_mul(rows)];
        let plane = Copy3d {
            from: CopySide::Host(zeros.as_mut_ptr().cast(), width),
            to: CopySide::Array(handle),
            sides: [width, rows, 1],
            texel,
        };
        (0..planes).try_for_each(|index| {
            let mut params = plane.of_driver();
            params.dstZ = index;
            // SAFETY: the array has these sides, and `zeros` as many bytes as a plane; both live until `copy` has
            // waited for the stream.
            self.cuda
                .copy(|stream| unsafe { driver::cuda_array::copy(&params, stream) })
        })
    }

    pub(crate) fn handle(&self) -> ArrayHandle {
        self.handle
    }
}

/// CUDA's description of an array, and the sides of its [`ArrayHandle`].
fn described(form: &ArrayForm, bytes: usize) -> (ArrayDescriptor, [usize; 3]) {
    const LAYERED: u32 = 1; // `CUDA_ARRAY3D_LAYERED`
    const SURFACE: u32 = 2; // `CUDA_ARRAY3D_SURFACE_LDST`
    const GATHER: u32 = 8; // `CUDA_ARRAY3D_TEXTURE_GATHER`
    let TexelExtent {
        width,
        height,
        depth,
        layered,
    } = form.texels.extent(bytes);
    let mut flags = 0;
    if layered {
        flags |= LAYERED;
    }
    if form.surface {
        flags |= SURFACE;
    }
    if form.gathered {
        flags |= GATHER;
    }
    let descriptor = ArrayDescriptor {
        Width: width,
        Height: height,
        Depth: depth,
        Format: format(form.texels.channel),
        NumChannels: form.texels.channels.into(),
        Flags: flags,
    };
    (descriptor, [width * form.texels.bytes(), height.max(1), depth.max(1)])
}

/// CUDA's name of a channel's type.
pub(crate) fn format(channel: Channel) -> TexelFormat {
    match channel {
        Channel::U8 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT8,
        Channel::I8 => TexelFormat::CU_AD_FORMAT_SIGNED_INT8,
        Channel::U16 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT16,
        Channel::I16 => TexelFormat::CU_AD_FORMAT_SIGNED_INT16,
        Channel::U32 => TexelFormat::CU_AD_FORMAT_UNSIGNED_INT32,
        Channel::I32 => TexelFormat::CU_AD_FORMAT_SIGNED_INT32,
        Channel::F32 => TexelFormat::CU_AD_FORMAT_FLOAT,
    }
}

impl Drop for CudaArray {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: nothing uses the array any more: whoever has it drops it only then.
        let destroy = |()| unsafe { driver::cuda_array::destroy(self.handle.handle) };
        if let Err(error) = self.cuda.bind_to_free().and_then(destroy) {
            tracing::warn!(target: "graph_runtime", %error, "a CUDA array was not freed");
        }
    }
}
