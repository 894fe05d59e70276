//! The graph as its author wrote it, before anything is known to be right.

use crate::{Memory, NodeKind, Region, Variable};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The way in which a node touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Mode {
    /// Reads only (`&`).
    Read,
    /// Writes what is read later, before anything reads it: the destination of a memcpy or a memset, and memory that a
    /// kernel takes as `&mut [MaybeUninit<T>]`.
    Write,
    /// Reads and writes (`&mut`).
    ReadWrite,
    /// Reads and writes by atomic operations alone (`&[Atomic<T>]`), which may meet those of other nodes.
    Atomic,
    /// Loads and stores of mapped memory (`&[Mapped<T>]`), which may meet those of other nodes and of the host.
    Mapped,
}

impl Mode {
    /// Whether the memory may change.
    pub const fn writes(self) -> bool {
        match self {
            Mode::Read => false,
            Mode::Write | Mode::ReadWrite | Mode::Atomic | Mode::Mapped => true,
        }
    }

    /// Whether the previous contents of the memory may matter.
    pub const fn reads(self) -> bool {
        match self {
            Mode::Write => false,
            Mode::Read | Mode::ReadWrite | Mode::Atomic | Mode::Mapped => true,
        }
    }

    /// Whether the two accesses may disturb each other if nothing orders them: at least one writes, and not both are
    /// atomic or of mapped memory.
    pub const fn conflicts(self, other: Self) -> bool {
        let both_atomic = matches!(
            (self, other),
            (Mode::Atomic, Mode::Atomic) | (Mode::Mapped, Mode::Mapped)
        );
        (self.writes() || other.writes()) && !both_atomic
    }

    /// The words for messages. A `&mut` argument counts as a write.
    pub const fn verb(self) -> &'static str {
        match self {
            Mode::Read => "reads",
            Mode::Write | Mode::ReadWrite => "writes",
            Mode::Atomic => "atomically updates",
            Mode::Mapped => "accesses",
        }
    }

    /// The letter by which expansions of macros name the mode. A string of letters is one literal for rustc, where a
    /// list of names is many expressions.
    pub const fn letter(self) -> u8 {
        match self {
            Mode::Read => b'r',
            Mode::Write => b'w',
            Mode::ReadWrite => b'b',
            Mode::Atomic => b'a',
            Mode::Mapped => b'm',
        }
    }

    /// The mode of a letter. Panics if no mode has this letter.
    pub const fn of_letter(letter: u8) -> Self {
        match letter {
            b'r' => Mode::Read,
            b'w' => Mode::Write,
            b'b' => Mode::ReadWrite,
            b'a' => Mode::Atomic,
            b'm' => Mode::Mapped,
            _ => panic!("no mode has this letter"),
        }
    }
}

/// A piece of memory that nodes touch.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The kind of its memory.
    pub memory: Memory,
    /// Its length in the units of regions: elements of the outermost dimension (the macro) or bytes (the builder). If
    /// the length is not known, `None`.
    pub extent: Option<u64>,
    /// The literal of an element that is 0, for messages: `0` or `0.0`.
    pub zero: &'static str,
    /// The origin of what it holds when a launch begins.
    pub origin: Origin,
}

/// The origin of what memory holds when a launch begins. It tells whether that is the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The kind of the memory tells: the host fills host memory, and earlier launches have left what other memory
    /// holds.
    OfKind,
    /// Something outside the graph: it is shared, or a random generator. It may differ between ranks.
    Outside,
    /// The author promises that it is the same on all ranks.
    Uniform,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its kind.
    pub kind: NodeKind,
    /// Whether it may do more than its accesses say, so that it is never useless.
    pub opaque: bool,
    /// Whether it is disabled until an author enables it. Its accesses count as those of any node, but nothing relies
    /// on its writes.
    pub disabled: bool,
    /// Whether updates choose which parts of its memory it touches, perhaps none. Its accesses say all that it may
    /// touch, but nothing relies on its writes.
    pub partial: bool,
    /// Whether values that it takes may differ between ranks: arguments, dimensions of its launch, the value of a
    /// memset.
    pub rank_dependent: bool,
    /// Whether a mistake in this node was reported. Mistakes that follow from its edges and accesses are not reported.
    pub broken: bool,
    /// Whether [`infer`](crate::infer) adds the edges to it that its accesses imply: `after auto`.
    pub auto: bool,
    /// The body it is in, as an index into [`Draft::bodies`].
    pub body: usize,
    /// The innermost loop around it in that body, as an index into [`Draft::loops`].
    pub in_loop: Option<usize>,
}

impl Node {
    /// Whether each of its runs certainly writes what its accesses say.
    pub fn is_certain(&self) -> bool {
        !self.disabled && !self.partial
    }
}

/// Nodes that belong together: the graph itself, or a body of a node. Edges join nodes of one body only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its role for its node.
    pub role: Role,
    /// The node whose body it is; `None` for the graph itself.
    pub node: Option<usize>,
    /// Whether a node of it could not be read, which was reported: what the body writes is unknown then.
    pub broken: bool,
}

/// The role of a [`Body`] for its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Role {
    /// The graph itself.
    Graph,
    /// The nodes of a child graph.
    Child,
    /// The body that an `if` runs if its condition is not 0.
    Then,
    /// The body that an `if` runs if its condition is 0.
    Else,
    /// The body that a `while` repeats.
    While,
    /// The body that a `switch` runs for one value. Cases are numbered from 0 in the order of their declaration.
    Case,
}

impl Role {
    /// Whether a condition decides whether, or how often, it runs.
    pub const fn is_conditional(self) -> bool {
        matches!(self, Role::Then | Role::Else | Role::While | Role::Case)
    }
}

/// A `for` or an `each` over nodes of one body. The draft holds its nodes once.
///
/// The order of the one copy orders all iterations of a `for`: an edge into the loop holds for the first iteration, an
/// edge out of it for the last, and each iteration runs after the previous one. So if the one copy of a node is ordered
/// with a node outside, all iterations are. An edge into or out of an `each` holds for all of its iterations, and only
/// [`Draft::shifts`] order these with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The variable that counts its iterations.
    pub variable: Arc<Variable>,
    /// The loop around it, be it in the same body or in one around that.
    pub parent: Option<usize>,
    /// Whether its iterations are not ordered: an `each`.
    pub parallel: bool,
}

impl Loop {
    /// The keyword of the statement that declares such a loop.
    pub const fn keyword(&self) -> &'static str {
        if self.parallel { "each" } else { "for" }
    }
}

/// `to after from(i - 1)`: an edge between two iterations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shift {
    /// The node that runs first.
    pub from: usize,
    /// The node that runs after it, in each iteration.
    pub to: usize,
    /// For each loop that is around both, from the outermost, the number that is added to the iteration of `to` to get
    /// that of `from`. There is no edge if that is not in the loop's range. One of them is not 0.
    pub steps: Vec<i64>,
    /// Whether the edge is programmatic: `to` starts early and waits in its own code.
    pub programmatic: bool,
}

/// An edge of a draft, by its index.
#[derive(Clone, Copy)]
pub(crate) enum Link {
    /// An index in [`Draft::edges`].
    Edge(usize),
    /// An index in [`Draft::shifts`].
    Shift(usize),
}

/// The number of an iteration that is `step` after that of a loop's variable, as it is written: `i - 1`.
pub(crate) fn stepped(variable: &str, step: i64) -> String {
    match step {
        0 => variable.to_owned(),
        1.. => format!("{variable} + {step}"),
        _ => format!("{variable} - {}", step.unsigned_abs()),
    }
}

/// A node's access to a resource or a part of it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The node.
    pub node: usize,
    /// The resource.
    pub resource: usize,
    /// The part of the resource.
    pub region: Region,
    /// The way in which the node touches it.
    pub mode: Mode,
    /// Whether the code of the node's kernel names the memory, so that no argument passes it.
    pub by_name: bool,
    /// The source line, if there is a source.
    pub line: Option<u32>,
}

impl Access {
    /// Whether the node may use the contents from before.
    pub const fn reads(&self) -> bool {
        self.mode.reads()
    }

    /// Whether the two touch overlapping memory in ways that [conflict](Mode::conflicts).
    pub fn aliases(&self, other: &Access) -> bool {
        self.resource == other.resource && self.mode.conflicts(other.mode) && self.region.overlaps(&other.region)
    }
}

/// A node in which all ranks of a communicator take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The node.
    pub node: usize,
    /// The communicator, as an index into [`Draft::communicators`].
    pub communicator: usize,
}

/// `to after from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The node that runs first.
    pub from: usize,
    /// The node that runs after it.
    pub to: usize,
}

/// A graph under construction. Nodes and resources are named by their index, in order of declaration.
///
/// Accesses must be added node by node: all of one node before those of the next.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The graph's name.
    pub name: Cow<'static, str>,
    /// All resources.
    pub resources: Vec<Resource>,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// All accesses, grouped by node.
    pub accesses: Vec<Access>,
    /// All `after` edges, in any order, each between nodes of one body.
    pub edges: Vec<Edge>,
    /// The indices, ascending, of the programmatic edges: the later kernel starts early and waits in its own code.
    pub programmatic: Vec<usize>,
    /// The indices, ascending, of the edges that [`infer`](crate::infer) has added. The author wrote all others.
    pub inferred: Vec<usize>,
    /// The source line of each edge, if it is known. May be shorter than `edges`: only texts have lines.
    pub edge_lines: Vec<Option<u32>>,
    /// The names of the communicators that nodes are over.
    pub communicators: Vec<Cow<'static, str>>,
    /// The collectives, by node, each with its communicator. A child graph whose nodes are unknown counts as a
    /// collective over each communicator that it gets.
    pub collectives: Vec<Collective>,
    /// Whether every node is as one that is [`auto`](Node::auto): `#![after(auto)]`.
    pub auto: bool,
    /// Whether the graph is the text of a macro, so that helps can say what to write.
    pub is_text: bool,
    /// All bodies. The first is the graph itself, and each comes after the body that its node is in.
    pub bodies: Vec<Body>,
    /// All loops; each comes after those around it.
    pub loops: Vec<Loop>,
    /// The edges between iterations, in any order, each between nodes of one body.
    pub shifts: Vec<Shift>,
    /// The source line of each edge of `shifts`, if it is known. May be shorter than `shifts`.
    pub shift_lines: Vec<Option<u32>>,
    /// For each node of a graph whose loops are unrolled, the number of iteration numbers at the end of its name: 2 for
    /// `block[1][0]`. Nodes after the last entry have 0 such numbers. Empty for the text of a macro.
    pub numbers: Vec<u32>,
    /// While the rules see memory in the place of its [`Views`](crate::Views): for each access that is of a view, by
    /// index, the view and its region there.
    pub(crate) views: BTreeMap<usize, (usize, Region)>,
}

impl Default for Draft {
    fn default() -> Self {
        Self::new("")
    }
}

impl Draft {
    /// An empty graph.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            resources: Vec::new(),
            nodes: Vec::new(),
            accesses: Vec::new(),
            edges: Vec::new(),
            programmatic: Vec::new(),
            inferred: Vec::new(),
            edge_lines: Vec::new(),
            communicators: Vec::new(),
            collectives: Vec::new(),
            auto: false,
            is_text: false,
            bodies: vec![Body {
                role: Role::Graph,
                node: None,
                broken: false,
            }],
            loops: Vec::new(),
            shifts: Vec::new(),
            shift_lines: Vec::new(),
            numbers: Vec::new(),
            views: BTreeMap::new(),
        }
    }

    /// The name of the memory that an access is to, and the part of it, as their author has them.
    pub(crate) fn seen(&self, access: usize) -> (&str, &Region) {
        let (resource, region) = match self.views.get(&access) {
            Some((view, region)) => (*view, region),
            None => (self.accesses[access].resource, &self.accesses[access].region),
        };
        (&self.resources[resource].name, region)
    }

    /// Declares a resource of unknown length and returns its index.
    pub fn resource(&mut self, name: impl Into<Cow<'static, str>>, memory: Memory) -> usize {
        self.resources.push(Resource {
            name: name.into(),
            memory,
            extent: None,
            zero: "0",
            origin: Origin::OfKind,
        });
        self.resources.len() - 1
    }

    /// Whether a resource is scratch memory.
    pub fn is_scratch(&self, resource: usize) -> bool {
        self.resources[resource].memory == Memory::Scratch
    }

    /// Whether a resource of the graph is of this kind.
    pub fn has(&self, memory: Memory) -> bool {
        self.resources.iter().any(|resource| resource.memory == memory)
    }

    /// Declares a node of the graph itself and returns its index.
    pub fn node(&mut self, name: impl Into<Cow<'static, str>>, kind: NodeKind) -> usize {
        self.node_in(0, name, kind)
    }

    /// Declares a node of a body and returns its index.
    #[inline]
    pub fn node_in(&mut self, body: usize, name: impl Into<Cow<'static, str>>, kind: NodeKind) -> usize {
        self.nodes.push(Node {
            name: name.into(),
            kind,
            opaque: false,
            disabled: false,
            partial: false,
            rank_dependent: false,
            broken: false,
            auto: false,
            body,
            in_loop: None,
        });
        self.nodes.len() - 1
    }

    /// Records that the name of a node ends with `numbers` iteration numbers, each in brackets.
    pub fn set_numbers(&mut self, node: usize, numbers: usize) {
        if numbers > 0 {
            self.numbers.resize(node, 0);
            self.numbers.push(u32::try_from(numbers).unwrap_or(u32::MAX));
        }
    }

    /// The name of a node without its iteration numbers, and the numbers: `block` and `[1][0]`.
    pub fn name_and_numbers(&self, node: usize) -> (&str, &str) {
        let name = &*self.nodes[node].name;
        let numbers = self.numbers.get(node).copied().unwrap_or(0);
        let mut start = name.len();
        for _ in 0..numbers {
            start = name[..start].rfind('[').unwrap_or(0);
        }
        name.split_at(start)
    }

    /// Declares a body of `node` and returns its index.
    pub fn body(&mut self, node: usize, role: Role) -> usize {
        self.bodies.push(Body {
            role,
            node: Some(node),
            broken: false,
        });
        self.bodies.len() - 1
    }

    /// Declares a `for` of any range, inside another loop or not, and returns its index.
    pub fn for_loop(&mut self, variable: impl Into<Cow<'static, str>>, parent: Option<usize>) -> usize {
        self.add_loop(variable.into(), parent, false)
    }

    /// Declares an `each`, as [`Draft::for_loop`].
    pub fn each(&mut self, variable: impl Into<Cow<'static, str>>, parent: Option<usize>) -> usize {
        self.add_loop(variable.into(), parent, true)
    }

    fn add_loop(&mut self, variable: Cow<'static, str>, parent: Option<usize>, parallel: bool) -> usize {
        let number = self.loops.len();
        self.loops.push(Loop {
            variable: Arc::new(Variable::new(number, variable)),
            parent,
            parallel,
        });
        number
    }

    /// Orders `to` after the node `from` of another iteration, and returns the edge's index in [`Draft::shifts`].
    /// `steps` are [`Shift::steps`].
    pub fn shift(&mut self, from: usize, to: usize, steps: impl Into<Vec<i64>>) -> usize {
        self.shifts.push(Shift {
            from,
            to,
            steps: steps.into(),
            programmatic: false,
        });
        self.shifts.len() - 1
    }

    /// As [`Draft::shift`], by a programmatic edge.
    pub fn programmatic_shift(&mut self, from: usize, to: usize, steps: impl Into<Vec<i64>>) -> usize {
        let shift = self.shift(from, to, steps);
        self.shifts[shift].programmatic = true;
        shift
    }

    /// Records that `node` touches `region` of `resource`, and returns the access's index.
    #[inline]
    pub fn access(&mut self, node: usize, resource: usize, region: Region, mode: Mode) -> usize {
        self.accesses.push(Access {
            node,
            resource,
            region,
            mode,
            by_name: false,
            line: None,
        });
        self.accesses.len() - 1
    }

    /// Declares a communicator and returns its index.
    pub fn communicator(&mut self, name: impl Into<Cow<'static, str>>) -> usize {
        self.communicators.push(name.into());
        self.communicators.len() - 1
    }

    /// Records that all ranks of a communicator take part in `node`.
    pub fn collective(&mut self, node: usize, communicator: usize) {
        self.collectives.push(Collective { node, communicator });
    }

    /// Orders `to` after `from` and returns the edge's index.
    #[inline]
    pub fn edge(&mut self, from: usize, to: usize) -> usize {
        self.edges.push(Edge { from, to });
        self.edges.len() - 1
    }

    /// Orders `to` after `from` by a programmatic edge and returns the edge's index.
    pub fn programmatic_edge(&mut self, from: usize, to: usize) -> usize {
        let edge = self.edge(from, to);
        self.programmatic.push(edge);
        edge
    }

    /// Orders `to` after `from` by an edge that accesses imply, and returns the edge's index.
    pub fn inferred_edge(&mut self, from: usize, to: usize) -> usize {
        let edge = self.edge(from, to);
        self.inferred.push(edge);
        edge
    }

    /// Whether the edge of this index is programmatic.
    pub fn is_programmatic(&self, edge: usize) -> bool {
        self.programmatic.binary_search(&edge).is_ok()
    }

    /// Whether accesses imply the edge of this index, so that its author did not write it.
    pub fn is_inferred(&self, edge: usize) -> bool {
        self.inferred.binary_search(&edge).is_ok()
    }

    /// Keeps the edges for which `keep` is true.
    pub fn retain_edges(&mut self, keep: impl Fn(Edge) -> bool) {
        let edges = std::mem::take(&mut self.edges);
        let programmatic = std::mem::take(&mut self.programmatic);
        let inferred = std::mem::take(&mut self.inferred);
        let lines = std::mem::take(&mut self.edge_lines);
        for (index, edge) in edges.into_iter().enumerate().filter(|(_, edge)| keep(*edge)) {
            if programmatic.binary_search(&index).is_ok() {
                self.programmatic.push(self.edges.len());
            }
            if inferred.binary_search(&index).is_ok() {
                self.inferred.push(self.edges.len());
            }
            self.edge_lines.extend(lines.get(index));
            self.edges.push(edge);
        }
    }

    /// The body around a body: the one its node is in.
    pub fn enclosing(&self, body: usize) -> Option<usize> {
        self.bodies[body].node.map(|node| self.nodes[node].body)
    }

    /// The bodies around a node, from its own to the graph itself.
    pub fn bodies_around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.nodes[node].body), |&body| self.enclosing(body))
    }

    /// A loop and the loops around it, from the innermost.
    pub fn loops_around(&self, innermost: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(innermost, |&inner| self.loops[inner].parent)
    }

    /// A loop and the loops around it, from the outermost.
    pub fn loops_from_outermost(&self, innermost: Option<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = self.loops_around(innermost).collect();
        found.reverse();
        found
    }

    /// The loops around a node in its own body, from the outermost.
    pub fn loops_in_body(&self, node: usize) -> Vec<usize> {
        let owner = self.bodies[self.nodes[node].body].node;
        let outside = owner.and_then(|owner| self.loop_around(owner));
        let mut found = self.loops_from_outermost(self.nodes[node].in_loop);
        found.drain(
            ..found
                .iter()
                .position(|&inner| Some(inner) == outside)
                .map_or(0, |outside| outside + 1),
        );
        found
    }

    /// The loops of a body around each node, from the outermost; none for nodes of other bodies.
    pub(crate) fn loops_of_body(&self, body: usize) -> Vec<Vec<usize>> {
        let of_node = |node: usize| match self.nodes[node].body == body {
            true => self.loops_in_body(node),
            false => Vec::new(),
        };
        (0..self.nodes.len()).map(of_node).collect()
    }

    /// The innermost loop around a node, be it in the node's body or in one around that.
    pub fn loop_around(&self, node: usize) -> Option<usize> {
        let owner = |&node: &usize| self.bodies[self.nodes[node].body].node;
        std::iter::successors(Some(node), owner).find_map(|node| self.nodes[node].in_loop)
    }

    /// The accesses, by index, of each node and of all nodes in its bodies, in order of declaration.
    pub(crate) fn inner_accesses(&self) -> Vec<Vec<usize>> {
        let mut inner = vec![Vec::new(); self.nodes.len()];
        for (index, access) in self.accesses.iter().enumerate() {
            inner[access.node].push(index);
        }
        // A body comes after the body that its node is in. So, from the last body to the first, each is complete when
        // it is added to its node.
        let members = self.members();
        for body in (1..self.bodies.len()).rev() {
            let Some(owner) = self.bodies[body].node else { continue };
            for &node in &members[body] {
                let handed = inner[node].clone();
                inner[owner].extend(handed);
            }
        }
        inner.iter_mut().for_each(|accesses| accesses.sort_unstable());
        inner
    }

    /// The nodes of each body, in order of declaration.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.bodies.len()];
        for (node, declared) in self.nodes.iter().enumerate() {
            members[declared.body].push(node);
        }
        members
    }

    /// The accesses of each node as index ranges into [`Draft::accesses`].
    pub(crate) fn access_ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut ranges = vec![0..0; self.nodes.len()];
        for (index, access) in self.accesses.iter().enumerate() {
            let range = &mut ranges[access.node];
            if range.start == range.end {
                range.start = index;
            } else {
                debug_assert_eq!(range.end, index, "accesses are grouped by node");
            }
            range.end = index + 1;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_is_the_mode_of_its_letter() {
        for mode in [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic, Mode::Mapped] {
            assert_eq!(Mode::of_letter(mode.letter()), mode);
        }
    }
}
