//! Mistakes in host functions.
use graph_runtime::cuda_graph;
use std::rc::Rc;

// Host functions run on threads of CUDA's.
cuda_graph! {
    graph NotSend(counter: Rc<u32>) {
        call count = || assert_eq!(*counter, 1);
    }
}

// A host function returns nothing, so it has no error to return.
cuda_graph! {
    graph QuestionMark {
        host text: [u8; 4];
        call parse = |&text| {
            std::str::from_utf8(text)?;
        };
    }
}

fn main() {}
