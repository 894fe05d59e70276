//! Kernels in files for several targets: each device gets the highest that it runs, and compile time checks all.

use crate::common::*;
use graph_runtime::kernel::{GridDependency, KernelFacts};
use graph_runtime::private::{check_launch, triggers};
use std::panic::catch_unwind;

#[cuda_kernels(
    "tests/kernels/tuned.ptx",
    tuned = ["tests/kernels/tuned.sm_90.ptx", "tests/kernels/tuned.sm_80.ptx"]
)]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn target_of(out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len())]
    safe fn chained(input: &[u32], out: &mut [u32]);
    #[requires(threads <= out.len())]
    safe fn paired(out: &mut [u32]);
}

cuda_graph! {
    /// `chained` waits only in the file for 9.0, and before 9.0 the edges are plain.
    graph Tuned {
        device target: [u32; 1];
        device a:      [u32; 64];
        device b:      [u32; 64];
        device c:      [u32; 64];

        kernel of     = target_of<<<1, 1>>>(&mut target);
        kernel pairs  = paired<<<2, 32>>>(&mut a);
        kernel first  = chained<<<2, 32>>>(&a, &mut b) after pairs;
        kernel second = chained<<<2, 32>>>(&b, &mut c) after programmatic(first);
    }
}

/// The target of the file that the device gets.
fn runs(device: &Device) -> Result<u32> {
    let graph = launched(Tuned::build(device))?;
    let expected: [u32; 64] = std::array::from_fn(|index| index as u32 + 2);
    assert_eq!(*graph.c()?.read()?, expected);
    let target = graph.target()?.read()?[0];
    Ok(target)
}

#[test]
fn the_files_are_ordered_by_their_targets_and_the_emulator_runs_the_first() -> Result<()> {
    assert_eq!(runs(&Device::emulator())?, 70);

    let targets = |facts: &'static KernelFacts| (facts.target, facts.tuned.iter().map(|tuned| tuned.target).collect());
    assert_eq!(targets(target_of::FACTS), ("sm_70", vec!["sm_80", "sm_90"]));
    let [old, new] = chained::FACTS.tuned else {
        panic!("two files")
    };
    assert_eq!(old.dependency, GridDependency::NONE);
    assert!(new.dependency.triggers.is_some() && new.dependency.waits.is_some());
    assert_eq!(new.source.path(), "tests/kernels/tuned.sm_90.ptx");
    assert!(triggers::<chained>() && !triggers::<paired>());
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_gpu_runs_the_highest_file_that_it_can() -> Result<()> {
    let device = cuda_device();
    let (major, _) = device.context().unwrap().compute_capability().unwrap();
    let expected = match major {
        ..8 => 70,
        8 => 80,
        9.. => 90,
    };
    assert_eq!(runs(&device)?, expected);
    Ok(())
}

#[test]
fn a_launch_keeps_the_limits_of_all_files() {
    let fault = |grid, block| {
        let checked = catch_unwind(|| check_launch::<paired>(&["k"], &["out"], &[[grid, 1, 1], [block, 1, 1]], 0, &[]));
        checked.err().map(|panic| *panic.downcast::<String>().unwrap())
    };
    assert_eq!(fault(2, 64), None);
    fault(3, 64)
        .unwrap()
        .says("is not made of whole clusters of (2, 1, 1) blocks [launch-config]");
    fault(2, 128)
        .unwrap()
        .says("over the kernel's own limit (`.maxntid`) of 64");
}

#[test]
fn a_kernel_is_one_function_however_it_is_called() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Twice");
    let mut x = builder.device::<[u32; 64]>("x");
    let mut y = builder.device::<[u32; 64]>("y");
    let start = builder.kernel("start", Launch::new(2, 32), paired::call(&mut x));
    let up = builder.kernel("up", Launch::new(2, 32), chained::call(&x, &mut y));
    let again = builder.kernel("again", Launch::new(2, 32), chained::call(&y, &mut x));
    builder.after(up, &[start]);
    builder.after_programmatic(again, &[up]);
    let mut graph = builder.build()?;
    graph.update("up", |update| {
        update.kernel(up, Launch::new(1, 64), chained::call(&x, &mut y))
    })?;
    graph.launch()?;
    assert_eq!(graph.device(&x)?.read()?[63], 65);
    Ok(())
}
