//! Expressions: graphs that are built where they are written, from locals.

use crate::common::*;

#[test]
fn a_graph_has_memory_and_accessors() {
    const HALF: usize = 4;
    let device = device();
    let mut graph = cuda_graph! { &device =>
        host   input: [f32; 8];
        device data: [f32; 8];
        host   output: [f32; 8];
        memcpy upload   = input -> data;
        kernel forward  = scale<<<1, HALF as u32>>>(&mut data[..HALF], 2.0, 4) after upload;
        memcpy download = data -> output after forward;
    }
    .unwrap();
    let input: &mut [f32; 8] = graph.input_mut().unwrap();
    input.fill(21.0);
    graph.launch().unwrap();
    let output: &[f32; 8] = graph.output().unwrap();
    assert_eq!(output, &[42.0, 42.0, 42.0, 42.0, 21.0, 21.0, 21.0, 21.0]);
    assert_eq!(graph.data().unwrap().read().unwrap()[0], 42.0);

    let memory = graph.memory_mut().unwrap();
    memory.input.fill(1.0);
    memory.output.fill(0.0);
    graph.forward().set_enabled(false).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.output().unwrap(), &[1.0; 8]);
    graph.synchronize().unwrap();
    assert_eq!(graph.forward().name(), "forward");
    let plan = graph.plan();
    assert_eq!((plan.nodes.len(), plan.levels(), plan.resources[1].bytes), (3, 3, 32));
}

/// Locals in lengths, launch dimensions, arguments, values and parts.
fn locals(device: &Device, n: usize, factor: f32) -> Result<Vec<f32>> {
    let (half, threads) = (n / 2, 2);
    let base = Vec::from([1.0_f32, 2.0]);
    let mut graph = cuda_graph! { device =>
        device data: [f32; n];
        host   output: [f32; n];
        memset low   = data[..half] <- base[0];
        memset high  = data[half..] <- base[1];
        kernel scale = scale<<<(n as u32).div_ceil(threads), threads>>>(&mut data, factor, n as u32) after low, high;
        memcpy down  = data -> output after scale;
    }?;
    graph.launch()?;
    drop(base); // it was only borrowed
    Ok(graph.output()?.to_vec())
}

#[test]
fn locals_and_generics_stand_in_expressions() {
    assert_eq!(locals(&device(), 4, 3.0).unwrap(), [3.0, 3.0, 6.0, 6.0]);
    assert_eq!(locals(&device(), 6, 0.5).unwrap(), [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]);
    let error = locals(&device(), 0, 0.0).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "no blocks: {error}");

    assert_eq!(generic::<4>(&device(), 1.5).unwrap(), [3.0; 4]);
    assert_eq!(generic::<2>(&device(), 2.5).unwrap(), [5.0; 2]);
}

#[test]
fn params_keep_the_locals_beside_them() {
    let device = device();
    let (offset, threads) = (1.0, 8);
    let names = Vec::from([3.0_f32]); // not `Copy`: moved into the graph
    let mut graph = cuda_graph! { &device =>
        device x: [f32; 8];
        device y: [f32; 8];
        param  value: f32 = offset;
        param  factor: f32 = 2.0;
        memset ones = x <- value + offset;
        memset base = y <- 0.5;
        kernel add  = saxpy<<<1, threads>>>(factor * names[0], &x, &mut y, 8) after ones, base;
    }
    .unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.y().unwrap().read().unwrap(), [12.5; 8]);
    graph.set_factor(1.0).unwrap();
    graph.set_value(3.0).unwrap();
    assert_eq!((graph.factor(), graph.value()), (1.0, 3.0));
    graph.launch().unwrap();
    assert_eq!(*graph.y().unwrap().read().unwrap(), [12.5; 8]);
    assert!(graph.set_value(f32::NAN).is_ok());
}

#[test]
fn buffers_are_captured_and_given_back() {
    let device = device();
    let mut input = device.alloc_host::<[f32; 8]>().unwrap();
    input.fill(1.0);
    let data = device.alloc::<[f32; 8]>().unwrap();
    let output = device.alloc_host::<[f32; 8]>().unwrap().share();
    let kept = (data.clone(), output.clone());
    let factor = 4.0;
    let mut graph = cuda_graph! { &device =>
        device sum: [f32; 8];
        memset clear    = sum <- 1.0;
        memcpy upload   = input -> data;
        kernel add      = saxpy<<<1, 8>>>(factor, &data, &mut sum, 8) after upload, clear;
        memcpy download = sum -> output after add;
        memset reset    = data[..2] <- 9.0 after add;
    }
    .unwrap();
    graph.launch().unwrap();
    assert_eq!(*graph.output().unwrap(), [5.0; 8]);
    assert_eq!(*kept.1.read().unwrap(), [5.0; 8]);
    let lent: &mut [f32; 8] = graph.input_mut().unwrap();
    lent.fill(2.0);
    graph.launch().unwrap();
    assert_eq!(graph.input().unwrap(), &[2.0; 8]);
    assert_eq!(graph.data().unwrap().read().unwrap()[..3], [9.0, 9.0, 2.0]);

    let parts = graph.into_parts().unwrap();
    let input: HostBuffer<[f32; 8]> = parts.input;
    assert_eq!(*input, [2.0; 8]);
    assert_eq!(*parts.output.read().unwrap(), [9.0; 8]);
    assert_eq!(parts.data.read().unwrap()[2], 2.0);
}

/// A reference to a buffer of unknown length.
fn indices(device: &Device, out: &DeviceBuffer<[u32]>) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        kernel fill = fill_index<<<1, out.len() as u32>>>(&mut out);
    }?;
    graph.launch()?;
    assert_eq!(graph.out()?.read_vec()?.len(), graph.into_parts()?.out.len());
    Ok(())
}

#[test]
fn captured_memory_is_checked_by_build_and_may_be_a_reference() {
    let device = device();
    let out = device.alloc_slice::<u32>(5).unwrap();
    indices(&device, &out).unwrap();
    assert_eq!(out.read_vec().unwrap(), [0, 1, 2, 3, 4]);

    let from = device.alloc_slice::<f32>(4).unwrap();
    let to = device.alloc::<[f32; 8]>().unwrap();
    let built = cuda_graph! { &device => memcpy copy = from -> to; };
    has(refused(built), &["[shape-mismatch]", "expression.rs"]);

    let data = device.alloc::<[f32; 4]>().unwrap();
    let same = data.clone();
    let built = cuda_graph! { &device => memcpy copy = data -> same; };
    refused(built).says("[aliased-argument]");
}

/// Generics of the function around the graph.
fn generic<const N: usize>(device: &Device, value: f32) -> Result<[f32; N]> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; N];
        host   output: [f32; N];
        param  start: f32 = value;
        memset set   = data <- start;
        kernel twice = scale<<<1, N as u32>>>(&mut data[..N], 2.0, N as u32) after set;
        memcpy down  = data -> output after twice;
    }?;
    graph.launch()?;
    Ok(*graph.output()?)
}

#[test]
fn graphs_stand_beside_each_other_and_go_to_other_threads() {
    let device = device();
    let graphs: Vec<f32> = (1..4)
        .map(|value| {
            let mut graph = cuda_graph! { &device =>
                host   output: f32;
                device x: f32;
                memset set  = x <- value as f32;
                memcpy down = x -> output after set;
            }
            .unwrap();
            graph.launch().unwrap();
            *graph.output().unwrap()
        })
        .collect();
    assert_eq!(graphs, [1.0, 2.0, 3.0]);

    let mut graph = cuda_graph! { &device =>
        host   output: [f32; 4];
        device x: [f32; 4];
        param  value: f32 = 1.0;
        memset set  = x <- value;
        memcpy down = x -> output after set;
    }
    .unwrap();
    let sum = std::thread::spawn(move || {
        graph.set_value(2.0).unwrap();
        graph.launch().unwrap();
        graph.output().unwrap().iter().sum::<f32>()
    });
    assert_eq!(sum.join().unwrap(), 8.0);
}

#[test]
fn bodies_and_host_functions_see_locals_too() {
    let device = device();
    let (mut calls, step) = (0, 1_u32);
    let (sender, receiver) = std::sync::mpsc::channel();
    let seen = device.alloc_host::<[u32; 4]>().unwrap();
    let mut graph = cuda_graph! { &device =>
        device flag: u32;
        device data: [u32; 4];
        memset on   = flag <- step;
        if often    = flag {
            kernel fill = fill_index<<<1, step * 4>>>(&mut data);
        } after on;
        memcpy down = data -> seen after often;
        call report = |&seen| {
            calls += 1;
            sender.send((calls, seen[3])).unwrap();
        } after down;
    }
    .unwrap();
    graph.launch().unwrap();
    graph.launch().unwrap();
    graph.synchronize().unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [(1, 3), (2, 3)]);
    assert_eq!(*graph.into_parts().unwrap().seen, [0, 1, 2, 3]);
}
