use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[for_each(T = f32 => "scale_f32", f64 => "scale_f64")]
    safe fn scale<T>(data: &[T], factor: T);
}

fn main() {}
