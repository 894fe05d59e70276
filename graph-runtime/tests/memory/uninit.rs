//! Memory that a kernel initialises before it reads it, `&mut [MaybeUninit<T>]`: what it held before is dead.

use crate::common::*;
use std::mem::MaybeUninit;

#[cuda_kernels("tests/kernels/atomic.ptx")]
unsafe extern "C" {
    /// The softmax of each row; each block handles one row.
    #[requires(block.x == 64 && grid.x <= x.len() && grid.x == exps.len() && grid.x <= out.len())]
    safe fn softmax(x: &[[f32; 64]], exps: &mut [[MaybeUninit<f32>; 64]], out: &mut [[f32; 64]]);
    /// Sets each element to twice the value, in two steps.
    #[requires(threads == x.len())]
    safe fn start(x: &mut [MaybeUninit<f32>], value: f32);
    /// Doubles each element.
    #[requires(threads <= x.len())]
    safe fn twice(x: &mut [f32]);
}

mod plain {
    use graph_runtime::cuda_kernels;

    #[cuda_kernels("tests/kernels/atomic.ptx")]
    unsafe extern "C" {
        /// The same kernel, of which its author says less.
        #[requires(threads <= x.len())]
        pub safe fn start(x: &mut [f32], value: f32);
    }
}

cuda_graph! {
    /// A softmax whose temporary values are in scratch memory, which no other node has written.
    graph Softmax {
        host input: [[f32; 64]; 4];
        device x: [[f32; 64]; 4];
        scratch exps: [[f32; 64]; 4];
        device y: [[f32; 64]; 4];
        host output: [[f32; 64]; 4];

        memcpy up = input -> x;
        kernel normalize = softmax<<<4, 64>>>(&x, &mut exps, &mut y) after up;
        memcpy down = y -> output after normalize;
    }
}

#[test]
fn a_softmax_has_its_temporary_in_scratch() {
    let plan = Softmax::PLAN;
    let modes = plan.nodes[1].accesses.iter().map(|access| access.mode);
    assert_eq!(modes.collect::<Vec<_>>(), [Mode::Read, Mode::Write, Mode::ReadWrite]);
    let mut graph = Softmax::build(&shuffling(4)).unwrap();
    let input: [[f32; 64]; 4] =
        std::array::from_fn(|row| std::array::from_fn(|column| ((row * 31 + column * 7) % 13) as f32 / 4.0));
    *graph.input_mut().unwrap() = input;
    graph.launch().unwrap();
    for (x, y) in input.iter().zip(graph.output().unwrap()) {
        let sum: f32 = x.iter().map(|x| x.exp()).sum();
        for (x, y) in x.iter().zip(y) {
            assert!((x.exp() / sum - y).abs() < 1e-5, "{x} became {y}");
        }
    }
}

/// A graph that starts `a`, `b` and `a` again, and copies each away: the arena that it needs, and the copies.
fn three_starts(call: fn(&mut Place<[f32; 64], OnDevice>, f32) -> KernelCall<2>) -> (usize, [f32; 3]) {
    let mut builder = GraphBuilder::new(&device(), "Starts");
    let out = builder.device::<[[f32; 64]; 3]>("out");
    let mut memory = ["a", "b"].map(|name| builder.scratch::<[f32; 64]>(name));
    let mut last = None;
    for (number, which) in [0, 1, 0].into_iter().enumerate() {
        let call = call(&mut memory[which], number as f32);
        let start = builder.kernel(format!("start{number}"), Launch::new(1, 64), call);
        let copy = builder.memcpy(format!("copy{number}"), &memory[which], &mut out.row(number));
        builder.after(start, last.as_slice());
        builder.after(copy, &[start]);
        last = Some(copy);
    }
    let mut graph = builder.build().unwrap();
    let arena = graph.plan().arena().bytes().expect("a built graph knows it");
    graph.launch().unwrap();
    let out = graph.device(&out).unwrap().read().unwrap();
    assert!(out.iter().all(|row| row.iter().all(|value| *value == row[0])));
    (arena, out.map(|row| row[0]))
}

#[test]
fn kernels_that_initialise_memory_end_its_use_and_others_keep_it() {
    assert_eq!(three_starts(start::call), (256, [0.0, 2.0, 4.0]));

    let mut builder = GraphBuilder::new(&device(), "Reads");
    let mut a = builder.scratch::<[f32; 64]>("a");
    builder.kernel("start", Launch::new(1, 64), plain::start::call(&mut a, 1.0));
    let mistake = mistake(builder.build(), Code::Uninitialized);
    let help = mistake.help.as_deref().unwrap_or_default();
    help.ends("if the kernel writes each element before it reads it, declare `x: &mut [MaybeUninit<..>]`");
}

cuda_graph! {
    /// Two temporaries that are renewed in each iteration.
    graph Layers {
        scratch a: [f32; 64];
        scratch b: [f32; 64];
        device out: [[f32; 64]; 6];

        for i in 0..3 {
            kernel start_a = start<<<1, 64>>>(&mut a, i as f32);
            memcpy keep_a = a -> out[i] after start_a;
            kernel start_b = start<<<1, 64>>>(&mut b, 10.0) after keep_a;
            kernel more = twice<<<1, 64>>>(&mut b) after start_b;
            memcpy keep_b = b -> out[i + 3] after more;
        }
    }
}

#[test]
fn memory_is_initialised_in_each_iteration() {
    let device = match device().is_emulator() {
        false => device(),
        true => emulator_with(|options| (options.check_uninitialized, options.check_unordered) = (true, true)),
    };
    let mut graph = Layers::build(&device).unwrap();
    for _ in 0..2 {
        graph.launch().unwrap();
        let out = graph.out().unwrap().read().unwrap();
        let values = out.map(|row| (row[0], row[63]));
        let expected = [0.0, 2.0, 4.0, 40.0, 40.0, 40.0].map(|value| (value, value));
        assert_eq!(values, expected);
    }
}

/// Arguments of function values, which no declaration describes, say themselves what happens to their contents.
#[test]
fn calls_initialise_what_is_passed_as_uninit() {
    let scratch_from = |argument: fn(&mut Place<[f32; 4], OnDevice>) -> CallArgument| {
        let mut builder = GraphBuilder::new(&device(), "Arguments");
        let mut temporary = builder.scratch::<[f32; 4]>("temporary");
        let mut output = builder.host::<[f32; 4]>("output");
        let arguments = [argument(&mut temporary), CallArgument::value(5.0_f32)];
        // SAFETY: the kernel initialises the four elements of its first argument, and its second is an `f32`.
        let call = unsafe { KernelCall::new::<start>(arguments) };
        let set = builder.kernel("set", Launch::new(1, 4), call);
        let down = builder.memcpy("down", &temporary, &mut output);
        builder.after(down, &[set]);
        builder.build().map(|graph| (graph, output))
    };
    let (mut graph, output) = scratch_from(CallArgument::uninit).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.host(&output).unwrap(), &[10.0; 4]);
    let refused = codes(scratch_from(|temporary| CallArgument::read(temporary)));
    assert_eq!(refused[0], Code::Uninitialized, "{refused:?}");
}
