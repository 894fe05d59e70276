//! The first value that is not finite, by node: in debug mode on the GPU, and on the emulator.

use crate::common::*;

fn searching() -> Device {
    device().with_debug(DebugOptions {
        check_finite: true,
        ..Default::default()
    })
}

/// The message of a launch that fails.
#[track_caller]
fn failure(graph: &mut impl AnyGraph) -> String {
    let failed = graph.launch().and_then(|()| graph.synchronize());
    let failed = failed.expect_err("a value is not finite");
    assert!(matches!(failed, Error::Fault { .. }), "{failed:?}");
    failed.to_string()
}

cuda_graph! {
    graph Grows {
        host   input: [f32; 64];
        device rounds: [u32; 1];
        device x: [f32; 64];
        host   output: [f32; 64];

        memcpy upload = input -> x;
        memset three  = rounds <- 3;
        while again = rounds[0] {
            kernel grow = scale<<<1, 64>>>(&mut x, 1e15, 64);
            kernel less = count_down<<<1, 1>>>(&mut rounds) after grow;
        } after upload, three;
        memcpy down = x -> output after again;
    }
}

#[test]
fn the_node_and_the_element_are_named() -> Result<()> {
    let mut graph = Grows::build(&searching())?;
    graph.input_mut()?[7] = -1.0;
    let message = failure(&mut graph);
    let expected = "graph `Grows`, node `grow`: kernel `scale` wrote -inf to element 7 of `x`: the first value of the \
                    launch that is not finite";
    assert!(message.starts_with(expected), "{message}");
    assert!(!message.contains("it was given"), "{message}");

    let mut graph = Grows::build(&searching())?;
    graph.input_mut()?[63] = f32::NAN;
    let message = failure(&mut graph);
    assert!(
        message.contains("node `upload`: the memcpy wrote NaN to element 63 of `x`"),
        "{message}"
    );

    let mut graph = Grows::build(&searching())?;
    graph.input_mut()?.fill(1e-20);
    graph.launch()?;
    assert!(
        graph.output()?.iter().all(|value| (1e24..1e26).contains(value)),
        "all values are finite"
    );
    Ok(())
}

#[test]
fn values_that_a_node_was_given_are_named_too() -> Result<()> {
    let device = searching();
    let given = device.alloc::<[f32; 64]>()?;
    let mut values = [1.0; 64];
    values[5] = f32::INFINITY;
    given.copy_from(&values)?;
    let mut graph = cuda_graph! { &device =>
        device ones: [f32; 64];
        device out: [f32; 64];
        memset one = ones <- 1.0;
        kernel sum = add<<<1, 64>>>(&given, &ones, &mut out, 64) after one;
    }?;
    let message = failure(&mut graph);
    assert!(
        message.contains("node `sum`: kernel `add` wrote inf to element 5 of `out`"),
        "{message}"
    );
    assert!(
        message.contains("note: it was given `given`, of which element 5 was inf before"),
        "{message}"
    );
    Ok(())
}

#[test]
fn bits_of_other_types_are_no_values() -> Result<()> {
    let device = searching();
    let mut graph = cuda_graph! { &device =>
        device words: [u32; 64];
        memset ones = words <- u32::MAX;
    }?;
    graph.launch()?;
    graph.synchronize()
}

/// A graph that splits `x`, of which an element is infinite, into `whole` and `part`.
fn split(device: &Device, is_given: bool) -> Result<(Graph, impl Fn(&mut Graph, bool) -> Result<()> + use<>)> {
    let text = include_str!("../kernels/optional.ptx");
    let kernel = device.module(Ptx::from_text("optional.ptx", text)?)?.kernel("split")?;
    let mut builder = GraphBuilder::new(device, "Split");
    let [x, mut whole, mut part] = ["x", "whole", "part"].map(|name| builder.device::<[f32; 32]>(name));
    let mut call = move |is_given: bool, x: &Place<[f32; 32], OnDevice>| {
        let whole = if is_given { whole.write() } else { None.into() };
        // SAFETY: the kernel accesses the first 32 elements of its memory, and nothing through null.
        unsafe { kernel.call([x.read(), whole, part.write(), 32_i32.into()]) }
    };
    let node = builder.kernel("k", Launch::new(1, 32), call(is_given, &x));
    let mut graph = builder.build()?;
    let mut values = [1.5; 32];
    values[3] = f32::INFINITY;
    graph.device_mut(&x)?.copy_from(&values)?;
    let call = std::cell::RefCell::new(call);
    let give = move |graph: &mut Graph, is_given: bool| {
        let call = call.borrow_mut()(is_given, &x);
        graph.update("whole", |update| update.kernel(node, Launch::new(1, 32), call))
    };
    Ok((graph, give))
}

/// Memory that an update gives to a node is searched as that of the declaration, and memory that it takes is not.
#[test]
fn memory_that_updates_give_is_searched() -> Result<()> {
    let wrote = |name| format!("of `{name}`: the first value of the launch that is not finite");
    for is_given in [false, true] {
        let (mut graph, give) = split(&searching(), is_given)?;
        give(&mut graph, !is_given)?;
        let message = failure(&mut graph);
        let name = if is_given { "part" } else { "whole" };
        assert!(message.contains(&wrote(name)), "{message}");
        assert!(
            message.contains("note: it was given `x`, of which element 3 was inf"),
            "{message}"
        );
    }
    Ok(())
}

/// A graph that is bound to another buffer searches that one.
#[test]
fn another_buffer_is_searched() -> Result<()> {
    let device = searching();
    let buffers = [device.alloc::<[f32; 64]>()?, device.alloc::<[f32; 64]>()?];
    let mut builder = GraphBuilder::new(&device, "Bound");
    let mut data = builder.shared("data", &buffers[0], true);
    builder.kernel("grow", Launch::new(1, 64), scale::call(&mut data, 1e30, 64));
    let mut graph = builder.build()?;
    buffers[0].copy_from(&[1.0; 64])?;
    graph.launch()?;
    graph.synchronize()?;
    buffers[1].copy_from(&[1e30; 64])?;
    graph.rebind(&data, &buffers[1])?;
    let message = failure(&mut graph);
    assert!(message.contains("wrote inf to element 0 of `data`"), "{message}");
    Ok(())
}
