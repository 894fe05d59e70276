//! The step of `train_conv` with convolutions of cuDNN. Where there is no CUDA, plain Rust stands for them.

use super::kernels::{filters_descend, head, linear_descend, pick, pool_2x2, unpool_2x2};
use super::{BATCH, C1, C2, CELLS1, CELLS2, CLASSES, FEATURES, PIXELS, RATE};
use crate::cudnn::Convolution;
use graph_runtime::cuda_graph;

cuda_graph! {
    /// A step with convolutions of cuDNN, each captured as a node.
    pub graph Library(
        n: usize,
        steps: usize,
        images: device [[f32; PIXELS]; n],
        labels: device [u32; n],
        x: mut device [[f32; PIXELS]; BATCH],
        y: mut device [u32; BATCH],
        w1: mut device [[f32; 9]; C1],
        b1: mut device [f32; C1],
        w2: mut device [[[f32; 9]; C1]; C2],
        b2: mut device [f32; C2],
        w3: mut device [[f32; FEATURES]; CLASSES],
        b3: mut device [f32; CLASSES],
    ) {
        device  step:   u32;
        device  losses: [f32; steps];
        param   rate:   f32 = RATE;
        scratch h1:     [[[f32; CELLS1]; C1]; BATCH];
        scratch which1: [[[u8; CELLS1]; C1]; BATCH];
        scratch h2:     [[[f32; CELLS2]; C2]; BATCH];
        scratch which2: [[[u8; CELLS2]; C2]; BATCH];
        scratch d:      [[f32; CLASSES]; BATCH];
        scratch dh2:    [[[f32; CELLS2]; C2]; BATCH];
        scratch dh1:    [[[f32; CELLS1]; C1]; BATCH];
        scratch sums1:  [[[f32; PIXELS]; C1]; BATCH];
        scratch sums2:  [[[f32; CELLS1]; C2]; BATCH];
        scratch dsums2: [[[f32; CELLS1]; C2]; BATCH];
        scratch dsums1: [[[f32; PIXELS]; C1]; BATCH];
        scratch dw2:    [[[f32; 9]; C1]; C2];
        scratch dw1:    [[f32; 9]; C1];

        kernel  pick    = pick<<<32, 256>>>(&images, &labels, &step, n, &mut x, &mut y);
        capture filter1 = (&x, &w1, &mut sums1) |stream| {
            FIRST.forward(stream, &x, &w1, &sums1)
        } else |x, w, y| {
            FIRST.forward_on_host(x.as_flattened(), w.as_flattened(), y.as_flattened_mut().as_flattened_mut())
        } after pick;
        kernel  pool1   = pool_2x2<<<128, 256>>>(&sums1, &b1, &mut h1, &mut which1, N1, C1, 8)      after filter1;
        capture filter2 = (&h1, &w2, &mut sums2) |stream| {
            SECOND.forward(stream, &h1, &w2, &sums2)
        } else |x, w, y| {
            let (x, w) = (x.as_flattened().as_flattened(), w.as_flattened().as_flattened());
            SECOND.forward_on_host(x, w, y.as_flattened_mut().as_flattened_mut())
        } after pool1;
        kernel  pool2   = pool_2x2<<<64, 256>>>(&sums2, &b2, &mut h2, &mut which2, N2, C2, 4)       after filter2;
        kernel  last    = head<<<32, 512>>>(&h2, &w3, &b3, &y, &step, &mut d, &mut dh2, &losses, steps)  after pool2;
        kernel  learn3  = linear_descend<<<40, 128>>>(&h2, &d, &mut w3, &mut b3, rate, &mut step)   after last;
        kernel  unpool2 = unpool_2x2<<<64, 256>>>(&dh2, &h2, &which2, &mut dsums2, N2, 4)           after last;
        capture back2   = (&w2, &dsums2, &mut dh1) |stream| {
            SECOND.backward_data(stream, &w2, &dsums2, &dh1)
        } else |w, dy, dx| {
            let (w, dy) = (w.as_flattened().as_flattened(), dy.as_flattened().as_flattened());
            SECOND.backward_data_on_host(w, dy, dx.as_flattened_mut().as_flattened_mut())
        } after unpool2;
        capture grad2   = (&h1, &dsums2, &mut dw2) |stream| {
            SECOND.backward_filters(stream, &h1, &dsums2, &dw2)
        } else |x, dy, dw| {
            let (x, dy) = (x.as_flattened().as_flattened(), dy.as_flattened().as_flattened());
            SECOND.backward_filters_on_host(x, dy, dw.as_flattened_mut().as_flattened_mut())
        } after unpool2;
        kernel  learn2  = filters_descend<<<32, 256>>>(&dw2, &dh2, &h2, &mut w2, &mut b2, rate, 1, 144, 16)
            after back2, grad2;
        kernel  unpool1 = unpool_2x2<<<128, 256>>>(&dh1, &h1, &which1, &mut dsums1, N1, 8)          after back2;
        capture grad1   = (&x, &dsums1, &mut dw1) |stream| {
            FIRST.backward_filters(stream, &x, &dsums1, &dw1)
        } else |x, dy, dw| {
            let dy = dy.as_flattened().as_flattened();
            FIRST.backward_filters_on_host(x.as_flattened(), dy, dw.as_flattened_mut())
        } after unpool1;
        kernel  learn1  = filters_descend<<<16, 256>>>(&dw1, &dh1, &h1, &mut w1, &mut b1, rate, 1, 9, 64)  after grad1;
    }
}

/// The cells of h1 and of h2.
const N1: usize = BATCH * C1 * CELLS1;
const N2: usize = BATCH * C2 * CELLS2;
const FIRST: Convolution = Convolution::new(BATCH, 1, C1, 16);
const SECOND: Convolution = Convolution::new(BATCH, C1, C2, 8);
