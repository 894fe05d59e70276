use graph_runtime::{Atomic, Surfel, Texel, cuda_kernels};

#[cuda_kernels("../docs/kernels/samples.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(threads <= out.len())]
    safe fn write(out: &mut [f32]);

    #[requires(threads <= input.len() && threads <= out.len())]
    safe fn read(input: &[f32], out: &mut [f32]);

    #[requires(n <= data.len())]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);

    #[requires(threads <= data.len())]
    safe fn with_struct(
        data: &mut [f32],
        p: [u32; 3], // decide: `Params`: a `#[repr(C)]` struct that is `Pod`, of 12 bytes aligned to 4
    );

    #[requires(threads <= first.len() && threads <= second.len())]
    safe fn two_out(first: &mut [f32], second: &mut [f32]);

    #[requires(threads <= data.len())]
    safe fn scale_f32(data: &mut [f32], factor: f32);

    #[requires(threads <= data.len())]
    safe fn scale_f64(data: &mut [f64], factor: f64);

    #[requires(threads <= data.len())]
    safe fn weigh(data: &mut [f32]);

    #[requires(2 <= rng.len() && threads <= data.len())]
    safe fn noisy(
        rng: &[u64], // decide: elements are `Philox`, accessed as `u64`
        data: &mut [f32],
    );

    #[requires(threads <= bytes.len() && 256 <= bins.len())]
    safe fn histogram(bins: &[Atomic<u32>], bytes: &[u8]);

    #[requires(threads <= output.len() && threads <= target.len() && 1 <= loss.len())]
    safe fn add_loss(loss: &[Atomic<f32>], output: &[f32], target: &[f32]);

    #[requires(1 <= position.len() && len <= tokens.len() && 1 <= stop.len() && 1 <= more.len())]
    safe fn next_token(
        tokens: &mut [u32],
        len: u32,
        stop: &[u32],
        position: &mut [u32],
        more: &mut [u32],
    );

    #[requires(64 * grid.x <= x.len() && threads <= x.len() && threads <= exps.len() && 64 * grid.x <= exps.len() && threads <= y.len())]
    safe fn softmax(x: &[f32], exps: &mut [f32], y: &mut [f32]);

    #[requires(threads <= shrunk.len())]
    safe fn shrink(
        image: &[[Texel<f32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        shrunk: &mut [f32],
    );

    safe fn soften(
        from: &[[Texel<f32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        to: &mut [[Surfel<u32>; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
    );

    #[requires(threads <= at.len() && threads <= seen.len())]
    safe fn look(
        volume: &[[[Texel<f32>; 1]; 1]], // decide: for 1, the texels of a row; texels have 1, 2 or 4 numbers
        at: &[[f32; 4]],
        seen: &mut [f32],
    );
}
