use graph_runtime::{Element, cuda_kernels};

#[cuda_kernels("kernels/ui.ptx")]
unsafe extern "C" {
    #[for_each(T = f32 => "scale_f32", f64 => "scale_f64")]
    safe fn scale<T: Element>(data: &mut [T], factor: T);
}

fn main() {}
