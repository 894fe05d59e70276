//! Random copies and memsets of rectangles against a model: with the edges that their bytes call for, and no others, graphs are right and
//! give the model's result in whatever order; without one of these edges they are refused.

mod common;

use common::device;
use graph_runtime::{Code, Device, Error, GraphBuilder, NodeId, OnDevice, OnHost, Place, Rectangle, Result, Table};
use std::collections::BTreeSet;

const ROWS: usize = 6;
const COLUMNS: usize = 5;
type Matrix = [[u16; COLUMNS]; ROWS];

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
}

/// So many rows and columns from a corner on, of the memory of that number: 0 and 1 are on the device, 2 on the host.
#[derive(Clone, Copy, Debug)]
struct Area {
    memory: usize,
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

impl Area {
    fn random(random: &mut Random, memories: usize, rows: usize, columns: usize) -> Self {
        Self {
            memory: random.below(memories),
            row: random.below(ROWS - rows + 1),
            column: random.below(COLUMNS - columns + 1),
            rows,
            columns,
        }
    }

    fn cells(&self) -> BTreeSet<(usize, usize, usize)> {
        let rows = self.row..self.row + self.rows;
        let cell = |row| (self.column..self.column + self.columns).map(move |column| (self.memory, row, column));
        rows.flat_map(cell).collect()
    }

    fn of<M>(&self, place: Place<Matrix, M>) -> Rectangle<Table<u16>, M> {
        let (rows, columns) = (self.row..self.row + self.rows, self.column..self.column + self.columns);
        place.rectangle_of(rows, columns)
    }
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Copy(Area, Area),
    Set(Area, u16),
}

impl Node {
    fn random(random: &mut Random) -> Self {
        loop {
            let (rows, columns) = (random.below(ROWS) + 1, random.below(COLUMNS) + 1);
            if random.below(3) == 0 {
                return Node::Set(Area::random(random, 2, rows, columns), random.below(1000) as u16);
            }
            let [from, to] = [(); 2].map(|()| Area::random(random, 3, rows, columns));
            if from.cells().is_disjoint(&to.cells()) {
                return Node::Copy(from, to);
            }
        }
    }

    fn written(&self) -> BTreeSet<(usize, usize, usize)> {
        match self {
            Node::Copy(_, to) | Node::Set(to, _) => to.cells(),
        }
    }

    fn read(&self) -> BTreeSet<(usize, usize, usize)> {
        match self {
            Node::Copy(from, _) => from.cells(),
            Node::Set(..) => BTreeSet::new(),
        }
    }

    /// Does it matter which of the two is first?
    fn conflicts(&self, other: &Node) -> bool {
        let writes = |a: &Node, b: &Node| !a.written().is_disjoint(&b.written()) || !a.written().is_disjoint(&b.read());
        writes(self, other) || writes(other, self)
    }

    fn run(&self, memory: &mut [Matrix; 3]) {
        match *self {
            Node::Copy(from, to) => {
                for (row, column) in (0..to.rows).flat_map(|row| (0..to.columns).map(move |column| (row, column))) {
                    let value = memory[from.memory][from.row + row][from.column + column];
                    memory[to.memory][to.row + row][to.column + column] = value;
                }
            }
            Node::Set(to, value) => to.cells().iter().for_each(|&(memory_of, row, column)| {
                memory[memory_of][row][column] = value;
            }),
        }
    }

    fn add(&self, builder: &mut GraphBuilder, name: String, memory: &Memory) -> NodeId {
        let (device, host) = (memory.device, memory.host);
        match *self {
            Node::Set(to, value) => builder.memset_2d(name, &mut to.of(device[to.memory]), value),
            Node::Copy(from, to) => match (from.memory, to.memory) {
                (2, 2) => builder.memcpy_2d(name, &from.of(host), &mut to.of(host)),
                (2, to_device) => builder.memcpy_2d(name, &from.of(host), &mut to.of(device[to_device])),
                (from_device, 2) => builder.memcpy_2d(name, &from.of(device[from_device]), &mut to.of(host)),
                (a, b) => builder.memcpy_2d(name, &from.of(device[a]), &mut to.of(device[b])),
            },
        }
    }
}

struct Memory {
    device: [Place<Matrix, OnDevice>; 2],
    host: Place<Matrix, OnHost>,
}

fn graph(on: &Device, nodes: &[Node], edges: &[(usize, usize)]) -> (GraphBuilder, Memory) {
    let mut builder = GraphBuilder::new(on, "Random");
    let memory = Memory {
        device: ["a", "b"].map(|name| builder.device(name)),
        host: builder.host("c"),
    };
    let added = nodes.iter().enumerate();
    let added: Vec<NodeId> = added
        .map(|(index, node)| node.add(&mut builder, format!("n{index}"), &memory))
        .collect();
    for &(from, to) in edges {
        builder.after(added[to], &[added[from]]);
    }
    (builder, memory)
}

/// Pairs of nodes whose order matters.
fn needed(nodes: &[Node]) -> Vec<(usize, usize)> {
    let pairs = (0..nodes.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
    pairs.filter(|&(from, to)| nodes[from].conflicts(&nodes[to])).collect()
}

/// Is there a path from one to the other?
fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
    let mut next = edges.iter().filter(|edge| edge.0 == from);
    from == to || next.any(|edge| reaches(edges, edge.1, to))
}

#[test]
fn rectangles_give_what_the_model_gives() -> Result<()> {
    let mut random = Random(7);
    for round in 0..60 {
        let nodes: Vec<Node> = (0..8).map(|_| Node::random(&mut random)).collect();
        let edges = needed(&nodes);
        let (builder, memory) = graph(&device().with_delays(round), &nodes, &edges);
        let mut graph = builder.build()?;
        let mut model: [Matrix; 3] = std::array::from_fn(|index| {
            std::array::from_fn(|row| std::array::from_fn(|column| (100 * index + 10 * row + column) as u16))
        });
        graph.device_mut(&memory.device[0])?.copy_from(&model[0])?;
        graph.device_mut(&memory.device[1])?.copy_from(&model[1])?;
        *graph.host_mut(&memory.host)? = model[2];
        for _ in 0..2 {
            graph.launch()?;
            nodes.iter().for_each(|node| node.run(&mut model));
        }
        let found = [
            *graph.device(&memory.device[0])?.read()?,
            *graph.device(&memory.device[1])?.read()?,
            *graph.host(&memory.host)?,
        ];
        assert_eq!(found, model, "{nodes:?}");
    }
    Ok(())
}

#[test]
fn an_edge_less_is_a_race() {
    let mut random = Random(8);
    let mut refused = 0;
    for _ in 0..40 {
        let nodes: Vec<Node> = (0..6).map(|_| Node::random(&mut random)).collect();
        let edges = needed(&nodes);
        for left_out in 0..edges.len() {
            let (from, to) = edges[left_out];
            let mut left = edges.clone();
            left.remove(left_out);
            if reaches(&left, from, to) {
                continue;
            }
            let (builder, _) = graph(&Device::emulator(), &nodes, &left);
            let Err(Error::Invalid { diagnostics, .. }) = builder.build() else {
                panic!("without {from} -> {to}: {nodes:?}");
            };
            assert!(
                diagnostics.iter().all(|mistake| mistake.code == Code::Race),
                "{diagnostics:?}"
            );
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused} edges were left out");
}
