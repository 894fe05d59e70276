//! Random graphs with loops: what the analysis of one copy of a loop's nodes says, against that of all.

use crate::common::random::Random;
use graph_runtime::private::Declare as _;
use graph_runtime::private::plan::{Draft, Memory, Mode, NodeKind, Region, check};
use graph_runtime::{Device, GraphBuilder, OnDevice, Place};

const CELLS: usize = 5;

/// A declaration of a graph with loops.
enum Declared {
    /// Copies one cell to another.
    Copy(usize, usize),
    /// Repeats declarations, so often in each iteration of what is around it.
    For(Vec<usize>, Vec<Declared>),
}

/// Declarations, each of which may be before every later one.
fn declarations(random: &mut Random, depth: usize, fewest: usize) -> Vec<Declared> {
    let declared = |_| {
        if depth < 2 && random.below(3) == 0 {
            let counts = (0..4).map(|_| fewest + random.below(3)).collect();
            return Declared::For(counts, declarations(random, depth + 1, fewest));
        }
        let to = random.below(CELLS);
        Declared::Copy((to + 1 + random.below(CELLS - 1)) % CELLS, to)
    };
    (0..5 - depth).map(declared).collect()
}

/// One copy of all nodes, and what each is around, by declaration.
fn draft(declared: &[Declared], around: &[usize], draft_of: &mut Draft, loops: &mut Vec<Vec<usize>>) {
    for declared in declared {
        match declared {
            Declared::Copy(from, to) => {
                let node = draft_of.node(format!("n{}", loops.len()), NodeKind::Memcpy);
                draft_of.nodes[node].in_loop = around.last().copied();
                draft_of.access(node, *from, Region::Whole, Mode::Read);
                draft_of.access(node, *to, Region::Whole, Mode::Write);
                loops.push(around.to_vec());
            }
            Declared::For(_, inner) => {
                let repeated = draft_of.for_loop("i", around.last().copied());
                draft(inner, &[around, &[repeated]].concat(), draft_of, loops);
            }
        }
    }
}

/// The names of the nodes, and how many loops are around each, from `depth` on.
fn names(declared: &[Declared], next: &mut usize, depth: usize) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    for declared in declared {
        match declared {
            Declared::Copy(..) => {
                found.push((&*format!("n{next}").leak(), depth));
                *next += 1;
            }
            Declared::For(_, inner) => found.extend(names(inner, next, depth + 1)),
        }
    }
    found
}

/// The nodes of all iterations, as `cuda_graph!` would add them.
fn build(
    builder: &mut GraphBuilder,
    declared: &[Declared],
    cells: &[Place<[u32; 1], OnDevice>; CELLS],
    first: usize,
    iteration: usize,
) {
    let mut next = first;
    for declared in declared {
        match declared {
            Declared::Copy(from, to) => {
                builder.memcpy(format!("n{next}"), &cells[*from], &mut cells[*to].whole());
                next += 1;
            }
            Declared::For(counts, inner) => {
                let mut behind = next;
                let names = names(inner, &mut behind, 1);
                for i in builder.begin_loop(&names, 0..counts[iteration % counts.len()]) {
                    builder.begin_iteration(i);
                    build(builder, inner, cells, next, i);
                }
                builder.end_loop();
                next = behind;
            }
        }
    }
}

/// Whether the graph is right, judged by one copy of its nodes, and judged by all its nodes.
fn is_right(seed: u64, fewest: usize) -> (bool, bool) {
    let random = &mut Random(seed);
    let declared = declarations(random, 0, fewest);
    let mut one_copy = Draft::new("Random");
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        one_copy.resource(name, Memory::Device);
    }
    let mut loops = Vec::new();
    draft(&declared, &[], &mut one_copy, &mut loops);
    let mut edges = Vec::new();
    for to in 0..loops.len() {
        for from in 0..to {
            // Few edges leave races; many, and those that come back, leave cycles.
            if random.chance(75) {
                let common = loops[from].iter().zip(&loops[to]).take_while(|(a, b)| a == b).count();
                edges.push([from, to, common]);
                one_copy.edge(from, to);
            }
        }
    }
    let mut builder = GraphBuilder::new(&Device::emulator(), "Random");
    let cells = names.map(|name| builder.device::<[u32; 1]>(name));
    builder.begin_loop(&[], 0..0); // as in a graph that has one, whether or not this does
    builder.end_loop();
    build(&mut builder, &declared, &cells, 0, 0);
    builder.edges(&edges);
    (check(&one_copy).errors.is_empty(), builder.build().is_ok())
}

#[test]
fn one_copy_of_a_loop_tells_of_all_its_iterations() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 1..600 {
        let (one_copy, all) = is_right(seed, 2);
        assert_eq!(one_copy, all, "seed {seed}");
        right += usize::from(all);
        wrong += usize::from(!all);
    }
    assert!(right > 50 && wrong > 50, "{right} right, {wrong} wrong");
}

#[test]
fn what_is_right_in_one_copy_is_right_however_often_it_is_repeated() {
    let mut right = 0;
    for seed in 1..600 {
        let (one_copy, all) = is_right(seed, 0);
        assert!(all || !one_copy, "seed {seed}");
        right += usize::from(one_copy);
    }
    assert!(right > 50, "{right}");
}
