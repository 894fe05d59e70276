//! Kernels that are given as loaded functions of cudarc's. Only CUDA has those.

use crate::common::*;
use graph_runtime::cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::sync::Arc;

fn load(context: &Arc<CudaContext>) -> Arc<CudaModule> {
    let ptx = Ptx::from_src(include_str!("../kernels/test_kernels.ptx"));
    context.load_module(ptx).expect("the module loads")
}

/// A kernel of `test_kernels.ptx`, in a module that nobody else holds.
fn function(device: &Device, name: &str) -> CudaFunction {
    load(context(device)).load_function(name).expect("the kernel is there")
}

cuda_graph! {
    graph Loaded(scale: CudaFunction, add: Arc<CudaFunction>) {
        host   input:  [f32; 64];
        device data:   [f32; 64];
        device sums:   [f32; 64];
        host   output: [f32; 64];
        param  factor: f32 = 2.0;
        param  count:  u32 = 64;

        memcpy upload   = input -> data;
        // SAFETY: `scale` writes the first `n` elements of its buffer, which has as many.
        kernel scaled   = unsafe (&scale)<<<1, 64>>>(&mut data, factor, 64_u32)        after upload;
        // SAFETY: as above.
        kernel again    = unsafe (scale)<<<1, count>>>(&mut data[..32], factor, 32_u32) after scaled;
        // SAFETY: `add` reads and writes the first `n` elements of its buffers, which have as many.
        kernel summed   = unsafe (add)<<<1, 64>>>(&data, &data, &mut sums, 64_u32)      after again;
        memcpy download = sums -> output                                               after summed;
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn functions_run_and_their_arguments_change() -> Result<()> {
    let device = cuda_device();
    // The graph alone keeps the modules loaded.
    let (scale, add) = (function(&device, "scale"), Arc::new(function(&device, "add")));
    let mut graph = Loaded::build(&device, scale, add)?;
    *graph.input_mut()? = counting();
    graph.launch()?;
    let expected = |first: f32, second: f32| std::array::from_fn(|i| i as f32 * if i < 32 { first } else { second });
    assert_eq!(graph.output()?, &expected(8.0, 4.0));
    graph.set_factor(3.0)?;
    graph.launch()?;
    assert_eq!(graph.output()?, &expected(18.0, 6.0));
    graph.set_count(16)?;
    graph.launch()?;
    let output = graph.output()?;
    let found = (output[15], output[16], output[40]);
    assert_eq!(found, (270.0, 96.0, 240.0)); // 16 threads scale 16 elements again
    assert!(graph.set_count(0).is_err()); // dimensions are checked as for declared kernels
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn builders_take_them_too() -> Result<()> {
    let device = cuda_device();
    let fill = function(&device, "fill_index");
    let mut builder = GraphBuilder::new(&device, "Loaded");
    let mut out = builder.device::<[u32; 64]>("out");
    // SAFETY: `fill_index` writes one element a thread, and there are 64 of each.
    let call = unsafe { KernelCall::loaded(&fill, [CallArgument::write(&mut out)]) };
    let node = builder.kernel("fill", Launch::new(1, 64), call);
    let mut graph = launched(builder.build())?;
    assert_eq!(*graph.device(&out)?.read()?, std::array::from_fn(|i| i as u32));

    let other = function(&device, "fill_index");
    // SAFETY: as above.
    let call = unsafe { KernelCall::loaded(&other, [CallArgument::write(&mut out)]) };
    let updated = graph.update("fill", |update| update.kernel(node, Launch::new(1, 64), call));
    // One of another module.
    refused(updated).reads("graph `Loaded`, node `fill`: an update cannot change which kernel a node launches");
    Ok(())
}

/// The error of building a graph with one launch of `scale`.
fn refusal<const N: usize>(device: &Device, function: &CudaFunction, arguments: [CallArgument; N]) -> Error {
    let mut builder = GraphBuilder::new(device, "Loaded");
    let mut data = builder.device::<[f32; 64]>("data");
    let mut all = vec![CallArgument::write(&mut data)];
    all.extend(arguments);
    let launch = Launch::new(1, 64);
    match all.len() {
        2 => {
            let all: [CallArgument; 2] = all.try_into().expect("two");
            // SAFETY: the graph is not built.
            builder.kernel("scaled", launch, unsafe { KernelCall::loaded(function, all) });
        }
        _ => {
            let all: [CallArgument; 3] = all.try_into().expect("three");
            // SAFETY: the graph is not built.
            builder.kernel("scaled", launch, unsafe { KernelCall::loaded(function, all) });
        }
    }
    builder.build().expect_err("the graph has a mistake")
}

#[test]
#[ignore = "needs a CUDA device"]
fn functions_of_other_parameters_or_contexts_are_refused() {
    let device = cuda_device();
    let scale = function(&device, "scale");
    let (factor, count) = (CallArgument::value(2.0_f32), CallArgument::value(64_u32));
    let message = "graph `Loaded` has 1 mistake\n\
         node `scaled`: the `CudaFunction` takes 3 parameters, but 2 arguments are passed [signature]\n\
         help: pass the parameters of the CUDA kernel, in order and of the same types";
    assert_eq!(refusal(&device, &scale, [factor]).to_string(), message);
    let wide = CallArgument::value(2.0_f64);
    let text = refusal(&device, &scale, [wide, count]).to_string();
    let expected = "node `scaled`: the `CudaFunction` takes 4 bytes as argument 1, but 8 are passed [signature]";
    assert_eq!(text.lines().nth(1), Some(expected));

    let other = CudaContext::new_non_primary(0, 0).expect("a second context");
    let foreign = load(&other).load_function("scale").expect("the kernel is there");
    let arguments = || [CallArgument::value(2.0_f32), CallArgument::value(64_u32)];
    let expected = "graph `Loaded`: a `CudaFunction` belongs to another context than the graph's device";
    assert_eq!(refusal(&device, &foreign, arguments()).to_string(), expected);
    refusal(&Device::emulator(), &function(&device, "scale"), arguments()).reads(
        "graph `Loaded`, node `scaled`: the CPU emulator runs PTX, which a loaded `CudaFunction` no longer has; declare the kernel with \
         `#[cuda_kernels]`"
    );
}
