//! Kernels of a CUDA source: it is read when the program is compiled, and compiled when a graph is built.
use graph_runtime::{cuda_graph, cuda_kernels};
use ui_tests::Params;

#[cuda_kernels(cuda = "kernels/ui.cu", options = ["--use_fast_math", "-DN=4"])]
unsafe extern "C" {
    /// Documented.
    #[requires(threads <= out.len())]
    pub safe fn write(out: &mut [f32]);
    fn with_struct(data: &mut [f32], p: Params);
    #[link_name = "tile"]
    safe fn tiles(data: &mut [[f32; 16]; 16]);
    #[cfg(any())]
    safe fn left_out(out: &mut [f32]);
}

mod without_options {
    #[super::cuda_kernels(cuda = "kernels/ui.cu")]
    unsafe extern "C" {
        pub safe fn write(out: &mut [f32]);
    }
}

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; N];
        device square: [[f32; 16]; 16];
        param a: f32 = 1.0;

        kernel fill = write<<<1, N>>>(&mut data);
        kernel other = without_options::write<<<1, N>>>(&mut data) after fill;
        kernel scaled = unsafe with_struct<<<1, N>>>(&mut data, Params { a, b: 0.0, n: N as u32 }) after other;
        kernel tiled = tiles<<<1, (16, 16)>>>(&mut square);
    }
}
