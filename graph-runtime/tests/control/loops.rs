//! `for`, declared and built call by call: on the emulator, or on the GPU with `CUDA_GRAPH_TEST_DEVICE=cuda`.

use crate::common::{add_late, add_to, device, mix, shuffling};
use graph_runtime::{Device, Error, GraphBuilder, Launch, NodeId, NodeKind, PlanLoop, PlanNode, Result, cuda_graph};

/// What the kernel [`mix`] does.
fn mixed<const N: usize>(from: [u32; N], to: &mut [u32; N]) {
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
fn each_layer_runs_after_the_one_before() -> Result<()> {
    for seed in 0..3 {
        layers_are_right::<24>(&shuffling(seed))?;
    }
    Ok(())
}

#[test]
fn one_iteration_is_as_if_there_were_no_loop() -> Result<()> {
    layers_are_right::<1>(&shuffling(3))?;
    layers_are_right::<2>(&shuffling(4))
}

#[test]
fn the_plan_has_each_node_once() {
    let plan = Layers::<24>::PLAN;
    let names: Vec<_> = plan.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["upload", "clear", "weigh", "fold", "back", "keep", "download"]);
    assert_eq!(*plan.loops, [PlanLoop::new("layer", None)]);
    let repeated = |node: &PlanNode| node.repeated;
    let inside: Vec<_> = plan.nodes.iter().map(repeated).collect();
    assert_eq!(inside, [None, None, Some(0), Some(0), Some(0), Some(0), None]);
    assert!(plan.to_dot().contains("label=\"for layer\";"), "{}", plan.to_dot());
}

#[test]
fn a_loop_is_what_its_iterations_are_when_written_out() -> Result<()> {
    let mut builder = GraphBuilder::new(&shuffling(5), "WrittenOut");
    let mut data = builder.device::<[u32; 4]>("data");
    let mut other = builder.device::<[u32; 4]>("other");
    let matrix = builder.device::<[[u32; 4]; 3]>("weights");
    let input = builder.host::<[u32; 4]>("input");
    let mut output = builder.host::<[u32; 4]>("output");
    let upload = builder.memcpy("upload", &input, &mut data);
    let clear = builder.memset("clear", &mut other, 0_u32);
    let mut before = vec![upload, clear];
    for layer in 0..3 {
        let launch = || Launch::new(1, 4);
        let weigh = builder.kernel(
            format!("weigh{layer}"),
            launch(),
            mix::call(&matrix.row(layer), &mut data),
        );
        builder.after(weigh, &before);
        let fold = builder.kernel(format!("fold{layer}"), launch(), mix::call(&data, &mut other));
        builder.after(fold, &[weigh]);
        let back = builder.kernel(format!("back{layer}"), launch(), mix::call(&other, &mut data));
        builder.after(back, &[fold]);
        before = vec![back];
    }
    let download = builder.memcpy("download", &data, &mut output);
    builder.after(download, &before);
    let mut written_out = builder.build()?;
    let mut looped = Layers::<3>::build(&shuffling(6))?;
    looped.weights_mut()?.copy_from(&weights())?;
    written_out.device_mut(&matrix)?.copy_from(&weights())?;
    for input_values in [[5, 6, 7, 8], [0; 4]] {
        *looped.input_mut()? = input_values;
        *written_out.host_mut(&input)? = input_values;
        looped.launch()?;
        written_out.launch()?;
        assert_eq!(looped.output()?, written_out.host(&output)?);
    }
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
        let mut graph = Counted::build(&shuffling(n as u64), n)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, counted(n), "{n} layers");
    }
    Ok(())
}

#[test]
fn what_a_loop_orders_stays_ordered_without_iterations() -> Result<()> {
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
fn loops_nest_and_inner_ranges_depend_on_outer_variables() -> Result<()> {
    for rows in 0..=4 {
        for seed in 0..3 {
            let mut graph = Nested::build(&shuffling(seed), rows)?;
            graph.launch()?;
            let (data, seen) = nested(rows);
            assert_eq!(
                (*graph.data()?.read()?, *graph.seen()?.read()?),
                (data, seen),
                "{rows} rows"
            );
        }
    }
    Ok(())
}

#[test]
fn handles_take_the_numbers_of_the_iterations() -> Result<()> {
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

#[test]
fn handles_of_iterations_that_there_are_not_say_so() -> Result<()> {
    let mut graph = Nested::build(&device(), 3)?;
    for error in [
        graph.begin(3).set_enabled(false).unwrap_err(),
        graph.inner(1, 2).set_enabled(false).unwrap_err(),
        graph.inner(0, 0).set_enabled(false).unwrap_err(), // without iterations, a join stands in
        graph.save(usize::MAX, 0).set_enabled(false).unwrap_err(),
    ] {
        assert!(matches!(error, Error::UnknownNode { .. }), "{error:?}");
    }
    assert_eq!(
        graph.inner(1, 2).set_enabled(false).unwrap_err().to_string(),
        "graph `Nested`, node `inner[1][2]`: the `for` around it has no such iteration; the node is repeated 3 times"
    );
    let missing = graph.begin(3);
    assert_eq!((missing.name(), missing.is_enabled()), ("", false));
    Ok(())
}

cuda_graph! {
    graph Params<const N: usize> {
        device data: [u32; N];
        device sets: [[u32; 2]; N];
        param step: u32 = 1;
        param start: u32 = 7;
        memset before = data <- start;
        for i in 0..N {
            kernel count = add_to<<<1, 1>>>(&mut data[i..], step * (i as u32 + 1)) after before;
            for j in 0..2 {
                memset set = sets[i] <- start + 10 * i as u32 + j as u32 + step;
            }
        }
    }
}

#[test]
fn params_change_the_nodes_of_every_iteration() -> Result<()> {
    let mut graph = Params::<3>::build(&shuffling(1))?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [8, 9, 10]);
    assert_eq!(*graph.sets()?.read()?, [[9; 2], [19; 2], [29; 2]]);
    graph.set_step(100)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [107, 207, 307]);
    assert_eq!(*graph.sets()?.read()?, [[108; 2], [118; 2], [128; 2]]);
    graph.set_start(0)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [100, 200, 300]);
    assert_eq!(*graph.sets()?.read()?, [[101; 2], [111; 2], [121; 2]]);
    assert_eq!((graph.step(), graph.start()), (100, 0));
    let mut empty = Params::<0>::build(&device())?;
    empty.set_step(4)
}

cuda_graph! {
    /// Conditions in a loop, and a loop in the body of a `while`.
    graph Choices {
        device flags: [u32; 4];
        device data: [u32; 4];
        device rounds: u32;
        device sum: u32;
        memset clear = data <- 0;
        memset none = sum <- 0;
        memset begin = rounds <- 3;
        for i in 0..4 {
            if choice = flags[i] {
                kernel twice = add_to<<<1, 1>>>(&mut data[i..i + 1], 20 + i as u32);
                for k in 0..2 {
                    kernel again = add_to<<<1, 1>>>(&mut data[i..=i], 100 * (k as u32 + 1)) after twice;
                }
            } else {
                memset once = data[i] <- 1;
            } after clear;
        }
        while turn = rounds {
            for i in 0..2 {
                kernel add = mix<<<1, 1>>>(&data[i..i + 1], &mut sum);
            }
            kernel next = add_to<<<1, 1>>>(&mut rounds, u32::MAX);
        } after choice, none, begin;
    }
}

#[test]
fn conditions_stand_in_loops_and_loops_in_their_bodies() -> Result<()> {
    for seed in 0..3 {
        let mut graph = Choices::build(&shuffling(seed))?;
        for flags in [[0, 1, 2, 0], [1; 4], [0; 4]] {
            graph.flags_mut()?.copy_from(&flags)?;
            graph.launch()?;
            let chosen = |i: usize| if flags[i] == 0 { 1 } else { 320 + i as u32 };
            let data: [u32; 4] = std::array::from_fn(chosen);
            assert_eq!(*graph.data()?.read()?, data, "the conditions are {flags:?}");
            let mut sum = [0];
            (0..3).for_each(|_| (0..2).for_each(|i| mixed([data[i]], &mut sum)));
            assert_eq!(*graph.sum()?.read()?, sum[0]);
        }
        assert_eq!(graph.choice(2).name(), "choice[2]");
        assert_eq!(graph.again(3, 1).name(), "again[3][1]");
        graph.again(3, 1).set_enabled(false)?;
        graph.flags_mut()?.copy_from(&[1; 4])?;
        graph.launch()?;
        assert_eq!(graph.data()?.read()?[3], 123);
    }
    Ok(())
}

cuda_graph! {
    /// Each layer computes in scratch memory of its own, which all of them share.
    graph Temporaries<const LAYERS: usize> {
        host   input: [u32; 4];
        host   output: [u32; 4];
        device data: [u32; 4];
        scratch from: [u32; 4];
        scratch sum: [u32; 4];
        scratch copy: [u32; 4];
        scratch last: [u32; 4];

        memcpy upload = input -> data;
        for layer in 0..LAYERS {
            memcpy load = data -> from                         after upload;
            memset start = sum <- layer as u32                 after upload;
            kernel first = mix<<<1, 4>>>(&from, &mut sum)      after load, start;
            memcpy keep = sum -> copy                          after first;
            memcpy again = copy -> last                        after keep;
            kernel second = mix<<<1, 4>>>(&last, &mut data)    after again;
        }
        memcpy download = data -> output after second;
    }
}

fn temporaries<const LAYERS: usize>() -> Result<()> {
    for seed in 0..4 {
        let mut graph = Temporaries::<LAYERS>::build(&shuffling(seed))?;
        for mut data in [[1, 2, 3, 4], [u32::MAX; 4]] {
            *graph.input_mut()? = data;
            graph.launch()?;
            for layer in 0..LAYERS {
                let mut sum = [layer as u32; 4];
                mixed(data, &mut sum);
                mixed(sum, &mut data);
            }
            assert_eq!(graph.output()?, &data);
        }
    }
    Ok(())
}

#[test]
fn iterations_have_scratch_memory() -> Result<()> {
    temporaries::<1>()?;
    temporaries::<5>()?;
    temporaries::<24>()
}

cuda_graph! {
    /// Host functions that are told which iteration it is.
    graph Calls(names: Vec<&'static str>, n: usize) {
        host   numbers: [u32; 4];
        host   lengths: [u32; 4];
        device data: [u32; 4];
        for i in 0..n {
            memset set = data[i] <- 10 + i as u32;
            memcpy down = data[i] -> numbers[i] after set;
            call note = |&numbers, &mut lengths| lengths[i] = numbers[i] + names[i].len() as u32 after down;
        }
    }
}

#[test]
fn host_functions_know_their_iteration() -> Result<()> {
    let mut graph = Calls::build(&shuffling(1), vec!["a", "bc", "def"], 3)?;
    graph.launch()?;
    assert_eq!(graph.lengths()?, &[11, 13, 15, 0]);
    assert_eq!(graph.note(1).name(), "note[1]");
    Ok(())
}

macro_rules! long {
    ($($join:ident)*) => {
        cuda_graph! {
            /// More in one iteration than one function of the expansion has.
            graph Long(n: usize, from: u32) {
                device data: [u32; 4];
                param step: u32 = 1;
                memset clear = data <- from;
                for i in 0..n {
                    kernel add = add_to<<<1, 1>>>(&mut data[i..], step * i as u32 + from) after clear;
                    $(join $join after add;)*
                    kernel last = add_to<<<1, 1>>>(&mut data[i..], from) after $($join),*;
                    for k in i..n {
                        memset set = data[3] <- from + step + k as u32 after last;
                    }
                }
            }
        }
    };
}
long! {
        jaa jab jac jad jae jaf jag jah jai jaj jak jal jam jan jao jap jaq jar
        jba jbb jbc jbd jbe jbf jbg jbh jbi jbj jbk jbl jbm jbn jbo jbp jbq jbr
        jca jcb jcc jcd jce jcf jcg jch jci jcj jck jcl jcm jcn jco jcp jcq jcr
        jda jdb jdc jdd jde jdf jdg jdh jdi jdj jdk jdl jdm jdn jdo jdp jdq jdr
        jea jeb jec jed jee jef jeg jeh jei jej jek jel jem jen jeo jep jeq jer
        jfa jfb jfc jfd jfe jff jfg jfh jfi jfj jfk jfl jfm jfn jfo jfp jfq jfr
        jga jgb jgc jgd jge jgf jgg jgh jgi jgj jgk jgl jgm jgn jgo jgp jgq jgr
        jha jhb jhc jhd jhe jhf jhg jhh jhi jhj jhk jhl jhm jhn jho jhp jhq jhr
}

#[test]
fn long_loops_are_several_functions() -> Result<()> {
    let mut graph = Long::build(&device(), 3, 100)?;
    for step in [1, 5] {
        graph.set_step(step)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, [300, 300 + step, 300 + 2 * step, 102 + step]);
    }
    assert_eq!(graph.jhr(2).name(), "jhr[2]");
    assert_eq!(graph.set(1, 2).name(), "set[1][2]");
    Ok(())
}

#[test]
fn expressions_have_loops() -> Result<()> {
    let (device, factors, threads) = (shuffling(4), [3_u32, 5, 7], 2);
    let mut graph = cuda_graph! { &device =>
        device data: [u32; 6];
        param base: u32 = 10;
        param more: u32 = 0;
        memset clear = data <- more;
        for row in 0..factors.len() {
            kernel add = add_to<<<1, threads>>>(&mut data[2 * row..2 * row + 2], base * factors[row]) after clear;
            for column in 0..2 {
                kernel one = add_to<<<1, 1>>>(&mut data[2 * row + column..], (row + column) as u32 + more) after add;
            }
        }
    }?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [30, 31, 51, 52, 72, 73]);
    graph.set_base(100)?;
    graph.set_more(1)?;
    graph.one(2, 1).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [302, 303, 503, 504, 704, 701]);
    Ok(())
}

cuda_graph! {
    graph Many(n: usize) {
        device data: [u32; 8];
        for i in 0..n {
            memset set = data[i] <- 1;
            memset other = data <- 1 after set;
        }
    }
}

#[test]
fn iterations_beyond_all_memory_are_refused() -> Result<()> {
    for n in [usize::MAX, 1 << 30, 1 << 20] {
        let error = Many::build(&device(), n).unwrap_err();
        assert!(matches!(error, Error::TooManyNodes { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "graph `Many`, node `set`: a `for` makes more than 1048576 nodes"
        );
    }
    let mut builder = GraphBuilder::new(&device(), "Endless");
    builder.repeat(0..=usize::MAX, |builder, _| {
        builder.join("never");
    });
    assert!(matches!(builder.build().unwrap_err(), Error::TooManyNodes { .. }));
    let mut builder = GraphBuilder::new(&device(), "Deep");
    builder.repeat(0..1 << 11, |builder, _| {
        builder.repeat(0..1 << 10, |builder, _| {
            builder.join("much");
        })
    });
    assert!(matches!(builder.build().unwrap_err(), Error::TooManyNodes { .. }));
    Many::build(&device(), 8).map(drop)
}

#[test]
fn leaving_memory_in_an_iteration_is_reported_with_its_number() {
    let error = Many::build(&device(), 10).unwrap_err().to_string();
    assert!(error.starts_with("graph `Many` has 2 mistakes\n"), "{error}");
    assert!(
        error.contains("node `set[8]` uses an index or range outside `data` [out-of-bounds]"),
        "{error}"
    );
}

#[test]
fn iterations_of_a_builder_end_before_the_next_begin() -> Result<()> {
    let mut builder = GraphBuilder::new(&shuffling(2), "Wide");
    let data = builder.device::<[[u32; 1]; 20]>("data");
    let mut sum = builder.device::<[u32; 1]>("sum");
    let clear = builder.memset("clear", &mut sum, 0_u32);
    let mut last = None;
    builder.repeat(1..4, |builder, i| {
        if i == 2 {
            return; // an iteration without nodes
        }
        for wide in 0..20 {
            // 400 edges from one iteration to the next, were there no join between them
            let place = &mut data.row(wide);
            builder.kernel(
                format!("wide{wide}"),
                Launch::new(1, 1),
                add_late::call(place, i as u32, 500),
            );
        }
        builder.repeat(0..20, |builder, wide| {
            let node = builder.kernel("read", Launch::new(1, 1), mix::call(&data.row(0), &mut sum));
            builder.after(node, &[clear]);
            if wide == 0 {
                let [before, ..] = [node.index() - 20].map(NodeId::new);
                builder.after(node, &[before]);
            }
            last = Some(node);
        });
    });
    let add = builder.kernel("add", Launch::new(1, 1), add_to::call(&mut sum, 1));
    builder.after(add, &[last.expect("there are iterations")]);
    let mut graph = builder.build()?;
    assert_eq!(graph.node(add).name(), "add");
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [[4]; 20]);
    let mut expected = [0];
    (0..20).for_each(|_| mixed([1], &mut expected));
    (0..20).for_each(|_| mixed([4], &mut expected));
    assert_eq!(*graph.device(&sum)?.read()?, [expected[0].wrapping_add(1)]);
    let plan = graph.plan();
    let joins = plan.nodes.iter().filter(|node| node.kind == NodeKind::Join);
    assert_eq!(joins.map(|node| &*node.name).collect::<Vec<_>>(), ["before wide0[3]"]);
    Ok(())
}

#[test]
fn edges_from_one_iteration_to_the_next_may_also_be_written() -> Result<()> {
    let mut builder = GraphBuilder::new(&device(), "Written");
    let mut data = builder.device::<[u32; 1]>("data");
    let mut before: Option<NodeId> = None;
    builder.repeat(0..4, |builder, i| {
        let node = builder.kernel("add", Launch::new(1, 1), add_to::call(&mut data, 1 << i));
        builder.after(node, before.as_slice());
        before = Some(node);
    });
    let mut graph = builder.build()?;
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, [15]);
    Ok(())
}
