//! Implementing `Kernel` by hand needs `unsafe`, which vouches for what the kernel does.
use graph_runtime::Kernel;
use graph_runtime::kernel::KernelFacts;

enum Mine {}

impl Kernel for Mine {
    const FACTS: &'static KernelFacts = <ui_tests::write as Kernel>::FACTS;
}

fn main() {}
