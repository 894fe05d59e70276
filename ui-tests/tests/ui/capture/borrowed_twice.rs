//! One node gets no memory twice if it writes it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device a: [f32; 4];
        capture gemm = (&a[..3], &mut a[2..]) |stream| ();
    }
}

fn main() {}
