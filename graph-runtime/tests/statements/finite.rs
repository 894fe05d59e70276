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
