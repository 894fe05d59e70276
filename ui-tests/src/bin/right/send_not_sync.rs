//! A graph may go to another thread, but not be in two at once: it is `Send`, not `Sync`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<T> {
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

trait Ambiguous<Marker> {
    fn not_sync() {}
}

impl<T> Ambiguous<()> for T {}
impl<T: Sync> Ambiguous<u8> for T {}

fn send<T: Send>() {}

pub(crate) fn main() {
    send::<Test<*mut u8>>();
    // Compiles while only one implementation applies: were `Test` also `Sync`, the marker could be either.
    <Test<u8> as Ambiguous<_>>::not_sync();
}
