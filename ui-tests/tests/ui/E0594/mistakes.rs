//! Mistakes that rustc reports as E0594.
use graph_runtime::cuda_graph;

// A function only reads memory that it borrows with `&`.
cuda_graph! {
    graph BorrowedToRead {
        host output: [f32; 4];
        call fill = |&output| output[0] = 1.0;
    }
}

// A view of `&x` cannot be written.
cuda_graph! {
    graph CallWritesInput(n: usize, d: usize) {
        host data: [[u32; d]; n];
        call fill = |&data| data[0][0] = 1;
    }
}

fn main() {}
