use graph_runtime::{Atomic, cuda_kernels};

#[cuda_kernels("../examples/kernels/mlp.ptx")]
unsafe extern "C" {
    // Graphs launch kernels that are not `safe` by `unsafe`. Each `safe fn` here is proved, and `prove` after the
    // path keeps it so. Make others `safe` if `#[requires(..)]`s keep them within their memory.

    #[requires(outputs <= b.len() && inputs * outputs <= w.len() && grid.x * inputs <= x.len() && grid.x * outputs <= y.len())]
    safe fn linear(
        x: &[f32],
        w: &[f32],
        b: &[f32],
        y: &mut [f32],
        inputs: u32,
        outputs: u32,
        relu: u32,
    );

    #[requires(n <= target.len() && n <= y.len() && n <= dy.len() && 1 <= loss.len())]
    safe fn squared_error(y: &[f32], target: &[f32], dy: &mut [f32], loss: &[Atomic<f32>], n: u32);

    #[requires(inputs * outputs <= w.len() && grid.x * outputs <= dy.len() && grid.x * inputs <= x.len() && grid.x * inputs <= dx.len())]
    safe fn gradient(dy: &[f32], w: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32);

    #[requires(rows * inputs <= x.len() && grid.x * rows <= dy.len() && grid.x * inputs <= w.len() && grid.x <= b.len())]
    safe fn descend(
        dy: &[f32],
        x: &[f32],
        w: &mut [f32],
        b: &mut [f32],
        rate: f32,
        rows: u32,
        inputs: u32,
    );
}
