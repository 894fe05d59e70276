//! Loops: the order of iterations, their number, loops in loops, and handles of their nodes.

use crate::common::*;

/// Changes `to` as the kernel [`mix`] does.
pub(crate) fn mixed<const N: usize>(from: [u32; N], to: &mut [u32; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.wrapping_mul(31).wrapping_add(from).wrapping_add(1);
    }
}

/// Numbers that all differ.
fn weights<const N: usize, const LAYERS: usize>() -> [[u32; N]; LAYERS] {
    std::array::from_fn(|layer| std::array::from_fn(|index| (layer * N + index) as u32 * 7 + 3))
}

cuda_graph! {
    /// `LAYERS` layers, each with weights of its own; `trace` has what is between them.
    graph Layers<const LAYERS: usize> {
        host   input:   [u32; 4];
        host   output:  [u32; 4];
        host   trace:   [[u32; 4]; LAYERS];
        device weights: [[u32; 4]; LAYERS];
        device data:    [u32; 4];
        device other:   [u32; 4];

        memcpy upload = input -> data;
        memset clear = other <- 0;
        for layer in 0..LAYERS {
            /// The weights into the data.
            kernel weigh = mix<<<1, 4>>>(&weights[layer], &mut data) after upload;
            kernel fold = mix<<<1, 4>>>(&data, &mut other)           after weigh, clear;
            kernel back = mix<<<1, 4>>>(&other, &mut data)           after fold;
            memcpy keep = data -> trace[layer]                       after back;
        }
        memcpy download = data -> output after back;
    }
}

fn layers<const LAYERS: usize>(input: [u32; 4]) -> [[u32; 4]; LAYERS] {
    let (mut data, mut other) = (input, [0; 4]);
    weights::<4, LAYERS>().map(|weights| {
        mixed(weights, &mut data);
        mixed(data, &mut other);
        mixed(other, &mut data);
        data
    })
}

fn layers_are_right<const LAYERS: usize>(device: &Device) -> Result<()> {
    let mut graph = Layers::<LAYERS>::build(device)?;
    graph.weights_mut()?.copy_from(&weights())?;
    for input in [[1, 2, 3, 4], [9; 4]] {
        *graph.input_mut()? = input;
        graph.launch()?;
        let expected = layers::<LAYERS>(input);
        assert_eq!(graph.output()?, expected.last().unwrap_or(&input));
        assert_eq!(graph.trace()?, &expected);
    }
    Ok(())
}

#[test]
fn layers_run_one_after_the_other_and_are_once_in_the_plan() -> Result<()> {
    for seed in 0..3 {
        layers_are_right::<24>(&shuffling(seed))?;
    }

    layers_are_right::<1>(&shuffling(3))?;
    layers_are_right::<2>(&shuffling(4))?;

    let plan = Layers::<24>::PLAN;
    let names: Vec<_> = plan.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["upload", "clear", "weigh", "fold", "back", "keep", "download"]);
    assert_eq!(*plan.loops, [PlanLoop::new("layer", None)]);
    let repeated = |node: &PlanNode| node.in_loop;
    let inside: Vec<_> = plan.nodes.iter().map(repeated).collect();
    assert_eq!(inside, [None, None, Some(0), Some(0), Some(0), Some(0), None]);
    assert!(plan.to_dot().contains("label=\"for layer\";"), "{}", plan.to_dot());
    Ok(())
}

cuda_graph! {
    /// As many layers as `build` is told.
    graph Counted(n: usize) {
        device weights: [[u32; 2]; n];
        device data: [u32; 2];
        memset first = data <- 1;
        for i in 0..n {
            kernel weigh = mix<<<1, 2>>>(&weights[i], &mut data) after first;
            kernel number = add_to<<<1, 1>>>(&mut data[..1], i as u32 + 1) after weigh;
        }
        kernel last = add_to<<<1, 2>>>(&mut data, 100) after number;
    }
}

fn counted(n: usize) -> [u32; 2] {
    let mut data = [1; 2];
    for i in 0..n {
        mixed([0; 2], &mut data);
        data[0] = data[0].wrapping_add(i as u32 + 1);
    }
    data.map(|value| value.wrapping_add(100))
}

#[test]
fn build_says_how_many_iterations_there_are() -> Result<()> {
    for n in [1, 2, 7, 40] {
        let graph = launched(Counted::build(&shuffling(n as u64), n))?;
        assert_eq!(*graph.data()?.read()?, counted(n), "{n} layers");
    }

    for seed in 0..8 {
        let mut graph = Counted::build(&shuffling(seed), 0)?; // else a race of `first` and `last`
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, counted(0));
    }
    Ok(())
}

cuda_graph! {
    /// Loops in a loop: the inner ones have no iterations where `i` is 0, and more after that.
    graph Nested(rows: usize) {
        device data: [u32; 4];
        device seen: [u32; 16];
        memset clear = data <- 0;
        memset none = seen <- 0;
        for i in 0..rows {
            kernel begin = add_to<<<1, 4>>>(&mut data, 1 + i as u32) after clear;
            for j in 1..=i {
                kernel inner = mix<<<1, 1>>>(&data[j - 1..j], &mut data[j..j + 1]) after begin;
            }
            for j in 0..i {
                memcpy save = data[j] -> seen[4 * i + j] after inner, none;
            }
            kernel end = add_to<<<1, 4>>>(&mut data, 10) after save;
        }
        kernel done = add_to<<<1, 4>>>(&mut data, 5) after end;
    }
}

fn nested(rows: usize) -> ([u32; 4], [u32; 16]) {
    let (mut data, mut seen) = ([0_u32; 4], [0; 16]);
    let add = |data: &mut [u32; 4], value: u32| data.iter_mut().for_each(|data| *data = data.wrapping_add(value));
    for i in 0..rows {
        add(&mut data, 1 + i as u32);
        for j in 1..=i {
            let (from, mut to) = ([data[j - 1]], [data[j]]);
            mixed(from, &mut to);
            data[j] = to[0];
        }
        seen[4 * i..4 * i + i].copy_from_slice(&data[..i]);
        add(&mut data, 10);
    }
    add(&mut data, 5);
    (data, seen)
}

#[test]
fn loops_nest_and_handles_take_the_numbers_of_the_iterations() -> Result<()> {
    for rows in 0..=4 {
        for seed in 0..3 {
            let graph = launched(Nested::build(&shuffling(seed), rows))?;
            let found = (*graph.data()?.read()?, *graph.seen()?.read()?);
            assert_eq!(found, nested(rows), "{rows} rows");
        }
    }

    let mut graph = Nested::build(&device(), 3)?;
    for error in [
        graph.begin(3).set_enabled(false).unwrap_err(),
        graph.inner(1, 2).set_enabled(false).unwrap_err(),
        graph.inner(0, 0).set_enabled(false).unwrap_err(), // without iterations, a join takes its place
        graph.save(usize::MAX, 0).set_enabled(false).unwrap_err(),
    ] {
        assert!(matches!(error, Error::UnknownNode { .. }), "{error:?}");
    }
    refused(graph.inner(1, 2).set_enabled(false)).reads(
        "graph `Nested`, node `inner[1][2]`: the loop around it has no such iteration; the node is repeated 3 times",
    );
    let missing = graph.begin(3);
    assert_eq!((missing.name(), missing.is_enabled()), ("", false));

    let mut graph = Nested::build(&device(), 3)?;
    assert_eq!(graph.clear().name(), "clear");
    assert_eq!(graph.begin(2).name(), "begin[2]");
    assert_eq!(graph.inner(2, 1).name(), "inner[2][1]");
    assert_eq!(graph.save(1, 0).name(), "save[1][0]");
    assert_eq!(graph.done().name(), "done");
    assert!(graph.end(0).is_enabled());
    graph.begin(0).set_enabled(false)?;
    graph.inner(1, 1).set_enabled(false)?;
    graph.inner(2, 1).set_enabled(false)?;
    graph.inner(2, 2).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [2 + 3 + 3 * 10 + 5; 4]);
    Ok(())
}
