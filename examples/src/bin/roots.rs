//! A loop on the GPU: Newton's method for square roots, until they have converged, in one launch.
//!
//! A kernel sets the condition of the `while`; at the end, a `call` tells the host that the loop has ended. It runs on
//! the first CUDA device, or on the CPU emulator if there is none; conditional nodes need a driver of CUDA 12.3.

use examples::compare::near;
use examples::program::start;
use graph_runtime::{BoxError, cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/roots.ptx")]
unsafe extern "C" {
    /// A step towards `x[i] = sqrt(a[i])` for the first `n`; `more` becomes 1 if some `x[i]` still moved by more than
    /// `tolerance` of its value
    #[requires(n <= threads && n <= a.len() && n <= x.len())]
    safe fn newton(a: &[f32], x: &mut [f32], more: &mut u32, tolerance: f32, n: u32);
}

cuda_graph! {
    /// The square roots of `input`, to within about `tolerance` of them.
    graph Roots<const N: usize> {
        host   input:     [f32; N];
        host   output:    [f32; N];
        device a:         [f32; N];
        device x:         [f32; N];
        device more:      u32;
        param  tolerance: f32 = 1e-3;

        memcpy upload   = input -> a;
        memset guess    = x <- 1.0;
        memset start    = more <- 1;
        while  refine   = more {
            memset stop = more <- 0;
            kernel step = newton<<<N.div_ceil(128), 128>>>(&a, &mut x, &mut more, tolerance, N as u32)  after stop;
        } after upload, guess, start;
        memcpy download = x -> output  after refine;
        call   report   = |&output| println!("results: {:?} ...", &output[..4])  after download;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Roots::<1000>::PLAN])?;
    let mut graph = Roots::<1000>::build(&device)?;
    for (index, number) in graph.input_mut()?.iter_mut().enumerate() {
        *number = index as f32 + 1.0;
    }
    graph.launch()?;
    graph.set_tolerance(1e-6)?; // for later launches
    graph.launch()?;
    let expected = graph.input()?.map(f32::sqrt);
    near("roots", graph.output()?, &expected, |root| 1e-5 * root)?;
    println!("check:   {} roots, all as on the CPU", graph.output()?.len());
    Ok(())
}
