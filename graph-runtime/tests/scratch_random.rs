//! Random graphs with scratch memory, bodies and loops: sharing addresses never shows in their results.

mod common;

use common::*;
use graph_runtime::{Device, EmulatorOptions, Error, Graph, GraphBuilder, Launch, NodeId, OnDevice, Place};
use std::collections::BTreeSet;

type Data = Place<[f32], OnDevice>;

/// Elements that all nodes work on; some buffers have more.
const USED: usize = 32;
const BUFFERS: usize = 24;
/// Buffers to which all is added that is looked at in the end.
const RESULTS: usize = 3;

/// Numbers that look random: `splitmix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What a node does. Buffers below [`BUFFERS`] are scratch; those after them are the results.
#[derive(Clone, Debug)]
enum Step {
    Set {
        to: usize,
    },
    SetHalf {
        to: usize,
    },
    Copy {
        from: usize,
        to: usize,
    },
    /// Half of `from` and a number of its own.
    Mix {
        from: usize,
        to: usize,
    },
    /// The sum goes to the second.
    Accumulate {
        from: usize,
        to: usize,
    },
    If {
        taken: bool,
        body: Vec<Step>,
    },
    While {
        iterations: usize,
        body: Vec<Step>,
    },
}

impl Step {
    /// The buffers it reads, and those it writes.
    fn touched(&self) -> (BTreeSet<usize>, BTreeSet<usize>) {
        match self {
            Step::Set { to } | Step::SetHalf { to } => ([].into(), [*to].into()),
            Step::Copy { from, to } | Step::Mix { from, to } => ([*from].into(), [*to].into()),
            Step::Accumulate { from, to } => ([*from, *to].into(), [*to].into()),
            Step::If { body, .. } | Step::While { body, .. } => {
                let mut all = (BTreeSet::new(), BTreeSet::new());
                for (reads, writes) in body.iter().map(Step::touched) {
                    all.0.extend(reads);
                    all.1.extend(writes);
                }
                all
            }
        }
    }
}

/// Writes programs.
struct Author {
    random: Random,
    lengths: Vec<usize>,
    /// The next buffer that no step has used.
    fresh: usize,
}

impl Author {
    /// Steps one after the other, that read only what was written for certain: `written`, the latest last. Most use what was
    /// used lately, so that others have died before.
    fn steps(&mut self, written: &mut Vec<usize>, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..3 + self.random.below(if depth == 0 { 24 } else { 6 }) {
            let fresh = self.fresh < BUFFERS && (written.is_empty() || self.random.chance(40));
            let to = if fresh { self.fresh } else { self.recent(written) };
            self.fresh += usize::from(fresh);
            let step = self.step(to, written, depth);
            if let Step::Set { to } | Step::SetHalf { to } | Step::Copy { to, .. } | Step::Mix { to, .. } = step {
                written.retain(|&buffer| buffer != to);
                written.push(to);
            }
            steps.push(step);
        }
        steps
    }

    fn recent(&mut self, written: &[usize]) -> usize {
        written[written.len() - 1 - self.random.below(written.len().min(4))]
    }

    fn step(&mut self, to: usize, written: &[usize], depth: usize) -> Step {
        if written.is_empty() {
            return Step::Set { to };
        }
        let (from, known) = (self.recent(written), written.contains(&to));
        match self.random.below(16) {
            0 | 14 if known => Step::SetHalf { to },
            0..=2 => Step::Set { to },
            3 if depth < 2 => Step::If {
                taken: self.random.chance(60),
                body: self.steps(&mut written.to_vec(), depth + 1),
            },
            4 | 5 if depth < 2 => Step::While {
                iterations: self.random.below(4),
                body: self.steps(&mut written.to_vec(), depth + 1),
            },
            6..=10 => Step::Accumulate {
                from,
                to: BUFFERS + self.random.below(RESULTS),
            },
            _ if from == to => Step::Set { to },
            11 if self.lengths[from] == self.lengths[to] => Step::Copy { from, to },
            12 | 13 if known => Step::Accumulate { from, to },
            _ => Step::Mix { from, to },
        }
    }
}

/// A program, as steps and the lengths of its buffers.
fn program(seed: u64) -> (Vec<Step>, Vec<usize>) {
    let mut random = Random(seed);
    let lengths = (0..BUFFERS).map(|_| [32, 32, 96, 200][random.below(4)]).collect();
    let mut author = Author {
        random,
        lengths,
        fresh: 0,
    };
    let steps = author.steps(&mut Vec::new(), 0);
    (steps, author.lengths)
}

/// Steps as nodes, with an edge wherever two touch one buffer and one writes it; those that are implied are left out, and `missing` of
/// the others.
struct Nodes<'a> {
    buffers: &'a [Data],
    edges: usize,
    missing: Option<usize>,
    count: usize,
}

impl Nodes<'_> {
    fn add(&mut self, builder: &mut GraphBuilder, steps: &[Step]) {
        let nodes: Vec<NodeId> = steps.iter().map(|step| self.node(builder, step)).collect();
        let touched: Vec<_> = steps.iter().map(Step::touched).collect();
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); steps.len()];
        for later in 0..steps.len() {
            for earlier in (0..later).rev() {
                let ((reads, writes), (also_reads, also_writes)) = (&touched[earlier], &touched[later]);
                let meets = !writes.is_disjoint(also_writes)
                    || !writes.is_disjoint(also_reads)
                    || !reads.is_disjoint(also_writes);
                if !meets || before[later].contains(&earlier) {
                    continue;
                }
                if self.missing != Some(self.edges) {
                    builder.after(nodes[later], &[nodes[earlier]]);
                }
                self.edges += 1;
                let reached = before[earlier].clone();
                before[later].extend(reached);
                before[later].insert(earlier);
            }
        }
    }

    fn node(&mut self, builder: &mut GraphBuilder, step: &Step) -> NodeId {
        self.count += 1;
        let (name, number) = (format!("n{}", self.count), self.count as f32);
        let (launch, used) = (Launch::new(1, USED), |buffer: &usize| {
            self.buffers[*buffer].rows(..USED)
        });
        match step {
            Step::Set { to } => builder.memset(name, &mut self.buffers[*to].whole(), number),
            Step::SetHalf { to } => builder.memset(name, &mut self.buffers[*to].rows(..USED / 2), number),
            Step::Copy { from, to } => builder.memcpy(name, &self.buffers[*from], &mut self.buffers[*to].whole()),
            Step::Mix { from, to } => {
                let affine = Affine {
                    scale: 0.5,
                    shift: number,
                    n: USED as u32,
                };
                builder.kernel(
                    name,
                    launch,
                    copy_struct(affine, &used(from), &mut self.buffers[*to].whole()),
                )
            }
            Step::Accumulate { from, to } => builder.kernel(
                name,
                launch,
                saxpy(0.25, &used(from), &mut self.buffers[*to].whole(), USED as u32),
            ),
            Step::If { taken, body } => {
                let mut flag = builder.device::<u32>(format!("flag{}", self.count));
                let set = builder.memset(format!("{name}_set"), &mut flag, u32::from(*taken));
                let node = builder.if_then(name, &flag, |then| self.add(then, body));
                builder.after(node, &[set]);
                node
            }
            Step::While { iterations, body } => self.repeat(builder, name, *iterations, body),
        }
    }

    /// A `while` whose condition is the first of a row of flags that moves by one in each iteration.
    fn repeat(&mut self, builder: &mut GraphBuilder, name: String, iterations: usize, body: &[Step]) -> NodeId {
        let number = self.count;
        let flags = builder.device::<[u32; 5]>(format!("flags{number}"));
        let moved = builder.device::<[u32; 4]>(format!("moved{number}"));
        let ones = builder.memset(format!("{name}_ones"), &mut flags.rows_from::<4>(0), 1_u32);
        let zeros = builder.memset(format!("{name}_zeros"), &mut flags.rows(iterations..), 0_u32);
        builder.after(zeros, &[ones]);
        let node = builder.while_loop(name.clone(), &flags.row(0), |inside| {
            self.add(inside, body);
            let out = inside.memcpy(format!("{name}_out"), &flags.rows_from::<4>(1), &mut moved.whole());
            let back = inside.memcpy(format!("{name}_back"), &moved, &mut flags.rows_from::<4>(0));
            inside.after(back, &[out]);
        });
        builder.after(node, &[zeros]);
        node
    }
}

/// The graph of a program, its results, and how many edges are needed.
fn build(device: &Device, seed: u64, apart: bool, missing: Option<usize>) -> (Result<Graph, Error>, Vec<Data>, usize) {
    let (steps, lengths) = program(seed);
    let mut builder = GraphBuilder::new(device, format!("Random{seed}"));
    if apart {
        builder.keep_scratch_apart();
    }
    let mut buffers: Vec<Data> = (0..BUFFERS)
        .map(|buffer| builder.scratch_slice(format!("s{buffer}"), lengths[buffer]))
        .collect();
    buffers.extend((0..RESULTS).map(|result| builder.device_slice(format!("result{result}"), USED)));
    let mut nodes = Nodes {
        buffers: &buffers,
        edges: 0,
        missing,
        count: 0,
    };
    nodes.add(&mut builder, &steps);
    let edges = nodes.edges;
    (builder.build(), buffers.split_off(BUFFERS), edges)
}

/// The device under test; an emulator that draws orders and looks for everything.
fn thorough(seed: u64) -> Device {
    let device = device();
    if !device.is_emulator() {
        return device;
    }
    Device::emulator_with(EmulatorOptions {
        seed: Some(seed),
        check_uninitialized: true,
        check_unordered: true,
        ..EmulatorOptions::default()
    })
}

fn launched(mut graph: Graph, results: &[Data]) -> Vec<Vec<f32>> {
    for _ in 0..3 {
        graph.launch().unwrap();
    }
    let read = |result| graph.device(result).unwrap().read_vec().unwrap();
    results.iter().map(read).collect()
}

#[test]
fn results_are_those_of_memory_apart() {
    let (mut shared, mut apart) = (0, 0);
    for seed in 0..200 {
        let device = thorough(seed);
        let [with, without] = [false, true].map(|apart| {
            let (graph, results, _) = build(&device, seed, apart, None);
            let graph = graph.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            (graph.plan().arena(), launched(graph, &results))
        });
        assert_eq!(with.1, without.1, "seed {seed}: {:#?}", program(seed));
        shared += with.0;
        apart += without.0;
    }
    assert!(
        shared * 10 < apart * 9,
        "{shared} bytes instead of {apart}: little was shared"
    );
}

#[test]
fn every_edge_that_is_needed_is_missed() {
    let mut removed = 0;
    for seed in 0..60 {
        let device = Device::emulator();
        let (graph, _, edges) = build(&device, seed, false, None);
        graph.unwrap();
        for missing in 0..edges {
            let error = build(&device, seed, false, Some(missing))
                .0
                .expect_err("an edge is missing")
                .to_string();
            assert!(
                error.contains("[race]") || error.contains("[uninitialized]"),
                "seed {seed}: {error}"
            );
            removed += 1;
        }
    }
    assert!(removed > 500, "{removed} edges were tried");
}
