use graph_runtime::cuda_kernels;

mod proved {
    use super::*;

    #[cuda_kernels("../../../kernels/ui.ptx", prove)]
    unsafe extern "C" {
        safe fn scaled(data: &mut [f32], factor: f32, n: u32);
    }
}

mod promised {
    use super::*;

    #[cuda_kernels("../../../kernels/ui.ptx")]
    unsafe extern "C" {
        #[requires(n <= data.len() + 1)]
        safe fn scaled(data: &mut [f32], factor: f32, n: u32);
    }
}

fn main() {}
