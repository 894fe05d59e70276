//! Kernels that are proved, and access several elements at once: their memory begins where they can.

use crate::common::*;
use std::array;

#[cuda_kernels("tests/kernels/aligned.ptx", prove)]
unsafe extern "C" {
    #[requires(4 * n <= from.len() && 4 * n <= to.len())]
    safe fn copy4(from: &[f32], to: &mut [f32], n: u32);
}

cuda_graph! {
    graph Copied(n: usize, from: device [f32; n]) {
        device to: [f32; 16];
        memset clear = to <- 0.0;
        kernel copy  = copy4<<<1, 2>>>(&from, &mut to[4..12], 2) after clear;
    }
}

cuda_graph! {
    graph Shifted {
        device from: [f32; 16];
        device to:   [f32; 8];
        device same: [f32; 8];
        memset fill = from <- 1.0;
        kernel good = copy4<<<1, 2>>>(&from[4..12], &mut same, 2) after fill;
        kernel copy = copy4<<<1, 2>>>(&from[1..9], &mut to, 2)    after fill;
    }
}

const INPUT: [f32; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

cuda_graph! {
    graph Empty {
        device from: [f32; 16];
        device to:   [f32; 8];
        memset fill = from <- 1.0;
        memset done = to <- 2.0;
        kernel copy = copy4<<<1, 2>>>(&from[1..1], &mut to[7..7], 0) after fill, done;
    }
}

/// Memory without elements is never accessed.
#[test]
fn empty_parts_begin_anywhere() -> Result<()> {
    let mut graph = Empty::build(&device())?;
    graph.launch()?;
    assert_eq!(*graph.to()?.read()?, [2.0; 8]);
    Ok(())
}

#[test]
fn parts_that_begin_elsewhere_are_refused() {
    let message = Shifted::build(&device()).unwrap_err().to_string();
    assert_eq!(
        message,
        "graph `Shifted` has 1 mistake\n\
         node `copy` passes memory of `from` from an address on that is no multiple of 16, but the kernel `copy4` \
         accesses 16 bytes of it at once [contract]\n\
         note: on a GPU such an access is a fault, and the proof of the kernel assumes that there is none\n\
         help: pass `from` from its beginning, or a part of it that begins at a multiple of 16 bytes"
    );
}

fn run(graph: &mut Copied) -> Result<()> {
    graph.launch()?;
    graph.synchronize()
}

/// The plan does not know where memory of others begins. On the emulator, such an access is a fault.
#[test]
fn views_that_begin_elsewhere_are_refused() -> Result<()> {
    refuses_views_that_begin_elsewhere(&device())?;
    refuses_views_that_begin_elsewhere(&device().with_debug(DebugOptions::default()))
}

fn refuses_views_that_begin_elsewhere(device: &Device) -> Result<()> {
    let memory = device.alloc_slice::<f32>(17)?;
    memory.copy_from(&array::from_fn::<f32, 17, _>(|i| i as f32))?;
    let good = device.alloc_slice::<f32>(8)?;
    good.copy_from(&INPUT)?;
    let mut graph = Copied::build(device, 8, &good)?;
    graph.launch()?;
    let copied = |graph: &mut Copied| -> Result<[f32; 8]> { Ok(graph.to()?.read()?[4..12].try_into().unwrap()) };
    assert_eq!(copied(&mut graph)?, INPUT);
    let is_told = |refused: Result<()>| {
        let message = refused.unwrap_err().to_string();
        let told = if device.is_emulator() {
            "misaligned"
        } else {
            "no multiple of 16"
        };
        assert!(message.contains("`copy`") && message.contains(told), "{message}");
    };
    for start in [1, 2, 3, 5] {
        let view = memory.rows(start..start + 8)?;
        is_told(Copied::build(device, 8, &view).and_then(|mut graph| run(&mut graph)));
        is_told(graph.rebind_from(&view).and_then(|()| run(&mut graph)));
    }
    graph.rebind_from(&memory.rows(4..12)?)?;
    graph.launch()?;
    assert_eq!(copied(&mut graph)?, array::from_fn(|i| i as f32 + 4.0));
    Ok(())
}
