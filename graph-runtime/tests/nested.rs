//! Random graphs with bodies in bodies, against a model that runs their nodes one after the other: in whatever order the device runs
//! what is unordered, the result is the model's; and without any one edge that is needed, the graph is refused.

mod common;

use common::device;
use graph_runtime::private::plan::Code;
use graph_runtime::{
    Device, EmulatorOptions, Error, GraphBuilder, Launch, NodeId, OnDevice, Place, Result, cuda_kernels,
};

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn add_to(data: &mut [u32], value: u32);
    #[requires(threads <= from.len() && threads <= to.len())]
    safe fn mix(from: &[u32], to: &mut [u32]);
    #[requires(threads <= data.len() && threads <= flag.len())]
    safe fn remainder_of(data: &[u32], divisor: u32, flag: &mut [u32]);
}

/// All memory of a graph: first what nodes compute with, then a cell of its own for each condition.
type Cells = [u32; 64];
const DATA: usize = 4;

/// A node.
enum Action {
    Mix { from: usize, to: usize },
    Copy { from: usize, to: usize },
    Set { to: usize, value: u32 },
    Remainder { from: usize, divisor: u32, to: usize },
    Decrement { at: usize },
    If { flag: usize, bodies: Vec<Body> },
    While { flag: usize, body: Body },
    Switch { flag: usize, bodies: Vec<Body> },
}

type Body = Vec<Action>;

impl Action {
    fn bodies(&self) -> &[Body] {
        match self {
            Action::If { bodies, .. } | Action::Switch { bodies, .. } => bodies,
            Action::While { body, .. } => std::slice::from_ref(body),
            _ => &[],
        }
    }

    /// The cells that it reads, and those that it writes, with its bodies.
    fn touches(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut reads, mut writes) = match *self {
            Action::Mix { from, to } => (vec![from, to], vec![to]),
            Action::Copy { from, to } | Action::Remainder { from, to, .. } => (vec![from], vec![to]),
            Action::Set { to, .. } => (Vec::new(), vec![to]),
            Action::Decrement { at } => (vec![at], vec![at]),
            Action::If { flag, .. } | Action::While { flag, .. } | Action::Switch { flag, .. } => {
                (vec![flag], Vec::new())
            }
        };
        for inner in self.bodies().iter().flatten() {
            let (read, written) = inner.touches();
            reads.extend(read);
            writes.extend(written);
        }
        (reads, writes)
    }

    fn conflicts(&self, other: &Action) -> bool {
        let ((reads, writes), (other_reads, other_writes)) = (self.touches(), other.touches());
        let meet = |a: &[usize], b: &[usize]| a.iter().any(|cell| b.contains(cell));
        meet(&writes, &other_writes) || meet(&writes, &other_reads) || meet(&reads, &other_writes)
    }

    /// What it does, one node after the other.
    fn run(&self, cells: &mut Cells) {
        match self {
            Action::Mix { from, to } => {
                cells[*to] = cells[*to].wrapping_mul(31).wrapping_add(cells[*from]).wrapping_add(1);
            }
            Action::Copy { from, to } => cells[*to] = cells[*from],
            Action::Set { to, value } => cells[*to] = *value,
            Action::Remainder { from, divisor, to } => cells[*to] = cells[*from] % divisor,
            Action::Decrement { at } => cells[*at] = cells[*at].wrapping_sub(1),
            Action::If { flag, bodies } => run(bodies.get(usize::from(cells[*flag] == 0)), cells),
            Action::Switch { flag, bodies } => run(bodies.get(cells[*flag] as usize), cells),
            Action::While { flag, body } => {
                while cells[*flag] != 0 {
                    run(Some(body), cells);
                }
            }
        }
    }
}

fn run(body: Option<&Body>, cells: &mut Cells) {
    body.into_iter().flatten().for_each(|action| action.run(cells));
}

/// Numbers that look random (`splitmix64`), and the next cell that no condition has.
struct Maker {
    state: u64,
    cell: usize,
}

impl Maker {
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn cell(&mut self) -> usize {
        self.cell += 1;
        self.cell - 1
    }

    /// Two different cells of data.
    fn two(&mut self) -> (usize, usize) {
        let first = self.below(DATA);
        (first, (first + 1 + self.below(DATA - 1)) % DATA)
    }

    fn body(&mut self, depth: usize) -> Body {
        let mut body = Body::new();
        for _ in 0..=self.below(4) {
            self.action(depth, &mut body);
        }
        body
    }

    /// Adds an action, and before it what computes its condition.
    fn action(&mut self, depth: usize, body: &mut Body) {
        let kinds = if depth < 3 && self.cell + 1 < size_of::<Cells>() / 4 {
            7
        } else {
            4
        };
        let (from, to) = self.two();
        let action = match self.below(kinds) {
            0 | 1 => Action::Mix { from, to },
            2 => Action::Copy { from, to },
            3 => Action::Set {
                to,
                value: self.below(100) as u32,
            },
            4 => {
                let flag = self.remainder(2, body);
                let bodies = (0..=self.below(2)).map(|_| self.body(depth + 1)).collect();
                Action::If { flag, bodies }
            }
            5 => {
                let flag = self.remainder(4, body);
                let bodies = (0..3).map(|_| self.body(depth + 1)).collect();
                Action::Switch { flag, bodies }
            }
            _ => {
                let flag = self.remainder(4, body);
                let mut repeated = self.body(depth + 1);
                let place = self.below(repeated.len() + 1);
                repeated.insert(place, Action::Decrement { at: flag });
                Action::While { flag, body: repeated }
            }
        };
        body.push(action);
    }

    fn remainder(&mut self, divisor: u32, body: &mut Body) -> usize {
        let (from, to) = (self.below(DATA), self.cell());
        body.push(Action::Remainder { from, divisor, to });
        to
    }
}

/// The edge that is left out: between two actions of the body with this number, counted as bodies are added.
#[derive(Clone, Copy, PartialEq)]
struct Edge {
    body: usize,
    from: usize,
    to: usize,
}

/// Adds actions to a builder.
struct Adder {
    cells: Place<Cells, OnDevice>,
    without: Option<Edge>,
    bodies: usize,
    names: usize,
    /// Edges that no path of others replaces.
    needed: Vec<Edge>,
}

impl Adder {
    fn body(&mut self, builder: &mut GraphBuilder, actions: &Body) {
        let body = self.bodies;
        self.bodies += 1;
        let nodes: Vec<NodeId> = actions.iter().map(|action| self.add(builder, action)).collect();
        let conflict = |from: usize, to: usize| actions[from].conflicts(&actions[to]);
        for to in 0..actions.len() {
            for from in (0..to).filter(|&from| conflict(from, to)) {
                let edge = Edge { body, from, to };
                if !path(from, to, &conflict) {
                    self.needed.push(edge);
                }
                if self.without != Some(edge) {
                    builder.after(nodes[to], &[nodes[from]]);
                }
            }
        }
    }

    fn add(&mut self, builder: &mut GraphBuilder, action: &Action) -> NodeId {
        self.names += 1;
        let (name, cells) = (format!("n{}", self.names), self.cells);
        let (cell, one) = (
            |index: usize| cells.row(index),
            |index: usize| cells.rows(index..=index),
        );
        let launch = Launch::new(1, 1);
        match action {
            Action::Mix { from, to } => builder.kernel(name, launch, mix::call(&one(*from), &mut one(*to))),
            Action::Copy { from, to } => builder.memcpy(name, &cell(*from), &mut cell(*to)),
            Action::Set { to, value } => builder.memset(name, &mut cell(*to), *value),
            Action::Remainder { from, divisor, to } => {
                builder.kernel(name, launch, remainder_of::call(&one(*from), *divisor, &mut one(*to)))
            }
            Action::Decrement { at } => builder.kernel(name, launch, add_to::call(&mut one(*at), u32::MAX)),
            Action::If { flag, bodies } => {
                let node = builder.begin_if(name, &cell(*flag));
                self.bodies_of(builder, bodies);
                node
            }
            Action::Switch { flag, bodies } => {
                let node = builder.begin_switch(name, &cell(*flag));
                self.bodies_of(builder, bodies);
                node
            }
            Action::While { flag, body } => builder.while_loop(name, &cell(*flag), |inner| self.body(inner, body)),
        }
    }

    fn bodies_of(&mut self, builder: &mut GraphBuilder, bodies: &[Body]) {
        for body in bodies {
            builder.begin_body();
            self.body(builder, body);
            builder.end_body();
        }
    }
}

/// Does an edge lead from `from` over others to `to`?
fn path(from: usize, to: usize, edge: &dyn Fn(usize, usize) -> bool) -> bool {
    let mut reached = vec![false; to + 1];
    for node in from + 1..to {
        reached[node] = edge(from, node) || (from + 1..node).any(|before| reached[before] && edge(before, node));
    }
    (from + 1..to).any(|node| reached[node] && edge(node, to))
}

/// The graph, ready to be built, its cells, and the edges that it needs.
fn graph(
    device: &Device,
    driver: u32,
    body: &Body,
    without: Option<Edge>,
) -> (GraphBuilder, Place<Cells, OnDevice>, Vec<Edge>) {
    let mut builder = GraphBuilder::new(device, "Random");
    builder.as_if_driver(driver);
    let cells = builder.device("cells");
    let mut adder = Adder {
        cells,
        without,
        bodies: 0,
        names: 0,
        needed: Vec::new(),
    };
    adder.body(&mut builder, body);
    (builder, cells, adder.needed)
}

fn random(seed: u64) -> Body {
    let mut maker = Maker {
        state: seed,
        cell: DATA,
    };
    let mut body = maker.body(0);
    body.extend(maker.body(0));
    body
}

#[test]
fn every_order_gives_the_result_of_one_after_the_other() -> Result<()> {
    let chosen = device();
    for seed in 0..40 {
        let body = random(seed);
        let device = if chosen.is_emulator() {
            Device::emulator_with(EmulatorOptions {
                seed: Some(seed),
                check_unordered: true,
                ..Default::default()
            })
        } else {
            chosen.clone()
        };
        let driver = if seed % 2 == 0 { 12_030 } else { u32::MAX };
        let (builder, cells, _) = graph(&device, driver, &body, None);
        let mut graph = builder.build()?;
        let mut expected: Cells = std::array::from_fn(|cell| if cell < DATA { cell as u32 + 5 } else { 0 });
        graph.device_mut(&cells)?.copy_from(&expected)?;
        for launch in 0..3 {
            run(Some(&body), &mut expected);
            graph.launch()?;
            assert_eq!(*graph.device(&cells)?.read()?, expected, "seed {seed}, launch {launch}");
        }
    }
    Ok(())
}

#[test]
fn a_graph_without_an_edge_that_it_needs_is_refused() -> Result<()> {
    let device = Device::emulator();
    let mut removed = 0;
    for seed in 0..15 {
        let body = random(seed);
        let (builder, _, needed) = graph(&device, u32::MAX, &body, None);
        builder.build()?;
        for edge in needed {
            let (builder, ..) = graph(&device, u32::MAX, &body, Some(edge));
            let Err(Error::Invalid { diagnostics, .. }) = builder.build() else {
                panic!("seed {seed}: a needed edge is missing, and nobody noticed");
            };
            assert!(
                diagnostics.iter().all(|found| found.code == Code::Race),
                "{diagnostics:?}"
            );
            removed += 1;
        }
    }
    assert!(removed > 300, "{removed} edges");
    Ok(())
}
