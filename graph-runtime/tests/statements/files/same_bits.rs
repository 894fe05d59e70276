//! A graph that is saved and opened again computes the same bits.

use super::{Everything, Saved, open};
use crate::common::*;

/// The results of a launch.
#[derive(Debug, PartialEq)]
struct Results {
    result: Vec<u32>,
    out: Vec<u32>,
    words: Vec<u32>,
}

fn input() -> [f32; 64] {
    std::array::from_fn(|index| index as f32 * 0.37 - 5.0)
}

#[test]
fn a_file_computes_the_bits_of_the_graph_that_was_saved() {
    let device = device();
    let weights = device.alloc::<[f32; 64]>().unwrap();
    weights.copy_from(&input().map(|x| x * x)).unwrap();
    let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect();

    let out = device.alloc::<[u32; 32]>().unwrap();
    let mut graph = Everything::build(&device, &weights, &out, 3).unwrap();
    graph.set_factor(1.7).unwrap();
    let saved = Saved::of("everything", &graph.plan());
    *graph.input_mut().unwrap() = input();
    let mut of_graph = Vec::new();
    for _ in 0..2 {
        graph.launch().unwrap();
        let [count, bins, late] = [
            graph.count().unwrap().read_vec().unwrap(),
            graph.bins().unwrap().read_vec().unwrap(),
            graph.late().unwrap().read_vec().unwrap(),
        ];
        of_graph.push(Results {
            result: bits(graph.result().unwrap()),
            out: out.read_vec().unwrap(),
            words: [count, bins, late].concat(),
        });
    }
    let first: Vec<u64> = (0..4)
        .map(|index| graph.words().unwrap().load(index).unwrap())
        .collect();

    let mut loaded = open(&device, &saved);
    assert_eq!(*loaded.plan(), {
        // The names of kernels in Rust are not in the file, and shared memory is declared as the graph's own.
        let mut plan = graph.plan();
        for (node, of_file) in plan.nodes.to_mut().iter_mut().zip(loaded.plan().nodes.iter()) {
            node.launch.clone_from(&of_file.launch);
        }
        plan.resources.clone_from(&loaded.plan().resources);
        for (node, of_file) in plan.nodes.to_mut().iter_mut().zip(loaded.plan().nodes.iter()) {
            node.accesses.clone_from(&of_file.accesses);
        }
        plan
    });
    let other = device.alloc::<[u32; 32]>().unwrap();
    loaded.bind("w", &weights).unwrap();
    loaded.bind("out", &other).unwrap();
    loaded.write("input", &input()).unwrap();
    for of_graph in of_graph {
        loaded.launch().unwrap();
        let words = ["count", "bins", "late"].map(|name| loaded.read::<u32>(name).unwrap());
        assert_eq!(
            of_graph,
            Results {
                result: bits(&loaded.read::<f32>("result").unwrap()),
                out: loaded.read("out").unwrap(),
                words: words.concat(),
            }
        );
    }
    assert_eq!(other.read().unwrap()[4..8], [20; 4]);
    let words = loaded.mapped::<u64>("words").unwrap();
    let words: Vec<u64> = (0..4).map(|index| words.load(index).unwrap()).collect();
    assert_eq!(words, first);
    assert_eq!(words, [100, 101, 102, 103]);

    let again = Saved::of("everything-again", loaded.plan());
    assert_eq!(
        again.bytes(),
        saved.bytes(),
        "a file that is opened and saved is the same file"
    );
}

/// Children, and rectangles.
#[test]
fn children_and_rectangles_are_saved() {
    let device = device();
    let build = || {
        let mut builder = GraphBuilder::new(&device, "Nested");
        let input = builder.host::<[[f32; 4]; 6]>("input");
        let mut rows = builder.device::<[[f32; 4]; 6]>("rows");
        let picked = builder.host::<[[f32; 2]; 3]>("picked");
        let up = builder.memcpy("up", &input, &mut rows);
        let child = builder.child("step", |child| {
            let inner = child.child("inner", |inner| {
                inner.memset_2d("column", &mut rows.rectangle::<4, 1>(1, 2), 8.0_f32);
            });
            let after = child.memset("row", &mut rows.row(0), 1.5_f32);
            child.after(after, &[inner]);
        });
        builder.after(child, &[up]);
        let join = builder.join("join");
        builder.after(join, &[child]);
        let down = builder.memcpy_2d(
            "down",
            &rows.rectangle::<3, 2>(0, 1),
            &mut picked.rectangle::<3, 2>(0, 0),
        );
        builder.after(down, &[join]);
        (builder.build().unwrap(), input, picked)
    };
    let (mut graph, input, picked) = build();
    let saved = Saved::of("nested", &graph.plan());
    let numbers: [[f32; 4]; 6] = std::array::from_fn(|row| std::array::from_fn(|column| (row * 10 + column) as f32));
    *graph.host_mut(&input).unwrap() = numbers;
    graph.launch().unwrap();
    let mut loaded = Loaded::open(&device, &saved.0).unwrap();
    loaded.write("input", &numbers).unwrap();
    loaded.launch().unwrap();
    let expected = graph.host(&picked).unwrap();
    assert_eq!(expected, &[[1.5, 1.5], [11.0, 8.0], [21.0, 8.0]]);
    assert_eq!(loaded.read::<[f32; 2]>("picked").unwrap(), expected);
    let names = |plan: &Plan| plan.nodes.iter().map(|node| node.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(loaded.plan()), names(&graph.plan()));
    assert_eq!(loaded.plan().bodies, graph.plan().bodies);
}

cuda_graph! {
    /// Numbers of two uses at the top, and of one in a loop.
    graph Noise(seed: u64) {
        rng    noise = seed, draws 16;
        device first:  [u32; 512];
        device second: [u32; 512];
        device log:    [u64; 100];
        device more:   u32;

        kernel one  = draw_numbers<<<1, 32>>>(&noise, &mut first, 16);
        kernel two  = draw_numbers<<<1, 32>>>(&noise, &mut second, 16) after one;
        memset go   = more <- 3;
        while again = more {
            kernel draw = log_offset<<<1, 1>>>(&noise, &mut log);
            kernel down = count_down<<<1, 1>>>(&mut more) after draw;
        } after go, two;
    }
}

/// A file begins with the random numbers of its graph, and goes on as that does, launch by launch.
#[test]
fn a_file_draws_the_numbers_of_the_graph_that_was_saved() {
    let device = device();
    let mut graph = Noise::build(&device, 7).unwrap();
    graph.launch().unwrap(); // what it has drawn is not in the file
    let saved = Saved::of("noise", &graph.plan());
    // SAFETY: as for `open`.
    let mut loaded = unsafe { Loaded::open_trusted(&device, &saved.0) }.unwrap();
    let mut graph = Noise::build(&device, 7).unwrap();
    let mut earlier = Vec::new();
    for _ in 0..3 {
        graph.launch().unwrap();
        loaded.launch().unwrap();
        let numbers = graph.first().unwrap().read_vec::<u32>().unwrap();
        assert_eq!(loaded.read::<u32>("first").unwrap(), numbers);
        assert_eq!(
            loaded.read::<u32>("second").unwrap(),
            graph.second().unwrap().read_vec::<u32>().unwrap()
        );
        assert_eq!(
            loaded.read::<u64>("log").unwrap(),
            graph.log().unwrap().read_vec::<u64>().unwrap()
        );
        assert_ne!(numbers, earlier);
        earlier = numbers;
    }
    let again = Saved::of("noise-again", loaded.plan());
    assert_eq!(again.bytes(), saved.bytes());
    let other = Saved::of("noise-other", &Noise::build(&device, 8).unwrap().plan());
    // SAFETY: as for `open`.
    let mut other = unsafe { Loaded::open_trusted(&device, &other.0) }.unwrap();
    other.launch().unwrap();
    loaded.launch().unwrap();
    assert_ne!(other.read::<u32>("first").unwrap(), earlier);
}
