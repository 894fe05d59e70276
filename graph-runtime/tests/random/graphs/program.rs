//! Random graphs as data: nodes that touch memory, bodies of nodes, and edges.

pub(crate) use super::area::*;

/// The work of a node. Kernels touch parts of one row.
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
    /// `to = from + more + 1`, likewise; without `more` if that is not given, which updates choose.
    StepWith {
        from: Area,
        more: Area,
        given: bool,
        to: Area,
    },
    /// `to += by`, likewise.
    Bump {
        to: Area,
        by: u32,
    },
    /// `to += by`, by atomic operations, which may meet those of other such nodes.
    Update {
        to: Area,
        by: u32,
    },
    /// `to = 3 value + 1`, in two steps, of which the second reads what the first has written.
    Start {
        to: Area,
        value: u32,
    },
    /// `to = weights * from`, by a kernel that waits by itself; it reads the weights before.
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
    /// `to` becomes how often such nodes have run, which a variable of the kernel's module counts.
    Count {
        to: Area,
    },
    /// `to` becomes that number, by a copy from the variable.
    Load {
        to: Area,
    },
    /// The number becomes `from`, by a copy to the variable.
    Store {
        from: Area,
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
    /// A part of `from` to the same part of `to`, which updates choose.
    CopyPart {
        from: Area,
        to: Area,
        part: Window,
    },
    /// All elements of a part, which updates choose, to the value.
    SetPart {
        to: Area,
        value: u32,
        part: Window,
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
    /// The memory that the node itself reads, and that it writes.
    pub(crate) fn areas(&self) -> (Vec<Area>, Option<Area>) {
        match *self {
            Action::Mix { from, to } | Action::Call { from, to } => (vec![from, to], Some(to)),
            Action::Step { from, to }
            | Action::Copy { from, to }
            | Action::CopyPart { from, to, .. }
            | Action::Remainder { from, to, .. } => (vec![from], Some(to)),
            Action::StepWith { from, more, given, to } => {
                (std::iter::once(from).chain(given.then_some(more)).collect(), Some(to))
            }
            Action::Count { to } | Action::Load { to } => (vec![Area::cell(VARIABLE, 0)], Some(to)),
            Action::Store { from } => (vec![from], None),
            Action::Bump { to, .. } | Action::Update { to, .. } | Action::Decrement { at: to } => (vec![to], Some(to)),
            Action::Weigh { weights, from, to } => (vec![weights, from], Some(to)),
            Action::Draw { to, .. } | Action::Start { to, .. } => (Vec::new(), Some(to)),
            Action::Set { to, .. } | Action::SetPart { to, .. } => (Vec::new(), Some(to)),
            Action::If { flag, .. } | Action::While { flag, .. } | Action::Switch { flag, .. } => (vec![flag], None),
            Action::Join | Action::Record | Action::Wait | Action::Child(_) => (Vec::new(), None),
        }
    }

    /// The memory that it certainly writes when it runs.
    pub(crate) fn initialises(&self) -> Option<Area> {
        let partial = matches!(self, Action::CopyPart { .. } | Action::SetPart { .. });
        self.areas().1.filter(|_| !partial)
    }

    /// The variable of the module, if it is written.
    pub(crate) fn hidden(&self) -> Option<Area> {
        matches!(self, Action::Count { .. } | Action::Store { .. }).then(|| Area::cell(VARIABLE, 0))
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

    /// Whether it launches a kernel.
    pub(crate) fn is_kernel(&self) -> bool {
        use Action::*;
        let waits = self.waits_by_itself();
        waits
            || matches!(
                self,
                Mix { .. }
                    | Update { .. }
                    | Start { .. }
                    | Draw { .. }
                    | Count { .. }
                    | Remainder { .. }
                    | Decrement { .. }
            )
    }

    /// Whether programmatic edges may lead to it.
    pub(crate) fn waits_by_itself(&self) -> bool {
        match self {
            Action::Step { .. } | Action::StepWith { .. } | Action::Bump { .. } => true,
            Action::Weigh { weights, .. } => weights.memory == CONSTANT,
            _ => false,
        }
    }

    /// Whether it may be disabled. Without a decrement a `while` would not end.
    pub(crate) fn can_be_disabled(&self) -> bool {
        use Action::{Copy, CopyPart, Set, SetPart};
        let copies = matches!(self, Copy { .. } | Set { .. } | CopyPart { .. } | SetPart { .. });
        copies || self.is_kernel() && !matches!(self, Action::Decrement { .. })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its number in the program.
    pub(crate) id: usize,
    /// Its name, which it shares with the nodes in its place of other iterations of an `each`.
    pub(crate) name: String,
    pub(crate) action: Action,
    pub(crate) enabled: bool,
    /// The loops around it in its body, from the outermost.
    pub(crate) place: Vec<Iteration>,
}

/// An iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Iteration {
    /// The number of the loop in the program.
    pub(crate) of: usize,
    pub(crate) index: usize,
    /// Whether the loop is an `each`.
    pub(crate) parallel: bool,
}

/// The order of the nodes of a body.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Node(usize),
    /// The parts of each iteration.
    For(Vec<Vec<Part>>),
    /// The parts of each iteration, which are not ordered.
    Each(Vec<Vec<Part>>),
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

    /// As above, to change them.
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
    /// The number of uses of each `rng`.
    pub(crate) uses: [usize; RNGS.len()],
}
