//! A call of a kernel is made by the kernel itself, which checks the arguments' types.
use graph_runtime::KernelCall;

fn main() {
    let _ = KernelCall::new::<ui_tests::write>([]);
}
