//! What random graphs are: memory of fixed kinds, nodes that touch parts of it, bodies of nodes, and edges.

pub(crate) const ROWS: usize = 4;
pub(crate) const COLUMNS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Space {
    Device,
    Scratch,
    Host,
}

/// Memory of [`ROWS`] times [`COLUMNS`] elements of this size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) space: Space,
    pub(crate) size: usize,
}

const fn memory(space: Space, size: usize) -> Memory {
    Memory { space, size }
}

/// The memory of every graph. What [`SHARED`] has is that of both graphs of a program.
pub(crate) const MEMORIES: [Memory; 22] = {
    use Space::*;
    let mut all = [memory(Scratch, 4); 22];
    (all[0], all[1]) = (memory(Device, 4), memory(Device, 4));
    all[HOST] = memory(Host, 4);
    (all[13], all[14]) = (memory(Device, 1), memory(Host, 1));
    (all[15], all[16]) = (memory(Scratch, 2), memory(Host, 2));
    (all[FLAGS[0]], all[CONSTANT]) = (memory(Device, 4), memory(Device, 4));
    (all[SHARED[0]], all[SHARED[1]]) = (memory(Device, 4), memory(Host, 4));
    all
};
/// Scratch of words, most of which lives for a part of a graph only.
pub(crate) const SCRATCH: std::ops::Range<usize> = 2..9;
/// Scratch of words that is begun anew.
pub(crate) const REVIVED: std::ops::Range<usize> = 9..12;
pub(crate) const HOST: usize = 12;
/// What conditions look at: on the device, and in scratch memory.
pub(crate) const FLAGS: [usize; 2] = [17, 18];
/// Nothing writes it, so kernels may read it before they have waited for others.
pub(crate) const CONSTANT: usize = 19;
pub(crate) const SHARED: [usize; 2] = [20, 21];

/// The random numbers of a graph: the seed of each, and how many numbers a use draws at most.
pub(crate) const RNGS: [(u64, u64); 2] = [(7, 2), (11, 5)];

/// So many rows and columns of a memory from a corner on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) memory: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Area {
    /// All of a memory.
    pub(crate) fn whole(memory: usize) -> Self {
        Self {
            memory,
            row: 0,
            column: 0,
            rows: ROWS,
            columns: COLUMNS,
        }
    }

    /// One element, counted row by row.
    pub(crate) fn cell(memory: usize, index: usize) -> Self {
        Self {
            memory,
            row: index / COLUMNS,
            column: index % COLUMNS,
            rows: 1,
            columns: 1,
        }
    }

    /// Where its elements begin, in bytes, row by row.
    pub(crate) fn elements(&self) -> impl Iterator<Item = usize> + use<> {
        let Self {
            memory,
            row,
            column,
            rows,
            columns,
        } = *self;
        let size = MEMORIES[memory].size;
        (row..row + rows)
            .flat_map(move |row| (column..column + columns).map(move |column| (row * COLUMNS + column) * size))
    }

    /// Its bytes, as bits.
    pub(crate) fn mask(&self) -> u128 {
        let size = MEMORIES[self.memory].size;
        let bytes = |element| ((1_u128 << size) - 1) << element;
        self.elements().map(bytes).fold(0, |all, bytes| all | bytes)
    }

    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.memory == other.memory && self.mask() & other.mask() != 0
    }
}

/// What a node does. Kernels touch parts of one row.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// `to = 31 to + from + 1`
    Mix {
        from: Area,
        to: Area,
    },
    /// `to = from + 1`, by a kernel that waits by itself for those before it.
    Step {
        from: Area,
        to: Area,
    },
    /// `to += by`, likewise.
    Bump {
        to: Area,
        by: u32,
    },
    /// `to = weights * from`, likewise; it reads the weights before.
    Weigh {
        weights: Area,
        from: Area,
        to: Area,
    },
    /// Two random numbers a thread, by a use of an `rng`.
    Draw {
        rng: usize,
        number: usize,
        to: Area,
    },
    /// `to = from % divisor`, of one element.
    Remainder {
        from: Area,
        divisor: u32,
        to: Area,
    },
    /// `at -= 1`, of a condition.
    Decrement {
        at: Area,
    },
    Copy {
        from: Area,
        to: Area,
    },
    /// All elements to the value; of a pattern, those of a row to the value and what follows it.
    Set {
        to: Area,
        value: u32,
        pattern: bool,
    },
    /// `to = 31 to + from + 7`, by a host function.
    Call {
        from: Area,
        to: Area,
    },
    Join,
    Record,
    Wait,
    Child(Body),
    If {
        flag: Area,
        bodies: Vec<Body>,
    },
    While {
        flag: Area,
        body: Body,
    },
    Switch {
        flag: Area,
        bodies: Vec<Body>,
    },
}

impl Action {
    /// What is read, and what is written, by the node itself.
    pub(crate) fn areas(&self) -> (Vec<Area>, Option<Area>) {
        match *self {
            Action::Mix { from, to } | Action::Call { from, to } => (vec![from, to], Some(to)),
            Action::Step { from, to } | Action::Copy { from, to } | Action::Remainder { from, to, .. } => {
                (vec![from], Some(to))
            }
            Action::Bump { to, .. } | Action::Decrement { at: to } => (vec![to], Some(to)),
            Action::Weigh { weights, from, to } => (vec![weights, from], Some(to)),
            Action::Draw { to, .. } | Action::Set { to, .. } => (Vec::new(), Some(to)),
            Action::If { flag, .. } | Action::While { flag, .. } | Action::Switch { flag, .. } => (vec![flag], None),
            Action::Join | Action::Record | Action::Wait | Action::Child(_) => (Vec::new(), None),
        }
    }

    pub(crate) fn bodies(&self) -> &[Body] {
        match self {
            Action::If { bodies, .. } | Action::Switch { bodies, .. } => bodies,
            Action::While { body, .. } | Action::Child(body) => std::slice::from_ref(body),
            _ => &[],
        }
    }

    pub(crate) fn bodies_mut(&mut self) -> &mut [Body] {
        match self {
            Action::If { bodies, .. } | Action::Switch { bodies, .. } => bodies,
            Action::While { body, .. } | Action::Child(body) => std::slice::from_mut(body),
            _ => &mut [],
        }
    }

    /// Does it launch a kernel?
    pub(crate) fn is_kernel(&self) -> bool {
        use Action::*;
        let waits = self.waits_by_itself();
        waits || matches!(self, Mix { .. } | Draw { .. } | Remainder { .. } | Decrement { .. })
    }

    /// May programmatic edges lead to it?
    pub(crate) fn waits_by_itself(&self) -> bool {
        match self {
            Action::Step { .. } | Action::Bump { .. } => true,
            Action::Weigh { weights, .. } => weights.memory == CONSTANT,
            _ => false,
        }
    }

    /// May it be disabled? Without a decrement a `while` would not end.
    pub(crate) fn can_be_disabled(&self) -> bool {
        let copies = matches!(self, Action::Copy { .. } | Action::Set { .. });
        copies || self.is_kernel() && !matches!(self, Action::Decrement { .. })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its number in the program.
    pub(crate) id: usize,
    pub(crate) action: Action,
    pub(crate) enabled: bool,
    /// The `for`s around it in its body, from the outermost, and the iteration of each.
    pub(crate) place: Vec<(usize, usize)>,
}

/// How the nodes of a body stand in it.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Node(usize),
    /// The parts of each iteration.
    For(Vec<Vec<Part>>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) programmatic: bool,
}

/// Nodes, in an order in which they may run, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// Its number in the program.
    pub(crate) id: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) parts: Vec<Part>,
    /// From an earlier node to a later one.
    pub(crate) edges: Vec<Edge>,
}

impl Body {
    /// All bodies: this one, and those inside.
    pub(crate) fn each(&self, f: &mut impl FnMut(&Body)) {
        f(self);
        let inner = self.nodes.iter().flat_map(|node| node.action.bodies());
        inner.for_each(|body| body.each(f));
    }

    /// The same, to change them.
    pub(crate) fn each_node_mut(&mut self, f: &mut impl FnMut(&mut Node)) {
        for node in &mut self.nodes {
            f(node);
            node.action
                .bodies_mut()
                .iter_mut()
                .for_each(|body| body.each_node_mut(f));
        }
    }
}

/// A graph.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) body: Body,
    /// How often each `rng` is used.
    pub(crate) uses: [usize; RNGS.len()],
}
