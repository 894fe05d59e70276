//! A child in a body may hold a capture, but no raw node.
use graph_runtime::cuda_graph;

cuda_graph! {
    pub graph Calls {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| ();
        raw by_hand = unsafe (&mut data) |_graph, after| after[0] after calls;
    }
}

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            graph inner = Calls(data: &mut data);
        };
    }
}

fn main() {}
