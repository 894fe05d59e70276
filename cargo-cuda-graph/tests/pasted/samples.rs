use graph_runtime::{Atomic, Surfel, Texel, cuda_kernels};

#[cuda_kernels("../docs/kernels/samples.ptx")]
unsafe extern "C" {
    // Graphs launch these by `unsafe`. A `safe fn` needs none: write it if `#[requires(..)]`s, such as
    // `#[requires(threads <= data.len())]`, keep the kernel within its memory for all arguments.

    fn write(out: &mut [f32]);

    fn read(input: &[f32], out: &mut [f32]);

    fn scaled(data: &mut [f32], factor: f32, n: u32);

    fn with_struct(
        data: &mut [f32],
        p: [u32; 3], // decide: `Params`: a `#[repr(C)]` struct that is `Pod`, of 12 bytes aligned to 4
    );

    fn two_out(first: &mut [f32], second: &mut [f32]);

    fn scale_f32(data: &mut [f32], factor: f32);

    fn scale_f64(data: &mut [f64], factor: f64);

    fn weigh(data: &mut [f32]);

    fn noisy(
        rng: &[u64], // decide: elements are `Philox`, accessed as `u64`
        data: &mut [f32],
    );

    fn histogram(bins: &[Atomic<u32>], bytes: &[u8]);

    fn add_loss(loss: &[Atomic<f32>], output: &[f32], target: &[f32]);

    fn next_token(
        tokens: &mut [u32],
        len: u32,
        stop: &[u32],
        position: &mut [u32],
        more: &mut [u32],
    );

    fn softmax(x: &[f32], exps: &mut [f32], y: &mut [f32]);

    fn shrink(
        image: &[[Texel<f32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        shrunk: &mut [f32],
    );

    fn soften(
        from: &[[Texel<f32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        to: &mut [[Surfel<u32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
    );

    fn look(
        volume: &[[[Texel<f32>; 1]; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        at: &[[f32; 4]],
        seen: &mut [f32],
    );
}
