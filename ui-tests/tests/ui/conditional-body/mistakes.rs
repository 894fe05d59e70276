//! Mistakes of the code `conditional-body`.
use graph_runtime::cuda_graph;

// A child in a body may hold a capture, but no raw node.
cuda_graph! {
    pub graph Calls {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| ();
        raw by_hand = unsafe (&mut data) |_graph, after| after[0] after calls;
    }
}

cuda_graph! {
    graph RawInCapturedChildInBody {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            graph inner = Calls(data: &mut data);
        };
    }
}

// A child with a node that no conditional body may hold, also in a child of its own.
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
    graph CallInChildInBody {
        host numbers: [u32; 2];
        device flag: u32;
        if maybe = flag {
            graph both = Both(numbers: &mut numbers);
        };
    }
}

// Nobody knows what nodes a `raw` node adds, so it is in no conditional body.
cuda_graph! {
    graph InBody {
        device flag: u32;
        memset on = flag <- 1_u32;
        if maybe = flag {
            raw by_hand = unsafe () |graph, after| std::ptr::null_mut();
        } after on;
    }
}

fn main() {}
