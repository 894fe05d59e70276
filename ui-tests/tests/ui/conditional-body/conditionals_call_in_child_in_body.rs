//! A child with a node that no conditional body may hold, also in a child of its own.
use graph_runtime::cuda_graph;

cuda_graph! {
    pub graph Count {
        host number: u32;
        call count = |&mut number| *number += 1;
    }
}

cuda_graph! {
    graph Both {
        host numbers: [u32; 2];
        graph first = Count(number: &mut numbers[0]);
        graph second = Count(number: &mut numbers[1]);
    }
    graph Test {
        host numbers: [u32; 2];
        device flag: u32;
        if maybe = flag {
            graph both = Both(numbers: &mut numbers);
        };
    }
}

fn main() {}
