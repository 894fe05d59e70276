//! Graphs that are nodes of themselves, or of each other.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Endless<const N: usize> {
        device data: [f32; N];
        graph again = Endless::<N>(data: &mut data);
    }
    graph First {
        device data: [f32; 4];
        for i in 0..2 {
            graph second = Second(data: &mut data);
        }
    }
    graph Second {
        device data: [f32; 4];
        graph first = First(data: &mut data);
    }
}

fn main() {}
