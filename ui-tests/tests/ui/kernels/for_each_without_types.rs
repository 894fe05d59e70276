use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[for_each(T)]
    safe fn scale<T>(data: &mut [T], factor: T);
}

fn main() {}
