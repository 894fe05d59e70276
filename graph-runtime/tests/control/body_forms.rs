//! The two forms of bodies on a GPU, conditional nodes and predicated kernels: both do the same. On the emulator, which
//! has neither, the same programs show what that is.

use crate::common::*;

/// The device with each form of bodies.
fn forms() -> [(Device, Bodies); 3] {
    [Bodies::Cheapest, Bodies::Nodes, Bodies::Predicated].map(|bodies| (device().with_bodies(bodies), bodies))
}

/// The form of a conditional; `None` where the host chooses which bodies run.
fn form<'g>(graph: &'g impl AnyGraph, node: &str) -> Option<&'g BodyForm> {
    graph.body_forms().iter().find(|form| form.node == node)
}

/// Asserts that a conditional is predicated where the device asks for it, and a conditional node where it asks for
/// that.
#[track_caller]
fn assert_asked(graph: &impl AnyGraph, asked: Bodies, node: &str) {
    if runs_node_by_node() {
        return assert!(graph.body_forms().is_empty());
    }
    let form = form(graph, node).unwrap();
    match asked {
        Bodies::Predicated => assert!(form.predicated, "{form}"),
        Bodies::Nodes => assert!(!form.predicated && form.passes == 1, "{form}"),
        _ => assert!(!form.reason.is_empty(), "{form}"),
    }
}

cuda_graph! {
    /// Kernels, memsets and copies of all shapes in the bodies of a choice.
    graph Shapes {
        device flag: u32;
        device words: [[u32; 4]; 4];
        device bytes: [[u8; 5]; 3];
        device other: [[u32; 4]; 4];
        device odd: [[u8; 5]; 3];
        device wide: [f64; 3];
        param by: u32 = 3;
        param fill: u8 = 7;

        if choice = flag {
            kernel add = add_to<<<1, 4>>>(&mut words[0], by);
            memset rows = words[1..3][1..3] <- 5;
            memset odd_bytes = bytes[..][1..4] <- fill;
            memset wide_value = wide <- 1.5;
            join all after add, rows, odd_bytes, wide_value;
            memcpy copied = words -> other after all;
            memcpy odd_copied = bytes[..][1..2] -> odd[..][3..4] after all;
        } else {
            memset nothing = wide <- 0.0;
            memcpy back = other[3] -> words[3];
        };
    }
}

#[test]
fn kernels_memsets_and_copies_do_the_same_in_both_forms() -> Result<()> {
    for (device, asked) in forms() {
        let mut graph = Shapes::build(&device)?;
        assert_asked(&graph, asked, "choice");
        let run = |graph: &mut Shapes, flag: u32| {
            graph.flag_mut()?.copy_from(&flag)?;
            graph.launch()?;
            let bytes = (*graph.bytes()?.read()?, *graph.odd()?.read()?);
            Ok::<_, Error>((
                (*graph.words()?.read()?, *graph.other()?.read()?),
                bytes,
                *graph.wide()?.read()?,
            ))
        };
        let words = [[3; 4], [0, 5, 5, 0], [0, 5, 5, 0], [0; 4]];
        let (bytes, odd) = ([[0, 7, 7, 7, 0]; 3], [[0, 0, 0, 7, 0]; 3]);
        assert_eq!(
            run(&mut graph, 0)?,
            (([[0; 4]; 4], [[0; 4]; 4]), ([[0; 5]; 3], [[0; 5]; 3]), [0.0; 3])
        );
        assert_eq!(run(&mut graph, 1 << 31)?, ((words, words), (bytes, odd), [1.5; 3]));
        let (by, fill) = (10, 9);
        graph.set_by(by)?;
        graph.set_fill(fill)?;
        let mut more = words;
        more[0] = [13; 4];
        let (bytes, odd) = ([[0, 9, 9, 9, 0]; 3], [[0, 0, 0, 9, 0]; 3]);
        assert_eq!(run(&mut graph, 1)?, ((more, more), (bytes, odd), [1.5; 3]));
        // Disabled nodes of bodies stay so, whatever the condition is.
        graph.add().set_enabled(false)?;
        graph.wide_value().set_enabled(false)?;
        graph.copied().set_enabled(false)?;
        assert_eq!(run(&mut graph, 0)?.2, [0.0; 3]);
        assert_eq!(run(&mut graph, 1)?, ((more, more), (bytes, odd), [0.0; 3]));
        graph.add().set_enabled(true)?;
        graph.wide_value().set_enabled(true)?;
        let before = more;
        more[0] = [23; 4];
        assert_eq!(run(&mut graph, 1)?, ((more, before), (bytes, odd), [1.5; 3]));
    }
    Ok(())
}

cuda_graph! {
    /// Choices in choices, with conditions that bodies write.
    graph Nested {
        device outer: u32;
        device inner: u32;
        device pick: u32;
        device data: [u32; 8];

        if first = outer {
            memset turn = outer <- 0;
            if second = inner {
                kernel a = add_to<<<1, 1>>>(&mut data[0..1], 1);
                memset off = inner <- 0;
                kernel b = add_to<<<1, 1>>>(&mut data[1..2], 1) after a, off;
            } else {
                kernel c = add_to<<<1, 1>>>(&mut data[2..3], 1);
            } after turn;
            switch third = pick {
                { kernel d = add_to<<<1, 1>>>(&mut data[3..4], 1); }
                { kernel e = add_to<<<1, 1>>>(&mut data[4..5], 1); }
                { memset next = pick <- 0; kernel f = add_to<<<1, 1>>>(&mut data[5..6], 1) after next; }
            } after second;
            kernel g = add_to<<<1, 1>>>(&mut data[6..7], 1) after third;
        } else {
            memset back = outer <- 1;
        };
        kernel h = add_to<<<1, 1>>>(&mut data[7..8], 1) after first;
    }
}

#[test]
fn nested_choices_combine_and_see_their_condition_as_it_was() -> Result<()> {
    for (device, asked) in forms() {
        let mut graph = Nested::build(&device)?;
        for node in ["first", "second", "third"] {
            assert_asked(&graph, asked, node);
        }
        let mut expected = [0; 8];
        for (outer, inner, pick) in [
            (1, 1, 2),
            (0, 1, 2),
            (1, 0, 1),
            (1, 0, 0),
            (1, 7, 3),
            (0, 0, 0),
            (5, 1, 2),
        ] {
            graph.outer_mut()?.copy_from(&outer)?;
            graph.inner_mut()?.copy_from(&inner)?;
            graph.pick_mut()?.copy_from(&pick)?;
            graph.launch()?;
            let mut after = (outer, inner, pick);
            expected[7] += 1;
            if outer == 0 {
                after.0 = 1;
            } else {
                after.0 = 0;
                after.1 = 0;
                expected[6] += 1;
                let counted = if inner == 0 { &[2][..] } else { &[0, 1] };
                counted.iter().for_each(|&place: &usize| expected[place] += 1);
                if pick < 3 {
                    expected[3 + pick as usize] += 1;
                }
                if pick == 2 {
                    after.2 = 0;
                }
            }
            assert_eq!(*graph.data()?.read()?, expected);
            let flags = (*graph.outer()?.read()?, *graph.inner()?.read()?, *graph.pick()?.read()?);
            assert_eq!(flags, after);
        }
    }
    Ok(())
}

cuda_graph! {
    /// A loop whose body has a choice; `rounds` counts down.
    graph Passes {
        device rounds: u32;
        device odd: u32;
        device data: [u32; 4];

        while repeat = rounds {
            kernel count = add_to<<<1, 1>>>(&mut data[0..1], 1);
            kernel parity = remainder_of<<<1, 1>>>(&data[0..1], 2, &mut odd) after count;
            if choice = odd {
                kernel is_odd = add_to<<<1, 1>>>(&mut data[1..2], 1);
            } else {
                kernel is_even = add_to<<<1, 1>>>(&mut data[2..3], 1);
            } after parity;
            kernel next = add_to<<<1, 1>>>(&mut rounds, MINUS_ONE);
            memcpy last = data[0..1] -> data[3..4] after choice, next;
        };
    }
}

#[test]
fn a_while_never_runs_a_pass_that_its_condition_forbids() -> Result<()> {
    for (device, asked) in forms() {
        let mut graph = Passes::build(&device)?;
        assert_asked(&graph, asked, "repeat");
        let mut sum = [0_u32; 4];
        for rounds in (0..20).chain([100]) {
            graph.rounds_mut()?.copy_from(&rounds)?;
            graph.launch()?;
            for _ in 0..rounds {
                sum[0] += 1;
                sum[if sum[0] % 2 == 1 { 1 } else { 2 }] += 1;
                sum[3] = sum[0];
            }
            assert_eq!((*graph.data()?.read()?, *graph.rounds()?.read()?), (sum, 0));
        }
        graph.count().set_enabled(false)?;
        graph.rounds_mut()?.copy_from(&9)?;
        graph.launch()?;
        sum[if sum[0] % 2 == 1 { 1 } else { 2 }] += 9;
        assert_eq!(*graph.data()?.read()?, sum);
    }
    Ok(())
}

#[test]
fn conditions_of_both_forms_are_rebound() -> Result<()> {
    for (device, asked) in forms() {
        let (first, second) = (device.alloc::<u32>()?, device.alloc::<u32>()?);
        let mut builder = GraphBuilder::new(&device, "Rebound");
        let flag = builder.shared("flag", &first, true);
        let data = builder.device::<[u32; 4]>("data");
        let add = |body: &mut GraphBuilder, name: &'static str, at: usize| {
            body.kernel(name, Launch::new(1, 1), add_to::call(&mut data.rows(at..=at), 1))
        };
        let repeat = builder.while_loop("repeat", &flag.whole(), |body| {
            let step = add(body, "step", 0);
            let next = body.kernel("next", Launch::new(1, 1), add_to::call(&mut flag.whole(), MINUS_ONE));
            body.after(next, &[step]);
        });
        let choice = builder.if_then("choice", &data.row(0), |then| {
            add(then, "then", 1);
            then.memset("off", &mut data.row(2), 4_u32);
        });
        builder.after(choice, &[repeat]);
        let mut graph = builder.build()?;
        assert_asked(&graph, asked, "choice");
        first.copy_from(&5)?;
        second.copy_from(&3)?;
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [5, 1, 4, 0]);
        graph.rebind(&flag, &second)?;
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [8, 2, 4, 0]);
        assert_eq!((*first.read()?, *second.read()?), (0, 0));
    }
    Ok(())
}

/// The reason against predication is told, and the node is a conditional one.
#[test]
fn bodies_that_cannot_be_predicated_say_why() -> Result<()> {
    let device = device().with_bodies(Bodies::Predicated);
    let mut graph = cuda_graph! { &device =>
        host   input: [u32; 4];
        device flag: u32;
        device data: [u32; 4];
        if uploads = flag {
            memcpy up = input -> data;
        };
        if repeats = flag {
            while inner = data[0] {
                memset stop = data[0] <- 0;
            };
        } after uploads;
    }?;
    *graph.input_mut()? = [1, 2, 3, 4];
    graph.flag_mut()?.copy_from(&1)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [0, 2, 3, 4]);
    if runs_node_by_node() {
        return Ok(());
    }
    let told = |node: &str| form(&graph, node).unwrap().to_string();
    assert_eq!(
        told("uploads"),
        "`uploads` is a conditional node: `up` accesses `input`, which is host memory"
    );
    assert_eq!(told("repeats"), "`repeats` is a conditional node: `inner` is a `while`");
    told("inner").begins("`inner` repeats its body ");
    Ok(())
}

#[cuda_kernels("tests/kernels/taken.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_one(data: &mut [u32]);
}

/// A kernel of which there can be no copy is launched as it is, by a conditional node.
#[test]
fn kernels_that_cannot_be_copied_are_in_conditional_nodes() -> Result<()> {
    let mut graph = cuda_graph! { &device().with_bodies(Bodies::Predicated) =>
        device flag: u32;
        device data: u32;
        if choice = flag {
            kernel add = add_one<<<1, 1>>>(&mut data);
        };
        kernel again = add_one<<<1, 1>>>(&mut data) after choice;
    }?;
    for (flag, sum) in [(0, 1), (1, 3), (0, 4)] {
        graph.flag_mut()?.copy_from(&flag)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, sum);
    }
    if runs_node_by_node() {
        return Ok(());
    }
    let text = form(&graph, "choice").unwrap().to_string();
    text.begins("`choice` is a conditional node: the kernel of `add` cannot be predicated: `");
    text.ends("line 1: the name `graph_runtime_tests` is taken");
    Ok(())
}

/// The prices of an H200: a choice of few kernels is cheaper predicated, one of many is not.
#[test]
fn the_cheaper_form_is_chosen() -> Result<()> {
    let device = device().with_bodies(Bodies::Cheapest);
    let mut builder = GraphBuilder::new(&device, "Chosen");
    let flag = builder.device::<u32>("flag");
    let data = builder.device::<[u32; 64]>("data");
    for kernels in [1, 6, 40] {
        builder.if_then(format!("if_{kernels}"), &flag, |then| {
            let mut last: Option<NodeId> = None;
            for kernel in 0..kernels {
                let name = format!("kernel_{kernels}_{kernel}");
                let call = add_to::call(&mut data.rows(kernels..=kernels), 1);
                let node = then.kernel(name, Launch::new(1, 1), call);
                then.after(node, last.replace(node).as_slice());
            }
        });
    }
    let mut graph = builder.build()?;
    graph.device_mut(&flag)?.copy_from(&1)?;
    graph.launch()?;
    let data = *graph.device(&data)?.read()?;
    assert_eq!([1, 6, 40].map(|kernels| data[kernels]), [1, 6, 40]);
    if runs_node_by_node() {
        return Ok(());
    }
    let predicated = [1, 6, 40].map(|kernels| form(&graph, &format!("if_{kernels}")).unwrap().predicated);
    assert_eq!(predicated, [true, true, false]);
    if delayed() {
        return Ok(()); // no programmatic edges lead to predicated kernels then
    }
    let expected = "`if_1` is predicated: its kernel costs about 0.2 us more predicated, and 5.5 us more in a conditional node \
                    (prices of an H200)";
    assert_eq!(form(&graph, "if_1").unwrap().to_string(), expected);
    Ok(())
}

#[cuda_kernels("tests/kernels/clusters.ptx")]
unsafe extern "C" {
    #[requires(block == 64 && threads <= out.len())]
    safe fn ring(out: &mut [u32]);
}

cuda_graph! {
    /// Kernels that meet in their grid or cluster, start early, or have more shared memory than others.
    graph Kinds {
        device flag: u32;
        device rounds_left: u32;
        device a: [u32; 1000];
        device b: [u32; 1000];
        device around: [u32; 1024];
        device early: [[u32; 64]; 4];
        device input: [f32; 64];
        device reversed: [f32; 64];
        device numbers: [u32; 256];
        rng    noise = 7, draws 16;

        if go = flag {
            memset count = rounds_left <- 5;
            #[cooperative]
            kernel grid = rounds<<<7, 96>>>(&mut a, &mut b, 1000, 5);
            #[cluster(8)]
            kernel cluster = ring<<<16, 64>>>(&mut around);
            kernel first = slow_write<<<2, 32>>>(&mut early[0], 3, 10);
            kernel second = slow_step<<<2, 32>>>(&early[0], &mut early[1], 10) after programmatic(first);
            kernel third = step<<<2, 32>>>(&early[1], &mut early[2]) after programmatic(second);
            kernel back = reverse_shared<<<1, 64, 256>>>(&input, &mut reversed);
            kernel drawn = draw_numbers<<<1, 16>>>(&noise, &mut numbers, 16);
        };
        while again = rounds_left {
            kernel fourth = slow_step<<<2, 32>>>(&early[2], &mut early[3], 10);
            kernel fifth = step<<<2, 32>>>(&early[3], &mut early[2]) after programmatic(fourth);
            kernel less = count_down<<<1, 1>>>(&mut rounds_left);
        } after go;
    }
}

#[test]
fn kernels_of_all_kinds_do_the_same_in_both_forms() -> Result<()> {
    let mut results = Vec::new();
    for (device, asked) in forms() {
        let mut graph = Kinds::build(&device)?;
        assert_asked(&graph, asked, "go");
        assert_asked(&graph, asked, "again");
        graph
            .input_mut()?
            .copy_from(&std::array::from_fn(|index| index as f32))?;
        graph.a_mut()?.copy_from(&std::array::from_fn(|index| index as u32))?;
        let mut states = Vec::new();
        for flag in [0, 1, 0, 2, 2] {
            graph.flag_mut()?.copy_from(&flag)?;
            graph.launch()?;
            let words = [graph.a()?.read()?[..].to_vec(), graph.around()?.read()?[..].to_vec()];
            let drawn = graph.numbers()?.read()?[..].to_vec();
            let early = *graph.early()?.read()?;
            assert_eq!(*graph.rounds_left()?.read()?, 0);
            states.push((words, drawn, early, *graph.reversed()?.read()?));
        }
        let [rests, first, again, second, third] = &states[..] else {
            panic!("five launches")
        };
        assert!(rests.1.iter().all(|number| *number == 0) && rests.2 == [[0; 64]; 4]);
        // Its loop goes on from what `third` has left: two more in each iteration.
        assert_eq!(
            (first.2[0][0], first.2[1][0], first.2[2][0], first.2[3][0]),
            (3, 4, 15, 14)
        );
        assert_eq!(first.3[0], 63.0);
        assert!(first == again, "nothing runs where the flag is 0");
        assert!(first.0[0] != second.0[0] && first.1 != second.1 && second.1 != third.1);
        results.push(states);
    }
    assert!(results[0] == results[1] && results[1] == results[2]);
    Ok(())
}

cuda_graph! {
    /// Bytes that a memset sets as words, where they are in words.
    graph SetsBytes(bytes: mut device [u8; 64]) {
        device flag: u32;

        memset yes = flag <- 1;
        if choice = flag {
            memset all = bytes <- 7;
        } after yes;
    }
}

/// Memory that begins at any byte is set byte by byte.
#[test]
#[ignore = "needs a CUDA device"]
fn memory_of_others_need_not_begin_at_a_word() -> Result<()> {
    for (device, _) in forms() {
        let stream = device.context().expect("a context").new_stream().expect("a stream");
        let mut others = stream.alloc_zeros::<u8>(72).expect("memory");
        let mut graph = SetsBytes::build(&device, &device.alloc::<[u8; 64]>()?)?;
        graph.launch()?;
        device.scope(|scope| {
            graph.rebind_bytes(scope.lend(others.slice_mut(1..65))?)?;
            graph.launch()
        })?;
        let expected = [&[0][..], &[7; 64], &[0; 7]].concat();
        assert_eq!(stream.clone_dtoh(&others).expect("a copy"), expected);
    }
    Ok(())
}

cuda_graph! {
    /// A copy in a `while` and one of a rectangle, which CUDA changes only by making the executable graph anew.
    graph Copies(source: device [[u32; 4]; 4]) {
        device flag: u32;
        device row: [u32; 4];
        device corner: [[u32; 2]; 2];

        memset once = flag <- 1;
        while repeat = flag {
            memcpy copied = source[0] -> row;
            memset done = flag <- 0 after copied;
        } after once;
        memcpy rectangle = source[1..3][..2] -> corner;
    }
}

#[test]
fn copies_in_a_while_follow_memory_into_a_new_executable() -> Result<()> {
    for (device, _) in forms() {
        let [first, second] = [1, 2].map(|number| {
            let source = device.alloc::<[[u32; 4]; 4]>()?;
            source.copy_from(&[[number; 4]; 4])?;
            Ok::<_, Error>(source)
        });
        let mut graph = Copies::build(&device, &first?)?;
        graph.launch()?;
        assert_eq!((*graph.row()?.read()?, *graph.corner()?.read()?), ([1; 4], [[1; 2]; 2]));
        graph.rebind_source(&second?)?;
        graph.launch()?;
        assert_eq!((*graph.row()?.read()?, *graph.corner()?.read()?), ([2; 4], [[2; 2]; 2]));
    }
    Ok(())
}

cuda_graph! {
    /// Loops that count down, each with its writers of the flag elsewhere in the body.
    graph Writers {
        device alone:  [u32; 96];
        device blocks: [u32; 96];
        device first:  [u32; 32];
        device last:   [u32; 96];
        device more:   u32;
        device sums:   [[u32; 32]; 6];
        param by: u32 = 1;

        while one_block = alone[0] {
            kernel own = add_to<<<1, 96>>>(&mut alone, MINUS_ONE);
        };
        while several_blocks = blocks[7] {
            kernel shared = add_to<<<3, 32>>>(&mut blocks, MINUS_ONE);
        };
        while writer_first = first[0] {
            kernel down = add_to<<<1, 1>>>(&mut first[..1], MINUS_ONE);
            kernel after_it = add_to<<<1, 32>>>(&mut sums[0], 1) after down;
            kernel beside = add_to<<<1, 32>>>(&mut sums[1], 1) after down;
            memcpy kept = sums[0] -> sums[2] after after_it;
        };
        while writer_last = last[31] {
            kernel keeper = add_to<<<1, 32>>>(&mut sums[3], by);
            kernel whole = add_to<<<3, 32>>>(&mut last, MINUS_ONE) after keeper;
            kernel after_all = accumulate<<<1, 32>>>(&sums[3], &mut sums[4]) after whole;
        };
        while reset = more {
            memset no = more <- 0;
            kernel step = add_to<<<1, 32>>>(&mut sums[5], 3) after no;
            kernel goes_on = is_below<<<1, 1>>>(&sums[5][..1], 50, &mut more) after step;
        };
    }
}

/// Nodes that write the flag, and nodes beside and after them, decide as the flag was when the pass began.
#[test]
fn every_node_of_a_pass_decides_alike() -> Result<()> {
    for (device, asked) in forms() {
        let mut graph = Writers::build(&device)?;
        let loops = ["one_block", "several_blocks", "writer_first", "writer_last", "reset"];
        loops.iter().for_each(|node| assert_asked(&graph, asked, node));
        if !runs_node_by_node() && asked == Bodies::Predicated {
            let copies = |node| form(&graph, node).unwrap().reason.contains("a kernel copies its flag");
            assert!(!loops.into_iter().any(copies), "{:?}", graph.body_forms());
            // A writer of several blocks takes no ticket if a node before it has kept the flag.
            let cost = |node| -> f64 {
                let reason = form(&graph, node).unwrap().reason.clone();
                let rest = reason.strip_prefix("an iteration costs about ").expect("a price");
                rest.split_once(' ').unwrap().0.parse().expect("a number")
            };
            assert!(
                cost("writer_last") + 0.5 < cost("several_blocks"),
                "{:?}",
                graph.body_forms()
            );
        }
        let mut sums = [0_u32; 6];
        let run = |graph: &mut Writers, rounds: u32, sums: &mut [u32; 6], by: u32| {
            graph.alone_mut()?.copy_from(&[rounds; 96])?;
            graph.blocks_mut()?.copy_from(&[rounds; 96])?;
            graph.first_mut()?.copy_from(&[rounds; 32])?;
            graph.last_mut()?.copy_from(&[rounds; 96])?;
            graph.more_mut()?.copy_from(&rounds.min(1))?;
            graph.launch()?;
            for _ in 0..rounds {
                sums[0] += 1;
                sums[1] += 1;
                sums[3] += by;
                sums[4] += sums[3];
            }
            sums[2] = sums[0];
            if rounds > 0 {
                sums[5] += 3;
                while sums[5] < 50 {
                    sums[5] += 3;
                }
            }
            assert_eq!((*graph.alone()?.read()?, *graph.blocks()?.read()?), ([0; 96], [0; 96]));
            assert_eq!((*graph.last()?.read()?, *graph.more()?.read()?), ([0; 96], 0));
            assert_eq!(*graph.sums()?.read()?, sums.map(|sum| [sum; 32]), "{rounds} rounds");
            Ok::<_, Error>(())
        };
        for rounds in (0..20).chain([100]) {
            run(&mut graph, rounds, &mut sums, 1)?;
        }
        // A node that stores its decision for others does so, too, if it is disabled.
        graph.set_by(5)?;
        run(&mut graph, 9, &mut sums, 5)?;
        graph.keeper().set_enabled(false)?;
        run(&mut graph, 9, &mut sums, 0)?;
        graph.set_by(7)?;
        run(&mut graph, 21, &mut sums, 0)?;
        graph.keeper().set_enabled(true)?;
        run(&mut graph, 7, &mut sums, 7)?;
        // A kernel of one block may get several.
        graph.own().set_launch(3, 32)?;
        graph.shared().set_launch(1, 96)?;
        run(&mut graph, 33, &mut sums, 7)?;
    }
    Ok(())
}

/// Copies that one kernel makes for both the writer and what runs beside it.
#[test]
fn nodes_beside_the_writer_test_a_copy() -> Result<()> {
    let graph = Passes::build(&device().with_bodies(Bodies::Predicated))?;
    if !runs_node_by_node() {
        let told = form(&graph, "repeat").unwrap().to_string();
        told.ends("; a kernel copies its flag for each repetition");
    }
    Ok(())
}
