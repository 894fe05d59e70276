//! `#[allow(..)]` silences warnings, not mistakes.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        memset first = b <- 1.0;
        #[allow(programmatic_edge)]
        kernel last  = chained<<<4, 256>>>(&b, &mut c)  after programmatic(first);
        kernel other = write<<<4, 256>>>(&mut a);
    }
}

fn main() {}
