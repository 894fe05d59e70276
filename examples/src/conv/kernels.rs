//! The kernels of `train_conv`: `kernels/train_conv.cu`.

use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("kernels/train_conv.ptx")]
unsafe extern "C" {
    /// The images and labels of the step: the next ones at each step, from the first one again after `n`
    #[requires(grid == 32 && block == 256 && n >= 1 && n <= images.len() && n <= labels.len())]
    pub safe fn pick(
        images: &[[f32; 256]],
        labels: &[u32],
        step: &u32,
        n: u32,
        x: &mut [[f32; 256]; 32],
        y: &mut [u32; 32],
    );
    /// Convolution, bias, ReLU and the largest of 2x2, and which it was; a block for each image and 4 channels
    #[requires(grid.x == 32 && grid.y == 4 && grid.z == 1 && block == 256)]
    pub safe fn conv1(
        x: &[[f32; 256]; 32],
        w: &[[f32; 9]; 16],
        bias: &[f32; 16],
        h: &mut [[[f32; 64]; 16]; 32],
        which: &mut [[[u8; 64]; 16]; 32],
    );
    /// Does for the second layer as `conv1` for the first; a block for each image and 8 channels
    #[requires(grid.x == 32 && grid.y == 4 && grid.z == 1 && block == 256)]
    pub safe fn conv2(
        h1: &[[[f32; 64]; 16]; 32],
        w: &[[[f32; 9]; 16]; 32],
        bias: &[f32; 32],
        h: &mut [[[f32; 16]; 32]; 32],
        which: &mut [[[u8; 16]; 32]; 32],
    );
    /// Adds the mean cross-entropy of the softmax of `w h + bias` to `losses[step % n]`; writes its gradients by the
    /// logits and by `h`, the latter zero where ReLU is; a block for each image
    #[requires(grid == 32 && block == 512 && n >= 1 && n <= losses.len())]
    pub safe fn head(
        h: &[[[f32; 16]; 32]; 32],
        w: &[[f32; 512]; 10],
        bias: &[f32; 10],
        y: &[u32; 32],
        step: &u32,
        d: &mut [[f32; 10]; 32],
        dh: &mut [[[f32; 16]; 32]; 32],
        losses: &[Atomic<f32>],
        n: u32,
    );
    /// The gradient by `h1`, zero where ReLU is; a block for each image and 4 channels
    #[requires(grid.x == 32 && grid.y == 4 && grid.z == 1 && block == 256)]
    pub safe fn conv2_backward(
        dh2: &[[[f32; 16]; 32]; 32],
        which: &[[[u8; 16]; 32]; 32],
        w: &[[[f32; 9]; 16]; 32],
        h1: &[[[f32; 64]; 16]; 32],
        dh1: &mut [[[f32; 64]; 16]; 32],
    );
    /// The gradients of the second filters, of 4 images each; a block for each filter and 4 images
    #[requires(grid.x == 32 && grid.y == 8 && grid.z == 1 && block == 256)]
    pub safe fn conv2_gradient(
        h1: &[[[f32; 64]; 16]; 32],
        dh: &[[[f32; 16]; 32]; 32],
        which: &[[[u8; 16]; 32]; 32],
        gradients: &mut [[[[f32; 9]; 16]; 32]; 8],
    );
    /// A step down the sum of `parts` gradients of filters with `taps` weights, and down that of their biases, which is
    /// in the gradient by `h`; a block for each filter
    #[requires(block == 256 && grid == grid.x && parts * grid * taps <= gradients.len() && grid * taps <= w.len())]
    #[requires(grid <= bias.len() && 32 * grid * cells <= dh.len() && 32 * grid * cells <= h.len() && cells >= 1)]
    pub safe fn filters_descend(
        gradients: &[f32],
        dh: &[f32],
        h: &[f32],
        w: &mut [f32],
        bias: &mut [f32],
        rate: f32,
        parts: u32,
        taps: u32,
        cells: u32,
    );
    /// A step down the gradients of the first filters and biases; a block for each row of each
    #[requires(grid.x == 16 && grid.y == 3 && grid.z == 1 && block == 512)]
    pub safe fn conv1_descend(
        x: &[[f32; 256]; 32],
        dh: &[[[f32; 64]; 16]; 32],
        which: &[[[u8; 64]; 16]; 32],
        w: &mut [[f32; 9]; 16],
        bias: &mut [f32; 16],
        rate: f32,
    );
    /// A step down the gradients of the last layer, and `step += 1`; a thread for each weight
    #[requires(grid == 40 && block == 128)]
    pub safe fn linear_descend(
        h: &[[[f32; 16]; 32]; 32],
        d: &[[f32; 10]; 32],
        w: &mut [[f32; 512]; 10],
        bias: &mut [f32; 10],
        rate: f32,
        step: &mut u32,
    );

    /// Bias, ReLU and the largest of 2x2 of `sums`, for a library that only convolves; a thread for each of `n` cells
    #[requires(n <= threads && n <= h.len() && n <= which.len() && 4 * n <= sums.len())]
    #[requires(side >= 1 && side <= 1024 && n.is_multiple_of(side * side) && channels >= 1 && channels <= bias.len())]
    pub safe fn pool_2x2(sums: &[f32], bias: &[f32], h: &mut [f32], which: &mut [u8], n: u32, channels: u32, side: u32);
    /// The gradient by `sums` of that by `h`; a thread for each of `n` cells
    #[requires(n <= threads && n <= dh.len() && n <= h.len() && n <= which.len() && 4 * n <= dsums.len())]
    #[requires(side >= 1 && side <= 1024 && n.is_multiple_of(side * side))]
    pub safe fn unpool_2x2(dh: &[f32], h: &[f32], which: &[u8], dsums: &mut [f32], n: u32, side: u32);
}
