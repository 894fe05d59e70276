//! What a kernel does is vouched for by `unsafe`: only `#[cuda_kernels]` implements `Kernel` without the user's own.
use graph_runtime::{Kernel};
use graph_runtime::kernel::{KernelFacts};

enum Mine {}

impl Kernel for Mine {
    const FACTS: &'static KernelFacts = <ui_tests::write as Kernel>::FACTS;
}

fn main() {}
