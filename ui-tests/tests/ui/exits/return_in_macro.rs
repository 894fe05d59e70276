//! A `return` in a macro's tokens is reported, since it is not known what the macro makes of them.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [usize; 4];
        for i in 0..4 {
            memset set = data[i] <- dbg!(if i == 3 { return Ok(()) } else { i });
        }
    }
}

fn main() {}
