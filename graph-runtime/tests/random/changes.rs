//! Random changes of a built graph: it takes those with which it could have been built, and then does what that graph
//! does; after any other one, it is as before.

use crate::common::random::Random;
use crate::common::*;
use crate::graphs::{are_usual, seeds, thorough};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
    /// The same kernel, with another contract.
    #[requires(2 * threads <= data.len())]
    #[link_name = "add_to"]
    safe fn add_half(data: &mut [u32], value: u32);
}

const WORDS: usize = 16;
const BLOCKS: usize = 2;
/// The words of a block, of which each shared memory is a view.
const BLOCK_WORDS: usize = 48;
const SHARED: usize = 4;
/// The shared memory, then memory of the graph.
const MEMORIES: usize = SHARED + 1;
const NODES: usize = 6;

#[derive(Clone, Copy, Debug)]
enum Work {
    Mix,
    Accumulate,
    AddTo,
    AddHalf,
    AddAll,
    Fill,
}

const WORK: [Work; 7] = [
    Work::Mix,
    Work::Accumulate,
    Work::AddTo,
    Work::AddHalf,
    Work::AddAll,
    Work::Fill,
    Work::Fill,
];

/// A node as it stays: its work, the memory that it reads and writes with the first and the last word, and those of the
/// nodes before that it runs after.
#[derive(Clone, Debug)]
struct Node {
    work: Work,
    from: (usize, [usize; 2]),
    to: (usize, [usize; 2]),
    after: Vec<usize>,
}

/// The part of a graph that no change touches.
#[derive(Clone, Debug)]
struct Program {
    nodes: Vec<Node>,
    /// The nodes in the body of an `if`, which looks at a word of memory.
    body: Range<usize>,
    condition: (usize, usize),
}

/// The part of a graph that changes.
#[derive(Clone, Debug)]
struct State {
    /// The block of each shared memory, and the first word in it.
    bound: [(usize, usize); SHARED],
    enabled: [bool; NODES],
    launches: [(u32, u32); NODES],
    values: [u32; NODES],
}

/// The memory and the nodes of a graph, by which it is changed.
struct Names {
    memory: Vec<Place<[u32], OnDevice>>,
    nodes: Vec<NodeId>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Bind(usize, (usize, usize)),
    Enable(usize, bool),
    Launch(usize, (u32, u32)),
    Value(usize, u32),
}

fn part(random: &mut Random) -> [usize; 2] {
    random.of(&[[0, 16], [0, 16], [0, 8], [8, 16], [4, 12]])
}

fn bound(random: &mut Random) -> (usize, usize) {
    (random.below(BLOCKS), 4 * random.below((BLOCK_WORDS - WORDS) / 4 + 1))
}

fn launch(random: &mut Random) -> (u32, u32) {
    random.of(&[(1, 4), (1, 8), (2, 4), (1, 16), (4, 4), (1, 3), (3, 8)])
}

fn program(random: &mut Random) -> (Program, State) {
    let density = random.of(&[4, 7, 10]);
    let nodes = (0..NODES).map(|node| {
        let to = random.below(MEMORIES);
        Node {
            work: random.of(&WORK),
            from: ((to + 1 + random.below(MEMORIES - 1)) % MEMORIES, part(random)),
            to: (to, part(random)),
            after: (0..node).filter(|_| random.below(10) < density).collect(),
        }
    });
    let nodes = nodes.collect();
    let start = random.below(NODES - 1);
    let program = Program {
        nodes,
        body: start..start + random.below(3).min(NODES - start),
        condition: (random.below(MEMORIES), random.below(WORDS)),
    };
    let first = [(0, 0), (0, 16), (0, 32), (1, 0), (1, 16), (1, 32)];
    let state = State {
        bound: std::array::from_fn(|memory| {
            if random.below(4) > 0 {
                first[memory]
            } else {
                bound(random)
            }
        }),
        enabled: std::array::from_fn(|_| random.below(8) > 0),
        launches: std::array::from_fn(|_| random.of(&[(1, 8), (2, 4), (1, 3)])),
        values: std::array::from_fn(|_| random.below(100) as u32),
    };
    (program, state)
}

type Blocks = [DeviceBuffer<[u32]>; BLOCKS];

fn view(blocks: &Blocks, (block, first): (usize, usize)) -> Result<DeviceBuffer<[u32]>> {
    blocks[block].rows(first..first + WORDS)
}

/// The call of a node's kernel; `None` if it launches none.
fn call(
    work: Work,
    from: &Place<[u32], OnDevice>,
    to: &mut Place<[u32], OnDevice>,
    value: u32,
) -> Option<KernelCall<2>> {
    Some(match work {
        Work::Mix => mix::call(from, to),
        Work::Accumulate => accumulate::call(from, to),
        Work::AddTo => add_to::call(to, value),
        Work::AddHalf => add_half::call(to, value),
        Work::AddAll => add_all::call(&*to, value),
        Work::Fill => return None,
    })
}

impl Names {
    /// The memory that a node reads, and the memory that it writes.
    fn places(&self, node: &Node) -> [Place<[u32], OnDevice>; 2] {
        [node.from, node.to].map(|(memory, [first, end])| self.memory[memory].rows(first..end))
    }
}

fn define(device: &Device, blocks: &Blocks, program: &Program, state: &State) -> Result<(Definition, Names)> {
    let mut builder = GraphBuilder::new(device, "Changed");
    let mut names = Names {
        memory: Vec::new(),
        nodes: Vec::new(),
    };
    for (index, bound) in state.bound.iter().enumerate() {
        let shared = builder.shared(format!("s{index}"), &view(blocks, *bound)?, true);
        names.memory.push(shared);
    }
    names.memory.push(builder.device_slice::<u32>("own", WORDS));
    // The node that each node is, or is in, in the outermost body.
    let mut outer: Vec<NodeId> = Vec::new();
    let Range { start, end } = program.body.clone();
    for index in 0..start {
        let before = outer.clone();
        add(&mut builder, &mut names, (program, state, index), &before);
        outer.push(names.nodes[index]);
    }
    if !program.body.is_empty() {
        let (memory, word) = program.condition;
        let condition = names.memory[memory].row(word);
        let node = builder.if_then("if", &condition, |builder| {
            for index in start..end {
                let before = names.nodes.clone();
                add(builder, &mut names, (program, state, index), &before);
            }
        });
        let before = (start..end).flat_map(|inner| &program.nodes[inner].after);
        let before: Vec<NodeId> = before
            .filter(|before| **before < start)
            .map(|&before| outer[before])
            .collect();
        builder.after(node, &before);
        outer.resize(end, node);
    }
    for index in end..NODES {
        let before = outer.clone();
        add(&mut builder, &mut names, (program, state, index), &before);
        outer.push(names.nodes[index]);
    }
    Ok((builder.define()?, names))
}

/// Adds a node, which runs after those of `before` that it names and that are in its body.
fn add(
    builder: &mut GraphBuilder,
    names: &mut Names,
    (program, state, index): (&Program, &State, usize),
    before: &[NodeId],
) {
    let node = &program.nodes[index];
    let [from, mut to] = names.places(node);
    let (value, (grid, block)) = (state.values[index], state.launches[index]);
    let name = format!("n{index}");
    let id = match call(node.work, &from, &mut to, value) {
        Some(call) => builder.kernel(name, Launch::new(grid, block), call),
        None => builder.memset(name, &mut to, value),
    };
    let is_inside = program.body.contains(&index);
    let after = node
        .after
        .iter()
        .filter(|before| !is_inside || program.body.contains(before));
    let after: Vec<NodeId> = after.map(|&after| before[after]).collect();
    builder.after(id, &after);
    if !state.enabled[index] {
        builder.disable(id);
    }
    names.nodes.push(id);
}

fn build(device: &Device, blocks: &Blocks, program: &Program, state: &State) -> Result<(Graph, Names)> {
    let (definition, names) = define(device, blocks, program, state)?;
    Ok((definition.build()?, names))
}

fn draw(random: &mut Random) -> Change {
    let node = random.below(NODES);
    match random.below(5) {
        0 | 1 => Change::Bind(random.below(SHARED), bound(random)),
        2 => Change::Enable(node, random.below(3) > 0),
        3 => Change::Launch(node, launch(random)),
        _ => Change::Value(node, random.below(100) as u32),
    }
}

impl State {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Bind(memory, bound) => self.bound[memory] = bound,
            Change::Enable(node, enabled) => self.enabled[node] = enabled,
            Change::Launch(node, launch) => self.launches[node] = launch,
            Change::Value(node, value) => self.values[node] = value,
        }
    }
}

/// Requests a change of a graph that will be as `after` says.
fn request(
    graph: &mut Graph,
    names: &Names,
    nodes: &[Node],
    blocks: &Blocks,
    change: Change,
    after: &State,
) -> Result<()> {
    match change {
        Change::Bind(memory, bound) => graph.rebind(&names.memory[memory], &view(blocks, bound)?),
        Change::Enable(node, enabled) => graph.node(names.nodes[node]).set_enabled(enabled),
        Change::Launch(node, _) if matches!(nodes[node].work, Work::Fill) => Ok(()),
        Change::Launch(node, (grid, block)) => graph.node(names.nodes[node]).set_launch(grid, block),
        Change::Value(node, value) => graph.update("value", |update| {
            let ([from, mut to], (grid, block)) = (names.places(&nodes[node]), after.launches[node]);
            match call(nodes[node].work, &from, &mut to, value) {
                Some(call) => update.kernel(names.nodes[node], Launch::new(grid, block), call),
                None => update.memset(names.nodes[node], &to, value),
            }
        }),
    }
}

/// The contents of the memory after a launch on random ones.
fn results(blocks: &Blocks, (graph, names): (&mut Graph, &Names), seed: u64) -> Result<Vec<Vec<u32>>> {
    let mut random = Random(seed);
    for block in blocks {
        let words: Vec<u32> = (0..BLOCK_WORDS)
            .map(|_| (random.below(1000) * random.below(2)) as u32)
            .collect();
        block.copy_from(&words)?;
    }
    graph.reset()?;
    graph.launch()?;
    let own = graph.device(&names.memory[SHARED])?.read_vec();
    let shared = blocks.iter().map(|block| block.read_vec());
    shared.chain([own]).collect()
}

/// Changes a random graph at random. Counts the changes that it took, those that it refused, and those that failed or
/// panicked in the middle.
fn run(seed: u64, counts: &mut [usize; 3]) -> Result<()> {
    let mut random = Random(seed);
    let mut device = thorough(seed).with_bodies(random.of(&[Bodies::Nodes, Bodies::Predicated, Bodies::Cheapest]));
    if random.below(5) == 0 {
        device = device.with_debug(DebugOptions::default());
    }
    let blocks: Blocks = [device.alloc_slice(BLOCK_WORDS)?, device.alloc_slice(BLOCK_WORDS)?];
    let drawn = (0..100).find_map(|_| {
        let (program, state) = program(&mut random);
        let (graph, names) = build(&device, &blocks, &program, &state).ok()?;
        Some((graph, names, program, state))
    });
    let Some((mut graph, mut names, program, mut state)) = drawn else {
        return Ok(());
    };
    for step in 0..30 {
        let changes: Vec<Change> = (0..1 + random.below(3)).map(|_| draw(&mut random)).collect();
        let mut after = state.clone();
        changes.iter().for_each(|&change| after.apply(change));
        if random.below(2) == 0 {
            graph.launch()?; // it may be in flight while the graph changes
        }
        let ending = random.below(10);
        let changed = if ending == 0 {
            let debugged = device.clone().with_debug(DebugOptions::default());
            let updated = define(random.of(&[&device, &debugged]), &blocks, &program, &after)
                .and_then(|(definition, new)| Ok((graph.update_from(definition)?, new)));
            updated.map(|(_, new)| {
                if random.below(2) == 0 {
                    names = new; // those from before mean the same
                }
            })
        } else {
            let edit = || {
                graph.edit(|e| {
                    let mut all = changes.iter();
                    all.try_for_each(|&change| request(e, &names, &program.nodes, &blocks, change, &after))?;
                    match ending {
                        1 => Err(Error::NoDriver),
                        2 => resume_unwind(Box::new("in the middle")),
                        _ => Ok(()),
                    }
                })
            };
            catch_unwind(AssertUnwindSafe(edit)).unwrap_or(Err(Error::NoDriver))
        };
        let what = || format!("seed {seed}, step {step}: {changes:?}\nof {program:?}\nin {state:?}");
        let expected = match (&changed, build(&device, &blocks, &program, &after)) {
            (Ok(()), Ok(built)) => Some(built),
            (Ok(()), Err(error)) => panic!("taken, although {error}\n{}", what()),
            (Err(Error::NoDriver), _) | (Err(_), Err(_)) => None,
            (Err(error), Ok(_)) => panic!("refused: {error}\n{}", what()),
        };
        counts[match &changed {
            Ok(()) => 0,
            Err(Error::NoDriver) => 2,
            Err(_) => 1,
        }] += 1;
        let (mut built, new) = match expected {
            Some(built) => built,
            None => build(&device, &blocks, &program, &state)?,
        };
        let expected = results(&blocks, (&mut built, &new), seed)?;
        assert_eq!(
            results(&blocks, (&mut graph, &names), seed)?,
            expected,
            "{changed:?}, {}",
            what()
        );
        if changed.is_ok() {
            state = after;
        }
    }
    Ok(())
}

#[test]
fn a_graph_takes_the_changes_with_which_it_could_be_built() -> Result<()> {
    let mut counts = [0; 3];
    for seed in seeds(if device().is_emulator() { 4000..4020 } else { 4000..4008 }) {
        run(seed, &mut counts)?;
    }
    println!("{counts:?} changes were taken, were refused, and failed");
    assert!(!are_usual() || counts.iter().all(|count| *count > 10), "{counts:?}");
    Ok(())
}
