//! Kernels of any order access mapped memory, as do children and loops.
use graph_runtime::cuda_graph;
use ui_tests::announce;

cuda_graph! {
    graph Inner {
        mapped news: [u32; 4];
        kernel one = announce<<<1, 4>>>(&news, 1);
        kernel other = announce<<<1, 4>>>(&news, 2);
    }

    graph Outer(n: usize) {
        mapped news: [u32; 4];
        mapped more: [[u32; 4]; n];
        graph first = Inner(news: &news);
        graph second = Inner(news: &news);
        each i in 0..n {
            kernel tell = announce<<<1, 4>>>(&more[i], 3);
            kernel all = announce<<<1, 1>>>(&news, 4);
        }
    }
}

pub(crate) fn main() {
    let _: fn(&Outer) -> graph_runtime::Result<graph_runtime::MappedHost<u32>> = Outer::more;
}
