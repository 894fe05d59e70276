//! One function gets no memory twice if it writes it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host data: [f32; 4];
        call mix = |&data, &mut data| ();
    }
}

fn main() {}
