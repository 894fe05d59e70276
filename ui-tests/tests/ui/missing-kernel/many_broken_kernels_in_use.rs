//! A kernel with a mistake keeps its type and its call: whoever launches it gets no further errors.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn wriet(out: &mut [f32]);
    #[requires(n <= dtaa.len())]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
    #[requires(threads <= out.len())]
    safe fn read(input: &[f32], out: *mut f32);
    safe fn tile(data: &[[f32; 16]; 16]);
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device square: [[f32; 16]; 16];
        kernel first = wriet<<<1, 8>>>(&mut data);
        kernel second = scaled<<<1, 4>>>(&mut data, 2.0, 8) after first;
        kernel third = read<<<1, 8>>>(&data, 0) after second;
        kernel fourth = tile<<<1, (16, 16)>>>(&square);
    }
}

fn main() {}
