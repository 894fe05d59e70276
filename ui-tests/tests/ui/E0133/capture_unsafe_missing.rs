//! Cudarc's stream runs its functions at once; captured they do not, and that is the author's duty.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| {
            stream.cudarc().memset_zeros(&mut stream.slice_mut::<f32, _>(&data))
        };
    }
}

fn main() {}
