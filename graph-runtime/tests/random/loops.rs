//! Random graphs with loops, of both kinds or of one: the result of the analysis of one copy of the loops' nodes,
//! against that of all.

use crate::common::random::Random;
use crate::common::*;
use graph_runtime::private::Declare as _;
use graph_runtime::private::plan::{Affine, Bound, Draft, Mode, NodeKind, Region, check};
use std::sync::Arc;

/// The number of cells that the indices below stay in.
const CELLS: usize = 64;
/// The number of nodes that read.
const SINKS: usize = 4096;

/// `factors[0] * i + factors[1] * j + constant`, of the loops around, from the outermost.
#[derive(Clone, Copy)]
struct Index {
    factors: [usize; 2],
    constant: usize,
}

/// A declaration of a graph with loops.
enum Declared {
    /// Writes or reads a cell.
    Touch(Index, Mode),
    Loop {
        parallel: bool,
        count: usize,
        inner: Vec<Declared>,
    },
}

/// Declarations, each of which may be before every later one. So many loops of a hundred are parallel.
fn declarations(random: &mut Random, depth: usize, fewest: usize, parallel: usize) -> Vec<Declared> {
    let declared = |_| {
        if depth < 2 && random.below(2) == 0 {
            return Declared::Loop {
                parallel: random.chance(parallel),
                count: fewest + random.below(4),
                inner: declarations(random, depth + 1, fewest, parallel),
            };
        }
        let factors = [(); 2].map(|()| random.of(&[0, 1, 1, 2, 3, 4]));
        let constant = random.below(5);
        let mode = random.of(&[Mode::Read, Mode::Write]);
        Declared::Touch(Index { factors, constant }, mode)
    };
    (0..3 - usize::from(depth > 0)).map(declared).collect()
}

/// One copy of all nodes, and the loops around each.
fn draft(declared: &[Declared], around: &[usize], draft_of: &mut Draft, loops: &mut Vec<Vec<usize>>) {
    let literal = |value: usize| Affine::literal(value as i128).expect("a small number");
    for declared in declared {
        match declared {
            Declared::Touch(index, mode) => {
                let node = draft_of.node(format!("n{}", loops.len()), NodeKind::Memset);
                draft_of.nodes[node].in_loop = around.last().copied();
                let terms = around.iter().zip(index.factors).map(|(&around, factor)| {
                    let variable = Affine::variable(&draft_of.loops[around].variable);
                    variable.times(factor as i64).expect("a small factor")
                });
                let sum = |sum: Affine, term: Affine| sum.plus(&term).expect("a small sum");
                let form = terms.fold(literal(index.constant), sum);
                let bound = match form.value() {
                    Some(value) => Bound::Known(value as u64),
                    None => Bound::Affine(Box::new(form)),
                };
                draft_of.access(node, 0, Region::Index(bound), *mode);
                loops.push(around.to_vec());
            }
            Declared::Loop { parallel, count, inner } => {
                let name = ["i", "j"][around.len()];
                let parent = around.last().copied();
                let number = match parallel {
                    true => draft_of.each(name, parent),
                    false => draft_of.for_loop(name, parent),
                };
                let variable = Arc::make_mut(&mut draft_of.loops[number].variable);
                (variable.first, variable.last) = (Some(literal(0)), Affine::literal(*count as i128 - 1));
                draft(inner, &[around, &[number]].concat(), draft_of, loops);
            }
        }
    }
}

/// The names of the nodes, and how many loops are around each, from `depth` on.
fn names(declared: &[Declared], next: &mut usize, depth: usize) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    for declared in declared {
        match declared {
            Declared::Touch(..) => {
                found.push((&*format!("n{next}").leak(), depth));
                *next += 1;
            }
            Declared::Loop { inner, .. } => found.extend(names(inner, next, depth + 1)),
        }
    }
    found
}

/// The memory of a graph.
struct Memory {
    cells: Place<[[u32; 1]; CELLS], OnDevice>,
    sinks: Place<[[u32; 1]; SINKS], OnDevice>,
    used: usize,
}

/// The nodes of all iterations, as `cuda_graph!` would add them.
fn build(builder: &mut GraphBuilder, declared: &[Declared], memory: &mut Memory, first: usize, numbers: &[usize]) {
    let mut next = first;
    for declared in declared {
        match declared {
            Declared::Touch(index, mode) => {
                let terms = numbers
                    .iter()
                    .zip(index.factors)
                    .map(|(number, factor)| number * factor);
                let mut cell = memory.cells.row(terms.sum::<usize>() + index.constant);
                if mode.writes() {
                    builder.memset(format!("n{next}"), &mut cell, 1_u32);
                } else {
                    builder.memcpy(format!("n{next}"), &cell, &mut memory.sinks.row(memory.used));
                    memory.used += 1;
                }
                next += 1;
            }
            Declared::Loop { parallel, count, inner } => {
                let mut after = next;
                let names = names(inner, &mut after, 1);
                let range = match parallel {
                    true => builder.begin_each(&names, 0..*count),
                    false => builder.begin_loop(&names, 0..*count),
                };
                for number in range {
                    builder.begin_iteration(number);
                    build(builder, inner, memory, next, &[numbers, &[number]].concat());
                }
                builder.end_loop();
                next = after;
            }
        }
    }
}

/// Whether the graph is right by the analysis of one copy of its nodes, and whether it is right with all nodes.
fn is_right(seed: u64, fewest: usize, parallel: usize) -> (bool, bool) {
    let random = &mut Random(seed);
    let declared = declarations(random, 0, fewest, parallel);
    let mut one_copy = Draft::new("Random");
    one_copy.resource("cells", graph_runtime::private::plan::Memory::Device);
    let mut loops = Vec::new();
    draft(&declared, &[], &mut one_copy, &mut loops);
    let mut builder = GraphBuilder::new(&Device::emulator(), "Random");
    let mut memory = Memory {
        cells: builder.device("cells"),
        sinks: builder.device("sinks"),
        used: 0,
    };
    builder.begin_loop(&[], 0..0); // as in a graph that has one, whether or not this does
    builder.end_loop();
    build(&mut builder, &declared, &mut memory, 0, &[]);
    let mut edges = Vec::new();
    for to in 0..loops.len() {
        for from in 0..=to {
            let around = loops[from].iter().zip(&loops[to]).take_while(|(a, b)| a == b);
            let common: Vec<usize> = around.map(|(&around, _)| around).collect();
            if from < to && random.chance(75) {
                edges.push([from, to, common.len()]);
                one_copy.edge(from, to);
            }
            let mut steps = common.iter().map(|&around| match one_copy.loops[around].parallel {
                true => random.of(&[-2, -1, -1, -1, 0, 0, 1]),
                false => 0,
            });
            let steps = [steps.next(), steps.next()];
            if steps.iter().flatten().all(|&step| step == 0) || random.chance(30) {
                continue;
            }
            match steps.map(|step| step.unwrap_or_default()) {
                [outer, _] if common.len() == 1 => {
                    one_copy.shift(from, to, [outer as i64]);
                    builder.shifted_edges(&[(from, to, [outer])]);
                }
                [outer, inner] => {
                    one_copy.shift(from, to, [outer as i64, inner as i64]);
                    builder.shifted_edges(&[(from, to, [outer, inner])]);
                }
            }
        }
    }
    builder.edges(&edges);
    (check(&one_copy).errors.is_empty(), builder.build().is_ok())
}

#[test]
fn one_copy_of_a_loop_tells_of_all_its_iterations() {
    for (seeds, fewest, parallel, enough) in [(3000, 1, 75, 200), (600, 2, 0, 50)] {
        let (mut right, mut wrong) = (0, 0);
        for seed in 1..seeds {
            let (one_copy, all) = is_right(seed, fewest, parallel);
            assert_eq!(one_copy, all, "seed {seed}");
            right += usize::from(all);
            wrong += usize::from(!all);
        }
        assert!(right > enough && wrong > enough, "{right} right, {wrong} wrong");
    }
}

#[test]
fn one_copy_that_is_right_is_right_without_iterations() {
    for (seeds, parallel, enough) in [(2000, 75, 100), (600, 0, 50)] {
        let mut right = 0;
        for seed in 1..seeds {
            let (one_copy, all) = is_right(seed, 0, parallel);
            assert!(all || !one_copy, "seed {seed}");
            right += usize::from(one_copy);
        }
        assert!(right > enough, "{right}");
    }
}
