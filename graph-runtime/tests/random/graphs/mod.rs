//! Random graphs of every statement that `GraphBuilder` has and the emulator runs, against a model that runs their
//! nodes one after the other.
//!
//! Whatever order the device runs unordered nodes in, with scratch memory shared or apart, launch after launch, results
//! are the model's; a graph without an edge that it needs is refused, and one without an edge that it does not need is
//! not.
//!
//! `CUDA_GRAPH_TEST_SEEDS=100..900` tries these seeds instead of the usual ones.

mod area;
mod author;
mod backends;
mod build;
mod edges;
mod memory;
mod model;
mod order;
mod pair;
mod program;

use crate::common::*;
use pair::Pair;
use program::{Action, Edge, MEMORIES, Program, Space};
use std::collections::BTreeMap;
use std::ops::Range;

/// Whether the usual seeds are tried. Of other seeds, perhaps one alone, counts of what has happened say nothing.
pub(crate) fn are_usual() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_SEEDS").is_none()
}

/// The seeds to try: these, or those that the environment asks for.
pub(crate) fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(asked) = std::env::var("CUDA_GRAPH_TEST_SEEDS") else {
        return usual;
    };
    let number = |end: &str| end.parse().expect("CUDA_GRAPH_TEST_SEEDS=first..end");
    let mut ends = asked.split("..").map(number);
    let first = ends.next().unwrap_or(0);
    first..ends.next().unwrap_or(first + 1)
}

/// The device under test; an emulator that draws orders and looks for everything.
pub(crate) fn thorough(seed: u64) -> Device {
    let device = device();
    if !device.is_emulator() {
        return device;
    }
    emulator_with(|options| {
        options.seed = Some(seed);
        (options.check_uninitialized, options.check_unordered) = (true, true);
    })
}

/// Whether the graphs of a seed compute what the model does, with scratch memory shared and apart. The edges are those
/// that are written or, with `auto`, those that accesses imply. Returns the sizes of the arenas.
fn run(seed: u64, auto: bool) -> [usize; 2] {
    run_in(seed, auto, Bodies::Cheapest, &mut 0)
}

/// As [`run`], with bodies in this form. Counts the conditionals that are predicated.
fn run_in(seed: u64, auto: bool, bodies: Bodies, predicated: &mut usize) -> [usize; 2] {
    [false, true].map(|apart| {
        let what = format!("seed {seed}, apart: {apart}, auto: {auto}, {bodies:?}");
        let uploads = match bodies {
            Bodies::Nodes => Uploads::Copies,
            Bodies::Predicated => Uploads::Kernels,
            _ => Uploads::Cheapest,
        };
        let device = thorough(seed).with_bodies(bodies).with_uploads(uploads);
        let mut pair = Pair::new(&device, seed, apart, auto).unwrap_or_else(|error| panic!("{what}: {error}"));
        *predicated += pair.predicated();
        pair.run(&what).unwrap_or_else(|error| panic!("{what}: {error}"))
    })
}

fn programs(seed: u64) -> [Program; 2] {
    [2 * seed, 2 * seed + 1].map(author::program)
}

#[test]
fn every_order_gives_what_one_node_after_the_other_does() {
    let usual = if device().is_emulator() { 0..40 } else { 0..12 };
    let (mut shared, mut apart) = (0, 0);
    for seed in seeds(usual) {
        let [in_one, alone] = run(seed, false);
        shared += in_one;
        apart += alone;
    }
    let is_much = shared * 10 < apart * 9;
    assert!(
        is_much || !are_usual(),
        "{shared} bytes instead of {apart}: little was shared"
    );
}

/// Edges that accesses imply are not written, but for those between iterations of an `each`.
#[test]
fn every_order_that_accesses_imply_gives_what_one_node_after_the_other_does() {
    let usual = if device().is_emulator() { 1000..1030 } else { 1000..1008 };
    for seed in seeds(usual) {
        run(seed, true);
    }
}

/// Both forms of bodies, and both of copies from the host, do what the model does. (The emulator has neither, and runs
/// the bodies itself.)
#[test]
fn both_forms_of_bodies_give_what_one_node_after_the_other_does() {
    let usual = if device().is_emulator() { 2000..2003 } else { 2000..2012 };
    let mut counts = [0, 0];
    for seed in seeds(usual) {
        for (bodies, predicated) in [Bodies::Nodes, Bodies::Predicated].into_iter().zip(&mut counts) {
            run_in(seed, seed.is_multiple_of(3), bodies, predicated);
        }
    }
    let is_tried = runs_node_by_node() || !are_usual() || counts[1] > 20;
    assert!(counts[0] == 0 && is_tried, "{counts:?} conditionals are predicated");
}

/// Memory takes the place of `None`, and `None` of memory, where the edges that are there order it, and nowhere else.
#[test]
fn memory_is_given_where_edges_order_it() -> graph_runtime::Result<()> {
    let (mut given, mut refused) = (0, 0);
    for seed in seeds(3000..3006) {
        let mut pair = Pair::new(&thorough(seed), seed, true, seed.is_multiple_of(2))?;
        pair.run(&format!("seed {seed}"))?;
        (given, refused) = (given + pair.given[0], refused + pair.given[1]);
    }
    assert!(
        given > 5 && refused > 0 || !are_usual(),
        "{given} given, {refused} refused"
    );
    Ok(())
}

/// Driver 580 hung in every run of this seed: a `while` beside other conditional nodes in the body of a third.
#[test]
fn conditional_nodes_of_one_body_end() {
    run(168, false);
}

/// The runtime library makes the nodes and edges that the driver makes.
#[cfg(feature = "cudart")]
#[test]
#[ignore = "needs a CUDA device"]
fn both_interfaces_make_the_same_graphs() -> graph_runtime::Result<()> {
    let device = cuda_device();
    let shared = memory::Shared::new(&device)?;
    for seed in seeds(0..6) {
        let old = seed.is_multiple_of(2);
        let options = build::Options {
            old,
            ..Default::default()
        };
        for program in programs(seed) {
            let described = |device: &Device| {
                let built = build::Built::new(device, &program, &shared, options)?;
                Ok::<_, graph_runtime::Error>(built.graph.raw().as_ref().map(crate::common::describe::describe))
            };
            let (by_runtime, by_driver) = (described(&device.with_runtime_api())?, described(&device)?);
            assert_eq!(by_runtime, by_driver, "seed {seed}");
        }
    }
    Ok(())
}

#[test]
fn every_statement_is_tried() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: &str, number: usize| *counts.entry(what.to_owned()).or_default() += number;
    for seed in 0..40 {
        for program in programs(seed) {
            program.body.each(&mut |body| {
                for node in &body.nodes {
                    let name = format!("{:?}", node.action);
                    count(name.split([' ', '(']).next().unwrap_or_default(), 1);
                    count("disabled", usize::from(!node.enabled));
                    let loops = |parallel: bool| node.place.iter().filter(|around| around.parallel == parallel).count();
                    count("in a for", usize::from(loops(false) > 0));
                    count("in an each", usize::from(loops(true) > 0));
                    count("in both", usize::from(loops(false) > 0 && loops(true) > 0));
                    count("deep in fors", usize::from(loops(false) > 1));
                    count("deep in eaches", usize::from(loops(true) > 1));
                    let (reads, write) = node.action.areas();
                    let mut areas = reads.iter().chain(&write);
                    let of_table = areas.any(|area| program::TABLES.contains(&area.memory));
                    count("of a table", usize::from(of_table));
                    if let Action::Set { pattern: true, .. } = node.action {
                        count("pattern", 1);
                    }
                    if let Action::Copy { from, to } = node.action {
                        let spaces = [from, to].map(|area| MEMORIES[area.memory].space);
                        count(&format!("{spaces:?}"), 1);
                        let is_rectangle = from.rows > 1 && from.columns < program::COLUMNS;
                        count("rectangle", usize::from(is_rectangle));
                    }
                }
                let between = |edge: &&Edge| order::are_in_iterations(&body.nodes[edge.from], &body.nodes[edge.to]);
                count("between iterations", body.edges.iter().filter(between).count());
                let programmatic = body.edges.iter().filter(|edge| edge.programmatic);
                count("programmatic", programmatic.count());
            });
        }
    }
    let statements = "Mix Step StepWith Bump Update Start Weigh Draw Count Load Store Remainder Decrement Copy CopyPart Set SetPart \
                      Call Join Record Wait Child If While Switch";
    let others = "pattern, of a table, disabled, in a for, in an each, in both, deep in fors, deep in eaches, \
                  between iterations, rectangle, programmatic";
    let spaces = [Space::Device, Space::Scratch, Space::Host];
    let copies = spaces
        .iter()
        .flat_map(|from| spaces.map(|to| format!("[{from:?}, {to:?}]")));
    let named = statements.split(' ').chain(others.split(", ")).map(str::to_owned);
    for what in named.chain(copies) {
        let is_tried = counts.get(&what).is_some_and(|&count| count >= 20);
        assert!(is_tried, "{what}: {counts:?}");
    }
}
