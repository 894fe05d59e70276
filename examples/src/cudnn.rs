//! Convolutions of cuDNN, in `capture` nodes.

use cudarc::cudnn::sys::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION;
use cudarc::cudnn::sys::cudnnMathType_t::CUDNN_FMA_MATH;
use cudarc::cudnn::sys::cudnnTensorFormat_t::CUDNN_TENSOR_NCHW;
use cudarc::cudnn::sys::is_culib_present;
use cudarc::cudnn::{
    ConvBackwardData, ConvBackwardFilter, ConvDescriptor, ConvForward, Cudnn, FilterDescriptor, TensorDescriptor,
};
use graph_runtime::{ArrayOf, BoxError, CaptureSlice, CaptureSliceMut, CaptureStream, OnDevice, Pointer, PointerMut};
use std::sync::Arc;

/// Whether cuDNN is on this machine.
pub fn is_present() -> bool {
    // SAFETY: loading cuDNN runs its initialisers, which are made for that.
    unsafe { is_culib_present() }
}

/// A convolution of images by filters of 3x3, with a border of zeros, in f32. (By default, cuDNN would round to TF32.)
///
/// Images are `[batch][channels][side][side]`, filters `[outputs][inputs][3][3]`. Each function below is the work of
/// one `capture` node, on the node's stream; the memory is that of the node. They fail if memory has another size or is
/// given twice, and if cuDNN refuses.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    /// The number of images.
    pub batch: usize,
    /// The channels of `x`.
    pub inputs: usize,
    /// The channels of `y`, one for each filter.
    pub outputs: usize,
    /// The rows and columns of a channel.
    pub side: usize,
}

/// The handle and the descriptors of a node, which the graph keeps.
struct Prepared {
    convolution: ConvDescriptor<f32>,
    x: TensorDescriptor<f32>,
    w: FilterDescriptor<f32>,
    y: TensorDescriptor<f32>,
}

// SAFETY: cuDNN's handles and descriptors may be used by any thread, but by one at a time. Closures of `capture` nodes
// use them only through `Convolution`, while they run: no two of them at once for one node. The last owner drops them.
unsafe impl Send for Prepared {}
// SAFETY: as above.
unsafe impl Sync for Prepared {}

impl Convolution {
    /// A convolution of these lengths.
    pub const fn new(batch: usize, inputs: usize, outputs: usize, side: usize) -> Self {
        Self {
            batch,
            inputs,
            outputs,
            side,
        }
    }

    /// `y` is the convolution of `x` by `w`.
    ///
    /// # Errors
    /// As said above.
    pub fn forward<'n, K>(
        &self,
        stream: &CaptureStream<'n, K>,
        x: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        w: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        y: &PointerMut<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
    ) -> Result<(), BoxError> {
        let counts = [x.count(), w.count(), y.count()];
        self.check(counts, [x.address(), w.address(), y.address()])?;
        let prepared = self.prepare(stream)?;
        let forward = ConvForward {
            conv: &prepared.convolution,
            x: &prepared.x,
            w: &prepared.w,
            y: &prepared.y,
        };
        let algorithm = forward.pick_algorithm()?;
        let workspace = stream.scratch(forward.get_workspace_size(algorithm)?)?;
        let (mut workspace, mut y) = (to_write(stream, &workspace), to_write(stream, y));
        let (x, w) = (to_read(stream, x), to_read(stream, w));
        // SAFETY: all memory is the node's, on its stream, and has the lengths of the descriptors.
        unsafe { forward.launch(algorithm, Some(&mut workspace), (1.0, 0.0), &x, &w, &mut y) }?;
        Ok(())
    }

    /// `dx` is the gradient by `x`, of `dy` by `y`.
    ///
    /// # Errors
    /// As said above.
    pub fn backward_data<'n, K>(
        &self,
        stream: &CaptureStream<'n, K>,
        w: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        dy: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        dx: &PointerMut<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
    ) -> Result<(), BoxError> {
        let counts = [dx.count(), w.count(), dy.count()];
        self.check(counts, [dx.address(), w.address(), dy.address()])?;
        let prepared = self.prepare(stream)?;
        let backward = ConvBackwardData {
            conv: &prepared.convolution,
            dx: &prepared.x,
            w: &prepared.w,
            dy: &prepared.y,
        };
        let algorithm = backward.pick_algorithm()?;
        let workspace = stream.scratch(backward.get_workspace_size(algorithm)?)?;
        let (mut workspace, mut dx) = (to_write(stream, &workspace), to_write(stream, dx));
        let (w, dy) = (to_read(stream, w), to_read(stream, dy));
        // SAFETY: as in `forward`.
        unsafe { backward.launch(algorithm, Some(&mut workspace), (1.0, 0.0), &mut dx, &w, &dy) }?;
        Ok(())
    }

    /// `dw` is the gradient by the filters, of `dy` by `y`.
    ///
    /// # Errors
    /// As said above.
    pub fn backward_filters<'n, K>(
        &self,
        stream: &CaptureStream<'n, K>,
        x: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        dy: &Pointer<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
        dw: &PointerMut<'n, impl ?Sized + ArrayOf<f32>, OnDevice>,
    ) -> Result<(), BoxError> {
        let counts = [x.count(), dw.count(), dy.count()];
        self.check(counts, [x.address(), dw.address(), dy.address()])?;
        let prepared = self.prepare(stream)?;
        let backward = ConvBackwardFilter {
            conv: &prepared.convolution,
            x: &prepared.x,
            dw: &prepared.w,
            dy: &prepared.y,
        };
        let algorithm = backward.pick_algorithm()?;
        let workspace = stream.scratch(backward.get_workspace_size(algorithm)?)?;
        let (mut workspace, mut dw) = (to_write(stream, &workspace), to_write(stream, dw));
        let (x, dy) = (to_read(stream, x), to_read(stream, dy));
        // SAFETY: as in `forward`.
        unsafe { backward.launch(algorithm, Some(&mut workspace), (1.0, 0.0), &x, &mut dw, &dy) }?;
        Ok(())
    }

    /// [`Convolution::forward`] in plain Rust, which stands for it where there is no CUDA.
    pub fn forward_on_host(&self, x: &[f32], w: &[f32], y: &mut [f32]) {
        y.fill(0.0);
        self.each_product(|at_x, at_w, at_y| y[at_y] += x[at_x] * w[at_w]);
    }

    /// [`Convolution::backward_data`] in plain Rust.
    pub fn backward_data_on_host(&self, w: &[f32], dy: &[f32], dx: &mut [f32]) {
        dx.fill(0.0);
        self.each_product(|at_x, at_w, at_y| dx[at_x] += w[at_w] * dy[at_y]);
    }

    /// [`Convolution::backward_filters`] in plain Rust.
    pub fn backward_filters_on_host(&self, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        dw.fill(0.0);
        self.each_product(|at_x, at_w, at_y| dw[at_w] += x[at_x] * dy[at_y]);
    }

    /// Calls `product` for each product in the sums of a convolution, with the places of its factors in `x` and in `w`,
    /// and of its sum in `y`.
    fn each_product(&self, mut product: impl FnMut(usize, usize, usize)) {
        let &Self {
            batch,
            inputs,
            outputs,
            side,
        } = self;
        for (image, output, input) in (0..batch * outputs * inputs)
            .map(|index| (index / inputs / outputs, index / inputs % outputs, index % inputs))
        {
            let (x, w) = ((image * inputs + input) * side * side, (output * inputs + input) * 9);
            let y = (image * outputs + output) * side * side;
            for tap in 0..9 {
                // A filter reaches one row and one column beyond its middle.
                let [down, right] = [tap / 3, tap % 3];
                let inside = |step: usize| 1_usize.saturating_sub(step)..side - step.saturating_sub(1);
                for row in inside(down) {
                    for column in inside(right) {
                        let from = (row + down - 1) * side + column + right - 1;
                        product(x + from, w + tap, y + row * side + column);
                    }
                }
            }
        }
    }

    /// Fails unless `x`, `w` and `y` have these numbers of elements, and are three.
    fn check(&self, counts: [usize; 3], [x, w, y]: [u64; 3]) -> Result<(), BoxError> {
        if x == w || w == y || y == x {
            return Err("x, w and y are not three".into());
        }
        let Self {
            batch,
            inputs,
            outputs,
            side,
        } = self;
        let expected = [
            batch * inputs * side * side,
            outputs * inputs * 9,
            batch * outputs * side * side,
        ];
        if counts == expected {
            return Ok(());
        }
        Err(format!("x, w and y have {counts:?} elements, not {expected:?} as {self:?}").into())
    }

    /// Makes the handle, which may not be done in a capture, and the descriptors.
    fn prepare<K>(&self, stream: &CaptureStream<'_, K>) -> Result<Arc<Prepared>, BoxError> {
        let [batch, inputs, outputs, side] =
            [self.batch, self.inputs, self.outputs, self.side].map(|length| length as i32);
        stream.prepare(|| {
            // SAFETY: the handle queues nothing but what the functions above give to it.
            let cudnn = Cudnn::new(unsafe { stream.cudarc() }.clone())?;
            let mut convolution = cudnn.create_conv2d([1, 1], [1, 1], [1, 1], CUDNN_CROSS_CORRELATION)?;
            convolution.set_math_type(CUDNN_FMA_MATH)?;
            Ok(Prepared {
                convolution,
                x: cudnn.create_4d_tensor(CUDNN_TENSOR_NCHW, [batch, inputs, side, side])?,
                w: cudnn.create_4d_filter(CUDNN_TENSOR_NCHW, [outputs, inputs, 3, 3])?,
                y: cudnn.create_4d_tensor(CUDNN_TENSOR_NCHW, [batch, outputs, side, side])?,
            })
        })
    }
}

/// Memory of a node that its work reads.
fn to_read<'n, K, T, S>(stream: &CaptureStream<'n, K>, memory: &Pointer<'n, S, OnDevice>) -> CaptureSlice<'n, T>
where
    S: ?Sized + ArrayOf<T>,
{
    // SAFETY: this module gives the slice to cuDNN alone, for the node's own stream.
    unsafe { stream.slice(memory) }
}

/// Memory of a node that its work writes.
fn to_write<'n, K, T, S>(stream: &CaptureStream<'n, K>, memory: &PointerMut<'n, S, OnDevice>) -> CaptureSliceMut<'n, T>
where
    S: ?Sized + ArrayOf<T>,
{
    // SAFETY: as above.
    unsafe { stream.slice_mut(memory) }
}
