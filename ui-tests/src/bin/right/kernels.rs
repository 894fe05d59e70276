//! Kernels have visibility, documentation, other names, conditions, and types that are theirs alone.
#![deny(missing_docs, deprecated, unused, unreachable_pub)]
use graph_runtime::{Kernel, cuda_graph};

/// Kernels in a module of their own.
mod kernels {
    use graph_runtime::cuda_kernels;

    #[cuda_kernels("kernels/odd.ptx")]
    unsafe extern "C" {
        /// `out[i] = 1`
        #[link_name = "_Z7mangledPf"]
        #[requires(threads <= out.len())]
        pub(super) safe fn fill(out: &mut [f32]);

        /// `data[i] *= data[i]`
        #[requires(threads == 0 || threads <= data.len() && block.x.is_multiple_of(2))]
        #[requires(!(shared > 0) && grid.max(1) == (grid.x * 1) || true)]
        pub(crate) safe fn with_helper(data: &mut [f32]);

        /// Is not there, and not needed here.
        #[cfg(any())]
        pub safe fn absent(data: &mut [f32]);
    }
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = kernels::fill<<<1, 4>>>(&mut data);
        kernel square = self::kernels::with_helper<<<1, 4>>>(&mut data) after fill;
        kernel again = crate::kernels::kernels::fill<<<1, 4>>>(&mut data) after square;
    }
}

/// Compiling is the test.
pub(crate) fn main() {
    assert_eq!(kernels::fill::FACTS.entry, "_Z7mangledPf");
    let _ = Test::build;
}
