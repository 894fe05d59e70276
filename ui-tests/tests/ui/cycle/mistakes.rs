//! Mistakes of the code `cycle`.
use graph_runtime::cuda_graph;

// Graphs that are nodes of themselves, or of each other.
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

// Each cycle is one mistake.
cuda_graph! {
    graph TwoCycles {
        join a after b;
        join b after a;
        join c after a, d;
        join d after c;
    }
}

fn main() {}
